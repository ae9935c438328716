"""A function in a process of its own, so that a crash of a library becomes a message and not the end of everything.

SimGrid ends the process when it dislikes a platform, and can simulate once in a process.
"""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Mapping
from typing import IO, Any

import msgspec

from batdispatch.core.errors import BatdispatchError, ImpossibleDecision, InputError, SimulationError
from batdispatch.core.line.blame import user_error
from batdispatch.links.watched_process import telling
from batdispatch.links.with_parent import end_with_parent

_ERRORS: dict[str, type[BatdispatchError]] = {
    kind.__name__: kind for kind in (ImpossibleDecision, InputError, SimulationError)
}
#: Bytes of address space for the stack there; only what is used becomes memory. SimGrid recurses from task to task over
#: shared links: 90 tasks of 16 hosts spread over a torus of 27,648 overran the usual 8 MiB.
_STACK = 512 * 2**20


def isolated(function: str, arguments: Mapping[str, Any], *, progress: Callable[[int, int], None] | None = None) -> Any:
    """Call a function in a new process and return what it returns.

    Args:
        function: as ``package.module:name``; called with `arguments` and, by keyword, ``progress``, which takes the
            number of jobs that ended and the number of all.
        arguments: by name; these and the result are of types that JSON has.
        progress: called here with what the function reports.

    Raises:
        InputError, ImpossibleDecision: the function raised it.
        SimulationError: likewise, or the process died; then its last words are in the message.
    """
    task = msgspec.json.encode({"function": function, "arguments": dict(arguments), "path": sys.path})
    reader, writer = os.pipe()
    with tempfile.TemporaryFile() as words:
        # A session of its own: an interrupt at the terminal is for this process, which then stops the other.
        process = subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import serve; serve({writer}, {os.getpid()})"],
            stdin=subprocess.PIPE,
            stderr=words,
            pass_fds=(writer,),
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )
        os.close(writer)
        try:
            assert process.stdin is not None
            try:
                process.stdin.write(task)
                process.stdin.close()
            except BrokenPipeError:
                pass  # It died at once; what it said is told below.
            with os.fdopen(reader, "rb") as lines:
                answer = _follow(lines, progress)
            status = process.wait()
        except BaseException:
            process.kill()
            process.wait()
            raise
        words.seek(0)
        said = words.read().decode(errors="replace")
    if answer is None:
        raise SimulationError(_epitaph(status, said))
    if said:
        sys.stderr.write(said)
    if "error" not in answer:
        return answer["result"]
    error = answer["error"]
    raise _ERRORS[error["kind"]](error["message"])


def _kind_of(error: BatdispatchError) -> str:
    return next((name for name, kind in _ERRORS.items() if isinstance(error, kind)), SimulationError.__name__)


def _follow(lines: IO[bytes], progress: Callable[[int, int], None] | None) -> dict[str, Any] | None:
    """Pass progress on; return the answer, or None when there is none."""
    for line in lines:
        try:
            message = msgspec.json.decode(line)
        except msgspec.DecodeError:
            return None  # The process died while it wrote.
        if "progress" not in message:
            return message  # type: ignore[no-any-return]
        if progress is not None:
            progress(*message["progress"])
    return None


def _epitaph(status: int, said: str) -> str:
    if status < 0:
        try:
            cause = f"was ended by signal {signal.Signals(-status).name}"
        except ValueError:
            cause = f"was ended by signal {-status}"
    else:
        cause = f"ended with status {status}"
    last = telling(said.encode().splitlines())
    return f"the process that simulated {cause}" + (
        ". Its last words: " + " / ".join(last) if last else " without a word (out of memory, or a crash in a library)"
    )


def serve(writer: int, parent: int) -> None:
    """Be the other process, of `parent`: read the task, call the function, answer on a file descriptor."""
    end_with_parent(parent)
    answered = False
    task = msgspec.json.decode(sys.stdin.buffer.read())
    sys.path[:] = task["path"]
    with os.fdopen(writer, "wb") as channel:

        def tell(message: dict[str, Any]) -> None:
            nonlocal answered
            channel.write(msgspec.json.encode(message) + b"\n")
            channel.flush()
            answered = "progress" not in message

        def progress(done: int, total: int) -> None:
            if done == total or done % max(total // 200, 1) == 0:
                tell({"progress": [done, total]})

        def work() -> None:
            threading.stack_size(0)  # For threads that the function starts.
            module, _, name = task["function"].partition(":")
            try:
                result = getattr(importlib.import_module(module), name)(**task["arguments"], progress=progress)
            except BaseException as problem:
                error = user_error(problem)
                if error is None:
                    traceback.print_exc()
                else:
                    tell({"error": {"kind": _kind_of(error), "message": str(error)}})
            else:
                tell({"result": result})

        threading.stack_size(_STACK)
        worker = threading.Thread(target=work)
        worker.start()
        worker.join()
        sys.stdout.flush()
        sys.stderr.flush()
    # Without the interpreter's and the library's farewells: some versions of SimGrid crash in theirs.
    os._exit(0 if answered else 1)
