"""Runs of dispatchers that take long: each gets so much CPU time, and says how far it came if that is too little."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path
from types import FrameType

import msgspec

from batdispatch.inputs.files import write_whole
from batdispatch.results.run_files import PARTIAL_RECORDING
from batdispatch.runs.keeping import environment
from batdispatch.runs.run import RunSpec, execute, is_made

#: How often the CPU time is looked at, s by the clock. An interval timer of CPU time would do without, but while one
#: runs, Linux tells CPU time in steps of 4 ms, and decisions are timed by it.
PERIOD = 0.5
#: The same once a run was told to stop, which takes a moment.
AGAIN = 30.0


class Stopped(msgspec.Struct, frozen=True, kw_only=True):
    """How far a run came that was stopped.

    Attributes:
        minutes: CPU time it took.
        ended: jobs that had ended.
        jobs: of the workload.
        now: simulated time, s.
        code: what it ran with, see `environment`.
    """

    minutes: float
    ended: int
    jobs: int
    now: float
    code: str

    def __str__(self) -> str:
        """Return it in words."""
        return (
            f"stopped after {self.minutes:.1f} minutes of CPU time, at {self.now:,.0f} s of simulated time, when "
            f"{self.ended:,} of {self.jobs:,} jobs had ended"
        )


class _TimeIsUp(BaseException):
    pass


def execute_within(spec: RunSpec, folder: Path, minutes: float) -> Stopped | None:
    """Run, unless that run is there already; return how far it came if so many minutes of CPU time are too little.

    How far it came is kept beside the folder, so that the same code need not try again with no more time. It is stopped
    between two steps of Python: a solver's first propagation is not interrupted.

    Raises:
        InputError, SimulationError: as `execute`.
    """
    kept, code = folder.with_name(f"{folder.name}.stopped.json"), environment()["code"]
    if is_made(spec, folder):
        return None
    if kept.is_file():
        known = msgspec.json.decode(kept.read_bytes(), type=Stopped)
        if known.code == code and known.minutes >= minutes:
            return known
    done, is_up = [0, 0], False

    def progress(ended: int, jobs: int) -> None:
        done[:] = ended, jobs

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal is_up
        if not ended.is_set():
            is_up = True
            raise _TimeIsUp

    began, ended = time.process_time(), threading.Event()

    def watch() -> None:
        # Again after a while, in case that a signal is lost inside a solver.
        while not ended.wait(AGAIN if is_up else PERIOD):
            if time.process_time() - began >= 60 * minutes:
                signal.raise_signal(signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, stop)
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        execute(spec, folder, progress=progress)
        kept.unlink(missing_ok=True)
        return None
    except BaseException:
        ended.set()
        # Between a solver and the engine the signal becomes other errors.
        if not is_up:
            raise
        took = (time.process_time() - began) / 60
        found = Stopped(minutes=took, ended=done[0], jobs=done[1], now=_reached(folder), code=code)
        write_whole(kept, msgspec.json.encode(found))
        return found
    finally:
        ended.set()
        watcher.join()
        signal.signal(signal.SIGUSR1, before)


def _reached(folder: Path) -> float:
    """Return the time of the last message of a run that was stopped; 0 if there was none."""
    last, recording = b"", folder / PARTIAL_RECORDING
    if recording.is_file():
        with recording.open("rb") as file:
            for line in file:
                last = line
    return float(msgspec.json.decode(msgspec.json.decode(last)["raw"])["now"]) if last else 0.0
