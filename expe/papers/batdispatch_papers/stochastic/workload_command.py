"""``batdispatch generate stochastic``: jobs whose run time is a random variable."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from batdispatch.cli.generate import GeneratedWorkload, kind_command
from batdispatch.cli.progress import ProgressDisplay
from batdispatch.inputs.generator_options import fields_of
from batdispatch_papers.stochastic.workload_options import SCENARIO, StochasticOptions

if TYPE_CHECKING:
    import numpy as np


@kind_command("stochastic", StochasticOptions, summary="Jobs that state the law of their run time.")
def command(model: StochasticOptions, rng: np.random.Generator) -> GeneratedWorkload:
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
    from batdispatch.inputs.workloads.reader import read_workload
    from batdispatch_papers.stochastic.law_fits import summary_of, with_laws
    from batdispatch_papers.stochastic.workload import scenario

    stated: dict[str, Any]
    if model.log is None:
        stated = {"scenario": model.scenario, **fields_of(model, *SCENARIO)}
        return GeneratedWorkload(scenario(rng, model.scenario, **fields_of(model, *SCENARIO)), stated)
    stated = {"from": model.log.name, **fields_of(model, "fit", "least", "application")}
    fields = tuple(model.application.split(","))
    read = read_workload(model.log)
    with ProgressDisplay() as following:
        progress = functools.partial(following.tell, "fitting laws")
        workload, fitted = with_laws(read, kind=model.fit, least=model.least, application=fields, progress=progress)
    return GeneratedWorkload(workload, stated, {"fitted": fitted}, summary_of(fitted, model.application))
