"""Online regression as Gaussier et al. (SC 2015) have it: steps, losses and features by hand."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from batdispatch.core.errors import InputError
from batdispatch.core.hosts.allocation import Allocation, Place
from batdispatch.core.jobs.job import Job, JobState, Stay
from batdispatch.core.jobs.request import Request
from batdispatch.core.line import events as e
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Machine
from batdispatch.parts.prediction import Predictions, make_prediction
from batdispatch.parts.prediction.features import FEATURES, History, features, polynomial_features
from batdispatch.parts.prediction.normalized_descent import NormalizedGradient
from batdispatch.parts.prediction.online import OnlineRegression
from sites import simulated

Vector = NDArray[np.float64]
FLAT = Path(__file__).parents[1] / "conformance" / "recordings" / "platforms" / "four.xml"


def half_square(target: float) -> object:
    return lambda value: value - target


# ---------------------------------------------------------------------- Ross, Mineiro, Langford, algorithm 2


def test_two_steps_by_hand() -> None:
    model = NormalizedGradient(1, rate=0.5)
    model.learn(np.array([2.0]), lambda value: value - 1.0)
    # s = 2, N = 1, t = 1; g = -1 * 2, G = 4: w = 0.5 * 2 / (2 * 2).
    assert model.weights.tolist() == [0.25]
    model.learn(np.array([4.0]), lambda value: value - 1.0)
    # The scale grows to 4, so that w is 0.125 before the step; N = 2, t = 2; g = (0.5 - 1) * 4, G = 4 + 4.
    assert model.weights[0] == pytest.approx(0.125 + 0.5 * 2 / (4 * math.sqrt(8)))
    assert model.predict(np.array([4.0])) == pytest.approx(4 * model.weights[0])


def test_the_norm_counts_all_features_and_a_feature_never_seen_has_no_weight() -> None:
    model = NormalizedGradient(3, rate=1.0)
    model.learn(np.array([1.0, 10.0, 0.0]), lambda value: value - 1.0)
    # N = 2 after one example: a step of sqrt(1 / 2), a tenth of it for the feature that is ten times as large.
    assert model.weights.tolist() == pytest.approx([math.sqrt(0.5), math.sqrt(0.5) / 10, 0.0])
    assert model.scales.tolist() == [1.0, 10.0, 0.0]


def test_the_penalty_pulls_weights_towards_0() -> None:
    model = NormalizedGradient(1, rate=0.5, penalty=3.0)
    model.learn(np.array([1.0]), lambda value: -1.0)
    assert model.weights.tolist() == [0.5]
    model.learn(np.array([1.0]), lambda value: 0.0)
    # g = 0 + 3 * 0.5, G = 1 + 2.25.
    assert model.weights[0] == pytest.approx(0.5 - 0.5 * 1.5 / math.sqrt(3.25))


@given(
    st.lists(st.tuples(st.lists(st.integers(-50, 50), min_size=3, max_size=3), st.integers(0, 100)), max_size=20),
    st.lists(st.sampled_from([0.125, 0.5, 2.0, 1024.0]), min_size=3, max_size=3),
)
def test_multiplying_features_changes_no_prediction(rows: list[tuple[list[int], int]], scales: list[float]) -> None:
    plain, scaled = NormalizedGradient(3, 0.5), NormalizedGradient(3, 0.5)
    for row, target in rows:
        example = np.array(row, dtype=np.float64)
        slope = half_square(float(target))
        assert scaled.predict(example * scales) == pytest.approx(plain.predict(example), rel=1e-9, abs=1e-9)
        plain.learn(example, slope)  # type: ignore[arg-type]
        scaled.learn(example * scales, slope)  # type: ignore[arg-type]


def test_steps_too_large_for_a_float_leave_the_model_as_it_is() -> None:
    model = NormalizedGradient(2, rate=1.0)
    model.learn(np.array([1.0, 2.0]), half_square(5.0))
    before = model.weights.copy()
    for wrong in ([1.0, math.inf], [1e200, 1.0]):
        model.learn(np.array(wrong), half_square(5.0))
    model.learn(np.array([1.0, 2.0]), lambda value: 1e200)
    assert model.weights.tolist() == before.tolist()
    model.learn(np.array([1.0, 2.0]), half_square(5.0))
    assert np.isfinite(model.weights).all()
    assert model.weights.tolist() != before.tolist()


@pytest.mark.parametrize("seconds", [1e160, 1e300])
def test_walltimes_that_nobody_means_are_no_warnings(seconds: float, tmp_path: Path) -> None:
    jobs = [
        {"id": f"{n}", "subtime": 10 * n, "res": 1, "walltime": [60, seconds, 3600][n % 3], "profile": "p", "user": "a"}
        for n in range(12)
    ]
    run = simulated(tmp_path, "easy[prediction=online-regression]", FLAT, jobs, {"p": {"type": "delay", "delay": 5}})
    assert (run / "jobs.csv").read_text().count("COMPLETED_SUCCESSFULLY") == 12


def test_it_learns_a_line() -> None:
    random = np.random.default_rng(1)
    model = NormalizedGradient(2, rate=0.5)
    for _ in range(4000):
        x = random.uniform(0, 1000)
        model.learn(np.array([1.0, x]), lambda value, y=3 + 0.02 * x: value - y)
    assert model.predict(np.array([1.0, 500.0])) == pytest.approx(13.0, abs=0.5)


# ---------------------------------------------------------------------- losses


@pytest.mark.parametrize(
    ("options", "predicted", "slope"),
    [
        # E-Loss of a job of 4 units and 100 s.
        ("", 130.0, (1 + math.log(400)) * 2 * 30),
        ("", 40.0, -(1 + math.log(400))),
        ("[weight=constant]", 130.0, 60.0),
        ("[over=linear,under=squared,weight=constant]", 130.0, 1.0),
        ("[over=linear,under=squared,weight=constant]", 40.0, -120.0),
        ("[weight=constant]", 100.0, 0.0),
    ],
)
def test_slopes_of_the_losses(options: str, predicted: float, slope: float) -> None:
    found = make_prediction(f"online-regression{options}")
    assert isinstance(found, OnlineRegression)
    assert found._slope(predicted, 100.0, 4) == pytest.approx(slope)


def test_a_short_serial_job_never_counts_for_less_than_nothing() -> None:
    found = make_prediction("online-regression")
    assert isinstance(found, OnlineRegression)
    assert found._slope(1.0, 0.1, 1) == pytest.approx(1.8), "the weight is 1, not 1 + log(0.1)"


@pytest.mark.parametrize("wrong", ["[over=cubic]", "[rate=0]", "[penalty=-1]", "[weight=none]"])
def test_options_out_of_range_are_refused(wrong: str) -> None:
    with pytest.raises(InputError):
        make_prediction(f"online-regression{wrong}")


# ---------------------------------------------------------------------- features


def job(name: str, *, user: str = "ann", units: int = 1, walltime: float = 1000.0) -> Job:
    return Job(id=f"w0!{name}", request=Request(units=units), walltime=walltime, user=user)


def ledger() -> Ledger:
    return Ledger(e.SimulationBegins(0.0, Machine.flat(16)))


def test_features_of_a_first_job() -> None:
    found = features(job("a", units=3), None, ledger())
    assert found.tolist() == [1000.0] * 7 + [3.0, 3.0, 1.0] + [0.0] * 6 + [1.0, 0.0, 1.0, 0.0]


def test_features_of_a_user_with_a_history_and_running_jobs() -> None:
    state = ledger()
    running = [job("r1", units=2), job("r2", units=4), job("other", user="ben", units=8)]
    for one in running:
        state.apply_submitted(e.JobSubmitted(0.0, one))
    for begin, one, first in ((10.0, running[0], 0), (40.0, running[1], 2), (50.0, running[2], 6)):
        state.now = begin
        state.start(one, Place(Allocation((1 << one.units) - 1 << first)))
    state.now = 21_600.0  # six o'clock
    history = History()
    for runtime, units in ((100.0, 1), (200.0, 2), (300.0, 2), (600.0, 3)):
        history.add(job("x", units=units), runtime, ended=20_000.0)
    found = features(job("a", units=4), history, state)
    expected = [
        1000.0, 600.0, 300.0, 200.0,  # the request, and the last three run times
        450.0, 1100 / 3, 300.0,  # means of the last two, three, and all
        4.0, 2.0, 2.0,  # units, usual units, their ratio
        3.0, 2.0, 21_590.0, 21_590.0 + 21_560.0, 6.0,  # running: mean units, number, longest, sum, all units
        1600.0,  # since the last end
        0.0, 1.0, math.cos(math.tau / 28), math.sin(math.tau / 28),
    ]  # fmt: skip
    assert found.tolist() == pytest.approx(expected)


def test_a_second_job_takes_its_request_for_run_times_that_are_not_there() -> None:
    history = History()
    history.add(job("x"), 100.0, ended=0.0)
    assert features(job("a"), history, ledger())[:7].tolist() == [1000.0, 100.0, 1000.0, 1000.0, 550.0, 700.0, 100.0]


def test_a_walltime_that_was_not_asked_for_counts_as_0() -> None:
    assert np.isfinite(features(job("a", walltime=math.inf), None, ledger())).all()
    assert features(job("a", walltime=math.inf), None, ledger())[:7].tolist() == [0.0] * 7


def test_the_basis_has_1_each_feature_and_each_product_once() -> None:
    row = np.arange(1.0, FEATURES + 1)
    found = polynomial_features(row)
    assert len(found) == 1 + FEATURES + FEATURES * (FEATURES + 1) // 2 == 231
    assert found[:21].tolist() == [1.0, *row.tolist()]
    pairs = sorted(a * b for index, a in enumerate(row) for b in row[index:])
    assert sorted(found[21:].tolist()) == pytest.approx(pairs)


# ---------------------------------------------------------------------- together


def end(found: Predictions, done: Job, runtime: float, state: JobState = JobState.COMPLETED_SUCCESSFULLY) -> None:
    found.of(done)
    found.ended(Stay(job=done, start=0.0, allocation=Allocation(1), state=state), runtime)


def test_the_walltime_until_a_job_has_ended_and_for_jobs_of_nobody() -> None:
    found = Predictions("online-regression[over=squared,under=squared,penalty=0,rate=1]")
    found.begin(ledger())
    assert found.of(job("a")) == 1000.0
    end(found, job("b"), 10.0)
    assert found.of(job("c")) < 1000.0
    assert found.of(job("d", user="")) == 1000.0
    assert found.of(job("e", user="ben")) < 1000.0, "the model is one for all users"


def test_it_learns_from_what_was_known_at_submission() -> None:
    """The second job was submitted before the first one ended, and is learned from with an empty history."""
    found = Predictions("online-regression")
    found.begin(ledger())
    first, second = job("a"), job("b")
    found.of(first), found.of(second)
    end(found, first, 10.0)
    inside = found.prediction
    assert isinstance(inside, OnlineRegression)
    assert inside._submitted["w0!b"][1] == 1000.0
    end(found, second, 10.0)
    found.of(job("c"))
    assert set(inside._submitted) == {"w0!c"}
    assert inside._submitted["w0!c"][1:4].tolist() == [10.0, 10.0, 1000.0]


def test_a_negative_value_stands_for_its_absolute_value_as_in_the_published_code() -> None:
    found = Predictions("online-regression")
    found.begin(ledger())
    end(found, job("a"), 10.0)
    found.of(job("b"))
    inside = found.prediction
    assert isinstance(inside, OnlineRegression)
    inside._model.weights[:] = 0.0
    inside._model.weights[0] = -50.0
    assert found.of(job("c")) == 50.0


def test_nothing_is_kept_of_killed_jobs() -> None:
    found = Predictions("online-regression")
    found.begin(ledger())
    end(found, job("a"), 10.0, JobState.COMPLETED_KILLED)
    inside = found.prediction
    assert isinstance(inside, OnlineRegression)
    assert not inside._submitted
    assert found.of(job("b")) == 1000.0, "nothing was learned"


@pytest.mark.parametrize("loss", ["", "[over=linear,under=linear,weight=constant,rate=500,penalty=0]"])
def test_users_who_do_the_same_again_are_predicted_in_order_of_their_run_times(loss: str) -> None:
    found = Predictions(f"online-regression{loss}")
    state = ledger()
    found.begin(state)
    lasting = {"ann": 30.0, "ben": 300.0, "cid": 3000.0}
    for turn in range(300):
        for user, runtime in lasting.items():
            state.now = 10_000.0 * turn
            done = job(f"{user}{turn}", user=user, walltime=4 * runtime)
            found.of(done)
            found.ended(
                Stay(
                    job=done,
                    start=state.now,
                    allocation=Allocation(1),
                    state=JobState.COMPLETED_SUCCESSFULLY,
                ),
                state.now + runtime,
            )
    says = [found.of(job(f"{user}!", user=user, walltime=4 * runtime)) for user, runtime in lasting.items()]
    assert says == sorted(says)
    if loss:
        assert says[-1] == pytest.approx(3000.0, rel=0.3)
