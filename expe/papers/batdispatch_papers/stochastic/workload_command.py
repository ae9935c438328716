"""``batdispatch generate stochastic``: jobs whose run time is a random variable."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import click

from batdispatch.cli.generate import finish, output_options
from batdispatch.cli.groups import Command
from batdispatch.cli.messages import show
from batdispatch.cli.options import options
from batdispatch.cli.progress import ProgressDisplay
from batdispatch.inputs.generator_options import fields_of
from batdispatch_papers.stochastic.workload_options import SCENARIO, StochasticOptions


@click.command(cls=Command, short_help="Jobs that state the law of their run time.")
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

    from batdispatch.inputs.workloads.law_fits import summary_of, with_laws
    from batdispatch.inputs.workloads.reader import read_workload
    from batdispatch_papers.stochastic.workload import scenario

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
            show(summary_of(fitted, model.application))
    else:
        stated = {"scenario": model.scenario, **fields_of(model, *SCENARIO)}
        workload = scenario(np.random.default_rng(seed), model.scenario, **fields_of(model, *SCENARIO))
    finish(workload, output, as_json, kind="stochastic", seed=seed, options=stated, found=found)
