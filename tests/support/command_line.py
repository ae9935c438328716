"""The command line as a user calls it, in this process: what it prints, and its exit status."""

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple
from unittest import mock

from batdispatch.cli.main import main


class Answer(NamedTuple):
    """What a command printed, and its exit status."""

    status: int
    out: str
    err: str

    @property
    def output(self) -> str:
        return self.out + self.err


def call(*words: object) -> Answer:
    """Call ``batdispatch`` with words. What the process does with signals is left as it is."""
    out, err = io.StringIO(), io.StringIO()
    argv = mock.patch.object(sys, "argv", ["batdispatch", *map(str, words)])
    with argv, mock.patch("signal.signal"), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as stop:
            return Answer(int(stop.code or 0), out.getvalue(), err.getvalue())
    raise AssertionError("main ends the process")
