"""Jobs whose run time is a random variable, as people state them; nothing large is imported, so that help is quick."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from batdispatch.core.line.settings import Form

#: Which family of laws is fitted to the run times of an application.
Fit = Literal["best", "uniform", "exponential", "normal", "lognormal", "gamma", "weibull", "mixture", "empirical"]
#: How many hosts the jobs want, and when applications arrive.
Widths = Literal["beta", "all", "half", "normal", "powers"]
Arrivals = Literal["uniform", "start"]


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


#: Fields of `StochasticOptions` that make a scenario, which takes them under these names.
SCENARIO = ("jobs", "hosts", "law", "widths", "rate", "share", "small_units", "arrivals")
