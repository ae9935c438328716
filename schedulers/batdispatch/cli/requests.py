"""``batdispatch requests``: a request sequence, with what it costs."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from batdispatch.cli.completing import complete_sequence
from batdispatch.cli.groups import Choice, Command, option

#: Unit -> seconds.
UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86_400.0}


@click.command(cls=Command)
@option("--law", "text", metavar="LAW", required=True, help="Ask for a run time of this law, such as tnorm:0,20,8,2.")
@option("--unit", type=Choice(list(UNITS)), default="h", show_default=True, help="Read the law's times in this unit.")
@option("--to", "to", type=Choice(list(UNITS)), help="Print the answer in this unit. The default is that of the law.")
@option(
    "--zeta",
    type=float,
    default=0.0,
    show_default=True,
    help="Assume this backfilling rate of the job, the share of the machine that small jobs arrive for (0 to 1).",
)
@option(
    "--sequence",
    shell_complete=complete_sequence,
    metavar="NAME[...]",
    help="Work out the requests by this sequence, with its options in brackets (`batdispatch list "
    "requests`). The default is atoptimal, or toptimal where a price is given.",
)
@option("--alpha", type=float, help="Price each unit of reserved time at this much. The default is 1.")
@option("--beta", type=float, help="Price each unit of used time at this much. The default is 0.")
@option("--gamma", type=float, help="Price each attempt at this much, however long it is. The default is 0.")
@option(
    "--overhead",
    type=float,
    help="Add this much time to each attempt after the first, which starts anew, in the law's unit. The default is 0.",
)
@option("--least", type=float, help="Ask for at least this time, in the law's unit. The default is 0.")
@option("--history", metavar="T1,T2,...", help="Tell the sequence these run times of previous jobs, in the law's unit.")
@option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
def command(
    text: str,
    unit: str,
    to: str | None,
    zeta: float,
    sequence: str | None,
    alpha: float | None,
    beta: float | None,
    gamma: float | None,
    overhead: float | None,
    least: float | None,
    history: str | None,
    as_json: bool,
) -> None:
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
      batdispatch requests --law pareto:1,20,2.1 --sequence neuroscience --history 1.2,4,2.5
    """
    price = {"alpha": alpha, "beta": beta, "gamma": gamma, "overhead": overhead}
    told = {name: value for name, value in price.items() if value is not None}
    chosen = sequence or ("toptimal" if told else "atoptimal")
    answer = _answer(text, unit, to or unit, zeta, chosen, told, least, history)
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(answer), indent=2).decode())
        return
    unit = answer["unit"]
    click.echo(
        "requests             " + " ".join(f"{t:.4f}".rstrip("0").rstrip(".") for t in answer["requests"]) + f" {unit}"
    )
    cost = f"{answer['expected_cost']:.6g} {unit}"
    click.echo("expected cost        " + (cost if zeta < 1 else f"{cost}, times 1 - zeta"))
    click.echo(f"failure probability  {answer['failure_probability']:.4f}, of the first attempt")
    click.echo(f"failures per job     {answer['failures_per_job']:.4f}")


def _answer(
    text: str,
    unit: str,
    to: str,
    zeta: float,
    sequence: str,
    price: dict[str, float],
    least: float | None,
    history: str | None,
) -> dict[str, Any]:
    """Return the answer as JSON holds it.

    Args:
        text: the law.
        unit: of the law.
        to: unit of the answer.
        zeta: backfilling rate.
        sequence: with its options in brackets.
        price: options of `priced.PricedOptions` that were given; a sequence that has no price is judged by it.
        least: option of every sequence, if it was given.
        history: run times of previous jobs, if any.

    Raises:
        InputError: an option is wrong.
    """
    from batdispatch.core.errors import InputError
    from batdispatch.core.line.options import parse_options
    from batdispatch.parts.requests.base import make_sequence
    from batdispatch.parts.requests.cost import (
        RESERVED,
        expected_cost,
        expected_makespan,
        failure_probability,
        failures_per_job,
    )
    from batdispatch.parts.requests.laws import Empirical
    from batdispatch.parts.requests.priced import PricedOptions
    from batdispatch.parts.requests.vocabulary import parse_law

    priced = isinstance(make_sequence(sequence).options, PricedOptions)
    told = {**(price if priced else {}), **({} if least is None else {"least": least})}
    chosen = make_sequence(_with(sequence, told))
    judged = chosen.options.price if priced else parse_options(PricedOptions, price, "command requests").price
    law = parse_law(text, source="option --law")
    if not 0 <= zeta <= 1:
        raise InputError(f"{zeta:g}, expected 0 to 1", source="option --zeta")
    known: list[float] = []
    if history is not None:
        past = parse_law(f"empirical:{history}", source="option --history")
        assert isinstance(past, Empirical)
        # The law is sorted, the order of the runs matters.
        known = [float(part) for part in history.split(",")]
    if zeta > 0 and judged != RESERVED:
        raise InputError("a price is of a job that is alone, leave --zeta out or the price", source="option --zeta")
    limits = chosen.reaching(chosen.ask(law, zeta, known), law.upper)
    scale = UNITS[unit] / UNITS[to]
    return {
        "sequence": sequence,
        "law": text,
        "unit": to,
        "zeta": zeta,
        "requests": [t * scale for t in limits],
        "price": {"alpha": judged.alpha, "beta": judged.beta, "gamma": judged.gamma * scale}
        | {"overhead": judged.overhead * scale},
        "expected_cost": scale
        * (expected_makespan(law, limits, zeta) if judged == RESERVED else expected_cost(law, limits, judged)),
        "failure_probability": failure_probability(law, limits),
        "failures_per_job": failures_per_job(law, limits),
    }


def _with(sequence: str, options: dict[str, float]) -> str:
    """Return the text of a sequence with further options.

    Raises:
        InputError: the text has one of them already.
    """
    from batdispatch.core.errors import InputError
    from batdispatch.core.line.options import parse_named

    name, given = parse_named(sequence)
    for key in given.keys() & options.keys():
        raise InputError(f"stands in --sequence {sequence} as well", source=f"option --{key}")
    pairs = [f"{key}={value}" for key, value in {**given, **options}.items()]
    return f"{name}[{','.join(pairs)}]" if pairs else name
