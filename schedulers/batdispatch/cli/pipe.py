"""Files that may be piped into a command: ``sacct ... | batdispatch whatif -``."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import click

from batdispatch.core.errors import InputError

#: What stands for the pipe, and what results are called that are made of it.
PIPE, NAME = "-", "piped"


class InputPath(click.Path):
    """A path of a file that is read; ``-`` is what comes in by the pipe, which is kept in a file until the end."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path.

        Raises:
            InputError: nothing is piped, or two inputs are to come by one pipe.
        """
        if value != PIPE or ctx is None or ctx.resilient_parsing:
            return super().convert(value, param, ctx)
        if sys.stdin is None or sys.stdin.isatty():
            raise InputError("nothing is piped into the command: expected sacct ... | batdispatch ...", source=PIPE)
        if ctx.meta.setdefault(__name__, param) is not param:
            raise InputError("stands twice, and there is one pipe: give a file for one of them", source=PIPE)
        folder = Path(tempfile.mkdtemp(prefix="batdispatch-"))
        ctx.call_on_close(lambda: shutil.rmtree(folder, ignore_errors=True))
        with (folder / NAME).open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        return super().convert(str(folder / NAME), param, ctx)
