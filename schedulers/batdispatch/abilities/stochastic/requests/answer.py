"""How long to ask for, attempt after attempt, and what that costs, for people who ask."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from batdispatch.abilities.stochastic.request_options import RequestQuestion
from batdispatch.abilities.stochastic.requests.base import make_sequence
from batdispatch.abilities.stochastic.requests.cost import (
    RESERVED_PRICE,
    expected_cost,
    expected_makespan,
    failure_probability,
    failures_per_job,
)
from batdispatch.abilities.stochastic.requests.laws import Empirical
from batdispatch.abilities.stochastic.requests.price_options import PricedOptions
from batdispatch.abilities.stochastic.requests.vocabulary import parse_law
from batdispatch.core.errors import InputError
from batdispatch.core.line.options import parse_options, read_named
from batdispatch.core.numerals import TIME_UNITS
from batdispatch.core.questions import Answer


def answer(question: RequestQuestion) -> Answer:
    """Return the requests, what they cost and how often one fails.

    Raises:
        InputError: an option is wrong.
    """
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
