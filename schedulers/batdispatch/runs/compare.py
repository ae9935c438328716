"""Several runs on the same input, side by side; one that fails does not take the others with it."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing.managers import SyncManager
from pathlib import Path
from queue import Empty
from typing import Any

from batdispatch.core.blame import blame
from batdispatch.core.errors import BatdispatchError, InputError
from batdispatch.inputs.folders import Claim, stamp
from batdispatch.links.with_parent import end_with_parent
from batdispatch.results.run_files import RESULT
from batdispatch.runs.run import RunSpec, build, clear, execute, is_made

#: Called with (label, jobs ended so far, jobs in all).
LabelledProgress = Callable[[str, int, int], None]
#: Called with the folders of the runs that are whole, in order, and why the others failed, by label.
Conclude = Callable[[list[Path], dict[str, str]], None]


def compare(
    specs: Sequence[RunSpec],
    out: Path,
    *,
    processes: int = 1,
    progress: LabelledProgress | None = None,
    fresh: bool = False,
    on_kept: Callable[[list[str]], None] | None = None,
    conclude: Conclude | None = None,
) -> tuple[list[Path], dict[str, str]]:
    """Execute runs, each into ``out/LABEL``, and return the folders of the whole runs and the failures by label.

    Runs that are whole in their folders, made from the same specs and inputs by the same code, are kept. Each other run
    has a process of its own, so that even a crash of a library loses only that run. Meanwhile the folder `out` is
    claimed. If this process is killed, or interrupted after a run has ended, `out` says that it is unfinished.

    Args:
        specs: the runs.
        out: the folder.
        processes: how many runs at a time.
        progress: told how far each run is.
        fresh: keep no run.
        on_kept: told, before others are made, the labels of the runs kept, if there are any.
        conclude: called at the end, while `out` still counts as unfinished.

    Raises:
        InputError: a run's input is wrong, or another process is writing into a folder: then none can be compared.
    """
    for spec in specs:
        build(spec)
    labels = [spec.label for spec in specs]
    if len(set(labels)) != len(labels):
        raise InputError(f"two runs would have the same folder: {', '.join(sorted(labels))}")
    failures: dict[str, str] = {}
    with Claim(out) as claim:
        kept = [] if fresh else [spec.label for spec in specs if is_made(spec, out / spec.label)]
        if kept and on_kept is not None:
            on_kept(kept)
        pending = [spec for spec in specs if spec.label not in kept]
        if pending:
            _make(pending, claim, processes, progress, failures)
        folders = [out / label for label in labels if label not in failures]
        if conclude is not None:
            conclude(folders, failures)
    return folders, failures


def _make(
    pending: Sequence[RunSpec],
    claim: Claim,
    processes: int,
    progress: LabelledProgress | None,
    failures: dict[str, str],
) -> None:
    """Execute runs, so many at a time, and enter why some failed."""
    out = claim.folder
    context = multiprocessing.get_context("spawn")
    bound = partial(end_with_parent, os.getpid())
    manager = SyncManager(ctx=context)
    manager.start(bound)
    with manager:
        queue = manager.Queue() if progress is not None else None
        while pending:
            batch, pending = pending[:processes], pending[processes:]
            # A pool of its own for each batch: a broken pool refuses all further work.
            with ProcessPoolExecutor(max_workers=len(batch), mp_context=context, initializer=bound) as pool:
                others = set(multiprocessing.active_children())
                fresh = {spec.label for spec in batch if not (out / spec.label).exists()}
                before = {spec.label: stamp(out / spec.label / RESULT) for spec in batch}
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
                    if any(stamp(out / spec.label / RESULT) != before[spec.label] for spec in batch):
                        claim.changing()
                    raise
                if any(future.exception() is None for future in futures):
                    claim.changing()
                for future, spec in futures.items():
                    problem = _problem(future)
                    if problem is not None:
                        failures[spec.label] = problem
                        clear(out / spec.label, recording=False, folder=False)


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
