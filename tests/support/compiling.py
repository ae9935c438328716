"""The same small simulation in a kernel and in the engine in Python, with all files that must not differ."""

import ctypes
import math
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from batdispatch.abilities.kernels import applies, engine
from batdispatch.abilities.kernels.exchange import exchange_of
from batdispatch.abilities.power.engine.energy_files import PowerRows
from batdispatch.abilities.power.results.rows import read_power
from batdispatch.batsim import protocol
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.messages import Message, Peer, Reply
from batdispatch.core.line.session import Session
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.choices import CountEnergy
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.records import EngineOptions
from batdispatch.inputs.workloads import Workload
from batdispatch.inputs.workloads.columns import JobColumns, columns_of
from batdispatch.native.library import FOLDER, Library
from batdispatch.native.record import Record
from simulating import Task

#: Where there is a compiler, the installation has built the kernels.
needs_kernels = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")

#: Columns of schedule.csv that say what simulated, and how long that took.
_OF_THE_RUN = ("batsim_version", "scheduling_time", "simulation_time")


STATIC = (
    *("fcfs", "lcfs", "sjf", "ljf", "smallest-first", "largest-first", "smallest-area", "largest-area"),
    *("f1", "f2", "f3", "f4"),
)
GROWING = ("unicef", "wfp3", "slowdown", "aged-area[head_start=3]", "aged-area[head_start=0.7,power=1.5,width=0.3]")
#: Options of slurm-backfill, with values that matter within some 20 s.
SLURM: dict[str, list[Any]] = {
    "ordering": [*STATIC, "basic", "unicef", "slowdown", "aged-area[head_start=3]"],
    "placement": ["consecutive", "first-fit"],
    "tick": [0, 1, 0.7, 3, 0.004],
    "batch_delay": [0, 1, 3, 2.5],
    "full_interval": [4, 60, 1.5],
    "queue_depth": [1, 2, 4, 100],
    "interval": [0, 1, 2, 5, 30, 0.3, 0.005],
    "phase": [0, 1, 0.25, 7],
    "clock": [0, 1, 31, 0.5],
    "depth": [None, 1, 2, 5],
    "starts": [0, 1, 2],
    "user_jobs": [0, 1, 2],
    "part_jobs": [0, 1, 3],
    "reservations": [0, 1, 2],
    "min_age": [0, 1, 4],
    "window": [0, 3, 10, 86400, math.inf],
    "resolution": [0, 1, 2, 60, 0.4],
    "end_window": [0, 1, 3, 30, 0.7],
    "window_linear": [0, 1, 2],
    "version": ["22.05", "20.11"],
    "prediction": ["requested", "last-two", "online-regression", "oracle"],
    "correction": ["walltime", "steps", "doubling"],
    "default_walltime": [math.inf, 1, 8],
    "rjms_delay": [0, 1, 0.3],
    "licenses": [False, True],
}


def sizes_in_c(library: Library, source: str, records: Sequence[type[Record]], folder: Path) -> None:
    """Let the compiler check that structures of a source are as large as Python's, and end with the same field."""
    claims = [f'#include <stddef.h>\n#include "{source}"']
    for record in records:
        name, (last, _) = record.__name__, record._fields_[-1]
        claims.append(f'_Static_assert(sizeof({name}) == {ctypes.sizeof(record)}, "size");')
        claims.append(f'_Static_assert(offsetof({name}, {last}) == {getattr(record, last).offset}, "last field");')
    probe = folder / "probe.c"
    probe.write_text("\n".join(claims))
    words = ["cc", "-std=c11", "-fsyntax-only", f"-I{library.folder}", f"-I{FOLDER}", str(probe)]
    subprocess.run(words, check=True)


class Came(NamedTuple):
    """What comes out of a simulation."""

    jobs: str
    #: Of units.csv; empty: there is none.
    units: str
    states: str
    sums: dict[str, str]
    messages: int
    rejections: list[tuple[str, str]]
    report: dict[str, Any]
    #: Frames of messages and answers; empty where the dispatcher may ask to be called.
    exchange: list[tuple[bytes, bytes]]
    #: consumed_energy.csv and pstate_changes.csv; none: energy is not counted.
    energy: tuple[str, ...]


class _Recorded:
    """A peer that notes each exchange."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.frames: list[tuple[bytes, bytes]] = []

    def handle(self, message: Message) -> Reply:
        reply = self.peer.handle(message)
        self.frames.append(_frames(message, reply))
        return reply


def _frames(message: Message, reply: Reply) -> tuple[bytes, bytes]:
    wire = protocol("4")
    return wire.encode_message(message), wire.encode_reply(reply)


def workload_of(tasks: list[Task]) -> Workload:
    """Return a workload of three users; a task whose extra says ``ret`` has a profile of that return code."""
    profiles = {}
    jobs = []
    for number, task in enumerate(tasks):
        code = task.extra.get("ret", 0)
        profile = f"d{task.runtime}" + (f"r{code}" if code else "")
        profiles[profile] = {"type": "delay", "delay": task.runtime} | ({"ret": code} if code else {})
        jobs.append(
            Job(
                id=task.id,
                request=task.request(),
                submission=float(task.submission),
                walltime=float(task.walltime),
                profile=profile,
                user=f"u{number % 3}",
                extra=task.extra,
            )
        )
    made = Workload(path=Path("made.json"), name="made", jobs=jobs, profiles=profiles)
    made.sort()
    return made


def in_python(
    machine: Machine,
    workload: Workload,
    dispatcher: str,
    options: Mapping[str, Any],
    energy: CountEnergy | None = None,
) -> Came:
    """Simulate with the dispatcher in Python."""
    session = Session(create(dispatcher, options))
    with tempfile.TemporaryDirectory() as name:
        outputs = Outputs(Path(name), len(machine.hosts))
        simulation = EmbeddedEngine(machine, workload, outputs, options=EngineOptions(energy=energy))
        simulation.run(listener := _Recorded(session))
        assert session.ledger is not None
        frames = [] if applies.calls(session.dispatcher, machine) else listener.frames
        return _came(Path(name), simulation.messages, session.ledger.rejections, session.report, frames)


def compiled(
    machine: Machine,
    workload: Workload,
    dispatcher: str,
    options: Mapping[str, Any],
    energy: CountEnergy | None = None,
) -> Came:
    """Simulate in a kernel."""
    chosen = create(dispatcher, options)
    jobs = columns_of(workload, told=not machine.plain)
    assert isinstance(jobs, JobColumns)
    assert applies.why_never(chosen, machine) is None
    assert applies.why_not(jobs) is None
    frames: list[tuple[bytes, bytes]] = []

    def tell(*told: Any) -> None:
        frames.extend(_frames(*each) for each in exchange_of(machine, workload, *told))

    with tempfile.TemporaryDirectory() as name:
        silent = applies.calls(chosen, machine)
        outputs = Outputs(Path(name), len(machine.hosts))
        outcome = engine.run(machine, jobs, chosen, outputs, tell=None if silent else tell, count=energy)
        if (power := outcome.known.get("power")) is not None:
            assert _columns(power) == _columns(read_power(Path(name), changes=True))
        return _came(Path(name), outcome.messages, outcome.rejections, outcome.report, frames)


def _columns(rows: PowerRows) -> list[list[float]]:
    """Return what the files of power say, column by column."""
    energy, changes = rows
    assert changes is not None
    times, hosts, *rest = changes
    return [column.tolist() for column in (*energy, times, hosts.first, hosts.last, hosts.row, *rest)]


def _came(
    folder: Path,
    messages: int,
    rejections: list[tuple[str, str]],
    report: dict[str, Any],
    exchange: list[tuple[bytes, bytes]],
) -> Came:
    written = {path.name for path in folder.iterdir()}
    counted = ("consumed_energy.csv", "pstate_changes.csv")
    assert written - {"units.csv", *counted} == {"jobs.csv", "machine_states.csv", "schedule.csv"}
    energy = tuple((folder / file).read_text() for file in counted if file in written)
    units = (folder / "units.csv").read_text() if "units.csv" in written else ""
    names, values = (folder / "schedule.csv").read_text().splitlines()
    sums = dict(zip(names.split(","), values.replace(", ", " ").split(","), strict=True))
    jobs, states = (folder / "jobs.csv").read_text(), (folder / "machine_states.csv").read_text()
    sums = {k: v for k, v in sums.items() if k not in _OF_THE_RUN}
    return Came(jobs, units, states, sums, messages, rejections, dict(report), exchange, energy)
