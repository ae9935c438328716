"""Quantiles of recent run times, kind by kind and by hand."""

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request, amounts
from batdispatch.parts.prediction import Prediction, make_prediction

#: It stands beside the experiment that found it no better, and is named by its file.
QUANTILE = f"{Path(__file__).parents[2] / 'expe/predictions/quantile.py'}:Quantile"
numbers = iter(range(10**9))


def job(name: str = "sim", *, user: str = "ann", queue: str = "q", walltime: float = 1000.0, **demand: int) -> Job:
    request = Request(units=1, per_unit=amounts(demand or {"core": 1}))
    return Job(
        id=f"w0!{next(numbers)}", request=request, walltime=walltime, user=user, extra={"name": name, "queue": queue}
    )


def made(options: str = "", *runs: tuple[Job, float]) -> Prediction:
    found = make_prediction(f"{QUANTILE}{options}")
    found.begin(None)  # type: ignore[arg-type]
    for done, runtime in runs:
        found.learn(done, runtime, 0.0, 0.0)
    return found


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=20), st.floats(0, 1))
def test_the_quantile_is_that_of_numpy(values: list[float], q: float) -> None:
    quantile = sys.modules[type(made()).__module__].quantile
    assert quantile(values, q) == pytest.approx(float(np.quantile(values, q)), abs=1e-9)


def test_a_quantile_of_jobs_of_the_same_kind() -> None:
    runs = [(job(), 10.0), (job(), 40.0), (job(), 20.0)]
    assert made("[q=0.5]", *runs).predict(job()) == 20.0
    assert made("[q=0.75]", *runs).predict(job()) == 30.0
    assert made("[q=0]", *runs).predict(job()) == 10.0
    assert made("[q=1]", *runs).predict(job()) == 40.0


def test_of_the_last_so_many_only() -> None:
    runs = [(job(), seconds) for seconds in (500.0, 10.0, 20.0)]
    assert made("[q=1,last=2]", *runs).predict(job()) == 20.0
    assert made("[q=1,last=3]", *runs).predict(job()) == 500.0


def test_the_narrowest_kind_that_is_known_is_taken() -> None:
    """The latest is of the widest kind, which the others hide in turn."""
    same, program, user = job(), job(queue="other"), job("else", walltime=500.0)
    assert made("", (same, 10.0), (program, 20.0), (user, 30.0)).predict(job()) == 10.0
    assert made("", (program, 20.0), (user, 30.0)).predict(job()) == 20.0
    assert made("", (job(core=2), 25.0), (user, 30.0)).predict(job()) == 25.0, "other resources"
    assert made("", (user, 30.0)).predict(job()) == 60.0, "6 % of the walltime"
    assert made("").predict(job()) is None


def test_users_share_nothing_and_jobs_of_nobody_only_with_those_that_ask_alike() -> None:
    assert made("", (job(user="ben"), 10.0)).predict(job()) is None
    nobody: dict[str, Any] = {"name": "", "user": ""}
    known = made("", (job(**nobody), 10.0))
    assert known.predict(job(**nobody)) == 10.0
    assert known.predict(job(queue="other", **nobody)) == 10.0, "the same walltime"
    assert known.predict(job(walltime=999.0, **nobody)) is None


def test_jobs_without_a_walltime_are_of_a_kind_but_use_no_share_of_it() -> None:
    endless = job(walltime=math.inf)
    assert made("", (endless, 10.0)).predict(job(walltime=math.inf)) == 10.0
    assert made("", (endless, 10.0)).predict(job()) is None
    assert made("", (job(), 10.0)).predict(endless) is None


@pytest.mark.parametrize("wrong", ["[q=1.1]", "[q=-0.1]", "[last=0]"])
def test_options_out_of_range_are_refused(wrong: str) -> None:
    with pytest.raises(InputError):
        make_prediction(f"{QUANTILE}{wrong}")
