"""What an estimate of starts knows and does not know, and that its intervals hold as often as they say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.core.errors import InputError
from batdispatch.native import library
from batdispatch.runs.engines import KernelSimulation
from batdispatch.runs.eta.calibration import LEVELS, calibrate, offsets_of, residuals_at, residuals_of
from batdispatch.runs.eta.futures import Futures, columns_of
from batdispatch.runs.eta.queue_moment import History, JobRows
from batdispatch.runs.eta.run_times import draw_run_times

UNITS = 10
needs_kernels = pytest.mark.skipif(bool(library.why_missing()), reason=library.why_missing() or "-")


def table(seed: int, count: int, *, exact: bool = False, dispatcher: str = "easy") -> JobRows:
    """Return jobs as a dispatcher starts them on ten hosts; `exact`: each runs for its walltime."""
    rng = np.random.default_rng(seed)
    submission = np.cumsum(rng.exponential(60.0, count)).round()
    units = rng.integers(1, 8, count)
    walltime = rng.integers(60, 600, count).astype(float)
    lasts = walltime if exact else np.maximum((walltime * rng.random(count)).round(), 1.0)
    names = np.array([f"j{number}" for number in range(count)], dtype=object)
    users = np.array([f"u{number % 3}" for number in range(count)], dtype=object)
    start = KernelSimulation(dispatcher).starts(columns_of(submission, units, walltime, lasts, users), UNITS)
    return JobRows(names, users, units, submission, walltime, start, start + lasts)


@needs_kernels
@pytest.mark.parametrize("dispatcher", ["easy", "fcfs", "filler", "easy[ordering=unicef]"])
@settings(max_examples=10)
@given(seed=st.integers(0, 10_000), share=st.floats(0.2, 0.8))
def test_without_chance_and_arrivals_a_future_is_what_came_to_pass(dispatcher: str, seed: int, share: float) -> None:
    jobs = table(seed, 80, exact=True, dispatcher=dispatcher)
    now = float(jobs.submission[int(share * 79)])
    # Nobody comes after this moment: the truth is simulated without them.
    jobs = jobs.take(jobs.submission <= now)
    start = KernelSimulation(dispatcher).starts(
        columns_of(jobs.submission, jobs.units, jobs.walltime, jobs.walltime, jobs.users), UNITS
    )
    jobs = jobs._replace(start=start, end=start + jobs.walltime)
    moment = History(jobs).at(now)
    np.testing.assert_allclose(Futures(dispatcher, UNITS, 1).planned(moment), moment.waiting.start - now, atol=1e-5)


@needs_kernels
@settings(max_examples=15)
@given(seed=st.integers(0, 10_000))
def test_nothing_after_the_moment_is_known(seed: int) -> None:
    jobs = table(seed, 120)
    now = float(jobs.submission[70]) + 0.5
    started, ended = jobs.start <= now, jobs.end <= now
    rng = np.random.default_rng(seed)
    other = jobs._replace(
        start=np.where(started, jobs.start, now + rng.exponential(1e4, 120)),
        end=np.where(ended, jobs.end, now + rng.exponential(1e5, 120)),
        units=np.where(jobs.submission <= now, jobs.units, 1),
        walltime=np.where(jobs.submission <= now, jobs.walltime, 1.0),
    )
    futures = Futures("easy", UNITS, 8)
    found = [futures.starts(History(each).at(now), np.random.default_rng(1)) for each in (jobs, other)]
    np.testing.assert_array_equal(*found)


@needs_kernels
def test_the_same_seed_gives_the_same_starts_and_a_moment_leaves_no_trace() -> None:
    history, futures = History(table(3, 120)), Futures("easy[prediction=last-two]", UNITS, 8)
    first = futures.starts(history.at(2000.0), np.random.default_rng(5))
    futures.starts(history.at(3000.0), np.random.default_rng(5))
    np.testing.assert_array_equal(first, futures.starts(history.at(2000.0), np.random.default_rng(5)))


@needs_kernels
def test_a_job_larger_than_the_machine_never_starts() -> None:
    jobs = table(1, 30)
    moment = History(jobs).at(float(jobs.submission[20]))
    waiting = moment.running.take(slice(0, 1))._replace(
        units=np.array([UNITS + 1]), submission=np.array([moment.now]), start=np.array([np.nan])
    )
    assert np.isinf(Futures("easy", UNITS, 4).starts(moment._replace(waiting=waiting), np.random.default_rng(0))).all()


@needs_kernels
def test_more_than_the_machine_in_use_is_refused() -> None:
    moment = History(table(1, 60)).at(1500.0)
    with pytest.raises(InputError, match=r"the queue: the running jobs hold \d+ units, and the machine has 2"):
        Futures("easy", 2).starts(moment, np.random.default_rng(0))


@needs_kernels
def test_a_dispatcher_without_a_kernel_is_refused_in_words() -> None:
    with pytest.raises(InputError, match="dispatcher best-list: dispatcher BestList has no kernel"):
        Futures("best-list", UNITS)
    with pytest.raises(InputError, match="a queue's running jobs would not all start at once"):
        Futures("slurm-backfill", UNITS)


@given(seed=st.integers(0, 10_000), elapsed=st.floats(0, 2000))
def test_a_running_job_lasts_longer_than_it_has_run(seed: int, elapsed: float) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(0, 30))
    walltime = rng.choice([100.0, 1000.0, np.inf], count + 1)
    lasts = rng.exponential(500, count + 1)
    users = np.array(["a"] * (count + 1), dtype=object)
    rows = JobRows(
        users, users, np.ones(count + 1, dtype=np.int64), np.zeros(count + 1), walltime, np.zeros(count + 1), lasts
    )
    drawn = draw_run_times(rows.take(slice(0, 1)), np.array([elapsed]), rows.take(slice(1, None)), 20, rng)
    assert (drawn >= elapsed).all()
    if elapsed + 1 < walltime[0]:
        assert (drawn <= max(walltime[0], 2 * elapsed, 3600.0)).all()


def test_the_same_users_jobs_of_like_walltime_run_as_long_as_they_did() -> None:
    users = np.array(["a"] * 5 + ["b"] * 5, dtype=object)
    ended = JobRows(
        users,
        users,
        np.ones(10, dtype=np.int64),
        np.zeros(10),
        np.full(10, 100.0),
        np.zeros(10),
        np.array([30.0] * 5 + [80.0] * 5),
    )
    drawn = draw_run_times(ended.take(slice(0, 1)), np.zeros(1), ended, 400, np.random.default_rng(0))
    # 20 to 1, and somebody else's job means a share of the walltime: 80 s.
    assert 0.9 < (drawn == 30.0).mean() < 1.0
    assert set(drawn.ravel()) == {30.0, 80.0}


@pytest.mark.parametrize("count", [19, 50, 400])
def test_calibrated_levels_hold_for_whichever_of_the_moments_is_the_present_one(count: int) -> None:
    rng = np.random.default_rng(count)
    raw, wait = np.sort(rng.exponential(300, (count + 1, len(LEVELS))), axis=1), rng.exponential(1000, count + 1)
    residuals = residuals_of(raw, wait)
    inside = np.zeros(len(LEVELS))
    for now in range(count + 1):
        others = np.delete(residuals, now, axis=0)
        inside += residuals[now] <= offsets_of(others, fade=1.0)
    shares = inside / (count + 1)
    assert (shares >= np.array(LEVELS) - 1e-9).all()
    assert (shares <= np.array(LEVELS) + 1 / (count + 1) + 1e-9).all()


def test_quantiles_move_by_what_they_were_wrong_by_and_stay_in_order() -> None:
    raw = np.array([[0.0, 60.0, 120.0, 180.0, 240.0]])
    assert calibrate(raw, np.zeros((0, 5))).tolist() == raw.tolist()
    twice = np.full((99, 5), np.log(2.0))
    np.testing.assert_allclose(calibrate(raw, twice), 2 * (raw + 60.0) - 60.0)
    falling = np.tile([3.0, 2.0, 1.0, 0.0, -9.0], (99, 1))
    moved = calibrate(raw, falling)[0]
    assert moved.tolist() == sorted(moved)
    assert moved[0] == 0.0


@needs_kernels
def test_jobs_without_a_walltime_have_no_plan_but_an_estimate() -> None:
    jobs = table(5, 120)._replace(walltime=np.full(120, np.inf))
    at = next(at for at in jobs.submission[60:].tolist() if len(History(jobs).at(at).waiting.ids) > 8)
    moment = History(jobs).at(at)
    futures = Futures("easy", UNITS, 8)
    assert np.isinf(futures.planned(moment)).all()
    assert np.isfinite(futures.starts(moment, np.random.default_rng(1))).all()


def test_moments_of_long_ago_count_less() -> None:
    """The machine has changed: from some moment on, jobs waited twice as long as expected."""
    residuals = np.repeat([[0.0], [np.log(2.0)]], [210, 190], axis=0) * np.ones(len(LEVELS))
    assert offsets_of(residuals, fade=1.0)[2] == 0.0
    assert offsets_of(residuals)[2] == pytest.approx(np.log(2.0))
    # What is long ago still is of use for what is rare.
    assert offsets_of(residuals)[0] == 0.0


@needs_kernels
def test_only_known_outcomes_calibrate() -> None:
    jobs = table(2, 200)
    history, futures = History(jobs), Futures("easy", UNITS, 8)
    moments = [at for at in jobs.submission[20:180:10].tolist() if len(history.at(at).waiting.ids)]
    late = float(jobs.start[jobs.start > jobs.submission][-1])
    everything = residuals_at(history, futures, moments, 1e9, 0)
    assert len(everything) == len(moments)
    now = moments[len(moments) // 2]
    some = residuals_at(history, futures, moments, now, 0)
    assert len(some) < len(moments) // 2 + 1 < len(moments)
    assert late > now
