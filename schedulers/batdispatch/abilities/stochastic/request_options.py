"""What people ask of a request sequence; nothing large is imported, so that help is quick."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from batdispatch.core.line.settings import Form
from batdispatch.core.questions import Question

Unit = Literal["s", "min", "h", "d"]


class RequestQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A law, and who is to say what to ask for.

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


QUESTION = Question(
    "requests",
    (RequestQuestion,),
    "batdispatch.abilities.stochastic.requests.answer:answer",
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
    """,
)
