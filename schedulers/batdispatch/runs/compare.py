"""Several runs on the same input, side by side; one that fails does not take the others with it."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from queue import Empty
from typing import Any

from batdispatch.core.blame import blame
from batdispatch.core.errors import BatdispatchError, InputError
from batdispatch.runs.run import RunSpec, build, clear, execute

#: Called with (label, jobs ended so far, jobs in all).
LabelledProgress = Callable[[str, int, int], None]


def compare(
    specs: Sequence[RunSpec], out: Path, *, processes: int = 1, progress: LabelledProgress | None = None
) -> tuple[list[Path], dict[str, str]]:
    """Execute runs, each into ``out/LABEL``, and return the finished folders and the failures by label.

    Each run has a process of its own, so that even a crash of a library loses only that run.

    Raises:
        InputError: a run's input is wrong: then none can be compared.
    """
    for spec in specs:
        build(spec)
    labels = [spec.label for spec in specs]
    if len(set(labels)) != len(labels):
        raise InputError(f"two runs would have the same folder: {', '.join(sorted(labels))}")
    context = multiprocessing.get_context("spawn")
    with context.Manager() as manager:
        queue = manager.Queue() if progress is not None else None
        folders, failures = [], {}
        pending = list(specs)
        while pending:
            batch, pending = pending[:processes], pending[processes:]
            # A pool of its own for each batch: a broken pool refuses all further work.
            with ProcessPoolExecutor(max_workers=len(batch), mp_context=context) as pool:
                others = set(multiprocessing.active_children())
                fresh = {spec.label for spec in batch if not (out / spec.label).exists()}
                # Blocked signals are inherited: an interrupt at the terminal is for this process, which stops those.
                signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
                futures = {pool.submit(_execute, spec, out / spec.label, queue): spec for spec in batch}
                try:
                    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
                    _follow(futures, queue, progress)
                except KeyboardInterrupt:
                    for worker in set(multiprocessing.active_children()) - others:
                        worker.terminate()
                        worker.join()
                    for spec in batch:
                        clear(out / spec.label, recording=True, folder=spec.label in fresh)
                    raise
                for future, spec in futures.items():
                    problem = _problem(future)
                    if problem is None:
                        folders.append(out / spec.label)
                    else:
                        failures[spec.label] = problem
    return folders, failures


def _execute(spec: RunSpec, out: Path, queue: Any) -> None:
    if queue is None:
        execute(spec, out)
        return

    def tell(done: int, total: int) -> None:
        if done == total or done % max(total // 200, 1) == 0:
            queue.put((spec.label, done, total))

    execute(spec, out, progress=tell)


def _follow(futures: dict[Future[None], RunSpec], queue: Any, progress: LabelledProgress | None) -> None:
    """Pass progress on until all runs of a batch have ended."""
    while True:
        _, waiting = wait(futures, timeout=0.2 if queue is not None else None)
        if queue is not None and progress is not None:
            try:
                while True:
                    progress(*queue.get_nowait())
            except Empty:
                pass
        if not waiting:
            return


def _problem(future: Future[None]) -> str | None:
    """Return why a run failed, or None. Wrong input is raised: it is wrong for every run."""
    try:
        future.result()
    except InputError:
        raise
    except BatdispatchError as problem:
        return str(problem)
    except BrokenProcessPool:
        return "its process died (out of memory, or a crash in a library)"
    except Exception as problem:
        # The traceback of the other process is this one's cause.
        return f"this is a bug: {blame(problem)}"
    return None
