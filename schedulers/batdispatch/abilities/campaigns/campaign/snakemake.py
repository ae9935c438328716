"""Has Snakemake run what a plan leaves to do, and follows how far it is.

Theory of operation. A call of a campaign claims the campaign's folder, so that there is one at a time, and works in a
new folder ``work-ID`` inside: a list of tasks for Snakemake, what each task does, and what comes back. Snakemake's own
lock is not needed then. Nothing of a call that was killed is in the way of the next one, which removes its folder. What
it had made stays, because it is in the folders of cells and inputs, each whole or not at all.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from batdispatch.abilities.campaigns.campaign.plan import Plan, Recipe, batches
from batdispatch.abilities.campaigns.campaign.task import Outcome, Task
from batdispatch.core.errors import InputError, SimulationError
from batdispatch.inputs.files import write_json, write_whole
from batdispatch.links import with_parent
from batdispatch.results.run_files import RESULT

SNAKEFILE = Path(__file__).with_name("Snakefile")
#: Inputs that one task makes: most take less time than it takes to start.
_INPUTS = 25
#: Seconds between two looks at what tasks tell.
_PAUSE = 0.2
#: Becomes a program that heeds an interrupt, even if this process was started in the background of a script.
_INTERRUPTIBLE = "import os, signal, sys; signal.signal(2, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
#: Seconds in which Snakemake may end after an interrupt.
_FAREWELL = 60.0
_WRONG = re.compile(r"error|fail|cannot|invalid|denied|no such", re.IGNORECASE)
#: Called with the outcome of a cell.
OnOutcome = Callable[[Outcome], None]


@dataclass(frozen=True)
class Orders:
    """How to run.

    Attributes:
        processes: tasks at a time.
        executor: of Snakemake; ``local`` or the name of a plug-in.
        batch: the most cells of a task; None: found from estimates.
        more: further words for Snakemake's command line.
    """

    processes: int = 1
    executor: str = "local"
    batch: int | None = None
    more: Sequence[str] = ()


def run(plan: Plan, costs: dict[str, float | None], orders: Orders, on_outcome: OnOutcome) -> dict[str, str]:
    """Make the pending cells of a plan, whose campaign's folder is claimed; return why cells failed, by key.

    Args:
        plan: what to do.
        costs: seconds that each pending cell is expected to take; None: unknown.
        orders: how.
        on_outcome: called as cells end.

    Raises:
        InputError: Snakemake refuses what it was told.
        SimulationError: Snakemake ended without having run anything.
    """
    own = plan.places.own
    logs = plan.places.logs
    for old in own.glob("work-*"):
        shutil.rmtree(old, ignore_errors=True)
    work = own / f"work-{secrets.token_hex(4)}"
    for name in ("tasks", "progress", "answers"):
        (work / name).mkdir(parents=True)
    # Tasks of an earlier call may go on in a cluster, and write there too.
    logs.mkdir(exist_ok=True)
    for log in logs.glob("*.txt"):
        if not plan.knows(log.stem):
            log.unlink(missing_ok=True)
    failures: dict[str, str] = {}
    if not plan.pending:
        return failures
    _write(plan, costs, orders, work)
    follower = _Follower(work / "progress", on_outcome)
    said = _snakemake(work, orders, follower)
    ended = {outcome.key: outcome for outcome in follower.outcomes}
    if not ended:
        if os.strerror(errno.ENOSPC) in said:
            raise InputError(f"cannot be written: {os.strerror(errno.ENOSPC)}", source=str(work))
        raise SimulationError(
            f"Snakemake ran no task: {said or 'it said nothing'} (all of it: {work / 'snakemake.txt'})"
        )
    for task in plan.pending:
        inputs = (task.spec.platform, task.spec.workload, task.spec.external_events)
        lost = next((ended[path].failure for path in inputs if path in ended and ended[path].failure), "")
        if lost:
            failures[task.key] = f"its input could not be made: {lost}"
        elif task.key not in ended:
            failures[task.key] = f"its batch ended before it; Snakemake said: {said or 'nothing'}"
        elif ended[task.key].failure:
            failures[task.key] = ended[task.key].failure
    shutil.rmtree(work, ignore_errors=True)
    return failures


def _write(plan: Plan, costs: dict[str, float | None], orders: Orders, work: Path) -> None:
    """Write the tasks: inputs first, and a batch of cells after the tasks that make its inputs."""
    tasks: dict[str, list[str]] = {}
    about = Task(root=str(plan.places.root), here=str(plan.here), logs=str(plan.places.logs))
    #: Output -> the task that makes it.
    maker: dict[str, str] = {}
    for index, recipes in enumerate(_batches_of_inputs(plan.recipes().values())):
        name = f"inputs-{index}"
        tasks[name] = sorted({maker[need] for recipe in recipes for need in recipe.needs if need in maker})
        maker |= {recipe.output: name for recipe in recipes}
        _put(work, name, msgspec.structs.replace(about, inputs=msgspec.to_builtins(recipes)))
    pending = plan.pending
    known = [costs[task.key] for task in pending]
    for index, batch in enumerate(batches(known, orders.processes, orders.batch)):
        cells = [pending[number] for number in batch]
        files = [path for cell in cells for path in (cell.spec.platform, cell.spec.workload, cell.spec.external_events)]
        tasks[f"cells-{index}"] = sorted({maker[path] for path in files if path in maker})
        _put(work, f"cells-{index}", msgspec.structs.replace(about, cells=msgspec.to_builtins(cells)))
    write_json(work / "plan.json", tasks)


def _batches_of_inputs(recipes: Iterable[Recipe]) -> Iterator[list[Recipe]]:
    """Cut recipes into batches, each of which needs earlier ones alone; a log, which may take minutes, is one."""
    depth: dict[str, int] = {}
    levels: dict[int, list[Recipe]] = {}
    for recipe in recipes:
        depth[recipe.output] = 1 + max((depth.get(need, 0) for need in recipe.needs), default=0)
        levels.setdefault(depth[recipe.output], []).append(recipe)
    for _, level in sorted(levels.items()):
        logs = [recipe for recipe in level if recipe.words[:1] == ("convert",)]
        yield from ([recipe] for recipe in logs)
        others = [recipe for recipe in level if recipe not in logs]
        yield from (others[begin : begin + _INPUTS] for begin in range(0, len(others), _INPUTS))


def _put(work: Path, name: str, task: Task) -> None:
    write_whole(work / "tasks" / f"{name}.json", msgspec.json.encode(task))


class _Follower:
    """Reads the lines of progress that have come since the last look."""

    def __init__(self, folder: Path, on_outcome: OnOutcome) -> None:
        self.outcomes: list[Outcome] = []
        self._folder = folder
        self._on_outcome = on_outcome
        self._read: dict[Path, int] = {}

    def look(self) -> None:
        for path in sorted(self._folder.glob("*.jsonl")):
            begin = self._read.get(path, 0)
            if path.stat().st_size == begin:
                continue
            with path.open("rb") as file:
                file.seek(begin)
                content = file.read()
            # A line that is being written, or that a node which died has begun, has no end.
            whole = content[: content.rfind(b"\n") + 1]
            self._read[path] = begin + len(whole)
            for line in whole.splitlines():
                try:
                    self.outcomes.append(msgspec.json.decode(line, type=Outcome))
                except msgspec.MsgspecError:
                    continue
                self._on_outcome(self.outcomes[-1])


def _snakemake(work: Path, orders: Orders, follower: _Follower) -> str:
    """Run Snakemake and return its last words if it failed."""
    local = orders.executor == "local"
    words = [
        *("--snakefile", str(SNAKEFILE), "--directory", str(work), "--executor", orders.executor),
        *("--cores" if local else "--jobs", str(orders.processes)),
        # The claim says that nobody else works here. Whether a task is done, and what to do, is said by keys alone.
        *("--nolock", "--rerun-triggers", "mtime", "--keep-going", "--retries", "1", "--nocolor"),
        *orders.more,
    ]
    plain = (sys.executable, "-I", "-S")
    words = [
        *(*plain, with_parent.__file__, str(os.getpid())),
        *(*plain, "-c", _INTERRUPTIBLE, sys.executable, "-m", "snakemake"),
        *words,
    ]
    with (work / "snakemake.txt").open("wb") as log:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, cwd=work)
        try:
            while process.poll() is None:
                follower.look()
                time.sleep(_PAUSE)
        except BaseException:
            # It takes back what it has submitted to a cluster, if the cluster answers.
            process.send_signal(signal.SIGINT)
            try:
                process.wait(_FAREWELL)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            raise
    follower.look()
    if process.returncode == 0:
        return ""
    lines = (work / "snakemake.txt").read_text(errors="replace").splitlines()
    return " / ".join(telling_lines(lines))


def telling_lines(lines: Sequence[str]) -> list[str]:
    """Return the last lines of Snakemake that say what went wrong."""
    frame = ("Exiting because", "Complete log", "Elapsed time", "WorkflowError:", "At least one job", "Error in rule")
    told = [line.strip() for line in lines if line.strip() and not line.strip().startswith(frame)]
    return [line for line in told if _WRONG.search(line)][-3:] or told[-3:]


def take_away(plan: Plan) -> None:
    """Let no pending cell count as there, so that it is made anew."""
    for task in plan.pending:
        (plan.places.cell(task.key) / RESULT).unlink(missing_ok=True)
