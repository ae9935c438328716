"""Small simulations for tests: what goes in is a list of jobs, what comes out is read back from the output files."""

from __future__ import annotations

import csv
import math
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from batdispatch.core.errors import InputError
from batdispatch.core.hosts import hostset
from batdispatch.core.jobs.fields import read_request
from batdispatch.core.jobs.job import Job, JobState
from batdispatch.core.jobs.request import Request
from batdispatch.core.line import events as e
from batdispatch.core.line.dispatcher import Dispatcher, create
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.messages import Message, Reply
from batdispatch.core.line.session import DecisionTime, Session
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.mail import Delays
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.records import EngineOptions
from batdispatch.inputs.workloads import Workload

#: Field of a job in a workload file -> the argument of `Task` that says it, and without which it would not be heard.
_ARGUMENTS = {
    "id": "id",
    "subtime": "submission",
    "res": "units",
    "walltime": "walltime",
    "profile": "runtime",
}


class Task(NamedTuple):
    """A job and how long it takes. Times in seconds."""

    #: Without a workload's name; starts and rows go by it.
    id: str
    #: When it arrives, s.
    submission: float
    #: How many it asks for: whole hosts, unless `demand` says what a unit is.
    units: int
    #: How long it takes, s; a shorter walltime kills it.
    runtime: float
    #: How long it asks for, s.
    walltime: float = math.inf
    #: What each unit needs on its node, such as ``{"core": 2}``; None: what `extra` says, or else a whole node.
    demand: dict[str, int] | None = None
    #: Who submitted it; empty: whom `extra` names, if anybody.
    user: str = ""
    #: Further fields of the job, as a workload file has them, such as ``{"partition": "batch"}``.
    extra: dict[str, Any] = {}

    def fields(self) -> dict[str, Any]:
        """The job's fields beyond Batsim's own.

        Raises:
            InputError: `extra` has a field that an argument of the task says.
        """
        for field, argument in _ARGUMENTS.items():
            if field in self.extra:
                raise InputError(
                    f"the field {field!r}, expected as {argument}=, an argument of Task",
                    source=f"task {self.id}",
                    place="extra",
                )
        return self.extra if self.demand is None else {"demand": self.demand, **self.extra}

    def request(self) -> Request:
        """What the job asks for."""
        return read_request(self.units, self.fields())

    @property
    def lasts(self) -> float:
        """How long it runs when it is not killed."""
        return min(self.runtime, self.walltime)


class Row(NamedTuple):
    """What became of a job. Times are whole microseconds; a rejected job has neither times nor hosts."""

    #: Of the task.
    id: str
    #: How it ended.
    state: JobState
    #: When it started, in microseconds.
    start: int
    #: When it ended, in microseconds.
    end: int
    #: Host id -> units of the job there.
    units: dict[int, int]

    @property
    def hosts(self) -> str:
        """The hosts in Batsim's notation."""
        return hostset.to_text(hostset.mask_of(self.units))


class Result(NamedTuple):
    """A finished simulation."""

    #: By job id, without the workload, in order of completion.
    rows: dict[str, Row]
    session: Session
    #: Name -> content of the files that must not differ between equal runs.
    files: dict[str, bytes]
    exchanges: list[tuple[Message, Reply]]

    @property
    def ledger(self) -> Ledger:
        """The ledger as the simulation left it."""
        assert self.session.ledger is not None, "it has begun"
        return self.session.ledger

    def starts(self) -> dict[str, float]:
        """Return the start of every job that ran, in seconds."""
        return {row.id: row.start / 1e6 for row in self.rows.values() if row.state is not JobState.REJECTED}


class _Recorded:
    """Passes messages on and keeps them."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.exchanges: list[tuple[Message, Reply]] = []

    def handle(self, message: Message) -> Reply:
        reply = self.session.handle(message)
        self.exchanges.append((message, reply))
        return reply


def micro(seconds: float) -> int:
    """Return whole microseconds, in which times compare exactly."""
    return round(seconds * 1_000_000)


def simulate(
    machine: Machine,
    tasks: Iterable[Task],
    dispatcher: str | Dispatcher,
    *,
    options: Mapping[str, Any] | None = None,
    events: Sequence[e.Event] = (),
    decision_time: DecisionTime = 0.0,
    engine: EngineOptions | None = None,
    delays: Delays | None = None,
    flops: float = 0.0,
) -> Result:
    """Run tasks through the embedded engine and read its output files.

    Args:
        machine: the machine.
        tasks: its jobs.
        dispatcher: with options in brackets, if it is a text.
        options: further ones.
        events: hosts that go away and come back.
        decision_time: simulated seconds that each decision takes.
        engine: options of the engine.
        delays: of messages.
        flops: the speed, in flop/s, at which the tasks compute for as long as they run; 0: they only wait.
    """
    tasks = sorted(tasks, key=lambda task: (task.submission, task.id))
    workload = Workload(
        path=Path("made.json"),
        name="made",
        jobs=[
            Job(
                id=task.id,
                request=task.request(),
                submission=task.submission,
                walltime=task.walltime,
                profile=f"d{task.runtime}",
                user=task.user or str(task.extra.get("user", "")),
                extra=task.fields(),
            )
            for task in tasks
        ],
        profiles={f"d{task.runtime}": _profile(task.runtime, flops) for task in tasks},
    )
    chosen = create(dispatcher, options) if isinstance(dispatcher, str) else dispatcher
    session = Session(chosen, decision_time=decision_time, clock=perf_counter)
    if engine is None and chosen.registers_jobs:
        engine = EngineOptions(dynamic_jobs=True)
    peer = _Recorded(session)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        outputs = Outputs(folder, machine.size)
        EmbeddedEngine(machine, workload, outputs, options=engine, external_events=events, delays=delays).run(peer)
        files = {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name != "schedule.csv"}
        return Result(_rows(folder), session, files, peer.exchanges)


def _profile(runtime: float, flops: float) -> dict[str, Any]:
    if flops:
        return {"type": "parallel_homogeneous", "cpu": runtime * flops, "com": 0}
    return {"type": "delay", "delay": runtime}


def _rows(folder: Path) -> dict[str, Row]:
    counts: dict[str, list[int]] = {}
    if (folder / "units.csv").exists():
        with (folder / "units.csv").open(newline="") as lines:
            counts = {row["job_id"]: [int(n) for n in row["units"].split()] for row in csv.DictReader(lines)}
    rows: dict[str, Row] = {}
    with (folder / "jobs.csv").open(newline="") as lines:
        for row in csv.DictReader(lines):
            state = JobState(row["final_state"])
            name = row["job_id"]
            assert name not in rows, f"{name} has two rows"
            if state is JobState.REJECTED:
                rows[name] = Row(name, state, -1, -1, {})
                continue
            hosts = hostset.ids(hostset.from_text(row["allocated_resources"]))
            units = dict(zip(hosts, counts.get(name, [1] * len(hosts)), strict=True))
            rows[name] = Row(name, state, micro(float(row["starting_time"])), micro(float(row["finish_time"])), units)
    return rows


def audit(machine: Machine, tasks: Sequence[Task], result: Result) -> None:
    """Check what holds for every dispatcher, from the output files alone."""
    rows = result.rows
    assert sorted(rows) == sorted(task.id for task in tasks), "a job was lost"
    by_id = {task.id: task for task in tasks}
    ran = [row for row in rows.values() if row.state is not JobState.REJECTED]
    for row in ran:
        task = by_id[row.id]
        assert row.start >= micro(task.submission)
        assert row.end - row.start == micro(task.lasts)
        killed = task.walltime <= task.runtime
        expected = JobState.COMPLETED_WALLTIME_REACHED if killed else JobState.COMPLETED_SUCCESSFULLY
        assert row.state is expected
        assert sum(row.units.values()) == task.units
    for moment in {row.start for row in ran}:
        used: dict[int, dict[str, int]] = {}
        for row in ran:
            if row.start <= moment < row.end:
                for host, count in row.units.items():
                    on_host = used.setdefault(host, {})
                    for name, amount in _needs(machine, by_id[row.id], host).items():
                        times = 1 if by_id[row.id].demand is None else count
                        on_host[name] = on_host.get(name, 0) + amount * times
        for host, amounts in used.items():
            offered = _offers(machine, host)
            for name, amount in amounts.items():
                assert amount <= offered.get(name, 0), f"host {host} at {moment / 1e6} s: {amount} {name}"


def check_absences(events: Sequence[e.Event], result: Result) -> None:
    """No job starts on a host while it is away."""
    ordered = sorted(events, key=lambda event: event.time)
    for row in result.rows.values():
        away = 0
        for event in ordered:
            if row.state is JobState.REJECTED or micro(event.time) > row.start:
                break
            if isinstance(event, e.MachinesUnavailable):
                away |= event.hosts.mask
            elif isinstance(event, e.MachinesAvailable):
                away &= ~event.hosts.mask
        assert not any(away >> host & 1 for host in row.units), f"{row.id} started on a host that was away"


def _offers(machine: Machine, host: int) -> dict[str, int]:
    """What a host has, read from its property."""
    assert not machine.hosts[host].storage
    if machine.exclusive:
        return {"host": 1}
    parts = machine.hosts[host].properties["capacity"].split()
    return {name: int(amount) for name, _, amount in (part.partition("=") for part in parts)}


def _needs(machine: Machine, task: Task, host: int) -> dict[str, int]:
    """What one unit of a task takes on a host; a task without a demand takes all of it."""
    if machine.exclusive or task.demand is None:
        return _offers(machine, host)
    return {name: amount for name, amount in task.demand.items() if amount}
