"""One run as the rules of the audit see it, and the table of the rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from batdispatch.audit.course import Clock, Course, Outage
from batdispatch.audit.findings import Fault, Findings, Violation
from batdispatch.audit.hosts import Floats, Ints, Occupation
from batdispatch.audit.machine import Machine
from batdispatch.audit.queues import Queues
from batdispatch.audit.request import Demands
from batdispatch.audit.rows import Lineage, Rows, Units
from batdispatch.audit.words import TOLERANCE
from batdispatch.audit.workload import Ending, Endings, Job, Workload
from batdispatch.core.errors import InputError

Mask = NDArray[np.bool_]
#: What a rule asks about: rows of the jobs file, hosts, the order of jobs, moments of the exchange, other files.
About = Literal["rows", "hosts", "order", "moments", "files"]
#: What must be there so that a rule can be asked: an exchange up to its end, the embedded engine, result.json.
Need = Literal["", "exchange", "embedded", "result"]


@dataclass
class Case:
    """A run.

    Attributes:
        folder: of the run.
        rows: of its jobs file.
        units: of each row's job on each of its hosts.
        lineage: which rows are one job.
        machine: of its platform.
        queues: of the machine.
        demands: what jobs ask of the machine.
        workload: its jobs and profiles.
        said: result.json; empty where there is none, as in a folder that Batsim wrote.
        digests: SHA-256 of the inputs, by the name that result.json gives them.
        jobs: the job of each row; None where nothing says which it is.
        asking: the same or, where the workload has none, the job of the first segment of the same logical job.
        course: what the exchange says; None: there is none.
        clock: of the simulator.
        outages: what the events file says of hosts, in order; None: it is not known.
        endings: how profiles end.
        skipped: rules that could not be asked of all, with the reason.
    """

    folder: Path
    rows: Rows
    units: Units
    lineage: Lineage
    machine: Machine
    queues: Queues
    demands: Demands
    workload: Workload
    said: Mapping[str, Any]
    digests: Mapping[str, str]
    jobs: list[Job | None]
    asking: list[Job | None]
    course: Course | None
    clock: Clock
    outages: list[Outage] | None
    endings: Endings
    skipped: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rows = self.rows
        #: Start of each job that ran, else NaN.
        self.started = np.where(rows.ran, rows.start, np.nan)
        self.run_time = rows.finish - rows.start
        self.occupation = Occupation(rows.hosts, self.started, rows.left, TOLERANCE)
        #: When each logical job began, ended for good, and succeeded, by the row of its first segment; NaN: never.
        self.began, self.over, self.succeeded = np.full((3, len(rows)), np.nan)
        root, ran, good = self.lineage.root, rows.ran, rows.success & rows.ran
        np.fmin.at(self.began, root[ran], rows.start[ran])
        np.fmax.at(self.over, root[ran], rows.left[ran])
        np.fmin.at(self.succeeded, root[good], rows.left[good])

    @property
    def embedded(self) -> bool:
        """Whether the embedded engine simulated the run."""
        engine = self.said.get("engine")
        return isinstance(engine, dict) and engine.get("name") == "embedded"

    @property
    def away(self) -> bool:
        """Whether hosts went away during the run."""
        return bool(self.outages or (self.course is not None and self.course.outages))

    def other(self, row: int, name: str) -> int | None:
        """Return the row of a job that the job of a row names; None: there is none."""
        return self.rows.row_of.get(name if "!" in name else f"{self.rows.workloads[row]}!{name}")

    @cached_property
    def ends(self) -> list[Ending]:
        """How the profile of each row's job ends by itself."""
        nobody, of = Ending(None, None), self.endings.of
        pairs = zip(self.rows.workloads, self.jobs, strict=True)
        return [nobody if job is None else of(workload, job.profile) for workload, job in pairs]

    @cached_property
    def seconds(self) -> Floats:
        """How long the profile of each row takes, s, float64 [row]; NaN where that is not known."""
        return np.array([end.seconds or np.nan for end in self.ends], dtype=np.float64)

    @cached_property
    def restricted(self) -> list[tuple[int, Job, Ints]]:
        """The row, the request and the hosts of each job that ran and asked for more than a number of units."""
        return [(row, job, self.rows.hosts.of(row)) for row, job in self.that_ran() if not job.is_placed_freely]

    def computing(self) -> tuple[Floats, Ints]:
        """Return the moments at which jobs start or end, and how many hosts compute from each on, each [moment]."""
        rows, ran = self.rows, self.rows.ran
        times, change = np.concatenate((rows.start[ran], rows.left[ran])), rows.hosts.sizes[ran]
        change = np.concatenate((change, -change))
        if not self.machine.exclusive:
            # A host computes from the first of its jobs to the last, so each host counts its own.
            host, row = rows.hosts.slots()
            host, times = np.tile(host, 2), np.concatenate((rows.start[row], rows.left[row]))
            begins = np.repeat([1, -1], len(row))
            order = np.lexsort((begins, times, host))
            times, begins = times[order], begins[order]
            running = np.cumsum(begins)
            change = np.where((begins > 0) & (running == 1), 1, np.where((begins < 0) & (running == 0), -1, 0))
        order = np.argsort(times, kind="stable")
        return times[order], np.cumsum(change[order])

    def column(self, value: Callable[[Job], float], otherwise: NDArray[Any]) -> Floats:
        """Return a number of each row's job, float64 [row]; where there is no job, that of `otherwise`."""
        given = zip(self.jobs, otherwise.tolist(), strict=True)
        return np.array([usual if job is None else value(job) for job, usual in given], dtype=np.float64)

    def that_ran(self) -> Iterator[tuple[int, Job]]:
        """Yield the row and the request of each job that ran and is known."""
        for row in np.flatnonzero(self.rows.ran).tolist():
            job = self.asking[row]
            if job is not None:
                yield row, job


class Rule(NamedTuple):
    """What must hold: its name, a sentence, what it asks about, what it needs, and the function that finds faults."""

    name: str
    sentence: str
    about: About
    needs: Need
    ask: Callable[[Case], Iterable[Fault]]


#: The rules by name, in the order in which they are asked.
RULES: dict[str, Rule] = {}


def rule(
    name: str, about: About, sentence: str, needs: Need = ""
) -> Callable[[Callable[[Case], Iterable[Fault]]], Callable[[Case], Iterable[Fault]]]:
    """Put a function into the table of rules."""

    def register(ask: Callable[[Case], Iterable[Fault]]) -> Callable[[Case], Iterable[Fault]]:
        RULES[name] = Rule(name, sentence, about, needs, ask)
        return ask

    return register


def faults(wrong: Mask, message: Callable[[int], str], time: Floats | None = None) -> Iterator[Fault]:
    """Yield a fault for each row where `wrong` holds, at its time of `time`, or else at its start."""
    for row in np.flatnonzero(wrong).tolist():
        at = None if time is None or np.isnan(time[row]) else float(time[row])
        yield Fault(message(row), row, time=at)


def ask_all(case: Case, findings: Findings) -> None:
    """Ask every rule of the table that can be asked of a run, and note what is wrong."""
    there = {
        "": True,
        "exchange": case.course is not None and case.course.complete,
        "embedded": case.embedded,
        "result": bool(case.said),
    }
    for one in sorted(RULES.values(), key=lambda one: get_args(About).index(one.about)):
        if not there[one.needs]:
            continue
        findings.checked.append(one.name)
        try:
            for fault in one.ask(case):
                findings.add(_violation(case, one.name, fault))
        except InputError as problem:
            findings.add(Violation(one.name, str(problem)))
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as problem:
            findings.add(Violation(one.name, f"cannot be worked out from what the files say: {problem!r}"))
    findings.skipped |= case.skipped


def _violation(case: Case, name: str, fault: Fault) -> Violation:
    if fault.row < 0:
        return Violation(name, fault.message, fault.job, fault.host, fault.time)
    start = float(case.started[fault.row])
    time = fault.time if fault.time is not None else None if np.isnan(start) else start
    return Violation(name, fault.message, case.rows.ids[fault.row], fault.host, time)
