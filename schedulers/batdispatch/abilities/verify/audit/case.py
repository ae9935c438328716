"""One run as the rules of the audit see it, and the table of the rules."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.verify.audit.course import Course
from batdispatch.abilities.verify.audit.exchange import Clock, Outage
from batdispatch.abilities.verify.audit.findings import LINEAGE, RECORDING, UNITS, Fault, Findings, Violation, part
from batdispatch.abilities.verify.audit.hosts import Floats, Ints
from batdispatch.abilities.verify.audit.machine import Machine
from batdispatch.abilities.verify.audit.request import Demands, Queues
from batdispatch.abilities.verify.audit.rows import Rows, Units
from batdispatch.abilities.verify.audit.workload import Ending, Endings, Job, Workload, job_of
from batdispatch.core.errors import InputError
from batdispatch.results.lineage import read_lineage
from batdispatch.results.units import read_units

Mask = NDArray[np.bool_]
#: What a rule asks about: rows of the jobs file, hosts, the order of jobs, moments of the exchange, other files.
About = Literal["rows", "hosts", "order", "moments", "files"]
#: What must be there so that a rule can be asked: an exchange up to its end, result.json.
Need = Literal["", "exchange", "result"]
Faults = Iterator[Fault]


class Case:
    """A run: its files and inputs, and what several rules need of them.

    Columns are float64 [row] in seconds; NaN where nothing is known.

    Attributes:
        said: result.json; empty where there is none, as in a folder that Batsim wrote.
        settings: what the run was made from, by that.
        digests: SHA-256 of the inputs, by the name that result.json gives them.
        outages: what the events file says of hosts, in order; None: it is not known.
        clock: of the simulator.
        units: of each row's job on each of its hosts.
        held: units of each row's job in all, int64 [row].
        lineage: which rows are one job.
        demands: what jobs ask of the machine and its queues.
        at: index of each row's job in the workload, -1: it is none of these.
        jobs: the job of each row; None where nothing says which it is.
        asking: the same or, where the workload has none, the job of the first segment of the same logical job.
        course: what the exchange says; None: there is none.
        endings: how profiles end.
        skipped: rules that could not be asked of all, with the reason.
        began: when each logical job began, by the row of its first segment.
        over: when it ended for good, as `succeeded`, when it did so with success.
        due: submission of each row's job, as its units `asked` and its walltime `limit`; where nobody knows the job,
            what the row says.
    """

    def __init__(
        self,
        folder: Path,
        said: Mapping[str, Any],
        rows: Rows,
        machine: Machine,
        workload: Workload,
        digests: Mapping[str, str],
        outages: list[Outage] | None,
    ) -> None:
        """Read what stands beside the jobs file, and conclude what several rules need.

        Raises:
            InputError: units.csv or lineage.csv is malformed.
        """
        self.folder, self.said, self.digests, self.outages = folder, said, digests, outages
        self.settings, path = part(part(said, "made_from"), "settings"), folder / RECORDING
        self.rows, self.machine, self.workload = rows, machine, workload
        sizes, self.lineage = rows.hosts.sizes, read_lineage(folder / LINEAGE, rows.read)
        offsets = np.concatenate(([0], np.cumsum(sizes)))
        self.units = Units(read_units(folder / UNITS, rows.read, sizes), offsets)
        self.held = self.units.held
        self.queues = Queues(machine)
        self.demands = Demands(machine, self.queues)
        self.embedded = part(said, "engine").get("name") == "embedded"
        self.clock = Clock(self.embedded and said.get("clock") != "batsim")
        self.skipped: dict[str, str] = {}
        known = {str(job.id): index for index, job in enumerate(workload.jobs)}
        # A job is found by its name, or by ``workload!name`` where the ids of the workload have that form.
        self.at = [known.get(name, known.get(full, -1)) for name, full in zip(rows.ids, rows.names, strict=True)]
        self.jobs: list[Job | None] = [workload.jobs[index] if index >= 0 else None for index in self.at]
        self.course = Course(self).followed(path) if path.is_file() else None
        self.endings = Endings(workload.profiles, {}) if self.course is None else self.course.endings
        for row, fields in ({} if self.course is None else self.course.jobs).items():
            self.jobs[row] = job_of(fields)
        pairs, own = enumerate(self.lineage.root.tolist()), self.jobs
        self.asking = [own[row] if self.at[row] >= 0 or self.at[root] < 0 else own[root] for row, root in pairs]
        self._conclude()

    def _conclude(self) -> None:
        """Work out the columns of this class from what was read."""
        rows, root, ran = self.rows, self.lineage.root, self.rows.ran
        self.started, self.run_time = np.where(ran, rows.start, np.nan), rows.finish - rows.start
        self.began, self.over, self.succeeded = np.full((3, len(rows)), np.nan)
        good = rows.success & ran
        np.fmin.at(self.began, root[ran], rows.start[ran])
        np.fmax.at(self.over, root[ran], rows.left[ran])
        np.fmin.at(self.succeeded, root[good], rows.left[good])
        usual = zip(self.jobs, rows.submission.tolist(), rows.size.tolist(), rows.walltime.tolist(), strict=True)
        told = [own if job is None else (job.subtime, job.res, job.limit) for job, *own in usual]
        self.due, self.asked, self.limit = np.array(told, dtype=np.float64).reshape(-1, 3).T

    @property
    def exchange(self) -> Course:
        """What the exchange says, for a rule that needs one."""
        assert self.course is not None
        return self.course

    @cached_property
    def ends(self) -> list[Ending]:
        """How the profile of each row's job ends by itself."""
        nobody, of = Ending(None, None), self.endings.of
        pairs = zip(self.rows.workloads, self.jobs, strict=True)
        return [nobody if job is None else of(workload, job.profile) for workload, job in pairs]

    @cached_property
    def seconds(self) -> Floats:
        """How long the profile of each row takes."""
        return np.array([end.seconds or np.nan for end in self.ends], dtype=np.float64)

    @cached_property
    def codes(self) -> Floats:
        """The return code of the profile of each row."""
        return np.array([np.nan if end.code is None else end.code for end in self.ends], dtype=np.float64)

    @cached_property
    def restricted(self) -> list[tuple[int, Job, Ints]]:
        """The row, the request and the hosts of each job that ran and asked for more than a number of units."""
        return [(row, job, self.rows.hosts.of(row)) for row, job in self.that_ran() if not job.is_placed_freely]

    def that_ran(self) -> Iterator[tuple[int, Job]]:
        """Yield the row and the request of each job that ran and is known."""
        for row in np.flatnonzero(self.rows.ran).tolist():
            job = self.asking[row]
            if job is not None:
                yield row, job

    def compute_hosts(self, row: int) -> Ints:
        """Return the hosts of a row's job that compute."""
        hosts = self.rows.hosts.of(row)
        return hosts[hosts < self.machine.size]

    def other(self, row: int, name: str) -> int | None:
        """Return the row of a job that the job of a row names; None: there is none."""
        return self.rows.row_of.get(name if "!" in name else f"{self.rows.workloads[row]}!{name}")


class Rule(NamedTuple):
    """What must hold: its name, a sentence, what it asks about, what it needs, and the function that finds faults."""

    name: str
    sentence: str
    about: About
    needs: Need
    ask: Callable[[Case], Iterable[Fault]]


#: The rules by name, in the order in which they are asked.
RULES: dict[str, Rule] = {}
_Ask = Callable[[Case], Iterable[Fault]]
_Wrong = Callable[[Case], Mask]


def rule(about: About, needs: Need = "", *, name: str = "") -> Callable[[_Ask], _Ask]:
    """Put a function into the table of rules: its docstring says what must hold, and its own name is the rule's."""

    def register(ask: _Ask) -> _Ask:
        named = name or ask.__name__.replace("_", " ")
        RULES[named] = Rule(named, ask.__doc__ or "", about, needs, ask)
        return ask

    return register


def claim(about: About, text: str, *, time: str = "", needs: Need = "") -> Callable[[_Wrong], _Wrong]:
    """Put a function into the table of rules that returns in which rows something is wrong.

    Args:
        about: what the rule asks about.
        text: what is said of these rows, with columns of `Rows`, `Case` and `Course` in braces.
        time: column with the time of the fault; empty: the start.
        needs: what must be there.
    """

    def register(wrong: _Wrong) -> _Wrong:
        def ask(case: Case) -> Faults:
            for row in np.flatnonzero(wrong(case)).tolist():
                figures = _Figures(case, row)
                at = figures[time] if time else np.nan
                yield Fault(text.format_map(figures), row, time=None if np.isnan(at) else float(at))

        ask.__name__, ask.__doc__ = wrong.__name__, wrong.__doc__
        rule(about, needs)(ask)
        return wrong

    return register


@dataclass(frozen=True)
class _Figures:
    """The columns at one row, by name."""

    case: Case
    row: int

    def __getitem__(self, name: str) -> Any:
        places = (self.case, self.case.rows, self.case.course)
        return next(getattr(place, name) for place in places if hasattr(place, name))[self.row]


def ask_all(case: Case, findings: Findings) -> None:
    """Ask every rule of the table that can be asked of a run, and note what is wrong."""
    there = {
        "": True,
        "exchange": case.course is not None and case.course.complete,
        "result": bool(case.said),
    }
    for one in sorted(RULES.values(), key=lambda one: get_args(About).index(one.about)):
        if not there[one.needs]:
            continue
        findings.checked.append(one.name)
        try:
            noted = [] if case.course is None else case.course.faults.get(one.name, [])
            for fault in (*noted, *one.ask(case)):
                findings.add(_violation(case, one.name, fault))
        except InputError as problem:
            findings.add(Violation(one.name, str(problem)))
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, csv.Error) as problem:
            findings.add(Violation(one.name, f"cannot be worked out from what the files say: {problem!r}"))
    findings.skipped |= case.skipped


def _violation(case: Case, name: str, fault: Fault) -> Violation:
    """Return a fault as what the reader sees, with the name and the start of the job of its row."""
    if fault.row < 0:
        return Violation(name, fault.message, fault.job, fault.host, fault.time)
    start = float(case.started[fault.row])
    time = fault.time if fault.time is not None else None if np.isnan(start) else start
    return Violation(name, fault.message, case.rows.ids[fault.row], fault.host, time)
