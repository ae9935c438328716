"""Settings of slurm.conf that decide when or where jobs run and that are not simulated, each with the reason.

What a setting of this list does is known to Slurm, so that the report proposes no other one for it.

References:
    Slurm documentation, slurm.conf(5), https://slurm.schedmd.com/slurm.conf.html, and its versions in the archive.
"""

from __future__ import annotations

from typing import Literal

Verdict = Literal["understood", "approximated", "ignored"]

_ASSOCIATIONS = "limits of associations and QOS are not in slurm.conf, and not simulated"
_MEMORY = "jobs ask for the memory that their accounts state"
_SLEEP = "nodes stay awake; the dispatcher powered[...] lets them sleep"
_ENDS = "jobs end when they did, or at their limit"
_TRIALS = "jobs are what the accounts state, however they were submitted"
_NO_TIME = "prologs and epilogs take no simulated time"
_QUEUE = "the queue may be of any length"

#: Settings of the whole cluster, in small letters.
GENERAL_LEFT_OUT = {
    "accountingstorageenforce": _ASSOCIATIONS,
    "burstbuffertype": "there are no burst buffers",
    "burstbufferparameters": "there are no burst buffers",
    "completewait": "nodes are free as soon as their job has ended",
    "defcpupergpu": _TRIALS,
    "defmempercpu": _MEMORY,
    "defmempergpu": _MEMORY,
    "defmempernode": _MEMORY,
    "dependencyparameters": "a job with a dependency that cannot be met is left out",
    "enforcepartlimits": "jobs that their partition refuses never run, as if it were NO",
    "epilog": _NO_TIME,
    "epilogslurmctld": _NO_TIME,
    "fairsharedampeningfactor": "the factor of fair share is not dampened",
    "federationparameters": "there is one cluster",
    "jobrequeue": "jobs run as often as the accounts state (--requeues)",
    "jobsubmitplugins": _TRIALS,
    "killwait": _ENDS,
    "launchparameters": _TRIALS,
    "maxarraysize": _QUEUE,
    "maxbatchrequeue": "jobs run as often as the accounts state (--requeues)",
    "maxjobcount": _QUEUE,
    "maxmempercpu": _MEMORY,
    "maxmempernode": _MEMORY,
    "maxtaskspernode": "tasks are not simulated",
    "mcsparameters": "there are no security labels",
    "mcsplugin": "there are no security labels",
    "nodefeaturesplugins": "features of nodes do not change",
    "overtimelimit": _ENDS,
    "powerparameters": _SLEEP,
    "powerplugin": _SLEEP,
    "preemptexempttime": "running jobs may be preempted at once",
    "preemptparameters": "jobs are preempted in the order of their tiers and ages",
    "priorityparameters": "nothing here does this",
    "prioritysitefactorparameters": "there is no factor of the site",
    "prioritysitefactorplugin": "there is no factor of the site",
    "prolog": _NO_TIME,
    "prologslurmctld": _NO_TIME,
    "resumeprogram": _SLEEP,
    "resumerate": _SLEEP,
    "resumetimeout": _SLEEP,
    "resvoverrun": _ENDS,
    "schedulertimeslice": "jobs do not take turns on the same cores",
    "scronparameters": _TRIALS,
    "suspendexcnodes": _SLEEP,
    "suspendexcparts": _SLEEP,
    "suspendexcstates": _SLEEP,
    "suspendprogram": _SLEEP,
    "suspendrate": _SLEEP,
    "suspendtime": _SLEEP,
    "suspendtimeout": _SLEEP,
    "topologyparam": "nodes are taken as without a topology",
}
#: Parts of SchedulerParameters, in small letters, that nothing here does.
PARAMETERS_LEFT_OUT = frozenset(
    {"allow_zero_lic", "assoc_limit_continue", "assoc_limit_stop", "batch_sched_delay", "bb_array_stage_cnt"}
    | {"bf_allow_magnetic_slot", "bf_hetjob_immediate", "bf_hetjob_prio", "bf_ignore_newly_avail_nodes"}
    | {"bf_max_job_array_resv", "bf_max_job_assoc", "bf_max_job_user_part", "bf_min_prio_reserve"}
    | {"bf_node_space_size", "bf_one_resv_per_job", "bf_running_job_reserve", "bf_topopt_enable"}
    | {"bf_topopt_iterations", "bf_yield_rpc_cnt", "build_queue_timeout", "correspond_after_task_cnt", "delay_boot"}
    | {"disable_hetjob_steps", "disable_job_shrink", "enable_hetjob_steps", "enable_job_state_cache"}
    | {"enable_user_top", "extra_constraints", "ignore_constraint_validation", "ignore_numa"}
    | {"ignore_prefer_validation", "inventory_interval", "kill_invalid_depend", "max_array_tasks", "max_depend_depth"}
    | {"max_script_size", "max_submit_line_size", "max_switch_wait", "no_backup_scheduling", "no_env_cache"}
    | {"nohold_on_prolog_fail", "pack_serial_at_end", "partition_job_depth", "permit_job_expansion"}
    | {"preempt_reorder_count", "preempt_send_user_signal", "preempt_strict_order", "preempt_youngest_first"}
    | {"reduce_completing_frag", "requeue_setup_env_fail", "salloc_wait_nodes", "sbatch_wait_nodes"}
    | {"sched_max_job_start", "spec_cores_first", "step_retry_count", "step_retry_time", "time_min_as_soft_limit"}
    | {"whole_hetjob", "whole_pack"}
)
#: Parts of SelectTypeParameters, in small letters: what becomes of each, and why.
SELECTION: dict[str, tuple[Verdict, str]] = {
    "cr_core": ("understood", "cores are given out"),
    "cr_cpu": ("understood", "cores are given out"),
    "cr_socket": ("approximated", "cores are given out, and not whole sockets"),
    "cr_board": ("approximated", "cores are given out, and not whole boards"),
    "cr_memory": ("understood", "memory is given out"),
    "cr_core_memory": ("understood", "cores and memory are given out"),
    "cr_cpu_memory": ("understood", "cores and memory are given out"),
    "cr_socket_memory": ("approximated", "cores and memory are given out, and not whole sockets"),
    "cr_board_memory": ("approximated", "cores and memory are given out, and not whole boards"),
    "cr_lln": ("ignored", "the least loaded nodes are not preferred"),
    "cr_pack_nodes": ("ignored", "tasks are not packed into as few nodes as can be"),
    "cr_one_task_per_core": ("ignored", "sizes are those of the accounts"),
    "cr_core_default_dist_block": ("ignored", "cores within a node are alike"),
    "enforce_binding_gres": ("ignored", "devices are not bound to sockets"),
    "ll_shared_gres": ("ignored", "shared devices are alike"),
    "multiple_sharing_gres_pj": ("ignored", "shared devices are alike"),
    "one_task_per_sharing_gres": ("ignored", "shared devices are alike"),
    "other_cons_tres": ("understood", "cores are given out"),
    "other_cons_res": ("understood", "cores are given out"),
}
#: What slurm.conf may say of a partition that decides who runs where and is not simulated, in small letters.
PARTITION_LEFT_OUT = frozenset(
    {"allocnodes", "allowaccounts", "allowgroups", "allowqos", "alternate", "denyaccounts", "denyqos", "lln"}
    | {"exclusivetopo", "exclusiveuser", "maxcpuspernode", "maxcpuspersocket", "maxmempercpu", "maxmempernode"}
    | {"minnodes", "overtimelimit", "qos", "reqresv", "rootonly"}
)
#: Settings of a partition of the same kind that only matter where jobs are submitted or nodes sleep, likewise.
PARTITION_ELSEWHERE = frozenset(
    {"defcpupergpu", "defmempercpu", "defmempergpu", "defmempernode", "resumetimeout", "suspendtime"}
    | {"suspendtimeout", "powerdownonidle", "disablerootjobs", "selecttypeparameters", "tresbillingweights"}
)
