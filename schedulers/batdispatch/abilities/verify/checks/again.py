"""Runs are made again in worker processes, one after the other, until the time for it is over.

A worker is ended when the time is over, in the middle of a decision too: what a folder names may search for hours.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from batdispatch.abilities.verify.audit.findings import Findings, part
from batdispatch.abilities.verify.checks.lines import KIND
from batdispatch.abilities.verify.checks.options import CheckOptions
from batdispatch.abilities.verify.checks.rerun import decide_again, why_not
from batdispatch.abilities.verify.checks.settings import read_said
from batdispatch.abilities.verify.checks.simulation import simulate_again
from batdispatch.core.machine.machine import Machine
from batdispatch.inputs.named_files import files_at
from batdispatch.inputs.platforms import read_platform
from batdispatch.results.origins import Origins, find_series
from batdispatch.results.run_files import RECORDING
from batdispatch.runs.listener import Tell
from batdispatch.runs.run import InputFiles
from batdispatch.runs.workers import carry_out


class Budget:
    """Seconds of wall-clock time for all reruns of a call, counted from its beginning."""

    def __init__(self, seconds: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        """Begin to count; None: there is no limit."""
        self.seconds = math.inf if seconds is None else seconds
        self._clock = clock
        self._began = clock()

    def left(self) -> float:
        """Return how many seconds are left, at most a day: a worker is asked again then."""
        return min(self.seconds - (self._clock() - self._began), 86400.0)

    def __str__(self) -> str:
        return f"--budget {self.seconds:g} was over"


class Rerun(NamedTuple):
    """A run to be made again: its folder, where its inputs are, and what people stated of that."""

    folder: Path
    origins: Origins
    how: CheckOptions


def make_again(reruns: Sequence[Rerun], budget: Budget, progress: Callable[[int, int], None]) -> list[Findings]:
    """Return what each run is found to be when it is made again.

    Args:
        reruns: the runs.
        budget: for all of them.
        progress: told how many are done, and how many there are.
    """
    found = {index: _without_rerun(rerun) for index, rerun in enumerate(reruns)}
    tasks = [(index, reruns[index]) for index, findings in found.items() if findings is None]

    def ended(task: tuple[int, Rerun], problem: str | None) -> None:
        if problem is not None:
            found[task[0]] = _undone(problem)
        progress(sum(findings is not None for findings in found.values()), len(found))

    with tempfile.TemporaryDirectory(prefix="batdispatch-") as scratch:
        carry_out(
            partial(_work, Path(scratch)),
            tasks,
            processes=1,
            began=lambda task: None,
            told=lambda task, findings: found.update({task[0]: findings}),
            ended=ended,
            left=budget.left,
        )
    return [_undone(str(budget)) if findings is None else findings for findings in found.values()]


def _undone(reason: str) -> Findings:
    return Findings(undone={KIND: reason})


def _without_rerun(rerun: Rerun) -> Findings | None:
    """Return what is known without a worker; None: the run has to be made again."""
    result = read_said(rerun.folder)
    reason = why_not(result, rerun.how.replay, _series(rerun, result))
    if not result and rerun.how.replay != "never":
        # As in a folder that Batsim wrote: there is nothing that could be false.
        return Findings(skipped={KIND: reason})
    return _undone(reason) if reason else None


#: What a worker has read.
_FILES = InputFiles()


def _work(scratch: Path, task: tuple[int, Rerun], tell: Tell) -> None:
    """Be a worker: make a run again, and tell what was found."""
    index, rerun = task
    tell(remake(rerun, scratch / str(index), _FILES))


def remake(rerun: Rerun, scratch: Path, files: InputFiles) -> Findings:
    """Return what a run is found to be when it is made again in this process.

    A run of the embedded engine is simulated. Where that cannot be repeated, its dispatcher answers what was recorded.

    Args:
        rerun: the run.
        scratch: an empty folder.
        files: what was read before.
    """
    known, findings = _without_rerun(rerun), Findings(limit=rerun.how.limit)
    if known is not None:
        return known
    result = read_said(rerun.folder)
    with files_at(_series(rerun, result)):
        return _remake(rerun, result, findings, scratch, files)


def _series(rerun: Rerun, result: dict[str, Any]) -> dict[str, Path | None]:
    return find_series(rerun.folder, part(part(result, "made_from"), "sha256"))


def _remake(rerun: Rerun, result: dict[str, Any], findings: Findings, scratch: Path, files: InputFiles) -> Findings:
    folder, origins = rerun.folder, rerun.origins
    obstacle = simulate_again(findings, folder, result, origins, scratch, files)
    if not obstacle:
        return findings
    if not (folder / RECORDING).is_file():
        return _undone(f"there is no {RECORDING}, and {obstacle}")
    if origins.platform is None:
        return _undone("its platform is not there")
    findings.skipped["simulation"] = f"{obstacle}: the dispatcher answered the recorded messages instead"
    decide_again(findings, folder, result, _machine(rerun, origins.platform, result))
    return findings


def _machine(rerun: Rerun, path: Path, result: dict[str, Any]) -> Machine:
    master = part(result, "platform").get("master") if rerun.how.master_host is None else rerun.how.master_host
    is_batsim5 = part(result, "engine").get("name") == "batsim5"
    return read_platform(path, master=master, roles=rerun.how.roles, batsim=5 if is_batsim5 else 4).machine
