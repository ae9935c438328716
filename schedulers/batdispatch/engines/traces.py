"""Usage traces: what each rank of a job computes, step after step, as the files say that a profile names.

A profile names a file that names one file for each rank, each beside itself. A line of a rank's file is ``RANK m_usage
USAGE FLOPS``: the rank computes FLOPS on each of USAGE times its host's cores, on one core at least.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from batdispatch.core.errors import InputError
from batdispatch.inputs.files import Source

#: Most steps of a trace accepted.
MAX_STEPS = 1_000_000
_FORM = "RANK m_usage USAGE FLOPS, with a usage from 0 to 1"


class Step(NamedTuple):
    """One step of a rank: the share of its host's cores that it takes, and the flop that each of them computes."""

    usage: float
    flops: float


#: The steps of each rank.
Trace = tuple[tuple[Step, ...], ...]


class Traces:
    """The traces that a workload's profiles name, each read once."""

    def __init__(self, folder: Path) -> None:
        """Take the folder that names are relative to: the workload's."""
        self._folder = folder
        self._known: dict[str, Trace] = {}

    def of(self, profile: Mapping[str, Any]) -> Trace:
        """Return the trace of a profile.

        Raises:
            InputError: a file cannot be read, or is no trace; says which, the line, found and expected.
        """
        name = str(profile["trace"])
        trace = self._known.get(name)
        if trace is None:
            trace = self._known[name] = _read_trace(self._folder / name)
        return trace


def _read_trace(path: Path) -> Trace:
    with Source(path) as file:
        names = [line.decode(errors="replace").strip() for _, line in file.lines()]
    names = [name for name in names if name]
    if not names:
        raise InputError("names no file, expected the name of each rank's file on a line of its own", source=str(path))
    left = MAX_STEPS
    ranks = []
    for rank, name in enumerate(names):
        ranks.append(_read_rank(path.parent / name, rank, left))
        left -= len(ranks[-1])
    return tuple(ranks)


def _read_rank(path: Path, rank: int, most: int) -> tuple[Step, ...]:
    steps: list[Step] = []
    with Source(path) as file:
        for number, line in file.lines():
            words = line.split()
            if words:
                place = f"line {number}"
                if len(steps) == most:
                    raise InputError(f"the trace has more than {MAX_STEPS:,} steps", source=str(path), place=place)
                steps.append(_read_step(words, rank, str(path), place))
    # What computes nothing takes no time.
    return tuple(step for step in steps if step.flops)


def _read_step(words: list[bytes], rank: int, source: str, place: str) -> Step:
    try:
        found, kind, usage, flops = int(words[0]), words[1], float(words[2]), float(words[3])
    except (ValueError, IndexError):
        found, kind, usage, flops = rank, b"", math.nan, math.nan
    if kind != b"m_usage" or len(words) != 4 or not (0 <= usage <= 1 and 0 <= flops < math.inf):
        text = b" ".join(words).decode(errors="replace")
        raise InputError(f"found {text[:80]!r}, expected {_FORM}", source=source, place=place)
    if found != rank:
        raise InputError(f"is of rank {found}, expected {rank}, that of the file", source=source, place=place)
    return Step(usage, flops)
