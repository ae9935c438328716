"""Worker processes that take one task after the other; a worker that dies loses only the task that it had.

Theory of operation. Each worker is a process with a pipe. This process gives a worker its next task as soon as the one
before has ended, so that no worker waits for another. A worker answers with what it has to tell while it works, and
then with how the task ended. If the pipe breaks, the worker has died: its task has failed, and a new worker takes its
place while there are tasks. All workers end with this process, however it ends.

A worker keeps from task to task what it has imported and what the function remembers. A task that must be alone has a
new worker, which ends with it.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Generic, TypeVar

from batdispatch.core.errors import InputError
from batdispatch.core.line.blame import blame, user_error
from batdispatch.links.with_parent import end_with_parent

T = TypeVar("T")
#: Called in a worker with what is to be told to this process.
Tell = Callable[[Any], None]

DIED = "its process died (out of memory, or a crash in a library)"


@dataclass
class _Worker(Generic[T]):
    process: BaseProcess
    pipe: Connection
    task: T


def carry_out(
    function: Callable[[T, Tell], None],
    tasks: Sequence[T],
    *,
    processes: int,
    began: Callable[[T], None],
    told: Callable[[T, Any], None],
    ended: Callable[[T, str | None], None],
    alone: Callable[[T], bool] = lambda task: False,
    left: Callable[[], float] | None = None,
) -> None:
    """Call a function with each task in worker processes, in order, and return when all have ended.

    Args:
        function: of a module, so that a new process can import it.
        tasks: what it is called with.
        processes: the most workers at a time.
        began: called before a worker gets a task.
        told: called with what the function tells.
        ended: called with why a task failed, or None.
        alone: whether the process of a task must be a new one and end with it.
        left: seconds that are left for all of it. When they are over, the tasks that have begun are ended, whatever
            they do, and of these and all later ones `ended` is not called. None: there is no limit.

    Raises:
        InputError: the function raised it, which ends everything: no task is begun any more, and when those that have
            begun are done it is raised here.
    """
    waiting = deque(tasks)
    workers: list[_Worker[T]] = []
    idle: list[tuple[BaseProcess, Connection]] = []
    wrong: InputError | None = None
    try:
        while (waiting or workers) and (left is None or left() > 0):
            while waiting and len(workers) < processes:
                task = waiting.popleft()
                fresh = alone(task)
                began(task)
                process, pipe = idle.pop() if idle and not fresh else _start(function)
                workers.append(_Worker(process, pipe, task))
                # If it has died, the broken pipe is found below.
                with suppress(OSError):
                    pipe.send(task)
            while idle and not waiting:
                _stop(*idle.pop())
            ready = set(wait([worker.pipe for worker in workers], None if left is None else max(left(), 0.0)))
            for worker in [worker for worker in workers if worker.pipe in ready]:
                try:
                    kind, what = worker.pipe.recv()
                except (EOFError, OSError):
                    kind, what = "died", DIED
                if kind == "told":
                    told(worker.task, what)
                    continue
                workers.remove(worker)
                if kind == "died" or alone(worker.task):
                    _stop(worker.process, worker.pipe)
                else:
                    idle.append((worker.process, worker.pipe))
                if kind == "wrong":
                    wrong = wrong or InputError(what)
                    waiting.clear()
                ended(worker.task, what)
        if wrong is not None:
            raise wrong
    finally:
        for worker in workers:
            worker.process.terminate()
        for process, pipe in [*idle, *((worker.process, worker.pipe) for worker in workers)]:
            _stop(process, pipe)


@contextmanager
def workers_beside(processes: int) -> Iterator[Executor | None]:
    """Give so many processes that work while this one does; None for less than one.

    An interrupt is for this process: when the block ends, by an interrupt too, tasks that were not begun are dropped.
    """
    if processes < 1:
        yield None
        return
    context = multiprocessing.get_context("spawn")
    # It starts with the first worker otherwise, and then unblocks interrupts.
    resource_tracker.ensure_running()
    pool = ProcessPoolExecutor(processes, mp_context=context, initializer=_be_beside, initargs=(os.getpid(),))
    # Blocked signals are inherited, so that none of them is interrupted while it starts.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        for _ in range(processes):
            pool.submit(os.getpid)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _be_beside(parent: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(parent)


def forget_peak() -> None:
    """Let the peak memory of this process count from now on: of a worker, it is that of one task. On Linux only."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _start(function: Callable[[T, Tell], None]) -> tuple[BaseProcess, Connection]:
    """Start a worker."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(os.getpid(), theirs, function))
    # It starts with the first worker otherwise, and then unblocks interrupts.
    resource_tracker.ensure_running()
    # Blocked signals are inherited: an interrupt at the terminal is for this process, which stops those.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        theirs.close()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return process, ours


def _stop(process: BaseProcess, pipe: Connection) -> None:
    """Let a worker without a task end, and wait for it."""
    pipe.close()
    process.join()


def _work(parent: int, pipe: Connection, function: Callable[[T, Tell], None]) -> None:
    """Be a worker of the process `parent`."""
    end_with_parent(parent)
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        answer: tuple[str, str | None] = ("ended", None)
        try:
            function(task, partial(_tell, pipe))
        except Exception as problem:
            error = user_error(problem)
            said = f"this is a bug: {blame(problem)}" if error is None else str(error)
            answer = ("wrong" if isinstance(error, InputError) else "ended", said)
        pipe.send(answer)


def _tell(pipe: Connection, what: Any) -> None:
    pipe.send(("told", what))
