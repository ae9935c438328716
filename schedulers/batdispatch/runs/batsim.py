"""A run in a real Batsim: started with the options that the dispatcher needs, served, its outputs collected.

What a run asks for is said to each Batsim in its own way:

| | Batsim 4 | Batsim 5 |
|---|---|---|
| where we listen | ``-s ENDPOINT`` | ``-s ENDPOINT INIT`` |
| jobs that the dispatcher registers | ``--enable-dynamic-jobs``, ``--acknowledge-dynamic-jobs``, ... | the handshake |
| hosts that jobs share | ``--enable-compute-sharing`` | always possible |
| external events | ``--events``, any type | ``--external-events``, all of type generic |
| energy | ``--energy`` | ``--energy-host``, ``--trace-pstate-changes`` |
| roles of hosts | ``-r HOST:ROLE`` | ``-r HOST ROLE`` |
| no trace of the schedule for Paje, which nobody here reads | ``--disable-schedule-tracing`` | never written |
"""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

import msgspec

from batdispatch.batsim import features_for, protocol
from batdispatch.batsim.v5 import faults
from batdispatch.core.errors import InputError, SimulationError
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.core.line.messages import Message, Reply
from batdispatch.core.line.session import Session
from batdispatch.engines.job_rows import quote
from batdispatch.engines.outputs import UNITS_HEADER
from batdispatch.engines.simulation import Outcome, Task
from batdispatch.inputs.files import write_whole
from batdispatch.inputs.platforms.simgrid_form import readable
from batdispatch.inputs.workloads import Workload, write_workload
from batdispatch.inputs.workloads.writer import profiles_for
from batdispatch.links.batsim_program import BatsimProgram, find_batsim
from batdispatch.links.platform_peer import PlatformPeer
from batdispatch.links.recorder import Recorder
from batdispatch.links.serve import serve
from batdispatch.links.watched_process import WatchedProcess
from batdispatch.runs.embedded import outcome_of, session_of
from batdispatch.runs.listener import Progress
from batdispatch.runs.spec import RunSpec

#: Seconds that Batsim may take for its output files after the last reply.
ENDING = 120.0
#: What a run's folder holds of Batsim's outputs; further ones are left out.
OUTPUTS = (
    "jobs.csv",
    "schedule.csv",
    "schedule.json",
    "machine_states.csv",
    "pstate_changes.csv",
    "consumed_energy.csv",
)
#: Options that a dispatcher may need as well as a user; Batsim takes an option once.
_ENERGY = {"-E", "--energy", "--energy-host"}
#: Without it, Batsim 5 writes no pstate_changes.csv, as Batsim 4 does by itself.
_TRACE_PSTATES = "--trace-pstate-changes"
_PACKED = (".xz", ".gz")
#: The SimGrid that each Batsim is built with.
_SIMGRID: dict[int, str] = {4: "3.32", 5: "4.1"}


def run_in_batsim(
    spec: RunSpec, task: Task, out: Path, progress: Progress | None, notice: Callable[[str], None]
) -> Outcome:
    """Simulate a workload in a real Batsim, which is started here, and put its outputs into the folder `out`.

    The dispatcher is told the platform's machine, with its topology and speeds, after it was compared with the machine
    that Batsim says it has.

    Args:
        spec: which Batsim, its further options, and the file of external events, in Batsim 4's form.
        task: what to simulate, with a platform that was read for this version of Batsim; the workload is converted if
            need be.
        out: an existing folder.
        progress: hears of the jobs that ended.
        notice: called with a sentence for each known fault of this Batsim that touches jobs of the workload.

    Raises:
        InputError: there is no such Batsim, it cannot be told to do this, or it read another machine from the platform.
        ImpossibleDecision: the dispatcher decided something impossible.
        SimulationError: Batsim crashed, hung, or wrote no outputs.
    """
    session, platform, workload = session_of(task), task.platform, task.workload.workload()
    major: Literal[4, 5] = 5 if spec.engine == "batsim5" else 4
    batsim = find_batsim(major, spec.batsim, spec.nix)
    if platform.master is None:
        raise InputError(
            "has no host that carries Batsim itself: say which with --master-host", source=str(platform.path)
        )
    if major == 5:
        for warning in faults.warnings((job.profile for job in workload.jobs), workload.profiles):
            notice(warning)
    wire = protocol(str(major))
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=out, prefix=".batsim-")))
        inputs = _arguments(major, task, workload, scratch, spec.external_events)
        inputs = _with_own_options(major, inputs, shlex.split(spec.batsim_option))
        prefix = f"{scratch.resolve()}/out" if major == 4 else f"{scratch.resolve()}/"
        process = stack.enter_context(WatchedProcess([*batsim.command, *inputs, "-q", "-e", prefix], "Batsim"))
        recorder = stack.enter_context(Recorder(out / "decisions.jsonl", wire)) if task.record else None

        def start(endpoint: str) -> None:
            process.command += ["-s", endpoint] if major == 4 else ["-s", endpoint, ""]
            process.start()

        followed = _Followed(session, len(workload.jobs), progress)
        # Batsim does not tell coordinates, topology and routes, and Batsim 4 no speeds.
        places = [host.place for host in platform.hosts]
        peer = PlatformPeer(followed, platform.machine, source=str(platform.path), places=places)
        served = serve(
            peer,
            "tcp://127.0.0.1:*",
            wire,
            features=features_for(registers_jobs=session.dispatcher.registers_jobs),
            timeout=task.timeout,
            recorder=recorder,
            on_ready=start,
            watch=process.watch,
        )
        process.finish(ENDING)
        _collect(scratch, out, batsim, process)
        followed.write_units(out)
    about = {"name": f"batsim{major}", "version": batsim.version, "command": shlex.join(process.command)}
    return outcome_of(session, about, served.messages)


def _arguments(
    major: Literal[4, 5], task: Task, workload: Workload, scratch: Path, events_file: str | None
) -> list[str]:
    """Return Batsim's arguments for the inputs, written anew where Batsim could not read them as they are."""
    platform, dispatcher = task.platform, task.dispatcher
    arguments = platform.batsim_arguments()
    arguments[arguments.index("-p") + 1] = str(readable(platform.path, scratch, _SIMGRID[major]))
    path = workload.path
    unused = len(workload.profiles) > len(profiles_for(workload, major))
    if workload.batsim != major or unused or path.suffix in _PACKED:
        path = scratch / "workload.json"
        write_workload(workload, path, batsim=major)
    arguments += ["-w", str(path)]
    arguments.append("--disable-schedule-tracing" if major == 4 else "--trace-machine-state")
    if events_file is not None and major == 4:
        arguments += ["--events", events_file, "--forward-unknown-events"]
    elif events_file is not None:
        file = scratch / "events.txt"
        file.write_bytes(b"".join(map(_generic, task.events)))
        arguments += ["--external-events", str(file)]
    if dispatcher.registers_jobs and major == 4:
        arguments += ["--enable-dynamic-jobs", "--acknowledge-dynamic-jobs", "--enable-profile-reuse"]
    if not platform.machine.exclusive and major == 4:
        arguments.append("--enable-compute-sharing")
    if task.energy is not None:
        arguments.append("--energy" if major == 4 else "--energy-host")
    return arguments


def _with_own_options(major: Literal[4, 5], arguments: list[str], own: list[str]) -> list[str]:
    """Return Batsim's arguments with the user's own ones, and what makes Batsim 5 write pstate_changes.csv with energy.

    Batsim takes an option once.
    """
    if _ENERGY.intersection(arguments):
        own = [word for word in own if word not in _ENERGY]
    if major == 5 and _ENERGY.intersection(arguments + own):
        own = [_TRACE_PSTATES, *(word for word in own if word != _TRACE_PSTATES)]
    return arguments + own


def _generic(event: e.Event) -> bytes:
    """Return an external event as a line that Batsim 5 reads: what happened is text inside."""
    if isinstance(event, e.MachinesAvailable | e.MachinesUnavailable):
        kind = "machine_available" if isinstance(event, e.MachinesAvailable) else "machine_unavailable"
        inner: dict[str, Any] = {"type": kind, "resources": str(event.hosts)}
    else:
        assert isinstance(event, e.Notified)
        inner = {"type": event.kind, **{key: value for key, value in event.data.items() if key != "timestamp"}}
    text = msgspec.json.encode(inner).decode()
    return msgspec.json.encode({"type": "generic", "timestamp": event.time, "data": text}) + b"\n"


class _Followed:
    """Passes messages to a session, counts jobs that ended, and keeps what Batsim does not write down."""

    def __init__(self, session: Session, jobs: int, progress: Progress | None) -> None:
        self._session = session
        self._jobs = jobs
        self._progress = progress
        self._ended = 0
        self._units: list[str] = []

    def handle(self, message: Message) -> Reply:
        """Answer a message."""
        reply = self._session.handle(message)
        before = self._ended
        self._ended += sum(isinstance(event, e.JobCompleted) for event in message.events)
        for decision in reply.decisions:
            if isinstance(decision, d.Reject):
                self._ended += 1
            elif isinstance(decision, d.Execute) and decision.allocation.counts is not None:
                name = quote(decision.job_id.partition("!")[2])
                counts = " ".join(map(str, decision.allocation.counts))
                self._units.append(f"{name},{decision.allocation},{counts}\n")
        if self._progress is not None and self._ended > before:
            self._progress(self._ended, max(self._jobs, self._ended))
        return reply

    def write_units(self, out: Path) -> None:
        """Write units.csv where several units of a job shared a host, as the embedded engine does."""
        path = out / "units.csv"
        if self._units:
            write_whole(path, (UNITS_HEADER + "".join(self._units)).encode())
        else:
            path.unlink(missing_ok=True)


def _collect(scratch: Path, out: Path, batsim: BatsimProgram, process: WatchedProcess) -> None:
    """Move Batsim's outputs into the run's folder; what an earlier run left there under their names goes."""
    found = {
        name: path
        for name in OUTPUTS
        for path in (scratch / f"out_{name}", scratch / name)
        if path.is_file() and not path.is_symlink()
    }
    if "jobs.csv" not in found:
        raise SimulationError(f"{batsim.name} wrote no jobs.csv{process.last_words()}")
    for name in OUTPUTS:
        if name in found:
            found[name].replace(out / name)
        else:
            (out / name).unlink(missing_ok=True)
