"""The embedded engine in Batsim's place: a workload is simulated for a scheduler behind a socket."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from batdispatch.batsim import protocol
from batdispatch.batsim.v5.exchange import Batsim5
from batdispatch.batsim.v5.workload import check_kinds
from batdispatch.core.errors import InputError
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.external import read_external_events
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.records import EngineOptions
from batdispatch.engines.simulation import Setting
from batdispatch.engines.timing import PlatformTimer
from batdispatch.inputs.folders import Claim
from batdispatch.inputs.platforms import Platform, read_platform
from batdispatch.inputs.workloads import Workload, read_workload
from batdispatch.links.options import ASKED_FOR, EngineInPlace
from batdispatch.links.remote_peer import RemotePeer
from batdispatch.results.run_files import NAMES, RESULT
from batdispatch.runs.engines import counted_energy, energy_facet, timing_engine
from batdispatch.runs.spec import RunSpec


def simulate_for_scheduler(spec: RunSpec, options: EngineInPlace, out: Path) -> None:
    """Simulate a workload for the scheduler behind a socket, into the folder `out`.

    Args:
        spec: what is simulated; there is no dispatcher.
        options: of the engine.
        out: the folder.

    Raises:
        InputError: the platform, the workload or an option is wrong.
    """
    if options.protocol == "5":
        _refuse_asked_for(options)
    site, jobs = _read(spec, options)
    if options.protocol == "5":
        check_kinds(jobs.profiles, source=spec.workload)
    energy = counted_energy(spec.energy, needed=False)
    if energy is not None:
        energy_facet(site)
    engine = timing_engine(Setting(site, jobs, spec.clock, spec.simgrid, energy))
    with Claim(out) as claim:
        if engine is None:
            _simulate(spec, options, claim.place, site, jobs, None)
        else:
            engine.call_apart(spec.platform, energy is not None, simulate_apart, spec, options, claim.place)
        # What an earlier run left beside the tables would pass for this one's.
        claim.publish([*NAMES, RESULT])


def _refuse_asked_for(options: EngineInPlace) -> None:
    for name in ASKED_FOR:
        if getattr(options, name):
            option = f"--{name.replace('_', '-')}"
            raise InputError("with --protocol 5 the scheduler asks for it in the handshake", source=f"option {option}")


def _read(spec: RunSpec, options: EngineInPlace) -> tuple[Platform, Workload]:
    site = read_platform(Path(spec.platform), master=spec.master_host, batsim=5 if options.protocol == "5" else 4)
    return site, read_workload(Path(spec.workload))


def simulate_apart(spec: RunSpec, options: EngineInPlace, out: Path, progress: object) -> None:
    """Simulate with a timer in this process, which is its own."""
    site, jobs = _read(spec, options)
    setting = Setting(site, jobs, spec.clock, spec.simgrid, counted_energy(spec.energy, needed=False))
    engine = timing_engine(setting)
    _simulate(spec, options, out, site, jobs, None if engine is None else engine.timer(setting))


def _simulate(
    spec: RunSpec, options: EngineInPlace, out: Path, site: Platform, jobs: Workload, timer: PlatformTimer | None
) -> None:
    hosts = len(site.machine.hosts)
    external = []
    if spec.external_events:
        batsim: Literal[4, 5] = 5 if options.protocol == "5" else 4
        external = read_external_events(Path(spec.external_events), hosts, batsim=batsim)
    wire = protocol(options.protocol)
    with RemotePeer(options.socket, wire, timeout=options.timeout) as peer:
        asked = peer.open(options.sched_cfg)
        given = {
            "dynamic_jobs": options.enable_dynamic_jobs,
            "acknowledge_dynamic_jobs": options.acknowledge_dynamic_jobs,
            "forward_profiles": options.forward_profiles_on_submission,
            "forward_unknown_events": options.forward_unknown_events,
        }
        if asked is not None:
            given = {
                "dynamic_jobs": asked.dynamic_registration,
                "acknowledge_dynamic_jobs": asked.acknowledge_dynamic_jobs,
                "forward_profiles": asked.forward_profiles_on_job_submission,
                # Batsim 5 forwards every external event.
                "forward_unknown_events": True,
                "turns_hosts": True,
            }
        shared = options.enable_compute_sharing or (isinstance(wire, Batsim5) and wire.compute_sharing)
        engine_options = EngineOptions(
            **given,
            compute_sharing=True if shared else None,
            energy=counted_energy(spec.energy, needed=False),
            scheduler_config=options.sched_cfg,
            split_simultaneous=spec.clock == "apart",
        )
        outputs = Outputs(out, hosts)
        try:
            EmbeddedEngine(
                site.machine,
                jobs,
                outputs,
                options=engine_options,
                external_events=external,
                timer=timer,
                delays=timer.delay if timer is not None and spec.clock == "batsim" else None,
            ).run(peer)
        finally:
            outputs.discard()
