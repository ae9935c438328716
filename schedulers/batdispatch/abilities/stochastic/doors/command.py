"""``batdispatch requests``: a request sequence, with what it costs."""

from __future__ import annotations

import click

from batdispatch.abilities.stochastic.request_options import RequestQuestion
from batdispatch.cli.groups import OTHER_OPTIONS, Command
from batdispatch.cli.messages import echo, json_text
from batdispatch.cli.options import options
from batdispatch.cli.outputs import json_option


@click.command(cls=Command)
@options(RequestQuestion)
@json_option("Print the answer as JSON.", section=OTHER_OPTIONS)
def command(question: RequestQuestion, as_json: bool) -> None:
    """Print how long to ask for, attempt after attempt, when the run time is a random variable.

    An attempt of limit t of a job that takes X costs alpha t + beta min(X, t) + gamma, and each further one
    (alpha + beta) overhead more. All times are in the law's unit.

    \b
    Laws:
      tnorm:LOWER,UPPER,MU,SIGMA        tlognorm:LOWER,UPPER,MU,SIGMA
      tgamma:LOWER,UPPER,SHAPE,SCALE    tweibull:LOWER,UPPER,SHAPE,SCALE
      texp:LOWER,UPPER,MEAN             pareto:LOWER,UPPER,ALPHA
      beta:ALPHA,BETA[,LOWER,UPPER]     uniform:LOWER,UPPER
      mixture:WEIGHT*LAW;WEIGHT*LAW     empirical:T1,T2,...

    \b
    Examples:
      batdispatch requests --law tnorm:0,20,8,2 --unit h --zeta 0.1
      batdispatch requests --law tnorm:0,20,8,2 --sequence toptimal[grid=200] --json
      batdispatch requests --law tnorm:0,20,8,2 --beta 1 --gamma 0.5 --least 2
      batdispatch requests --law uniform:2,98 --sequence 5h,40h,60h,98h
      batdispatch requests --law pareto:1,20,2.1 --sequence neuroscience --history 1.2,4,2.5
    """
    from batdispatch.abilities.stochastic.requests.answer import answer

    reply = answer(question)
    if as_json:
        echo(json_text(reply))
        return
    unit = reply["unit"]
    times = " ".join(f"{t:.4f}".rstrip("0").rstrip(".") for t in reply["requests"])
    cost = f"{reply['expected_cost']:.6g} {unit}"
    echo(f"requests             {times} {unit}")
    echo("expected cost        " + (cost if question.zeta < 1 else f"{cost}, times 1 - zeta"))
    echo(f"failure probability  {reply['failure_probability']:.4f}, of the first attempt")
    echo(f"failures per job     {reply['failures_per_job']:.4f}")
