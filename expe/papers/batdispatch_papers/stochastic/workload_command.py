"""``batdispatch generate stochastic``: jobs whose run time is a random variable."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from batdispatch.cli.generate import finish, output_options
from batdispatch.cli.groups import Choice, Command, option
from batdispatch.cli.progress import Following
from batdispatch.cli.telling import show

if TYPE_CHECKING:
    from batdispatch.inputs.workloads.fitting import Fit, Fitted
    from batdispatch_papers.stochastic.workload import Arrivals, Widths


@click.command(cls=Command, short_help="Jobs that state the law of their run time.")
@output_options
@option(
    "--scenario",
    "which",
    type=click.IntRange(1, 4),
    default=1,
    show_default=True,
    help="Generate this scenario of the paper (see above).",
)
@option(
    "--jobs",
    type=int,
    default=100,
    show_default=True,
    help="Generate this many stochastic jobs, 1 to 1,000,000 (scenarios 1 to 3).",
)
@option(
    "--hosts",
    type=int,
    help="Generate the jobs for a machine of this many hosts. The default is 10, and 80 in scenario 4.",
)
@option(
    "--law",
    metavar="LAW",
    help="Draw the run times of the large jobs from this law, in hours, such as tnorm:0,20,8,2. "
    "The default is the paper's. `batdispatch requests --help` lists the laws.",
)
@option(
    "--widths",
    type=Choice(["beta", "all", "half", "normal", "powers"]),
    default="beta",
    show_default=True,
    help="Choose how many hosts the jobs want. beta: the number of hosts times a draw from Beta(2, "
    "2). all: all hosts. half: half of them. normal: a draw of mean half the hosts and "
    "deviation 2. powers: a power of two.",
)
@option(
    "--rate",
    type=float,
    help="Let the small jobs of known run time bring this much work, as a share of the machine (at "
    "least 0, less than 1). The default is 0.1, and 0.21 in scenario 4.",
)
@option(
    "--share",
    type=float,
    default=0.3,
    show_default=True,
    help="Make this share of the stochastic jobs small, 0 to 1 (scenario 3).",
)
@option(
    "--small-units",
    type=int,
    default=1,
    show_default=True,
    help="Let each small job take this many hosts, at least 1 (scenarios 2 and 4).",
)
@option(
    "--arrivals",
    type=Choice(["uniform", "start"]),
    default="uniform",
    show_default=True,
    help="Choose when the applications of scenario 4 arrive. uniform: all over its two weeks. "
    "start: all at their start.",
)
@option(
    "--from",
    "log",
    metavar="W.json",
    type=click.Path(path_type=Path),
    help="Take the jobs of this log or workload, and fit laws to their run times.",
)
@option(
    "--fit",
    type=Choice(["best", "uniform", "exponential", "normal", "lognormal", "gamma", "weibull", "mixture", "empirical"]),
    default="best",
    show_default=True,
    help="Fit laws of this family (only with --from). best: for each application, the family that "
    "foretells its later runs best. mixture: a mixture of two log-normal laws. empirical: the "
    "run times themselves.",
)
@option(
    "--least",
    type=int,
    default=20,
    show_default=True,
    help="Fit a law to an application only if it has at least this many runs, 2 or more (only with --from).",
)
@option(
    "--application",
    metavar="FIELD,...",
    default="user,units",
    show_default=True,
    help="Take jobs that agree in these fields for runs of one application (only with --from). A "
    "field is units (the size), user, or any other field of the jobs, such as executable.",
)
def command(
    output: Path,
    seed: int,
    as_json: bool,
    which: int,
    jobs: int,
    hosts: int | None,
    law: str | None,
    widths: Widths,
    rate: float | None,
    share: float,
    small_units: int,
    arrivals: Arrivals,
    log: Path | None,
    fit: Fit,
    least: int,
    application: str,
) -> None:
    """Generate jobs that state the law of their run time (Gainaru, Pallez, Sun and Raghavan, ICPP 2019).

    \b
    Scenarios:
      1  stochastic jobs at time 0
      2  and small jobs of known run time
      3  large and small stochastic jobs
      4  neuroscience applications on Intrepid (80 midplanes), and small jobs

    With --from, jobs of one user and size in a log are runs of one application (see --application). The law of an
    application is fitted to all its runs by maximum likelihood, cut to the times between the shortest run and the
    longest. The family of the law is the one under which the later third of the runs is most likely, when only the
    earlier runs are known. Printed is how well the laws describe the runs, and how much time the requests made from the
    earlier runs reserve for the later ones; --json prints it for each application.

    \b
    Examples:
      batdispatch generate stochastic -o W.json --seed 1 --scenario 3 --jobs 1000
      batdispatch generate stochastic -o W.json --seed 1 --from log.json --fit empirical
    """
    import numpy as np

    from batdispatch.inputs.workloads.fitting import with_laws
    from batdispatch.inputs.workloads.reader import read_workload
    from batdispatch_papers.stochastic.workload import scenario

    options: dict[str, Any]
    found: dict[str, Any] = {}
    if log is not None:
        options = {"from": log.name, "fit": fit, "least": least, "application": application}
        fields = tuple(application.split(","))
        read = read_workload(log)
        with Following() as following:
            progress = functools.partial(following.tell, "fitting laws")
            workload, fitted = with_laws(read, kind=fit, least=least, application=fields, progress=progress)
        found = {"fitted": fitted}
        if not as_json:
            show(_summary(fitted, application))
    else:
        options = {"jobs": jobs, "hosts": hosts, "law": law, "widths": widths, "rate": rate, "share": share}
        options |= {"small_units": small_units, "arrivals": arrivals}
        workload = scenario(np.random.default_rng(seed), which, **options)
        options = {"scenario": which, **options}
    finish(workload, output, as_json, kind="stochastic", seed=seed, options=options, found=found)


def _summary(fitted: Fitted, application: str) -> str:
    """Return how many laws were fitted, how well, and what requests made from them cost."""
    from collections import Counter

    import numpy as np

    found = fitted.applications
    unknown = f", of which {fitted.unknown:,} do not say their application" if fitted.unknown else ""
    families = Counter(each.family for each in found)
    jobs = f"{fitted.stochastic:,} jobs with a law, {fitted.known:,} as they were{unknown}"
    lines = [
        f"{len(found):,} applications ({application}): {jobs}",
        f"families: {', '.join(f'{name} {count:,}' for name, count in families.most_common())}",
        f"{'':28}{'median':>8}{'5 %':>8}{'95 %':>8}",
    ]
    for label, values in (
        ("mean of law / mean of runs", [each.mean_ratio for each in found]),
        ("Kolmogorov-Smirnov distance", [each.distance for each in found]),
    ):
        shown = np.percentile(values, [50, 5, 95])
        lines.append(f"{label:28}{''.join(f'{value:8.3f}' for value in shown)}")
    costs = []
    for name, label in (("toptimal", "toptimal"), ("hpc", "hpc"), ("users", "users' walltimes")):
        known = [each for each in found if name in each.later_reserved]
        if known:
            reserved = sum(each.later_reserved[name] for each in known)
            costs.append(f"{label} {reserved / sum(each.later_used for each in known):.2f}")
    lines.append(f"time reserved / time used, later third of the runs: {', '.join(costs)}")
    return "\n".join(lines)
