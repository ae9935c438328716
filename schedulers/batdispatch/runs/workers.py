"""Worker processes: all other processes of this package's own code are started here, and in one way.

Theory of operation. A `Worker` is a new interpreter with a pipe to this one. It calls what comes through the pipe, one
function after the other, tells on the way what the function tells, and answers with the result or with the error. If
the pipe breaks, the worker has died, and only the call that it had is lost. It ends when the pipe is closed, and with
this process, however this one ends. An interrupt at the terminal is for this process alone. A worker keeps from call to
call what it has imported and what its functions remember. It knows nothing of the script or notebook that runs here,
so that none of these is run a second time.

There are three ways to have work done:

- `carry_out`: many tasks, each as soon as a worker is free; this process follows them.
- `workers_beside`: tasks of which the results are asked for later, while this process does something else.
- `call_isolated`: one call, for libraries that end the process when they dislike something, or work once in a process.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection, wait
from typing import IO, Any, ParamSpec, TypeVar

from batdispatch.core.errors import BatdispatchError, ImpossibleDecision, InputError, SimulationError, printable
from batdispatch.core.line.blame import blame, user_error
from batdispatch.links.watched_process import how_ended, telling_lines
from batdispatch.links.with_parent import end_with_parent
from batdispatch.runs.listener import Progress, Tell, sparse_progress

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

_WHY_DIED = "(out of memory, or a crash in a library)"
DEATH = f"its process died {_WHY_DIED}"
_ERRORS: dict[str, type[BatdispatchError]] = {
    kind.__name__: kind for kind in (ImpossibleDecision, InputError, SimulationError)
}
#: Bytes of address space for the stack of an isolated call; only what is used becomes memory. SimGrid recurses from
#: task to task over shared links: 90 tasks of 16 hosts spread over a torus of 27,648 overran the usual 8 MiB.
_STACK = 512 * 2**20


class Worker:
    """A process that calls functions, one after the other; start one, and stop it in the thread that started it.

    Attributes:
        pipe: readable when the worker has something to say.
        pid: of the process.
    """

    def __init__(self, words: IO[bytes] | None = None) -> None:
        """Start it.

        Args:
            words: takes the error stream of a worker for an isolated call, which has a deep stack and ends without any
                library's farewell; None: this process's own stream does.
        """
        self.pipe, theirs = multiprocessing.Pipe()
        code = f"from {__name__} import work; work({theirs.fileno()}, {os.getpid()}, isolated={words is not None})"
        # It looks for circles of garbage as seldom as this process, and not when it ends.
        seldom = f"gc.set_threshold(*{gc.get_threshold()})"
        code = f"import gc, sys; {seldom}; sys.path[:] = {sys.path!r}; {code}; gc.freeze()"
        # Blocked signals are inherited: an interrupt at the terminal is for this process, which stops the other.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", code],
                stdin=subprocess.DEVNULL,
                stderr=words,
                pass_fds=(theirs.fileno(),),
            )
        finally:
            theirs.close()
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self.pid = self._process.pid

    def begin(self, call: Callable[[Tell], Any]) -> None:
        """Let it call a function of a module; the rest comes through `hear`."""
        # If it has died, `hear` finds the broken pipe.
        with suppress(OSError):
            self.pipe.send(call)

    def hear(self) -> tuple[str, Any]:
        """Wait for what it says next.

        Returns:
            ``told`` and what the function told, ``ended`` and its result, ``died`` and None, or what went wrong: the
            name of an error (``bug`` for one that no user can mend) and its words.
        """
        try:
            kind, what = self.pipe.recv()
        except (EOFError, OSError):
            return "died", None
        return kind, what

    def call(self, call: Callable[[Tell], R], told: Callable[[Any], None] = lambda what: None) -> R:
        """Return what a function returns there.

        Args:
            call: of a module.
            told: called here with what the function tells.

        Raises:
            BrokenExecutor: the process died.
            InputError, ImpossibleDecision, SimulationError: the function raised it, or has a bug.
        """
        self.begin(call)
        while (answer := self.hear())[0] == "told":
            told(answer[1])
        kind, what = answer
        if kind == "died":
            raise BrokenExecutor(DEATH)
        if kind != "ended":
            raise _ERRORS.get(kind, SimulationError)(what)
        result: R = what
        return result

    def kill(self) -> None:
        """End it, whatever it does."""
        self._process.terminate()

    def stop(self) -> None:
        """Let it end once it has nothing to do, and wait for that."""
        self.pipe.close()
        self._process.wait()

    def epitaph(self) -> str:
        """Return how a worker that has been stopped came to its end."""
        return f"ended {how_ended(self._process)}"


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
    first: Callable[[], None] | None = None,
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
        first: called in each worker before its first task, such as what hands over what all tasks need. None: nothing
            is.

    Raises:
        InputError: the function raised it, which ends everything: no task is begun any more, and when those that have
            begun are done it is raised here.
    """
    waiting = deque(tasks)
    busy: dict[Connection, tuple[Worker, T]] = {}
    idle: list[Worker] = []
    #: Those that have had no task.
    fresh: list[Worker] = []
    wrong: InputError | None = None
    try:
        while (waiting or busy) and (left is None or left() > 0):
            # They start side by side: what is handed to one waits until that one has started.
            free = min(processes - len(busy), len(waiting))
            fresh += [Worker() for _ in range(free - len(idle) - len(fresh))]
            while waiting and len(busy) < processes:
                task = waiting.popleft()
                began(task)
                call = partial(function, task)
                if idle and not alone(task):
                    worker = idle.pop()
                else:
                    worker = fresh.pop() if fresh else Worker()
                    call = call if first is None else partial(_call_after, first, call)
                busy[worker.pipe] = worker, task
                worker.begin(call)
            while not waiting and (resting := idle or fresh):
                resting.pop().stop()
            for pipe in wait(list(busy), None if left is None else max(left(), 0.0)):
                assert isinstance(pipe, Connection)
                worker, task = busy[pipe]
                kind, what = worker.hear()
                if kind == "told":
                    told(task, what)
                    continue
                del busy[pipe]
                if kind == "died" or alone(task):
                    worker.stop()
                else:
                    idle.append(worker)
                if kind == InputError.__name__:
                    wrong = wrong or InputError(what)
                    waiting.clear()
                ended(task, None if kind == "ended" else what or DEATH)
        if wrong is not None:
            raise wrong
    finally:
        for worker, _ in busy.values():
            worker.kill()
        for worker in [*idle, *fresh, *(worker for worker, _ in busy.values())]:
            worker.stop()


def _call_after(first: Callable[[], None], call: Callable[[Tell], None], tell: Tell) -> None:
    first()
    call(tell)


@contextmanager
def workers_beside(processes: int) -> Iterator[Executor | None]:
    """Give so many processes that work while this one does; None for less than one.

    An interrupt is for this process: when the block ends, by an interrupt too, tasks that were not begun are dropped.
    The result of a task whose process died is a BrokenExecutor.
    """
    if processes < 1:
        yield None
        return
    pool = _WorkerThreads(processes)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


class _WorkerThreads(ThreadPoolExecutor):
    """Threads each of which has a worker of its own, does nothing but wait for it, and ends it when it ends."""

    def __init__(self, processes: int) -> None:
        super().__init__(processes)
        self._own = threading.local()
        self._workers: list[Worker] = []

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        return super().submit(self._call, partial(fn, *args, **kwargs))

    def _call(self, function: Callable[[], R]) -> R:
        worker = getattr(self._own, "worker", None)
        if worker is None:
            worker = self._own.worker = Worker()
            self._workers.append(worker)
        try:
            result: R = worker.call(partial(_without_telling, function))
        except BrokenExecutor:
            self._own.worker = None
            raise
        return result

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait, cancel_futures=cancel_futures)
        for worker in self._workers:
            worker.stop()


def _without_telling(function: Callable[[], R], tell: Tell) -> R:
    return function()


class ProcessDied(SimulationError):
    """The process of an isolated call ended before the call did."""


def call_isolated(function: Callable[..., R], *arguments: Any, progress: Progress | None = None) -> R:
    """Call a function in a new process, so that a crash of a library becomes a message and not the end of everything.

    Args:
        function: of a module; called with `arguments` and, by keyword, ``progress``, which takes the number of jobs
            that ended and the number of all.
        arguments: what can be pickled.
        progress: called here with what the function reports.

    Raises:
        InputError, ImpossibleDecision: the function raised it.
        SimulationError: likewise, or the function has a bug, or the process died; then its last words are in the
            message.
    """
    with tempfile.TemporaryFile() as words:
        worker = Worker(words)
        try:
            return worker.call(partial(_with_progress, function, arguments), lambda what: progress and progress(*what))
        except BrokenExecutor:
            worker.stop()
            raise ProcessDied(f"the process that simulated {worker.epitaph()}{_last_words(words)}") from None
        except BaseException:
            worker.kill()
            raise
        finally:
            worker.stop()
            words.seek(0)
            sys.stderr.write(printable(words.read().decode(errors="replace")))


def _last_words(words: IO[bytes]) -> str:
    """Return what a worker that died said last, as the end of a sentence; it is not told elsewhere then."""
    words.seek(0)
    last = telling_lines(words)
    words.truncate(0)
    return f". Its last words: {' / '.join(last)}" if last else f" without a word {_WHY_DIED}"


def _with_progress(function: Callable[..., R], arguments: Sequence[Any], tell: Tell) -> R:
    return function(*arguments, progress=sparse_progress(tell))


def work(descriptor: int, parent: int, *, isolated: bool) -> None:
    """Be a worker of the process `parent`, which says through a pipe what to call."""
    end_with_parent(parent)
    pipe = Connection(descriptor)
    if not isolated:
        _answer_all(pipe)
        return
    threading.stack_size(_STACK)
    thread = threading.Thread(target=_answer_all, args=(pipe,))
    thread.start()
    thread.join()
    sys.stdout.flush()
    sys.stderr.flush()
    # Without the interpreter's and the library's farewells: some versions of SimGrid crash in theirs.
    os._exit(0)


def _answer_all(pipe: Connection) -> None:
    """Call what comes until the pipe ends."""
    threading.stack_size(0)  # For threads that a function starts.
    while True:
        try:
            call = pipe.recv()
        except (EOFError, OSError):
            return
        except Exception as problem:
            # It comes from somewhere that this process cannot import.
            pipe.send(_account(problem))
            continue
        try:
            answer = "ended", call(lambda what: pipe.send(("told", what)))
        except Exception as problem:
            answer = _account(problem)
        pipe.send(answer)


def _account(problem: Exception) -> tuple[str, str]:
    """Return the name and the words of what went wrong."""
    error = user_error(problem)
    if error is None:
        return "bug", f"this is a bug: {blame(problem)}"
    kind = next((name for name, kind in _ERRORS.items() if isinstance(error, kind)), SimulationError.__name__)
    return kind, str(error)
