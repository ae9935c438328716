"""``batdispatch generate stochastic``: jobs whose run time is a random variable."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from batdispatch.cli.generate import finish, output_options
from batdispatch.cli.groups import Command
from batdispatch.cli.messages import show
from batdispatch.cli.options import options
from batdispatch.cli.progress import ProgressDisplay
from batdispatch.inputs.generator_options import SCENARIO, StochasticOptions, fields_of

if TYPE_CHECKING:
    from batdispatch.inputs.workloads.fitting import Fitted


@click.command(cls=Command)
@output_options
@options(StochasticOptions)
def command(model: StochasticOptions, output: Path, seed: int, as_json: bool) -> None:
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
    from batdispatch.inputs.workloads.stochastic import scenario

    found: dict[str, Any] = {}
    if model.log is not None:
        stated = {"from": model.log.name, **fields_of(model, "fit", "least", "application")}
        fields = tuple(model.application.split(","))
        read = read_workload(model.log)
        with ProgressDisplay() as following:
            progress = functools.partial(following.tell, "fitting laws")
            workload, fitted = with_laws(read, kind=model.fit, least=model.least, application=fields, progress=progress)
        found = {"fitted": fitted}
        if not as_json:
            show(_summary(fitted, model.application))
    else:
        stated = {"scenario": model.scenario, **fields_of(model, *SCENARIO)}
        workload = scenario(np.random.default_rng(seed), model.scenario, **fields_of(model, *SCENARIO))
    finish(workload, output, as_json, kind="stochastic", seed=seed, options=stated, found=found)


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
