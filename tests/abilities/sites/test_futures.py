"""What an estimate of starts knows and does not know, and that its intervals hold as often as they say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.abilities.kernels import library
from batdispatch.abilities.sites.doors.eta import futures as futures_module
from batdispatch.abilities.sites.doors.eta.calibration import (
    LEVELS,
    SCALE,
    IntervalRecord,
    PastMoments,
    Residuals,
    _quantile,
    ask_at,
    calibrate,
    coverage,
    offsets_of,
    raw_quantiles,
)
from batdispatch.abilities.sites.doors.eta.estimate import _reason, estimate
from batdispatch.abilities.sites.doors.eta.experience import Experience, _most_waiting
from batdispatch.abilities.sites.doors.eta.fit import distance, misfit
from batdispatch.abilities.sites.doors.eta.futures import ARRIVALS, Futures, arrivals_of, columns_of
from batdispatch.abilities.sites.doors.eta.places import places_of
from batdispatch.abilities.sites.doors.eta.queue_moment import History, JobRows, QueueMoment
from batdispatch.abilities.sites.doors.eta.remedies import Trials
from batdispatch.abilities.sites.doors.eta.run_times import draw_run_times
from batdispatch.core.errors import InputError
from batdispatch.runs.engines import queue_simulation

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
    start = queue_simulation(dispatcher).starts(columns_of(submission, units, walltime, lasts, users), UNITS)
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
    start = queue_simulation(dispatcher).starts(
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
    with pytest.raises(InputError, match="dispatcher best-list: dispatcher best-list has no kernel"):
        Futures("best-list", UNITS)
    with pytest.raises(InputError, match="priorities of multifactor depend on what a queue does not tell"):
        Futures("easy[ordering=multifactor]", UNITS)
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


def past_of(raw: np.ndarray, wait: np.ndarray, at: np.ndarray | None = None) -> PastMoments:
    """Return moments of the past, by default so long ago that all waits are over at 0."""
    return PastMoments(np.arange(len(wait)) - 1e12 if at is None else at, raw, wait)


def exact(values: np.ndarray) -> Residuals:
    return Residuals(values, np.ones(len(values), dtype=bool))


@pytest.mark.parametrize("count", [19, 50, 400])
def test_calibrated_levels_hold_for_whichever_of_the_moments_is_the_present_one(count: int) -> None:
    rng = np.random.default_rng(count)
    raw, wait = np.sort(rng.exponential(300, (count + 1, len(LEVELS))), axis=1), rng.exponential(1000, count + 1)
    residuals = np.concatenate(
        [past_of(raw[row : row + 1], wait[row : row + 1]).residuals(0.0).values for row in range(count + 1)]
    )
    inside = np.zeros(len(LEVELS))
    for now in range(count + 1):
        others = exact(np.delete(residuals, now, axis=0))
        inside += residuals[now] <= offsets_of(others, fade=1.0)
    shares = inside / (count + 1)
    assert (shares >= np.array(LEVELS) - 1e-9).all()
    assert (shares <= np.array(LEVELS) + 1 / (count + 1) + 1e-9).all()


def test_quantiles_move_by_what_they_were_wrong_by_and_stay_in_order() -> None:
    raw = np.array([[0.0, 60.0, 120.0, 180.0, 240.0]])
    assert calibrate(raw, exact(np.zeros((0, 5)))).tolist() == raw.tolist()
    twice = exact(np.full((99, 5), np.log(2.0)))
    np.testing.assert_allclose(calibrate(raw, twice), 2 * (raw + SCALE) - SCALE)
    falling = exact(np.tile([3.0, 2.0, 1.0, 0.0, -9.0], (99, 1)))
    moved = calibrate(raw, falling)[0]
    assert moved.tolist() == sorted(moved)
    assert moved[0] == 0.0


def test_a_wait_that_goes_on_gives_its_weight_to_the_longer_ones() -> None:
    """Kaplan and Meier by hand: of four residuals and the one to come, the first is but a bound."""
    values = np.tile([[1.0], [2.0], [3.0], [4.0]], (1, 5))
    assert offsets_of(exact(values), fade=1.0).tolist() == [1.0, 2.0, 3.0, 4.0, 4.0]
    # Each of 2, 3, 4 and the one to come then has a quarter.
    bound = Residuals(values, np.array([False, True, True, True]))
    assert offsets_of(bound, fade=1.0).tolist() == [2.0, 2.0, 3.0, 4.0, 4.0]
    # Without them, waits would be taken for shorter: the middle of 1, 2, 3 and the one to come is 2.
    late = Residuals(values[[3, 0, 1, 2]], np.array([False, True, True, True]))
    assert offsets_of(late, fade=1.0)[2] == 3.0
    assert offsets_of(exact(values[:3]), fade=1.0)[2] == 2.0


@pytest.mark.parametrize(("level", "value"), [(0.2, 1.0), (0.3, 2.0), (0.6, 2.0), (0.9, 2.0)])
def test_a_bound_as_large_as_a_wait_lies_above_it(level: float, value: float) -> None:
    """Of 1, more than 1, and 2, with one more anywhere: 1 / 4 lie up to 1, and 1 - 3 / 4 x 1 / 2 = 5 / 8 up to 2."""
    values, over, weight = np.array([1.0, 1.0, 2.0]), np.array([False, True, True]), np.ones(3)
    assert _quantile(values, over, weight, level) == value


def test_what_comes_after_a_moment_changes_nothing_that_was_said_at_it() -> None:
    rng = np.random.default_rng(3)
    raw, wait = np.sort(rng.exponential(300, (90, 5)), axis=1), rng.exponential(20000, 90)
    at = np.sort(rng.uniform(0, 1e5, 90))
    now = float(at[60])
    later = np.where(at + wait > now, rng.exponential(1e6, 90) + now - at, wait)
    later[60:] = 1.0
    past, other = past_of(raw, wait, at), past_of(raw, later, at)
    assert past.residuals(now).over.sum() < 60
    for one, same in zip(past.residuals(now), other.residuals(now), strict=True):
        np.testing.assert_array_equal(one, same)
    np.testing.assert_array_equal(past.estimates(60)[0], other.estimates(60)[0])


@pytest.mark.parametrize(
    ("share", "held", "count", "covers"),
    [(0.5, 0.49, 200, True), (0.5, 0.42, 200, False), (0.9, 0.84, 200, False), (0.9, 0.84, 50, True)],
)
def test_an_interval_that_held_too_rarely_is_none(share: float, held: float, count: int, covers: bool) -> None:
    assert IntervalRecord(share=share, held=held, count=count).covers == covers


@needs_kernels
@pytest.mark.parametrize("drift", [0.0, 0.3])
def test_no_interval_is_told_where_those_of_the_past_did_not_hold(drift: float) -> None:
    """Waits grow by a third from each moment to the next, so that what was learned is too short each time."""
    rng = np.random.default_rng(5)
    wait = np.exp(drift * np.arange(150)) * rng.exponential(100, 150)
    past = past_of(np.tile([5.0, 29.0, 69.0, 139.0, 300.0], (150, 1)), wait)._replace(at=np.linspace(0, 1e30, 150))
    moment = History(table(4, 120)).at(2000.0)
    about = {"dispatcher": "easy", "units": UNITS, "unit": "hosts", "until": 2e30}
    learned = Experience(**about, ended=moment.ended, came=moment.came, past=past)  # type: ignore[arg-type]
    found = estimate(moment, Futures("easy", UNITS, 8), learned, 1)
    half, most = found.records
    assert half.count == most.count == 100
    job = found.jobs[0]
    assert len(job.quantiles) == 5
    if drift:
        assert half.held is not None
        assert half.held < 0.2
        assert (job.interval_50, job.interval_90) == (None, None)
    else:
        assert half.held == pytest.approx(0.5, abs=0.1)
        assert job.interval_50 == (job.quantiles[1], job.quantiles[3])
        assert job.interval_90 == (job.quantiles[0], job.quantiles[4])


def test_a_wait_that_is_not_over_counts_once_it_is_longer_than_what_was_told() -> None:
    raw = np.tile([10.0, 20.0, 30.0, 40.0, 50.0], (60, 1))
    wait = np.concatenate([np.tile([5.0, 15.0, 35.0, 45.0, 55.0], 10), np.full(10, np.inf)])
    at = np.linspace(0.0, 5900.0, 60)
    # The last job has waited for 45 s. The more of the ten wait on, the longer waits are told.
    half, most = past_of(raw, wait, at).records(5945.0)
    assert (half.count, half.held) == (9, 0.0)
    assert most.count < 9
    assert most.held == 0.0


def test_an_interval_holds_its_own_ends() -> None:
    """Jobs that start at once, where nothing else is told, start within the interval from 0 s to 0 s."""
    told = np.zeros((4, len(LEVELS)))
    told[:, 2:] = [0.0, 5.0, 9.0]
    # Of 25 to 75 %, which is from 0 to 5 s: both ends are held, what is beyond is not.
    assert coverage(told, np.array([0.0, 5.0, 5.1, 0.0]), (1, 3)) == 0.75
    assert coverage(told, np.zeros(4), (0, 2)) == 1.0


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
    residuals = exact(np.repeat([[0.0], [np.log(2.0)]], [210, 190], axis=0) * np.ones(len(LEVELS)))
    assert offsets_of(residuals, fade=1.0)[2] == 0.0
    assert offsets_of(residuals)[2] == pytest.approx(np.log(2.0))
    # What is long ago still is of use for what is rare.
    assert offsets_of(residuals)[0] == 0.0


@needs_kernels
def test_only_known_outcomes_are_known() -> None:
    jobs = table(2, 200)
    history, futures = History(jobs), Futures("easy", UNITS, 8)
    moments = [at for at in jobs.submission[20:180:10].tolist() if len(history.at(at).waiting.ids)]
    everything = ask_at(history, futures, moments, 1e9, 0)
    assert np.isfinite(everything.wait).all()
    now = moments[len(moments) // 2]
    some = ask_at(history, futures, moments, now, 0)
    np.testing.assert_array_equal(some.at, everything.at)
    np.testing.assert_array_equal(some.quantiles, everything.quantiles)
    assert (np.isfinite(some.wait) == (everything.at + everything.wait <= now)).all()
    assert 0 < np.isfinite(some.wait).sum() < len(moments) // 2 + 1


# ---------------------------------------------------------------------- who comes


@needs_kernels
def test_a_future_goes_on_until_the_jobs_asked_about_have_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small jobs pass a large one for as long as they come: it does not start because nobody comes any more."""
    rng = np.random.default_rng(6)
    count, lasts = 900, 100.0
    submission = np.cumsum(rng.exponential(12.0, count)).round()
    units = np.where(np.arange(count) == 600, UNITS, 1)
    names = np.array([""] * count, dtype=object)
    walltime = np.full(count, np.inf)
    start = queue_simulation("filler").starts(
        columns_of(submission, units, walltime, np.full(count, lasts), names), UNITS
    )
    jobs = JobRows(names, names, units, submission, walltime, start, start + lasts)
    at = float(submission[640])
    moment = History(jobs).at(at)
    row = int(np.flatnonzero(moment.waiting.units == UNITS)[0])
    found = [Futures("filler", UNITS, 8).starts(moment, np.random.default_rng(1), row)]
    monkeypatch.setattr(futures_module, "SERIES", 1)
    found.append(Futures("filler", UNITS, 8).starts(moment, np.random.default_rng(1), row))
    assert np.median(found[0]) > 2 * np.median(found[1])


@needs_kernels
@settings(max_examples=10)
@given(seed=st.integers(0, 1000))
def test_one_job_is_told_what_all_are_told(seed: int) -> None:
    moment, futures = History(table(seed, 120)).at(2500.0), Futures("easy", UNITS, 6)
    every = futures.starts(moment, np.random.default_rng(seed))
    for row in range(len(moment.waiting.ids)):
        np.testing.assert_array_equal(every[row : row + 1], futures.starts(moment, np.random.default_rng(seed), row))


def rows_of(user: str, walltime: list[float], lasts: list[float]) -> JobRows:
    """Jobs of a user, each of one unit, that came and started at 0."""
    count, nothing = len(walltime), np.zeros(len(walltime))
    names = np.array([str(number) for number in range(count)], dtype=object)
    users = np.array([user] * count, dtype=object)
    return JobRows(names, users, np.ones(count, dtype=np.int64), nothing, np.array(walltime), nothing, np.array(lasts))


@pytest.mark.parametrize(
    ("ended", "walltime", "elapsed", "lasts"),
    [
        # A walltime ten times as long is another kind of job: the same share of the walltime.
        (([1000.0], [500.0]), 100.0, 0.0, 50.0),
        # One twice as long is not.
        (([200.0], [70.0]), 100.0, 0.0, 70.0),
        (([201.0], [70.0]), 100.0, 0.0, 100 * 70 / 201),
        # Who has run for 50 s takes longer than that.
        (([100.0, 100.0], [10.0, 90.0]), 100.0, 50.0, 90.0),
        # Nobody runs for longer than his walltime.
        (([150.0], [140.0]), 100.0, 0.0, 100.0),
    ],
)
def test_run_times_are_those_of_the_same_users_jobs_that_would_still_run(
    ended: tuple[list[float], list[float]], walltime: float, elapsed: float, lasts: float
) -> None:
    rng = np.random.default_rng(1)
    found = draw_run_times(rows_of("u", [walltime], [0.0]), np.array([elapsed]), rows_of("u", *ended), 20, rng)
    assert set(found.ravel().round(9)) == {round(lasts, 9)}


@pytest.mark.parametrize(("walltime", "limit"), [(100.0, 400.0), (np.inf, 400.0), (250.0, 250.0)])
def test_who_has_outlived_all_others_ends_until_the_walltime_or_twice_the_time_so_far(
    walltime: float, limit: float
) -> None:
    found = draw_run_times(
        rows_of("u", [walltime], [0.0]), np.array([200.0]), rows_of("u", [], []), 500, np.random.default_rng(1)
    )
    expected = 200 + np.random.default_rng(1).random((1, 500)) * (limit - 200)
    np.testing.assert_allclose(found, np.maximum(expected, 201.0))


@needs_kernels
@pytest.mark.parametrize(
    ("dispatcher", "places"),
    [
        ("easy", [1, 2, 3, 4, 5]),
        ("conservative[ordering=lcfs]", [5, 4, 3, 2, 1]),
        # Of two jobs of one size, the one that came first goes first.
        ("easy[ordering=smallest-first]", [3, 5, 1, 4, 2]),
        ("fcfs[ordering=sjf]", [2, 5, 4, 3, 1]),
        # Waited over walltime: 50 / 20, 40 / 50, 30 / 40, 20 / 30, 10 / 10.
        ("easy[ordering=slowdown]", [1, 3, 4, 5, 2]),
    ],
)
def test_places_in_line_are_those_of_the_dispatchers_order(dispatcher: str, places: list[int]) -> None:
    """One job holds eight of ten hosts; five came 10 s one after the other, the last one 10 s ago."""
    names = np.array(list("rabcde"), dtype=object)
    start = np.array([0.0, *[np.nan] * 5])
    jobs = JobRows(
        names,
        names,
        np.array([8, 4, 9, 3, 5, 3]),
        np.array([0.0, 10.0, 20.0, 30.0, 40.0, 50.0]),
        np.array([500.0, 20.0, 50.0, 40.0, 30.0, 10.0]),
        start,
        np.full(6, np.nan),
    )
    moment = History(jobs).at(60.0)
    assert places_of(dispatcher, UNITS, moment).tolist() == places


@needs_kernels
def test_a_job_larger_than_the_machine_has_no_place_in_line() -> None:
    waiting = rows_of("u", [1.0] * 3, [1.0] * 3)._replace(units=np.array([3, UNITS + 1, 4]), start=np.full(3, np.nan))
    moment = History(waiting._replace(end=np.full(3, np.nan))).at(5.0)
    assert places_of("easy", UNITS, moment).tolist() == [1, 0, 2]


@needs_kernels
@pytest.mark.parametrize("dispatcher", ["fcfs", "fcfs[ordering=sjf]", "fcfs[ordering=smallest-area]"])
@settings(max_examples=10)
@given(seed=st.integers(0, 1000))
def test_the_first_in_line_starts_first_where_nothing_is_filled(dispatcher: str, seed: int) -> None:
    moment = History(table(seed, 80)).at(2500.0)
    planned, places = Futures(dispatcher, UNITS, 1).planned(moment), places_of(dispatcher, UNITS, moment)
    if len(places):
        assert planned[places == 1] == planned.min()


# ---------------------------------------------------------------------- what would help


def held_machine(holds: int, waiting: list[tuple[int, float]]) -> QueueMoment:
    """Return a queue in which one job has just started for 1000 s, and jobs of (units, walltime) wait.

    Nothing is known of jobs that ended, so each runs for its walltime, and no job comes.
    """
    count = 1 + len(waiting)
    names = np.array([str(number) for number in range(count)], dtype=object)
    units, walltime = (np.array(column) for column in zip((holds, 1000.0), *waiting, strict=True))
    start = np.array([100.0, *[np.nan] * len(waiting)])
    jobs = JobRows(names, names, units.astype(int), np.arange(count) * 1.0, walltime, start, np.full(count, np.nan))
    return History(jobs).at(100.0)._replace(came=jobs.take(slice(0)))


NOTHING_LEARNED = Experience(
    dispatcher="easy",
    units=UNITS,
    unit="hosts",
    until=0.0,
    ended=JobRows(*[np.empty(0)] * 7),
    came=JobRows(*[np.empty(0)] * 7),
    past=past_of(np.empty((0, 5)), np.empty(0)),
)


@needs_kernels
@pytest.mark.parametrize(
    ("holds", "waiting", "remedies"),
    [
        # Two hosts are free, and nobody else waits: three do not fit before 1000 s, two do now.
        (8, [(4, 3000.0)], [(2, 3000.0, 0.0)]),
        # Half of its size is five hosts; six are free.
        (4, [(10, 3000.0)], [(6, 3000.0, 0.0)]),
        # 960 s fit on the free hosts before the first in line starts at 1000 s, and its half does not.
        (8, [(10, 600.0), (2, 3000.0)], [(2, 960.0, 0.0)]),
        # Its half fits, too, and the gap is longer.
        (8, [(10, 600.0), (2, 1200.0)], [(2, 960.0, 0.0)]),
        # Half of it and what fits on the free hosts are still too long; the gap is for two hosts.
        (8, [(10, 600.0), (4, 3000.0)], []),
        # Larger than the machine: as large as it, the job starts when the running one has ended.
        (8, [(12, 3000.0)], [(10, 3000.0, 1000.0)]),
        # It starts at once.
        (8, [(2, 3000.0)], []),
        # It needs the whole machine, and none of it is free.
        (10, [(10, 100.0)], []),
    ],
)
def test_remedies_by_hand(
    holds: int, waiting: list[tuple[int, float]], remedies: list[tuple[int, float, float]]
) -> None:
    moment = held_machine(holds, waiting)
    futures = Futures("easy", UNITS, 3)
    found = estimate(moment, futures, NOTHING_LEARNED, 1, asked=[str(len(waiting))]).jobs
    assert [(each.units, each.walltime, each.median) for each in found[-1].remedies or ()] == remedies
    assert found[-1].remedies is not None
    assert [one.remedies for one in found[:-1]] == [None] * (len(waiting) - 1)


@needs_kernels
def test_the_gap_that_is_tried_is_that_before_the_jobs_ahead() -> None:
    """Jobs ahead start in 1000 and 2000 s, the one that is asked about in 700 s, and one behind it in 400 s."""
    tried: list[tuple[int, float]] = []

    class Recorded(Trials):
        def median(self, row: int, units: int, walltime: float) -> float:
            tried.append((units, walltime))
            return 700.0

    moment = held_machine(8, [(10, 600.0), (2, 3000.0), (10, 600.0), (1, 60.0)])
    trials = Recorded(moment, Futures("easy", UNITS, 1), NOTHING_LEARNED, 1)
    assert trials.remedies(1, np.array([1, 3, 2, 4]), np.array([1000.0, 700.0, 2000.0, 400.0])) == []
    # 16 whole minutes are 960 s; half of its own walltime is 1500 s.
    assert {walltime for units, walltime in tried if units == 2} == {3000.0, 960.0, 1500.0}


@needs_kernels
@pytest.mark.parametrize("seed", [0, 2, 3])
def test_a_trial_of_a_jobs_own_request_gives_the_estimate(seed: int) -> None:
    moment, futures = History(table(seed, 120)).at(2500.0), Futures("easy", UNITS, 6)
    trials = Trials(moment, futures, NOTHING_LEARNED, seed)
    every = raw_quantiles(futures.starts(moment, np.random.default_rng(seed)))
    waiting = moment.waiting
    assert len(waiting.ids)
    for row, units in enumerate(waiting.units.tolist()):
        assert trials.median(row, units, float(waiting.walltime[row])) == every[row, 2]
    # Trials change a copy.
    before = waiting.units.copy()
    trials.median(0, 1, 60.0)
    np.testing.assert_array_equal(waiting.units, before)


# ---------------------------------------------------------------------- a history that does not fit


def queue_of(history: JobRows, running: int, waiting: JobRows, now: float) -> QueueMoment:
    """Return a queue in which one job of a user of the history runs, on so many hosts."""
    waits = waiting._replace(start=np.full(len(waiting.ids), np.nan), end=np.full(len(waiting.ids), np.nan))
    runs = waits.take(slice(0, 1))._replace(units=np.array([running]), submission=np.zeros(1), start=np.zeros(1))
    return QueueMoment(now, runs, waits, history, history)


def busy_history() -> JobRows:
    """Return 40 jobs of two hosts, each of which came 100 s after the other, waited 200 s and ran for 500 s.

    So five of them hold the ten hosts.
    """
    names, came = np.array(["u", "v"] * 20, dtype=object), np.arange(40) * 100.0
    return JobRows(names, names, np.full(40, 2), came, np.full(40, 600.0), came + 200, came + 700)


@pytest.mark.parametrize(
    ("change", "running", "said"),
    [
        ({}, UNITS, ""),
        ({"users": np.array(["u"] * 10 + ["w"] * 10, dtype=object)}, UNITS, ""),
        (
            {"users": np.array(["u"] * 9 + ["w"] * 11, dtype=object)},
            UNITS,
            "11 of its 21 jobs are of users whom the history does not know",
        ),
        # Accounts without users know no user.
        ({"users": np.array([""] * 20, dtype=object)}, UNITS, ""),
        ({"units": np.full(20, 9)}, UNITS, "its jobs are of other sizes"),
        ({"walltime": np.full(20, 601.0)}, UNITS, "its jobs have other walltimes"),
        (
            {"units": np.array([11] * 3 + [1] * 17)},
            UNITS,
            "3 of 20 waiting jobs ask for more than the 10 hosts of the history's machine",
        ),
        ({"units": np.array([11] * 2 + [2] * 18)}, UNITS, ""),
        # Ten have waited for 201 s at 4000 s, and no job of the history for longer than 200 s.
        ({"submission": np.repeat([3799.0, 3801.0], 10)}, UNITS, ""),
        (
            {"submission": np.repeat([3799.0, 3801.0], [11, 9])},
            UNITS,
            "11 of 20 waiting jobs have waited longer than any job of the history",
        ),
        # Two hosts are asked for.
        ({}, 6, "all its jobs wait while 4 of the history's 10 hosts are free: its machine may be smaller"),
        ({}, 9, ""),
        # One of them asks for five hosts, which are not free.
        ({"units": np.array([5] + [2] * 19)}, 6, ""),
        # A job that came two minutes ago may yet start.
        ({"submission": np.full(20, 3881.0)}, 6, ""),
    ],
)
def test_misfit_by_hand(change: dict[str, np.ndarray], running: int, said: str) -> None:
    history = busy_history()
    waiting = history.take(slice(0, 20))._replace(submission=np.full(20, 3850.0))._replace(**change)
    if running < UNITS and not change:
        waiting = waiting._replace(submission=np.full(20, 3879.0))
    assert misfit(queue_of(history, running, waiting, 4000.0), UNITS, "hosts") == said


def test_a_queue_that_is_longer_than_any_of_the_history_is_unlike_it() -> None:
    history = busy_history()
    waiting = history.take(slice(0, 20))._replace(submission=np.full(20, 3850.0))
    moment = queue_of(history, UNITS, waiting, 4000.0)
    assert misfit(moment, UNITS, "hosts") == ""
    # 40 hosts are asked for: less than one and a half times 27, and more than that of 26.
    assert misfit(moment, UNITS, "hosts", 27) == ""
    said = "its waiting jobs ask for 40 hosts, and those of the history for 26 at most"
    assert misfit(moment, UNITS, "hosts", 26) == said


def test_most_that_waited_is_counted_until_now() -> None:
    rows = rows_of("u", [1.0] * 4, [1.0] * 4)._replace(
        units=np.array([3, 2, 4, 100]),
        submission=np.array([0.0, 5.0, 10.0, 30.0]),
        start=np.array([10.0, np.nan, 25.0, 40.0]),
    )
    # 3 and 2 until 10 s, then 2 and 4: the first one starts before the third one comes.
    assert [_most_waiting(rows, now) for now in (4.0, 9.0, 29.0, 30.0)] == [3, 5, 6, 102]


def test_a_past_of_fewer_than_ten_waits_has_no_interval() -> None:
    quantiles = np.tile([5.0, 29.0, 69.0, 139.0, 300.0], (100, 1))
    # One in ten still waits when the past ends, 1,000 s after its first moment, for 50 s: the mean is 90 or 102 s.
    for waits, told in ((94.0, True), (107.0, False)):
        wait = np.where(np.arange(100) % 10 == 0, np.inf, waits)
        at = np.where(np.isinf(wait), 950.0, np.linspace(0.0, 800.0, 100))
        at[0] = 0.0
        wait[0] = waits
        order = np.argsort(at, kind="stable")
        past = past_of(quantiles, wait[order], at[order])
        mean = (91 * waits + 9 * 50.0) / 100
        assert past.length(1000.0) == pytest.approx(1000.0 / mean)
        assert [one.held is not None for one in past.records(1000.0)] == [told] * 2


def test_who_ended_jobs_before_is_known() -> None:
    """The waiting users have jobs among those that ended, and none among those that came of late."""
    history = busy_history()
    queue = queue_of(history, UNITS, history.take(slice(0, 20))._replace(submission=np.full(20, 3850.0)), 4000.0)
    late = queue._replace(came=history._replace(users=np.array(["w"] * 40, dtype=object)))
    assert misfit(late, UNITS, "hosts") == ""
    assert "21 of its 21 jobs are of users" in misfit(late._replace(ended=late.came), UNITS, "hosts")


def test_few_jobs_are_no_ground_for_doubt() -> None:
    history = busy_history()
    nine = history.take(slice(0, 8))._replace(
        submission=np.full(8, 1.0), users=np.array(["w"] * 8, dtype=object), units=np.full(8, 9)
    )
    assert misfit(queue_of(history, UNITS, nine, 4000.0), UNITS, "hosts") == ""


@given(st.lists(st.integers(0, 5), min_size=1), st.lists(st.integers(0, 5), min_size=1))
def test_distance_of_two_samples_is_that_of_their_shares(some: list[int], others: list[int]) -> None:
    shares = [[sum(each <= at for each in sample) / len(sample) for at in range(6)] for sample in (some, others)]
    expected = max(abs(one - other) for one, other in zip(*shares, strict=True))
    assert distance(np.array(some), np.array(others)) == pytest.approx(expected)


@needs_kernels
def test_no_interval_is_told_of_a_queue_that_is_unlike_the_history() -> None:
    wait = np.random.default_rng(5).exponential(100, 150)
    past = past_of(np.tile([5.0, 29.0, 69.0, 139.0, 300.0], (150, 1)), wait, np.linspace(0, 1e30, 150))
    jobs = table(5, 120)
    at = next(at for at in jobs.submission[60:].tolist() if len(History(jobs).at(at).waiting.ids) > 10)
    moment = History(jobs).at(at)
    about = {"dispatcher": "easy", "units": UNITS, "unit": "hosts", "until": 2e30}
    learned = Experience(**about, ended=moment.ended, came=moment.came, past=past)  # type: ignore[arg-type]
    futures, other = Futures("easy", UNITS, 8), moment.came._replace(walltime=moment.came.walltime + 1e4)
    like, unlike = (estimate(each, futures, learned, 1) for each in (moment, moment._replace(came=other)))
    assert like.misfit == ""
    assert all(job.interval_90 for job in like.jobs)
    assert unlike.misfit == "its jobs have other walltimes"
    assert {(job.interval_50, job.interval_90) for job in unlike.jobs} == {(None, None)}


def test_a_reason_names_what_all_that_came_before_ask_for() -> None:
    waiting = rows_of("u", [1.0] * 3, [1.0] * 3)._replace(units=np.array([3, 2, 4]))
    said = "short of hosts: 1 hosts free, 4 asked for; 2 jobs that came before it wait for 5 hosts"
    assert _reason(waiting, 2, 1, UNITS, "hosts") == said
    # A job that asks for all that is free has room.
    assert _reason(waiting, 0, 3, UNITS, "hosts") == "room for it: 3 hosts free, 3 asked for"
    assert _reason(waiting, 0, 2, UNITS, "hosts") == "short of hosts: 2 hosts free, 3 asked for"


@pytest.mark.parametrize("seed", range(4))
def test_now_is_somewhere_between_two_submissions(seed: int) -> None:
    """Eight jobs came 10 s apart, and half of them come again: the first one in less than 10 s."""
    names, came = np.array([""] * 8, dtype=object), np.arange(8.0) * 10
    past = JobRows(names, names, np.ones(8, dtype=np.int64), came, came, came, came + 1.0)
    coming = arrivals_of(past, 50.0, 1, np.random.default_rng(seed))
    first = 50.0 + 10 * np.random.default_rng(seed).random()
    np.testing.assert_allclose(coming.submission, first + np.arange(4) * 10)


@needs_kernels
def test_a_job_that_has_outlived_its_walltime_is_planned_to_end_in_a_second() -> None:
    """Two jobs hold the whole machine at 50 s; one was to end at 10 s, and the other one is to end at 80 s."""
    names = np.array(["late", "long", "waits"], dtype=object)
    jobs = JobRows(
        names,
        np.array([""] * 3, dtype=object),
        np.array([UNITS - 4, 4, UNITS - 4]),
        np.array([0.0, 0.0, 20.0]),
        np.array([10.0, 80.0, 5.0]),
        np.array([0.0, 0.0, 100.0]),
        np.array([100.0, 80.0, 105.0]),
    )
    moment = History(jobs).at(50.0)
    assert Futures("easy", UNITS, 1).planned(moment).tolist() == pytest.approx([1.0])


@given(series=st.integers(1, 5), count=st.integers(0, 900))
def test_more_series_of_arrivals_begin_with_the_same_ones(series: int, count: int) -> None:
    rng = np.random.default_rng(count)
    names = np.array([""] * count, dtype=object)
    came = np.cumsum(rng.exponential(10.0, count))
    past = JobRows(names, names, np.ones(count, dtype=np.int64), came, came, came, came + 1.0)
    few, many = (arrivals_of(past, 50.0, number, np.random.default_rng(1)) for number in (series, series + 1))
    assert len(few.ids) == series * min(ARRIVALS, count // 2)
    np.testing.assert_array_equal(few.submission, many.submission[: len(few.ids)])
    assert (np.diff(many.submission) >= 0).all()
    assert (many.submission > 50.0).all()
