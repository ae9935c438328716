"""What one task of Snakemake does: it makes a batch of inputs, or simulates a batch of cells.

Snakemake calls `main` in a process of its own, with the folder that it works in and the name of the task.

Theory of operation. A task's process reads what it has to do from ``tasks/NAME.json`` in the folder that Snakemake
works in. One worker process does it (see `runs.workers`), so that a crash of a library loses one cell. The task's
process tells each outcome in a line of ``progress/NAME.jsonl``. Its answer is the file that Snakemake waits for. A cell
that fails does not fail the task. A cell that is there already is kept, so a task may be repeated, after a crash of its
node for instance. If another process is simulating a cell just now, the worker waits for it: that may be a task on a
cluster that has outlived the campaign that submitted it.
"""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import chdir, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from batdispatch.core.errors import BatdispatchError, SimulationError
from batdispatch.core.line.blame import user_error
from batdispatch.inputs.files import read_record, write_whole
from batdispatch.links.with_parent import end_with_parent
from batdispatch.runs.listener import Tell
from batdispatch.runs.peak_memory import forget_peak
from batdispatch.runs.workers import carry_out


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What a task has to do.

    Attributes:
        root: the folder of campaigns.
        here: the folder of the campaign's file, where paths of classes begin.
        inputs: `plan.Recipe` of each input to make.
        cells: `plan.CellTask` of each cell to simulate. This process does not read it, so that it imports little.
        logs: folder for what cells print.
    """

    root: str
    here: str
    inputs: Sequence[dict[str, Any]] = ()
    cells: Sequence[dict[str, Any]] = ()
    logs: str


class Outcome(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line of progress.

    Attributes:
        key: of the cell; of an input, its file.
        failure: why it failed; empty: it did not.
        cpu: seconds of CPU time that it took.
    """

    key: str
    failure: str = ""
    cpu: float = 0.0


def main() -> int:
    """Do the task that the command line names, and return the exit status."""
    # Who killed Snakemake wanted its work to end, too.
    end_with_parent(os.getppid())
    folder, name = sys.argv[1:]
    try:
        carry_out_task(Path(folder), name)
    except BatdispatchError as problem:
        print(f"batdispatch: error: {problem}", file=sys.stderr)
        return 1
    return 0


def carry_out_task(folder: Path, name: str) -> None:
    """Do a task and write its answer.

    Args:
        folder: that Snakemake works in.
        name: of the task.

    Raises:
        InputError: there is no such task.
    """
    task = read_record(folder / "tasks" / f"{name}.json", Task)
    outcomes: list[Outcome] = []
    spent: dict[str, float] = {}
    with (folder / "progress" / f"{name}.jsonl").open("ab") as lines:

        def ended(one: dict[str, Any], problem: str | None) -> None:
            key = _key(one)
            outcomes.append(Outcome(key=key, failure=problem or "", cpu=spent.get(key, 0.0)))
            lines.write(msgspec.json.encode(outcomes[-1]) + b"\n")
            lines.flush()

        with chdir(task.here):
            carry_out(
                partial(_work, task.root, task.logs),
                [*task.inputs, *task.cells],
                processes=1,
                began=lambda one: None,
                told=lambda one, seconds: spent.update({_key(one): seconds}),
                ended=ended,
            )
    write_whole(folder / "answers" / f"{name}.json", msgspec.json.encode(outcomes))


def _key(one: dict[str, Any]) -> str:
    key: str = one["key"] if "key" in one else one["output"]
    return key


def _work(root: str, logs: str, one: dict[str, Any], tell: Tell) -> None:
    """Be a worker: make an input, or simulate a cell."""
    from batdispatch.abilities.campaigns.campaign.cell import make_input, simulate
    from batdispatch.abilities.campaigns.campaign.plan import CellTask, Places, Recipe

    forget_peak()
    began = time.process_time()
    with _printing(Path(logs) / f"{Path(_key(one)).name}.txt"):
        try:
            if "key" in one:
                simulate(msgspec.convert(one, CellTask), Places(Path(root)))
            else:
                make_input(msgspec.convert(one, Recipe))
        except Exception as problem:
            error = user_error(problem)
            if error is None:
                traceback.print_exc()
                raise
            print(error, file=sys.stderr)
            # An input error would end the batch, and it ends this cell alone.
            raise SimulationError(str(error)) from None
        finally:
            tell(time.process_time() - began)


@contextmanager
def _printing(path: Path) -> Iterator[None]:
    """Let all that this process and its children print go to a file; it is removed if nothing was printed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    before = [os.dup(1), os.dup(2)]
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
    try:
        os.dup2(log, 1)
        os.dup2(log, 2)
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        empty = os.fstat(log).st_size == 0
        for number, descriptor in enumerate(before, start=1):
            os.dup2(descriptor, number)
            os.close(descriptor)
        os.close(log)
        if empty:
            path.unlink(missing_ok=True)
