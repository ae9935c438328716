"""What slurm.conf says about scheduling, as options of slurm-backfill."""

from pathlib import Path

import pytest

from batdispatch.abilities.sites.doors.slurm.conf import read_conf
from batdispatch.abilities.sites.doors.slurm.scheduling import scheduling_of, with_conf
from batdispatch.core.errors import InputError
from batdispatch.core.line.dispatcher import create

SITE = """SchedulerType=sched/backfill
SelectType=select/cons_tres
AccountingStorageType=accounting_storage/slurmdbd
SchedulerParameters=bf_interval=60,bf_window=2880,bf_max_job_test=50,bf_continue,defer,bf_licenses,bf_hetjob_prio=min
PriorityType=priority/multifactor
PriorityWeightAge=1000
PriorityWeightJobSize=500
PriorityMaxAge=1-0
PriorityCalcPeriod=1
PriorityFavorSmall=YES
PriorityFlags=SMALL_RELATIVE_TO_TIME,FAIR_TREE
PriorityWeightTRES=CPU=1000
PreemptType=preempt/partition_prio
PreemptExemptTime=60
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "slurm.conf"
    path.write_text(text)
    return path


def test_settings_become_options_that_the_dispatcher_takes(tmp_path: Path) -> None:
    name, options = with_conf("slurm-backfill", {"conf": str(write(tmp_path, SITE)), "interval": "20"})
    priorities = "age=1000,size=500,max_age=86400,favor_small=true,period=60,relative=true"
    assert {key: text for key, text in options.items() if key != "ordering"} == {
        "version": "22.05",
        "interval": "20",
        "window": "172800",
        "depth": "50",
        "licenses": "true",
    }
    inside = dict(part.split("=") for part in options["ordering"][len("multifactor[") : -1].split(","))
    assert inside == dict(part.split("=") for part in priorities.split(","))
    assert create(name, options).options.window == 172_800


@pytest.mark.parametrize(
    ("parameter", "options"),
    [
        ("bf_max_job_array_resv=3", {"array_tasks": "3"}),
        ("partition_job_depth=4", {"loop_part_jobs": "4"}),
        ("sched_max_job_start=5", {"loop_starts": "5"}),
        ("bf_min_age_reserve=600", {"min_age": "600"}),
    ],
)
def test_limits_of_passes_and_of_the_main_loop(tmp_path: Path, parameter: str, options: dict[str, str]) -> None:
    read = scheduling_of(read_conf(write(tmp_path, f"SchedulerParameters={parameter}\n")))
    assert read.options == {"version": "22.05", **options}
    assert [verdict for _, verdict, _ in read.readings] == ["understood"]
    ((name, text),) = options.items()
    assert getattr(create("slurm-backfill", read.options).options, name) == float(text)


def test_each_setting_is_understood_approximated_or_ignored(tmp_path: Path) -> None:
    read = scheduling_of(read_conf(write(tmp_path, SITE)))
    verdicts = {one.key: verdict for one, verdict, _ in read.readings}
    assert {key for key, verdict in verdicts.items() if verdict == "ignored"} == {
        "bf_continue",
        "bf_hetjob_prio",
        "PriorityWeightTRES",
        "PreemptExemptTime",
    }
    assert {one.line for one, _, _ in read.readings if one.key.startswith("bf_")} == {4}


def test_without_accounts_age_and_fair_share_stay_0(tmp_path: Path) -> None:
    text = SITE.replace("slurmdbd", "none")
    assert "age=1000" not in scheduling_of(read_conf(write(tmp_path, text))).options["ordering"]


@pytest.mark.parametrize(
    ("flags", "version", "tree"),
    [("", "22.05", "true"), ("NO_FAIR_TREE", "22.05", "false"), ("", "18.08", None), ("FAIR_TREE", "18.08", "true")],
)
def test_fair_tree_is_the_default_since_19_05(tmp_path: Path, flags: str, version: str, tree: str | None) -> None:
    text = SITE.replace("SMALL_RELATIVE_TO_TIME,FAIR_TREE", flags or "MAX_TRES") + "PriorityWeightFairshare=7\n"
    ordering = scheduling_of(read_conf(write(tmp_path, text)), version).options["ordering"]
    inside = dict(part.split("=") for part in ordering[len("multifactor[") : -1].split(","))
    assert (inside["fairshare"], inside.get("fair_tree")) == ("7", tree)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE",
            {"preempt": "partition", "preempt_mode": "requeue"},
        ),
        ("PreemptType=preempt/qos\nPreemptMode=GANG,CANCEL", {"preempt": "qos", "preempt_mode": "cancel"}),
        ("PreemptType=preempt/none\nPreemptMode=CANCEL", {}),
        # Slurm's default of PreemptMode is OFF.
        ("PreemptType=preempt/qos", {}),
        ("PreemptType=preempt/qos\nPreemptMode=SUSPEND,GANG", {}),
        (
            "PreemptType=preempt/partition_prio\nPreemptMode=SUSPEND,GANG",
            {"preempt": "partition", "preempt_mode": "suspend"},
        ),
    ],
)
def test_who_preempts_whom(tmp_path: Path, lines: str, expected: dict[str, str]) -> None:
    read = scheduling_of(read_conf(write(tmp_path, lines + "\n")))
    assert {name: text for name, text in read.options.items() if name != "version"} == expected
    verdicts = {(one.setting.key, one.verdict) for one in read.readings}
    verdict = "understood" if "SUSPEND" not in lines else "approximated" if expected else "ignored"
    assert ("PreemptMode" not in lines) or ("PreemptMode", verdict) in verdicts
    assert create("slurm-backfill", read.options).registers_jobs == bool(expected)


PARTITIONS = """NodeName=n1
PartitionName=DEFAULT GraceTime=120
PartitionName=low Nodes=n1 PreemptMode=CANCEL
PartitionName=high Nodes=n1 PreemptMode=SUSPEND GraceTime=00:05:00
"""


@pytest.mark.parametrize("kind", ["partition_prio", "qos", "none"])
def test_what_partitions_say_of_preempted_jobs_is_named(tmp_path: Path, kind: str) -> None:
    lines = f"PreemptType=preempt/{kind}\nPreemptMode=REQUEUE\n{PARTITIONS}"
    found = {
        (one.setting.key, one.setting.value): (one.verdict, one.meaning)
        for one in scheduling_of(read_conf(write(tmp_path, lines))).readings
    }
    told = [found[key] for key in (("GraceTime", "120"), ("GraceTime", "00:05:00"), ("PreemptMode", "CANCEL"))]
    if kind == "partition_prio":
        assert told == [
            ("understood", "grace_time=120 of the platform's partition"),
            ("understood", "grace_time=300 of the platform's partition"),
            ("understood", "preempt_mode=cancel of the platform's partition"),
        ]
        assert found["PreemptMode", "SUSPEND"][0] == "approximated"
        assert "only jobs that have whole nodes" in found["PreemptMode", "SUSPEND"][1]
    else:
        assert told == [("ignored", "no job is preempted for a partition's tier")] * 3
        assert found["PreemptMode", "SUSPEND"][0] == "ignored"
        off = lines.replace("PreemptMode=REQUEUE", "PreemptMode=SUSPEND,GANG")
        readings = scheduling_of(read_conf(write(tmp_path, off))).readings
        assert {one.verdict for one in readings if one.setting.key in ("GraceTime", "PreemptMode")} == {"ignored"}


@pytest.mark.parametrize(
    ("version", "depth", "ordering"), [("21.05", 100, ""), ("22.05", 500, ""), ("23.11", 500, "m")]
)
def test_defaults_are_those_of_the_version(tmp_path: Path, version: str, depth: int, ordering: str) -> None:
    options = scheduling_of(read_conf(write(tmp_path, "ClusterName=a\n")), version).options
    assert create("slurm-backfill", options).options.most_tried == depth
    assert options.get("ordering", "").startswith(ordering)
    assert bool(ordering) == ("ordering" in options)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("SchedulerParameters=bf_interval=soon", "line 1: bf_interval is 'soon', expected a number, at least 0"),
        ("SchedulerParameters=bf_max_job_test=-1", "line 1: bf_max_job_test is '-1', expected a whole number"),
        (
            "SchedulerType=sched/builtin",
            "SchedulerType is 'sched/builtin': sched/builtin is the dispatcher fcfs",
        ),
        ("SelectType=select/cray", "line 1: SelectType is 'select/cray': expected cons_tres or cons_res"),
    ],
)
def test_what_cannot_be_simulated_is_said_with_file_and_line(tmp_path: Path, line: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        with_conf("slurm-backfill", {"conf": str(write(tmp_path, line + "\n"))})
    assert expected in str(caught.value)


def test_other_dispatchers_and_other_options_are_left_alone() -> None:
    assert with_conf("easy", {"conf": "x"}) == ("easy", {"conf": "x"})
    assert with_conf("slurm-backfill", {"depth": "3"}) == ("slurm-backfill", {"depth": "3"})
    with pytest.raises(InputError, match="option conf is read by batdispatch's commands"):
        create("slurm-backfill", {"conf": "x"})


VALID = (
    "SchedulerParameters=bf_min_prio_reserve=100,bf_running_job_reserve,pack_serial_at_end,bf_intervall=3\n"
    "SelectTypeParameters=CR_Core_Memory,CR_LLN,CR_Cores\n"
    "FairShareDampeningFactor=3\nAccountingStorageEnforce=limits\nEnforcePartLimits=ALL\nSuspendTime=600\n"
    "DefMemPerCPU=4000\nMaxArraySize=10\nLicenses=matlab:3\nMailProg=/bin/mail\n"
    "NodeName=n1\nPartitionName=p Nodes=n1 AllowQos=a DefMemPerCPU=1\n"
)


def test_every_setting_about_scheduling_has_a_line_and_valid_ones_are_never_doubted(tmp_path: Path) -> None:
    rows = scheduling_of(read_conf(write(tmp_path, VALID))).readings
    found = {f"{setting.key}": (verdict, why) for setting, verdict, why in rows}
    verdicts = {key: verdict for key, (verdict, _) in found.items()}
    assert verdicts == {
        **dict.fromkeys(("bf_min_prio_reserve", "bf_running_job_reserve", "pack_serial_at_end"), "ignored"),
        **{"bf_intervall": "ignored", "CR_Core_Memory": "understood", "CR_LLN": "ignored", "CR_Cores": "ignored"},
        **dict.fromkeys(("FairShareDampeningFactor", "AccountingStorageEnforce", "EnforcePartLimits"), "ignored"),
        **dict.fromkeys(("SuspendTime", "MaxArraySize", "AllowQos", "DefMemPerCPU"), "ignored"),
        "Licenses": "understood",
    }
    assert [key for key, (_, why) in found.items() if "did you mean" in why] == ["bf_intervall", "CR_Cores"]
    assert len(rows) == len(found) + 1  # DefMemPerCPU stands twice.
