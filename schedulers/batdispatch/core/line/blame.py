"""Tells people what went wrong: in code of their own, such as a dispatcher, or with the machine that they work on."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path

from batdispatch.core import extras
from batdispatch.core.errors import BatdispatchError, InputError, SimulationError

#: Environment variable; when set, messages about foreign code end with the traceback.
DEBUG = "BATDISPATCH_DEBUG"


def blame(problem: BaseException, file: str | None = None) -> str:
    """Return an exception in words: its type, its message, where it arose, and under BATDISPATCH_DEBUG its traceback.

    Args:
        problem: what was raised, and caught.
        file: whose lines are looked for; the innermost one counts. None, or no line of it: the innermost of all.
    """
    frames = traceback.extract_tb(problem.__traceback__)
    own = [frame for frame in frames if file is not None and Path(frame.filename).absolute() == Path(file).absolute()]
    text = f"{type(problem).__name__}: {problem}" if str(problem) else type(problem).__name__
    # A syntax error names its own place.
    if (own or frames) and not (isinstance(problem, SyntaxError) and problem.lineno is not None):
        frame = (own or frames)[-1]
        text += f" ({_short(frame.filename)}, line {frame.lineno})"
    if os.environ.get(DEBUG):
        return text + "\n" + "".join(traceback.format_exception(problem)).rstrip()
    return text


def interrupt_of(problem: BaseException | None) -> KeyboardInterrupt | None:
    """Return the interrupt behind an exception, or None.

    A signal that arrives while a library in C calls Python comes out as a SystemError of that library, caused by the
    interrupt.
    """
    while problem is not None and not isinstance(problem, KeyboardInterrupt):
        problem = problem.__cause__ or problem.__context__
    return problem


def user_error(problem: BaseException) -> BatdispatchError | None:
    """Return what a person can mend as the error that says so, or None if nobody but an author of this package can.

    That is: an error that was raised as one, a file or a disk that fails, a library that is not installed, too little
    memory.
    """
    if isinstance(problem, BatdispatchError):
        return problem
    if isinstance(problem, OSError):
        name = "" if problem.filename is None else os.fsdecode(problem.filename)
        return InputError(problem.strerror or str(problem), source=name)
    if isinstance(problem, MemoryError):
        return SimulationError(f"there is too little memory{f': {problem}' if str(problem) else ''}")
    return extras.explanation_of(problem) if isinstance(problem, ImportError) else None


def file_of(cls: type) -> str | None:
    """Return the file that a class was defined in, if it is known."""
    return getattr(sys.modules.get(cls.__module__), "__file__", None)


def _short(name: str) -> str:
    """Return a path relative to the working folder, where it lies inside."""
    try:
        return str(Path(name).relative_to(Path.cwd()))
    except (ValueError, OSError):
        return name
