"""``batdispatch generate stochastic``: jobs whose run time is a random variable."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from batdispatch.cli.generate import finish, output_options

if TYPE_CHECKING:
    from batdispatch.inputs.workloads.stochastic import Arrivals, Widths


@click.command()
@output_options
@click.option(
    "--scenario",
    "which",
    type=click.IntRange(1, 4),
    default=1,
    show_default=True,
    help="Scenario of the paper, see below.",
)
@click.option("--jobs", type=int, default=100, show_default=True, help="Number of stochastic jobs (scenarios 1 to 3).")
@click.option("--hosts", type=int, help="Hosts of the machine. Default: 10, and 80 in scenario 4.")
@click.option("--law", metavar="LAW", help="Law of the large jobs, in hours. Default: the paper's.")
@click.option(
    "--widths",
    type=click.Choice(["beta", "all", "half", "normal", "powers"]),
    default="beta",
    show_default=True,
    help="How the numbers of hosts that jobs want are drawn.",
)
@click.option(
    "--rate", type=float, help="Work of small jobs, as a share of the machine. Default: 0.1, and 0.21 in scenario 4."
)
@click.option(
    "--share",
    type=float,
    default=0.3,
    show_default=True,
    help="Share of small jobs among the stochastic ones (scenario 3).",
)
@click.option(
    "--small-units", type=int, default=1, show_default=True, help="Units of each small job (scenarios 2 and 4)."
)
@click.option(
    "--arrivals",
    type=click.Choice(["uniform", "start"]),
    default="uniform",
    show_default=True,
    help="When scenario 4's applications arrive: all over its two weeks, or all at their start.",
)
@click.option(
    "--from",
    "log",
    metavar="W.json",
    type=click.Path(path_type=Path),
    help="Take the jobs of a log and fit laws to their run times.",
)
@click.option(
    "--fit",
    type=click.Choice(["lognormal", "empirical"]),
    default="lognormal",
    show_default=True,
    help="How to fit the laws (only with --from).",
)
@click.option(
    "--least",
    type=int,
    default=20,
    show_default=True,
    help="A user needs this many jobs of one size for a law (only with --from).",
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
    fit: Literal["lognormal", "empirical"],
    least: int,
) -> None:
    """Generate jobs that state the law of their run time (Gainaru, Pallez, Sun and Raghavan, ICPP 2019).

    \b
    Scenarios: 1  stochastic jobs at time 0
               2  and small jobs of known run time
               3  large and small stochastic jobs
               4  neuroscience applications on Intrepid (80 midplanes), and small jobs

    With --from, jobs of one user and size in a log are runs of one application, whose law is fitted.

    \b
    Examples:
      batdispatch generate stochastic -o W.json --seed 1 --scenario 3 --jobs 1000
      batdispatch generate stochastic -o W.json --seed 1 --from log.json --fit empirical
    """
    import numpy as np

    from batdispatch.inputs.workloads.fitting import with_laws
    from batdispatch.inputs.workloads.reader import read_workload
    from batdispatch.inputs.workloads.stochastic import scenario

    options: dict[str, Any]
    if log is not None:
        options = {"from": log.name, "fit": fit, "least": least}
        workload, fitted = with_laws(read_workload(log), kind=fit, least=least)
        if not as_json:
            click.echo(
                f"{fitted.groups:,} groups of user and size: {fitted.stochastic:,} jobs with a law, "
                f"{fitted.known:,} as they were"
            )
    else:
        options = {"jobs": jobs, "hosts": hosts, "law": law, "widths": widths, "rate": rate, "share": share}
        options |= {"small_units": small_units, "arrivals": arrivals}
        workload = scenario(np.random.default_rng(seed), which, **options)
        options = {"scenario": which, **options}
    finish(workload, output, as_json, kind="stochastic", seed=seed, options=options)
