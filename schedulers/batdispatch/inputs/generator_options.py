"""Models of workloads, as people state them; nothing large is imported, so that help is quick."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from batdispatch.core.line.settings import Form

#: How many hosts stochastic jobs want, when applications arrive, and which family of laws is fitted.
Widths = Literal["beta", "all", "half", "normal", "powers"]
Arrivals = Literal["uniform", "start"]
Fit = Literal["best", "uniform", "exponential", "normal", "lognormal", "gamma", "weibull", "mixture", "empirical"]


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


class StochasticOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Jobs whose run time is a random variable.

    scenario: Generate this scenario of the paper (see above).
    jobs: Generate this many stochastic jobs, 1 to 1,000,000 (scenarios 1 to 3).
    hosts: Generate the jobs for a machine of this many hosts. The default is 10, and 80 in scenario 4.
    law: Draw the run times of the large jobs from this law, in hours, such as tnorm:0,20,8,2. The default is the
        paper's. `batdispatch requests --help` lists the laws.
    widths: Choose how many hosts the jobs want. beta: the number of hosts times a draw from Beta(2, 2). all: all hosts.
        half: half of them. normal: a draw of mean half the hosts and deviation 2. powers: a power of two.
    rate: Let the small jobs of known run time bring this much work, as a share of the machine (at least 0, less than
        1). The default is 0.1, and 0.21 in scenario 4.
    share: Make this share of the stochastic jobs small, 0 to 1 (scenario 3).
    small_units: Let each small job take this many hosts, at least 1 (scenarios 2 and 4).
    arrivals: Choose when the applications of scenario 4 arrive. uniform: all over its two weeks. start: all at their
        start.
    log: Take the jobs of this log or workload, and fit laws to their run times.
    fit: Fit laws of this family (only with --from). best: for each application, the family that foretells its later
        runs best. mixture: a mixture of two log-normal laws. empirical: the run times themselves.
    least: Fit a law to an application only if it has at least this many runs, 2 or more (only with --from).
    application: Take jobs that agree in these fields for runs of one application (only with --from). A field is units
        (the size), user, or any other field of the jobs, such as executable.
    """

    scenario: Annotated[int, Meta(ge=1, le=4)] = 1
    jobs: int = 100
    hosts: int | None = None
    law: Annotated[str | None, Form("LAW")] = None
    widths: Widths = "beta"
    rate: float | None = None
    share: float = 0.3
    small_units: int = 1
    arrivals: Arrivals = "uniform"
    log: Annotated[Path | None, Form("W.json", name="--from")] = None
    fit: Fit = "best"
    least: int = 20
    application: Annotated[str, Form("FIELD,...")] = "user,units"


class CommunicatingOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Jobs that send messages.

    platform: Read the machine whose hosts the jobs take whole from this SimGrid platform.
    jobs: Generate this many jobs (1 to 100,000).
    load: Choose the arrivals so that jobs that take their nominal run time ask for this share of the machine (0.001 to
        1,000).
    largest: Let the largest jobs ask for this share of the machine's hosts (0 to 1).
    walltime_factor: Give each job a walltime of this many times its nominal run time (1 to 1,000).
    bandwidth: Take this as the bandwidth of a host's link when the bytes of the messages are worked out, such as 1GBps
        (10^9 bytes in a second).
    intensity: Let a job's busiest host send at --bandwidth for this part of the nominal run time (0.001 to 1,000).
    io_share: Pin this share of the jobs to an I/O node each (0 to 1).
    io_load: Let a pinned job keep its I/O node's link busy for this part of the nominal run time (0.001 to 1,000).
    """

    platform: Annotated[str, Form("P.xml", file=True)]
    jobs: Annotated[int, Form("N")] = 200
    load: float = 0.7
    largest: float = 0.25
    walltime_factor: float = 10.0
    bandwidth: Annotated[str, Form("BANDWIDTH")] = "1GBps"
    intensity: float = 1.0
    io_share: float = 0.0
    io_load: float = 0.1


#: Fields of `StochasticOptions` that make a scenario, which takes them under these names.
SCENARIO = ("jobs", "hosts", "law", "widths", "rate", "share", "small_units", "arrivals")


def fields_of(options: msgspec.Struct, *names: str) -> dict[str, Any]:
    """Return fields of options by name; without names, all."""
    return {name: getattr(options, name) for name in names or options.__struct_fields__}
