"""Predictions, rule by rule and by hand, and what dispatchers make of them."""

import functools
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.errors import InputError
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job, JobState, Stay
from batdispatch.core.jobs.request import Request, amounts
from batdispatch.core.line import events as e
from batdispatch.core.line import registry
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Machine
from batdispatch.parts.prediction import GROUP, Predictions, make_prediction
from batdispatch.parts.prediction.data_driven import Names, common
from simulating import Task, audit, simulate

numbers = iter(range(10**9))


def job(
    name: str = "sim", *, user: str = "ann", queue: str = "q", walltime: float = 1000.0, units: int = 1, **demand: int
) -> Job:
    extra: dict[str, Any] = {"name": name, "queue": queue}
    request = Request(units=units, per_unit=amounts(demand or {"core": 1}))
    return Job(id=f"w0!{next(numbers)}", request=request, walltime=walltime, user=user, extra=extra)


def ledger(profiles: dict[str, Any] | None = None) -> Ledger:
    return Ledger(e.SimulationBegins(0.0, Machine.flat(4), profiles={"w0": profiles or {}}))


def estimates(name: str, default: float = math.inf) -> Predictions:
    found = Predictions(name, default)
    found.begin(ledger())
    return found


def end(found: Predictions, done: Job, runtime: float, state: JobState = JobState.COMPLETED_SUCCESSFULLY) -> None:
    found.of(done)
    found.ended(Stay(job=done, start=50.0, allocation=Allocation(1), state=state), 50.0 + runtime)


# ---------------------------------------------------------------------- all of them


def test_all_published_predictions_are_registered() -> None:
    assert registry.names(GROUP) == [
        "data-driven",
        "last-two",
        "last-two-as-published-code",
        "online-regression",
        "oracle",
        "requested",
    ]


def test_unknown_name_is_refused_with_a_suggestion() -> None:
    with pytest.raises(InputError, match=r"no prediction is called 'last2'.*last-two"):
        make_prediction("last2")


@pytest.mark.parametrize("name", ["last-two", "data-driven"])
def test_never_above_the_walltime_nor_below_a_second(name: str) -> None:
    found = estimates(name)
    end(found, job(walltime=1000.0), 900.0)
    assert found.of(job(walltime=300.0)) == 300.0
    for _ in range(2):
        end(found, job(), 0.0)
    assert found.of(job()) == 1.0


def test_an_estimate_is_kept_once_it_was_made() -> None:
    found = estimates("last-two")
    early = job()
    assert found.of(early) == 1000.0
    end(found, job(), 10.0)
    assert found.of(early) == 1000.0
    assert found.of(job()) == 10.0


def test_killed_jobs_teach_nothing() -> None:
    found = estimates("last-two")
    end(found, job(), 5.0, JobState.COMPLETED_KILLED)
    assert found.of(job()) == 1000.0
    assert found.report()["jobs"] == 0


def test_error_statistics() -> None:
    found = estimates("last-two")
    end(found, job(walltime=100.0), 40.0)  # expected 100: 60 too long
    end(found, job(walltime=100.0), 50.0)  # expected 40: 10 too short
    assert found.report() == {
        "name": "last-two",
        "jobs": 2,
        "mean_absolute_error": 35.0,
        "share_underestimated": 0.5,
        "unpredicted": 1,
    }


def test_error_statistics_of_many_jobs_are_sums_in_order_of_their_ends() -> None:
    found = estimates("requested")
    errors = []
    for index in range(10_000):
        walltime, runtime = 100.1 + index % 7, 100.3 + index % 11
        end(found, job(walltime=walltime), runtime)
        errors.append(walltime - (50.0 + runtime - 50.0))
        if index == 5_000:
            found.report()
    report = found.report()
    assert report["jobs"] == 10_000
    assert report["mean_absolute_error"] == functools.reduce(lambda total, error: total + abs(error), errors, 0.0) / 1e4
    assert report["share_underestimated"] == sum(error < 0 for error in errors) / 1e4


def test_requested_is_the_walltime_or_the_default() -> None:
    found = estimates("requested", 77.0)
    assert found.of(job(walltime=0.5)) == 0.5
    assert found.of(job(walltime=math.inf)) == 77.0
    assert found.exact_requests


# ---------------------------------------------------------------------- last two


def test_last_two_of_tsafrir_is_the_mean_of_the_users_last_two_run_times() -> None:
    found = estimates("last-two")
    assert found.of(job()) == 1000.0, "nothing known: the walltime"
    end(found, job(), 10.0)
    assert found.of(job()) == 10.0
    end(found, job("other"), 30.0)
    end(found, job(queue="z", units=2), 50.0)
    assert found.of(job()) == 40.0, "the last two, whatever they were"
    assert found.of(job(user="ben")) == 1000.0
    end(found, job(user=""), 1.0)
    assert found.of(job(user="")) == 1000.0, "nobody's jobs are not one user's"


def test_last_two_as_published_code_averages_what_was_expected() -> None:
    found = estimates("last-two-as-published-code")
    end(found, job(walltime=100.0), 1.0)
    end(found, job(walltime=301.0), 1.0)
    # The second was expected to take 100 s, as the first had been.
    assert found.of(job()) == 100.0
    found = estimates("last-two-as-published-code")
    first, second = job(walltime=100.0), job(walltime=301.0)
    found.of(first)
    found.of(second)
    end(found, first, 1.0)
    end(found, second, 1.0)
    assert found.of(job()) == 200.0, "(100 + 301) / 2 in whole seconds"


# ---------------------------------------------------------------------- oracle


def test_oracle_reads_the_profile() -> None:
    found = Predictions("oracle")
    found.begin(
        ledger(
            {
                "short": {"type": "delay", "delay": 12.5},
                "twice": {"type": "composed", "repeat": 2, "seq": ["short"]},
                "mpi": {"type": "parallel", "cpu": [1], "com": [0]},
            }
        )
    )
    expected = {"short": 12.5, "twice": 25.0, "mpi": 60.0, "unheard": 60.0}
    for profile, seconds in expected.items():
        assert found.of(Job(id=f"w0!{profile}", request=Request(units=1), walltime=60.0, profile=profile)) == seconds


# ---------------------------------------------------------------------- data-driven: the six rules


def test_rule_1_same_profile() -> None:
    found = estimates("data-driven")
    end(found, job("sim"), 10.0)
    end(found, job("sim"), 20.0)
    end(found, job("sims"), 30.0)
    assert found.of(job("sim")) == 20.0, "the last of the same profile"


def test_rule_2_longest_common_beginning_with_all_else_equal() -> None:
    found = estimates("data-driven")
    end(found, job("run_a_1"), 10.0)
    end(found, job("run_b_1"), 20.0)
    end(found, job("run_b_2"), 25.0)
    end(found, job("rx"), 30.0)
    end(found, job("run_b_9", units=2), 99.0)
    assert found.of(job("run_b_3")) == 25.0, "as long a common beginning, more recent"
    assert found.of(job("run_a_7")) == 10.0
    assert found.of(job("rho")) == 30.0, "one character is a beginning; the most recent of equals"


def test_rule_3_same_name_most_similar_resources() -> None:
    found = estimates("data-driven")
    end(found, job("sim", units=4, core=8, gpu=1), 10.0)
    end(found, job("sim", units=4, core=4, gpu=2), 20.0)
    end(found, job("sim", units=2, core=4, gpu=2), 30.0)
    end(found, job("sim", units=4, core=4, gpu=1, queue="z"), 99.0)
    end(found, job("sim", units=4, core=4, gpu=1, walltime=9.0), 5.0)
    assert found.of(job("sim", units=4, core=8, gpu=3)) == 10.0, "units and cores are equal"
    assert found.of(job("sim", units=4, core=4, gpu=3)) == 20.0
    assert found.of(job("sim", units=3, core=4, gpu=2)) == 30.0, "two equal each: the more recent"


def test_rule_4_common_beginning_and_other_resources() -> None:
    found = estimates("data-driven")
    end(found, job("sim_a", core=4), 10.0)
    end(found, job("sim_b", core=2), 20.0)
    end(found, job("six", core=8), 30.0)
    assert found.of(job("sim_c", core=16)) == 20.0
    assert found.of(job("sim_ax", core=16)) == 10.0
    assert found.of(job("sixth", core=16)) == 30.0


def test_rule_5_last_of_the_same_name() -> None:
    found = estimates("data-driven")
    end(found, job("sim", queue="a"), 10.0)
    end(found, job("sim", queue="b", units=2), 20.0)
    end(found, job("simu", queue="c"), 30.0)
    assert found.of(job("sim", queue="z", units=2)) == 20.0


def test_rule_6_last_with_the_longest_common_beginning() -> None:
    found = estimates("data-driven")
    end(found, job("sim_a", queue="a"), 10.0)
    end(found, job("sim_b", queue="b"), 20.0)
    end(found, job("s", queue="c"), 30.0)
    assert found.of(job("sim_c", queue="z")) == 20.0
    assert found.of(job("x", queue="z")) == 1000.0, "nothing in common: the walltime"


def test_rules_in_order() -> None:
    """What an earlier rule finds hides what a later one would, however recent."""
    found = estimates("data-driven")
    new = {"queue": "q", "core": 4}
    end(found, job("xxx", queue="other"), 1.0)
    for seconds, older in enumerate(
        [
            job("sim", **new),
            job("sin", **new),
            job("sim", queue="q", core=2),
            job("sin", queue="q", core=2),
            job("sim", queue="z"),
            job("sin", queue="z"),
        ],
        start=2,
    ):
        end(found, older, float(seconds))
    assert found.of(job("sim", **new)) == 2.0


def test_users_do_not_share_what_is_known() -> None:
    found = estimates("data-driven")
    end(found, job("sim"), 10.0)
    assert found.of(job("sim", user="ben")) == 1000.0


def test_without_a_name_or_user_nothing_is_predicted() -> None:
    found = estimates("data-driven")
    for anonymous in ({"name": ""}, {"user": ""}):
        end(found, job(**anonymous), 10.0)
        assert found.of(job(**anonymous)) == 1000.0


@given(st.lists(st.text("ab", max_size=5), max_size=12), st.text("ab", max_size=5))
def test_closest_names_agree_with_a_plain_search(known: list[str], name: str) -> None:
    names = Names()
    for order, one in enumerate(known):
        names.add(one, frozenset(), order, float(order))
    longest = max((common(name, one) for one in known), default=0)
    expected = {known.index(one): one for one in known if longest and common(name, one) == longest}
    found = {order for _, order, _ in names.closest(name)}
    assert found == {max(i for i, one in enumerate(known) if one == near) for near in expected.values()}


# ---------------------------------------------------------------------- in dispatchers


def test_easy_backfills_by_the_prediction() -> None:
    """By its request B would delay H; it really ends before A's expected end."""
    machine = Machine.flat(2)
    late = [Task("A", 0, 1, 10, 100), Task("H", 1, 2, 10, 100), Task("B", 2, 1, 7, 200)]
    assert simulate(machine, late, "easy").starts()["B"] == 20.0
    assert simulate(machine, late, "easy", options={"prediction": "oracle"}).starts()["B"] == 2.0


@pytest.mark.parametrize("name", ["fcfs", "filler", "easy", "conservative"])
@pytest.mark.parametrize("prediction", ["oracle", "last-two", "data-driven", "last-two-as-published-code"])
def test_every_dispatcher_with_every_prediction_is_valid(name: str, prediction: str) -> None:
    machine = Machine.flat(3, "core=4 gpu=1")
    tasks = [
        Task(str(n), n % 7, 1 + n % 3, 1.0 + n % 5, 2.0 + n % 9, demand=demand, user="ab"[n % 2])
        for n, demand in enumerate([None, {"core": 2}, {"core": 1, "gpu": 1}, {"core": 4}] * 8)
    ]
    result = simulate(machine, tasks, name, options={"prediction": prediction, "ordering": "sjf"})
    audit(machine, tasks, result)
    report = result.session.dispatcher.report()["prediction"]
    assert report["name"] == prediction
    assert report["jobs"] == len(tasks)
    if prediction == "oracle":
        assert report["mean_absolute_error"] == pytest.approx(0.0, abs=1e-6)
        assert report["share_underestimated"] == 0.0


@pytest.mark.parametrize("name", ["easy", "conservative"])
def test_underestimated_jobs_run_on_and_are_planned_for(name: str) -> None:
    """A job that outlives its prediction is not killed, and others do not crash into it."""
    machine = Machine.flat(2)
    tasks = [
        Task("quick", 0, 1, 1, 50, user="ann"),
        Task("long", 2, 1, 40, 50, user="ann"),
        Task("both", 3, 2, 5, 50, user="ben"),
        Task("small", 10, 1, 30, 50, user="cid"),
        Task("tiny", 12, 1, 1, 50, user="dan"),
    ]
    result = simulate(machine, tasks, name, options={"prediction": "last-two"})
    audit(machine, tasks, result)
    assert result.session.dispatcher.report()["prediction"]["share_underestimated"] == pytest.approx(0.2)


@pytest.mark.parametrize(("late", "share"), [(0.0, 0.0), (0.0099, 0.0), (0.0101, 1.0), (5.0, 1.0)])
def test_a_job_told_to_end_a_little_after_its_walltime_was_not_underestimated(late: float, share: float) -> None:
    found = estimates("requested")
    end(found, job(walltime=100.0), 100.0 + late)
    assert found.report()["share_underestimated"] == share
