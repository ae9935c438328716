"""Models of workloads, as people state them; nothing large is imported, so that help is quick."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from batdispatch.core.line.settings import Form

#: Jobs of a window, and what is simulated before and behind them as a share of these, unless said.
WINDOW, WARM_UP, COOL_DOWN = 10_000, 0.2, 0.2


class LublinOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The Lublin-Feitelson model.

    jobs: Generate this many jobs (1 to 5,000,000).
    hosts: Generate the jobs for a machine of this many hosts (1 to 10,000,000). The model was fitted to machines of 128
        to 512.
    load: Stretch or compress the arrivals so that the jobs offer this load (0.001 to 100), such as 0.8 of the machine.
        By default, the model's own arrivals are kept.
    classes: Choose the kinds of jobs. all: jobs of one kind. separate: batch jobs and interactive jobs side by side.
    walltimes: Choose the walltimes that users ask for. none: no walltime. exact: the run time. factor: between 1 and
        FACTOR times the run time. modal: the same, rounded up to one of 20 usual values.
    factor: Let a walltime be at most this many times the run time, at least 1 (only with --walltimes factor or modal).
    at_once: Submit all jobs at time 0. Run times and sizes are those of the model's arrivals.
    users: Draw each job's user from N users (1 to 10,000), a few of whom have most of the jobs. By default, jobs name
        no user.
    pinned: Pin each job to one of the I/O nodes of --platform, drawn at random.
    platform: Read the machine whose I/O nodes jobs are pinned to from this SimGrid platform (only with --pinned).
    """

    jobs: int
    hosts: int
    load: float | None = None
    classes: Literal["all", "separate"] = "all"
    walltimes: Literal["none", "exact", "factor", "modal"] = "modal"
    factor: float = 5.0
    at_once: bool = False
    users: Annotated[int | None, Form("N")] = None
    pinned: bool = False
    platform: Annotated[Path | None, Form("P.xml")] = None


class MalleableRule(msgspec.Struct, frozen=True, kw_only=True):
    """How malleable jobs are made of rigid ones.

    shrink: Let a job shrink to its size divided by this number, at most (1 or more).
    expand: Let a job expand to its size times this number, at most (1 or more).
    factor: Let a resize multiply or divide the size by a power of this number (2 or more).
    scalability: Let a job's speed depend on its size in this way: linear, power:EXPONENT (0 to 2) or amdahl:SERIAL (0
        to 1).
    step: Let a job be resized each time when it has run for this long (0.001 to 1e9 s).
    period: Let this much time pass between a check of a job's size and the next one (0 to 1e9 s).
    data: Let a resize redistribute this many bytes for each unit that the job asks for (0 to 1e12).
    """

    shrink: int = 8
    expand: int = 2
    factor: int = 2
    scalability: Annotated[str, Form("TEXT")] = "power:0.7"
    step: Annotated[float, Form("SECONDS")] = 60.0
    period: Annotated[float, Form("SECONDS")] = 0.0
    data: Annotated[float, Form("BYTES")] = 1e9


class MalleableOptions(MalleableRule, frozen=True, kw_only=True):
    """A share of a log's jobs made malleable.

    share: Make this share of the jobs malleable (0 to 1), of those that can be made so.
    hosts: Take this as the number of hosts of the machine. By default, the log says it.
    """

    share: float = 1.0
    hosts: Annotated[int | None, Form("N")] = None


class ResampleOptions(msgspec.Struct, frozen=True, kw_only=True):
    """A log's users, drawn anew.

    weeks: Make the new workload this many weeks long (1 to 10,000). By default, it is as long as the log.
    long: Let users who were there for more than this many weeks stay all the time (1 to 10,000). The others come and
        go.
    """

    weeks: Annotated[int | None, Form("N")] = None
    long: Annotated[int, Form("WEEKS")] = 12


class SessionOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Users' sessions.

    platform: Read the machine from this SimGrid platform, whose nodes state capacities.
    jobs: Generate this many jobs (1 to 1,000,000).
    short: Let this share of the jobs run for less than an hour (0 to 1).
    load: Choose the arrivals so that the jobs offer this load to the scarcest resource (0.001 to 100, where 1 is all of
        it).
    users: Let the jobs come from this many users (1 to 10,000).
    """

    platform: Annotated[str, Form("P.xml", file=True)]
    jobs: int
    short: float = 0.9314
    load: float = 0.7
    users: int = 40


class SliceOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Jobs in a row.

    number: Take the slice of this number. The first slice is number 0.
    jobs: Put this many jobs into each slice (1 or more).
    gap: Leave this many jobs between two slices out of all slices (0 or more).
    """

    number: Annotated[int, Form("N")]
    jobs: Annotated[int, Form("N")]
    gap: Annotated[int, Form("N")] = 0


class WindowOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Jobs in a row on a machine that is in use.

    number: Take the window of this number. The first window is number 0.
    jobs: Count this many jobs in each window (1 or more).
    warm_up: Simulate this many jobs before them, which fill the machine and do not count (0 or more).
    cool_down: Simulate this many jobs behind them, which do not count (0 or more). A job that still waits when the last
        of them arrives counts for what it has waited. With 0, jobs that wait at the end have the machine for
        themselves.
    gap: Leave this many jobs between those that count in two windows (0 or more).
    """

    number: Annotated[int, Form("N")]
    jobs: Annotated[int, Form("N")] = WINDOW
    warm_up: Annotated[int, Form("N")] = round(WARM_UP * WINDOW)
    cool_down: Annotated[int, Form("N")] = round(COOL_DOWN * WINDOW)
    gap: Annotated[int, Form("N")] = 0


class WindowsOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Parts of a log that count each by itself.

    count: Count so many windows, evenly spread.
    jobs: Count this many jobs in each window; a number below 1 is a share of the log's jobs. By default, as many as
        there are for windows that share none.
    warm_up: Let this many jobs before the first window count in none; below 1, a share of the window's jobs.
    cool_down: Let this many jobs behind the last window count in none; below 1, a share of the window's jobs.
    """

    count: Annotated[int, Form("N")]
    jobs: Annotated[float | None, Form("N")] = None
    warm_up: Annotated[float, Form("N")] = WARM_UP
    cool_down: Annotated[float, Form("N")] = COOL_DOWN


def fields_of(options: msgspec.Struct, *names: str) -> dict[str, Any]:
    """Return fields of options by name; without names, all."""
    return {name: getattr(options, name) for name in names or options.__struct_fields__}
