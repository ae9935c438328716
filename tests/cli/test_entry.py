"""The console script before the command line is there."""

from __future__ import annotations

import signal
import subprocess
import sys

PROGRAM = """
import os, signal, sys
from batdispatch.cli.entry import main

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "click":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
main()
"""


def test_an_interrupt_while_importing_shows_no_traceback() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGINT
    assert done.stderr == ""


def test_interrupts_are_pythons_again_afterwards() -> None:
    program = "import signal, sys; sys.argv = ['x', '--version']\nfrom batdispatch.cli.entry import main\ntry: main()\n"
    program += "finally: print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "True"
