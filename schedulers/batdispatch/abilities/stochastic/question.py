"""How long to ask for, attempt after attempt, and what that costs: what people ask, and the answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec

from batdispatch.core.errors import InputError
from batdispatch.core.line.options import parse_options, read_named
from batdispatch.core.line.settings import Form
from batdispatch.core.numerals import TIME_UNITS
from batdispatch.core.questions import Answer, Question

Unit = Literal["s", "min", "h", "d"]


class RequestQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A law, and the request sequence that it is asked with.

    law: Ask for a run time of this law, such as tnorm:0,20,8,2.
    unit: Read the law's times in this unit.
    to: Print the answer in this unit. The default is that of the law.
    zeta: Assume this backfilling rate of the job, the share of the machine that small jobs arrive for (0 to 1).
    sequence: Work out the requests by this sequence, with its options in brackets (`batdispatch list requests`). Times
        alone, such as 5h,40h,60h,98h, are the requests themselves. The default is atoptimal, or toptimal where a price
        is given.
    alpha: Price each unit of reserved time at this much. The default is 1.
    beta: Price each unit of used time at this much. The default is 0.
    gamma: Price each attempt at this much, however long it is. The default is 0.
    overhead: Add this much time to each attempt after the first, which starts anew, in the law's unit. The default
        is 0.
    least: Ask for at least this time, in the law's unit. The default is 0.
    history: Tell the sequence these run times of previous jobs, in the law's unit.
    """

    law: Annotated[str, Form("LAW")]
    unit: Unit = "h"
    to: Unit | None = None
    zeta: float = 0.0
    sequence: Annotated[str | None, Form("NAME[...]", offers="sequence")] = None
    alpha: float | None = None
    beta: float | None = None
    gamma: float | None = None
    overhead: float | None = None
    least: float | None = None
    history: Annotated[str | None, Form("T1,T2,...")] = None

    @property
    def price(self) -> dict[str, float]:
        """The options of `price_options.PricedOptions` that are given."""
        given = {"alpha": self.alpha, "beta": self.beta, "gamma": self.gamma, "overhead": self.overhead}
        return {name: value for name, value in given.items() if value is not None}


def requests(question: RequestQuestion) -> Answer:
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
    from batdispatch.abilities.stochastic.requests.base import make_sequence
    from batdispatch.abilities.stochastic.requests.cost import (
        RESERVED_PRICE,
        expected_cost,
        expected_makespan,
        failure_probability,
        failures_per_job,
    )
    from batdispatch.abilities.stochastic.requests.price_options import PricedOptions
    from batdispatch.abilities.stochastic.requests.vocabulary import parse_law

    price, zeta, unit = question.price, question.zeta, question.to or question.unit
    given = question.sequence
    sequence = _named(given) if given is not None else "toptimal" if price else "atoptimal"
    priced = isinstance(make_sequence(sequence).options, PricedOptions)
    least = {} if question.least is None else {"least": question.least}
    chosen = make_sequence(_with(sequence, {**(price if priced else {}), **least}))
    chosen.unit = TIME_UNITS[question.unit]
    # A sequence that has no price is judged by it.
    judged = chosen.options.price if priced else parse_options(PricedOptions, price, "command requests").price
    law = parse_law(question.law, source="option --law")
    if not 0 <= zeta <= 1:
        raise InputError(f"{zeta:g}, expected 0 to 1", source="option --zeta")
    history = _history(question.history)
    if zeta > 0 and judged != RESERVED_PRICE:
        raise InputError("a price is of a job that is alone, leave --zeta out or the price", source="option --zeta")
    limits = chosen.reaching(chosen.ask(law, zeta, history), law.upper)
    scale = TIME_UNITS[question.unit] / TIME_UNITS[unit]
    cost = expected_makespan(law, limits, zeta) if judged == RESERVED_PRICE else expected_cost(law, limits, judged)
    facts = {
        "sequence": sequence,
        "law": question.law,
        "unit": unit,
        "zeta": zeta,
        "requests": [t * scale for t in limits],
        "price": {"alpha": judged.alpha, "beta": judged.beta, "gamma": judged.gamma * scale}
        | {"overhead": judged.overhead * scale},
        "expected_cost": scale * cost,
        "failure_probability": failure_probability(law, limits),
        "failures_per_job": failures_per_job(law, limits),
    }
    return Answer(facts, list(_in_words(facts)))


def _in_words(facts: dict[str, Any]) -> Iterator[str]:
    unit = facts["unit"]
    times = " ".join(f"{t:.4f}".rstrip("0").rstrip(".") for t in facts["requests"])
    cost = f"{facts['expected_cost']:.6g} {unit}"
    yield f"requests             {times} {unit}"
    yield "expected cost        " + (cost if facts["zeta"] < 1 else f"{cost}, times 1 - zeta")
    yield f"failure probability  {facts['failure_probability']:.4f}, of the first attempt"
    yield f"failures per job     {facts['failures_per_job']:.4f}"


def _history(text: str | None) -> list[float]:
    """Return run times in the order of the runs."""
    from batdispatch.abilities.stochastic.requests.laws import Empirical
    from batdispatch.abilities.stochastic.requests.vocabulary import parse_law

    if text is None:
        return []
    # The law is sorted, the order of the runs matters.
    assert isinstance(parse_law(f"empirical:{text}", source="option --history"), Empirical)
    return [float(part) for part in text.split(",")]


def _named(text: str) -> str:
    """Return the text of a sequence; times alone are those of a list: ``5h,40h`` -> ``list[5h,40h]``."""
    times = not ({"[", ":"} & set(text)) and ("," in text or not text[:1].isalpha())
    return f"list[{text}]" if times else text


def _with(sequence: str, options: dict[str, float]) -> str:
    """Return the text of a sequence with further options.

    Raises:
        InputError: the text has one of them already.
    """
    name, given, values = read_named(sequence)
    for key in given.keys() & options.keys():
        raise InputError(f"stands in --sequence {sequence} as well", source=f"option --{key}")
    pairs = [*values, *(f"{key}={value}" for key, value in {**given, **options}.items())]
    return f"{name}[{','.join(pairs)}]" if pairs else name


QUESTION = Question("requests", requests)
