"""Grids of runs: dispatchers x predictions on workloads of one platform, each run audited, as rows for a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from batdispatch.core.dispatcher import create
from batdispatch.core.errors import InputError, SimulationError
from batdispatch.core.events import SimulationBegins
from batdispatch.core.ledger import Ledger
from batdispatch.core.machine import Machine
from batdispatch.core.session import DecisionTime
from batdispatch.inputs.files import write_whole
from batdispatch.results.audit.run import Auditor
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.lineage import FILE as LINEAGE
from batdispatch.results.lineage import read_lineage
from batdispatch.results.metrics.sample import sample_of
from batdispatch.results.runs import read_result
from batdispatch.runs.compare import compare
from batdispatch.runs.run import InputFiles, RunSpec, execute, is_made

#: Called with what is being done.
Say = Callable[[str], None]


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """A dispatcher with its options, and the simulated time its decisions take (see `RunSpec`)."""

    dispatcher: str
    options: dict[str, str] = {}
    decision_time: DecisionTime = 0.0

    def spec(self, platform: Path, workload: Path) -> RunSpec:
        """Return the run of this cell."""
        return RunSpec(
            platform=str(platform),
            workload=str(workload),
            dispatcher=self.dispatcher,
            options=self.options,
            decision_time=self.decision_time,
            decision_clock="cpu",
        )

    @property
    def folder(self) -> str:
        """Name of the folder of runs with this decision time."""
        return "measured" if self.decision_time is None else f"{self.decision_time:g}s"


class Row(msgspec.Struct, kw_only=True):
    """What a cell did, over the jobs and the decisions of all workloads together.

    Attributes:
        cell: the cell.
        refused: why the dispatcher does not run on this machine; then all else is empty.
        folders: of the runs.
        calls: number of decisions.
        decision_ms: mean CPU time of a decision.
        cpu_seconds: of all runs.
        slowdowns: turnaround over run time, of each job that ran for more than no time.
        waits: s, of each job that started; the segments of one logical job count as one job.
        killed: jobs that ended at their walltime.
        fallbacks: decisions in which the solver gave up.
        violations: found by the audit.
    """

    cell: Cell
    refused: str = ""
    folders: list[Path] = []
    calls: int = 0
    decision_ms: float = 0.0
    cpu_seconds: float = 0.0
    slowdowns: list[float] = []
    waits: list[float] = []
    killed: int = 0
    fallbacks: int = 0
    violations: int = 0


def run_grid(
    platform: Path,
    machine: Machine,
    workloads: Sequence[Path],
    cells: Sequence[Cell],
    out: Path,
    *,
    processes: int = 1,
    say: Say = lambda text: None,
) -> list[Row]:
    """Run every cell on every workload, into ``out/WORKLOAD/DECISION-TIME/LABEL``, and return a row a cell.

    A run that is already there, made from the same settings and inputs by the same code, is taken as it is. With one
    process the runs are made in this one.

    Raises:
        InputError: a platform, workload or option is wrong.
        SimulationError: a run failed.
    """
    rows = [Row(cell=cell, refused=refusal(cell, machine), folders=[], slowdowns=[], waits=[]) for cell in cells]
    auditor, files = Auditor(), InputFiles()
    for workload in workloads:
        for name in dict.fromkeys(row.cell.folder for row in rows):
            root = out / workload.stem / name
            mine = [(row, row.cell.spec(platform, workload)) for row in rows if row.cell.folder == name]
            mine = [(row, spec) for row, spec in mine if not row.refused]
            missing = [spec for _, spec in mine if not is_made(spec, root / spec.label)]
            # Each run that has ended is whole, so that a campaign that is interrupted loses little.
            if processes == 1:
                for spec in missing:
                    say(f"{workload.stem}, {name}: {spec.label}")
                    execute(spec, root / spec.label, files=files)
            elif missing:
                say(f"{workload.stem}, {name}: {' '.join(spec.label for spec in missing)}")
                _, failures = compare(missing, root, processes=processes)
                for label, problem in failures.items():
                    raise SimulationError(f"{label} failed: {problem}")
            for row, spec in mine:
                _enter(row, root / spec.label, auditor)
    return rows


def refusal(cell: Cell, machine: Machine) -> str:
    """Return why a cell's dispatcher does not run on a machine; empty if it does."""
    dispatcher = create(cell.dispatcher, cell.options)
    try:
        dispatcher.begin(Ledger(SimulationBegins(time=0.0, machine=machine)))
    except InputError as problem:
        return str(problem)
    return ""


def _enter(row: Row, folder: Path, auditor: Auditor) -> None:
    result, columns = read_result(folder), read_columns(folder / "jobs.csv")
    calls = int(result.decisions.get("count") or 0)
    spent = row.decision_ms * row.calls + 1000 * float(result.decisions.get("seconds_total") or 0)
    row.calls += calls
    row.decision_ms = spent / max(row.calls, 1)
    row.cpu_seconds += float(result.performance.get("cpu_seconds") or 0)
    sample = sample_of(columns, lineage=read_lineage(folder / LINEAGE, columns))
    row.waits += sample.wait.tolist()
    row.slowdowns += sample.slowdown.tolist()
    row.killed += int(result.metrics.get("nb_jobs_killed") or 0)
    row.fallbacks += result.fallbacks
    row.violations += auditor.run(folder).total
    row.folders.append(folder)


def fill(page: Path, sections: Mapping[str, str]) -> None:
    """Replace what stands between ``<!-- measured: NAME -->`` and ``<!-- end -->`` on a page, for each section.

    Raises:
        InputError: the page has no such section.
    """
    text = page.read_text(encoding="utf-8")
    for name, content in sections.items():
        begin = f"<!-- measured: {name} -->"
        before, found, after = text.partition(begin)
        _, closed, rest = after.partition("<!-- end -->")
        if not found or not closed:
            raise InputError(f"found no section {begin} ... <!-- end -->", source=str(page))
        text = f"{before}{begin}\n\n{content}\n\n{closed}{rest}"
    write_whole(page, text.encode())


def publish(page: Path, sections: Mapping[str, str], *, write: bool) -> None:
    """Print each section of a page under its name; if `write`, fill them into the page, too.

    Raises:
        InputError: the page has no such section.
    """
    for name, content in sections.items():
        print(f"\n{name}\n\n{content}", flush=True)
    if write:
        fill(page, sections)
