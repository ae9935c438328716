"""Kills a run or a comparison with SIGKILL just before it changes a file: every such moment in turn, or a named one.

``python crashing.py run PLATFORM WORKLOAD DISPATCHER BEFORE ROOT`` simulates into ROOT/0, ROOT/1, ...: each is a copy
of the folder BEFORE (or new if there is none), and the process that writes into ROOT/N is killed before its change N.
The last one, which had no change N, ends well.

``python crashing.py compare PLATFORM WORKLOAD DISPATCHERS OUT WHO EVENT END`` compares into OUT; WHO (parent or worker)
is killed before the first EVENT (an audit event) whose last path ends with END.
"""

import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: Audit events of calls that change files -> how many of their arguments are paths.
CHANGES = {"open": 1, "os.rename": 2, "os.remove": 1, "os.mkdir": 1, "os.rmdir": 1, "os.truncate": 1}
#: Says in a worker which event to die before.
VARIABLE = "CRASHING_WORKER"


def watch(folder: Path, due: Callable[[str, str], bool]) -> None:
    """Kill this process before the first change inside a folder of which `due` says so, from its name and last path."""

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in CHANGES:
            return
        if event == "open" and not arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            return
        if not all(isinstance(path, str | os.PathLike) for path in arguments[: CHANGES[event]]):
            return
        last = os.fspath(arguments[CHANGES[event] - 1])
        # What is removed with a whole tree is named relative to its folder.
        inside = last.startswith(str(folder)) or not last.startswith("/")
        if inside and due(event, last):
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def nth(number: int) -> Callable[[str, str], bool]:
    """Return what says of the change `number`, from 0, that it is due."""
    seen = iter(range(10**9))
    return lambda event, path: next(seen) == number


def named(text: str) -> Callable[[str, str], bool]:
    """Return what says of the change ``EVENT END`` that it is due."""
    wanted, _, end = text.partition(" ")
    return lambda event, path: event == wanted and path.endswith(end)


def crash_runs(platform: str, workload: str, dispatcher: str, before: str, root: str) -> None:
    from batdispatch.runs.run import execute
    from batdispatch.runs.spec import RunSpec

    spec = RunSpec(platform=platform, workload=workload, dispatcher=dispatcher)
    # What is imported and remembered for a run is so for all of them.
    execute(spec, Path(f"{root}-before-all"))
    status = -1
    number = 0
    while status != 0:
        out = Path(root) / str(number)
        if Path(before).is_dir():
            shutil.copytree(before, out)
        child = os.fork()
        if child == 0:
            watch(out, nth(number))
            execute(spec, out)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert status == 0 or os.WTERMSIG(status) == signal.SIGKILL, status
        number += 1


def crash_compare(platform: str, workload: str, dispatchers: str, out: str, who: str, *what: str) -> None:
    import crashing
    from batdispatch.report.page import write_report
    from batdispatch.runs import compare as comparing
    from batdispatch.runs.spec import RunSpec

    specs = [RunSpec(platform=platform, workload=workload, dispatcher=name) for name in dispatchers.split(",")]
    if who == "worker":
        os.environ[VARIABLE] = " ".join([out, *what])
        comparing.LITTLE = 0
        # A worker imports what it calls, and never runs this script.
        comparing.execute_named = crashing.execute_watched
    else:
        watch(Path(out), named(" ".join(what)))
    comparing.compare(
        specs,
        Path(out),
        processes=2,
        conclude=lambda folders, _: write_report(folders, Path(out) / "report" / "index.html") and None,
    )


def execute_watched(out: Path, run: Any, tell: Callable[[Any], None]) -> None:
    """Be a worker's task, and die before what the environment names."""
    from batdispatch.runs.compare import execute_named

    place, _, rest = os.environ[VARIABLE].partition(" ")
    watch(Path(place), named(rest))
    execute_named(out, run, tell)


if __name__ == "__main__":
    {"run": crash_runs, "compare": crash_compare}[sys.argv[1]](*sys.argv[2:])
