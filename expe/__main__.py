"""Runs the campaigns of `expe/` and holds the papers' claims against what comes out: ``python -m expe --help``."""

from __future__ import annotations

import argparse
import os
import resource
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import NoReturn

from batdispatch.core.errors import BatdispatchError, InputError
from expe.common.running import Experiment, checked


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    print("expe: terminated", file=sys.stderr)
    sys.exit(128 + number)


def main() -> int:
    """Run what the command line asks for; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m expe", description="Papers measured again, see docs/experiments.md."
    )
    add = parser.add_argument
    add("names", nargs="*", metavar="FOLDER", help="folders of expe/ (all)")
    add("--quick", action="store_true", help="run the quick versions")
    add("--out", type=Path, default=Path("reproduced"), help="folder of campaigns (%(default)s)")
    add("--logs", type=Path, help="folder of the logs; what needs a log that is not there is left out")
    add("--jobs", type=int, default=os.cpu_count() or 1, help="processes (%(default)s)")
    add("--no-runs", action="store_true", help="run nothing, and take what is there")
    add("--write", action="store_true", help="write tables and pictures into the folders of expe/")
    asked = parser.parse_args()
    try:
        if asked.write and asked.quick:
            raise InputError("the pages have the figures of the whole campaigns: not with --quick", source="--write")
        failed = [name for name in checked(asked.names) if not _told(name, asked)]
    except BatdispatchError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(f"\n{sum(one.ru_utime + one.ru_stime for one in spent):,.0f} s of CPU time")
    return 1 if failed else 0


def _told(name: str, asked: argparse.Namespace) -> bool:
    """Run a folder and print its claims; return whether all of that could be done."""
    experiment = Experiment(name, asked.out, quick=asked.quick, logs=asked.logs)
    print(f"\n## {name}\n", flush=True)
    if lacking := experiment.lacking():
        print(f"left out: {lacking}")
        return True
    try:
        if not asked.no_runs:
            experiment.run(asked.jobs)
        rows = experiment.rows()
        print(experiment.tell(rows), flush=True)
        if asked.write:
            experiment.write(rows)
    except BatdispatchError as problem:
        print(f"failed: {problem}")
        return False
    return True


if __name__ == "__main__":
    # A signal that ends it ends what it started, too.
    for each in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(each) is not signal.SIG_IGN:
            signal.signal(each, _terminate)
    sys.exit(main())
