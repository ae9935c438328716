"""``batdispatch engine``: the embedded engine in Batsim's place."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from batdispatch.batsim import protocol
from batdispatch.cli.groups import Command, option
from batdispatch.cli.inputs import clock_option, input_options, protocol_option, timeout_option
from batdispatch.inputs.folders import checked_folder

if TYPE_CHECKING:
    from batdispatch.engines.records import Clock
    from batdispatch.engines.simulation import UseSimGrid
    from batdispatch.engines.timing import PlatformTimer
    from batdispatch.inputs.platforms import Platform
    from batdispatch.inputs.workloads import Workload


@click.command(cls=Command)
@input_options()
@clock_option
@option(
    "--socket",
    "endpoint",
    metavar="ENDPOINT",
    default="tcp://127.0.0.1:28000",
    show_default=True,
    help="Connect to the scheduler here, as Batsim does.",
)
@protocol_option
@timeout_option("Wait at most this many seconds for an answer.")
@option(
    "-o",
    "--out",
    metavar="DIR",
    type=click.Path(path_type=Path),
    default=Path("engine-out"),
    show_default=True,
    help="Write jobs.csv, schedule.csv and machine_states.csv into this folder.",
)
@option("--enable-dynamic-jobs", is_flag=True, help="Let the scheduler register jobs.")
@option(
    "--acknowledge-dynamic-jobs",
    is_flag=True,
    help="Tell the scheduler of each job that it registered, once the job is known.",
)
@option("--enable-compute-sharing", is_flag=True, help="Let jobs share hosts.")
@option(
    "--forward-profiles-on-submission",
    is_flag=True,
    help="Send each job's profile to the scheduler when the job is submitted.",
)
@option("--forward-unknown-events", is_flag=True, help="Send external events of any type to the scheduler.")
@option("--sched-cfg", metavar="TEXT", default="", help="Hand this text to the scheduler as its configuration.")
def command(
    platform: str,
    workload: str,
    master_host: str | None,
    events: str | None,
    clock: Clock,
    simgrid: UseSimGrid,
    endpoint: str,
    version: str,
    timeout: float,
    out: Path,
    enable_dynamic_jobs: bool,
    acknowledge_dynamic_jobs: bool,
    enable_compute_sharing: bool,
    forward_profiles_on_submission: bool,
    forward_unknown_events: bool,
    sched_cfg: str,
) -> None:
    """Simulate a workload for a scheduler behind a socket, in Batsim's place and with its options.

    \b
    Example, in two terminals:
      batdispatch serve --dispatcher easy --socket tcp://127.0.0.1:28000
      batdispatch engine --platform P.xml --workload W.json --socket tcp://127.0.0.1:28000

    With --protocol 5 the scheduler asks for dynamic jobs and forwarded profiles in the handshake.
    """
    from batdispatch.batsim.v5.workload import check_kinds
    from batdispatch.inputs.folders import Claim
    from batdispatch.inputs.platforms import read_platform
    from batdispatch.inputs.workloads import read_workload
    from batdispatch.results.run_files import NAMES, RESULT
    from batdispatch.runs.engines import needs_simgrid
    from batdispatch.runs.workers import isolated

    task: dict[str, Any] = {
        "platform": platform,
        "workload": workload,
        "master_host": master_host,
        "clock": clock,
        "events": events,
        "endpoint": endpoint,
        "version": version,
        "timeout": timeout,
        "options": {
            "dynamic_jobs": enable_dynamic_jobs,
            "acknowledge_dynamic_jobs": acknowledge_dynamic_jobs,
            "forward_profiles": forward_profiles_on_submission,
            "compute_sharing": True if enable_compute_sharing else None,
            "forward_unknown_events": forward_unknown_events,
            "scheduler_config": sched_cfg,
            "split_simultaneous": clock == "apart",
        },
    }
    if version == "5":
        _refuse_asked_for(task["options"])
    site = read_platform(Path(platform), master=master_host, batsim=5 if version == "5" else 4)
    jobs = read_workload(Path(workload))
    if version == "5":
        check_kinds(jobs.profiles, source=workload)
    apart = needs_simgrid(site, jobs, simgrid, clock)
    with Claim(checked_folder(out)) as claim:
        task["out"] = str(claim.place)
        if apart:
            isolated(simulate_with_simgrid, task)
        else:
            _simulate(task, site, jobs, None)
        # What an earlier run left beside the tables would pass for this one's.
        claim.publish([*NAMES, RESULT])
    click.echo(str(out))


#: What a scheduler of Batsim 5 asks for itself.
_ASKED_FOR = {
    "dynamic_jobs": "--enable-dynamic-jobs",
    "acknowledge_dynamic_jobs": "--acknowledge-dynamic-jobs",
    "forward_profiles": "--forward-profiles-on-submission",
}


def _refuse_asked_for(options: dict[str, Any]) -> None:
    from batdispatch.core.errors import InputError

    for name, text in _ASKED_FOR.items():
        if options[name]:
            raise InputError("with --protocol 5 the scheduler asks for it in the handshake", source=f"option {text}")


def simulate_with_simgrid(task: dict[str, Any], progress: object) -> None:
    """Simulate with SimGrid in this process, once."""
    from batdispatch.engines.simgrid_timer import SimGridTimer
    from batdispatch.inputs.platforms import read_platform
    from batdispatch.inputs.workloads import read_workload

    site = read_platform(Path(task["platform"]), master=task["master_host"], batsim=5 if task["version"] == "5" else 4)
    _simulate(task, site, read_workload(Path(task["workload"])), SimGridTimer(site))


def _simulate(task: dict[str, Any], site: Platform, jobs: Workload, timer: PlatformTimer | None) -> None:
    from batdispatch.engines.embedded import EmbeddedEngine
    from batdispatch.engines.external import read_external_events
    from batdispatch.engines.outputs import Outputs
    from batdispatch.engines.records import EngineOptions
    from batdispatch.links.remote_peer import RemotePeer

    external = read_external_events(Path(task["events"]), len(site.machine.hosts)) if task["events"] else []
    with RemotePeer(task["endpoint"], protocol(task["version"]), timeout=task["timeout"]) as peer:
        asked = peer.open(task["options"]["scheduler_config"])
        options = dict(task["options"])
        if asked is not None:
            options |= {
                "dynamic_jobs": asked.dynamic_registration,
                "acknowledge_dynamic_jobs": asked.acknowledge_dynamic_jobs,
                "forward_profiles": asked.forward_profiles_on_job_submission,
                # Batsim 5 forwards every external event.
                "forward_unknown_events": True,
            }
        outputs = Outputs(Path(task["out"]), len(site.machine.hosts))
        try:
            EmbeddedEngine(
                site.machine,
                jobs,
                outputs,
                options=EngineOptions(**options),
                external_events=external,
                timer=timer,
                delays=timer.delay if timer is not None and task["clock"] == "batsim" else None,
            ).run(peer)
        finally:
            outputs.discard()
