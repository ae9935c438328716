"""The console script before the command line is there."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping

import pytest

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


def test_interrupts_are_pythons_again_while_the_command_runs_and_ignored_after_it() -> None:
    program = """
import signal, sys
# Python ignores interrupts where the shell that started the tests does.
signal.signal(signal.SIGINT, signal.default_int_handler)
import batdispatch.cli.main as command
from batdispatch.cli.entry import main
command.main = lambda: print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
main()
print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["True", "True"]


@pytest.mark.skipif(sys.platform != "linux", reason="counts threads as Linux shows them")
@pytest.mark.parametrize(("environment", "threads"), [({}, "1"), ({"OPENBLAS_NUM_THREADS": "3"}, "3")])
def test_numpy_has_one_thread_unless_the_user_wants_more(environment: Mapping[str, str], threads: str) -> None:
    program = """
import os
import batdispatch.cli.main as command
from batdispatch.cli.entry import main

def run() -> None:
    import numpy
    print(os.environ["OPENBLAS_NUM_THREADS"], len(os.listdir("/proc/self/task")))

command.main = run
main()
"""
    given = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    line = [sys.executable, "-c", program]
    done = subprocess.run(line, capture_output=True, text=True, check=False, env=given | environment)
    said, started = done.stdout.split()
    assert said == threads
    assert (started == "1") == (threads == "1" or os.cpu_count() == 1)


def test_python_looks_for_circles_seldom_and_not_when_it_ends() -> None:
    program = """
import gc
import batdispatch.cli.main as command
from batdispatch.cli.entry import NEW_OBJECTS, main
command.main = lambda: print(gc.get_threshold()[0] == NEW_OBJECTS)
main()
print(len(gc.get_objects()) < 100)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["True", "True"]


def test_python_runs_the_package_as_the_command() -> None:
    line = [sys.executable, "-m", "batdispatch", "run", "--dispacher", "easy"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == (
        "batdispatch: error: No such option '--dispacher'. Did you mean '--dispatcher'? "
        "See python -m batdispatch run --help\n"
    )


@pytest.mark.parametrize(("flags", "shown"), [([], False), (["-W", "default"], True)])
def test_warnings_are_shown_only_to_those_who_ask(flags: list[str], shown: bool) -> None:
    program = """
import os, subprocess, sys, warnings
import batdispatch.cli.main as command
from batdispatch.cli.entry import main

def run() -> None:
    warnings.warn_explicit("here", RuntimeWarning, "x.py", 1)
    if not sys.warnoptions:
        subprocess.run([sys.executable, "-c", "import warnings; warnings.warn('there')"], check=True)

command.main = run
main()
"""
    done = subprocess.run([sys.executable, *flags, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert ("RuntimeWarning: here" in done.stderr) == shown
    assert shown or done.stderr == ""
