"""The rate of small work, measured as it arrives and ends."""

import math

import numpy as np
import pytest

from batdispatch.abilities.stochastic.rate import ArrivalRate, share_of
from batdispatch.core.capacity.granularity import space_of
from batdispatch.core.jobs.job import Job
from batdispatch.core.machine.machine import Host, Machine
from batdispatch_papers.stochastic.workload import scenario
from simulating import Task, simulate
from strategies import make_job

HOSTS = 10


def poisson(rng: np.random.Generator, rate: float, count: int, asked: float) -> list[tuple[float, float, Job, float]]:
    """Arrivals (s), run times (s), jobs and requests of a stream whose work is `rate` times 10 hosts."""
    times = np.cumsum(rng.exponential(1.0, count))
    units = rng.integers(1, 5, count)
    lengths = rng.exponential(rate * HOSTS / 2.5, count)
    return [
        (float(t), float(length), make_job(str(n), int(u)), float(length) * asked)
        for n, (t, length, u) in enumerate(zip(times, lengths, units, strict=True))
    ]


@pytest.mark.parametrize("rate", [0.05, 0.3, 0.8])
@pytest.mark.parametrize("asked", [1.0, 7.0, math.inf])
def test_the_measured_rate_converges_to_the_true_one(rate: float, asked: float) -> None:
    """Whether users ask for what they use, for seven times as much, or for nothing."""
    errors: dict[int, list[float]] = {100: [], 10_000: []}
    for seed in range(5):
        stream = poisson(np.random.default_rng(seed), rate, 10_000, asked)
        measured = ArrivalRate()
        measured.begin(0.0)
        ends: list[tuple[float, Job, float]] = []
        for n, (now, length, job, request) in enumerate(stream, start=1):
            for done in [end for end in ends if end[0] <= now]:
                measured.ended(done[1], done[2])
                ends.remove(done)
            measured.arrived(job, job.units / HOSTS, request)
            ends.append((now + length, job, length))
            if n in errors:
                errors[n].append(abs(measured.at(now) - rate) / rate)
    assert float(np.mean(errors[10_000])) < 0.03
    assert float(np.mean(errors[10_000])) < float(np.mean(errors[100])) / 2


def test_nothing_is_known_at_the_beginning() -> None:
    measured = ArrivalRate()
    assert measured.at(5.0) == 0.0
    measured.begin(5.0)
    assert measured.at(5.0) == 0.0
    measured.arrived(make_job("a"), 0.5, 10.0)
    assert measured.at(15.0) == pytest.approx(0.5)


def test_a_job_that_is_rejected_brings_no_work() -> None:
    measured = ArrivalRate()
    measured.begin(0.0)
    measured.arrived(make_job("a"), 0.5, 10.0)
    measured.arrived(make_job("b"), 0.5, 90.0)
    measured.withdrawn("b")
    measured.withdrawn("unknown")
    assert measured.at(10.0) == pytest.approx(0.5)


def test_a_log_that_begins_late_is_counted_from_its_first_job() -> None:
    measured = ArrivalRate()
    measured.begin(1e6)
    measured.begin(2e6)
    measured.arrived(make_job("a"), 1.0, 10.0)
    assert measured.at(1e6 + 100) == pytest.approx(0.1)


def test_share_of_a_machine() -> None:
    machine = Machine.flat(10)
    space = space_of(machine)
    assert share_of(space, space.whole(), make_job("a", 4)) == pytest.approx(0.4)
    nodes = Machine([Host(id=i, name=f"n{i}", properties={"capacity": "core=4 gpu=1"}) for i in range(2)])
    job = make_job("a", 2, {"core": 1, "gpu": 1})
    space = space_of(nodes)
    assert share_of(space, space.whole(), job) == pytest.approx(1.0)
    whole = make_job("b")
    assert share_of(space, space.whole(), whole) == pytest.approx(0.5)


def test_the_dispatcher_measures_the_rate_of_scenario_2() -> None:
    made = scenario(np.random.default_rng(4), 2, jobs=20, rate=0.3, small_units=2)
    tasks = [
        Task(
            job.id, job.submission, job.units, made.profiles[job.profile]["delay"], job.walltime, extra=dict(job.extra)
        )
        for job in made.jobs
    ]
    result = simulate(Machine.flat(10), tasks, "stochastic-easy", options={"requests": "atoptimal"})
    last = max(job.submission for job in made.jobs)
    measured = result.session.dispatcher.rate.at(last)
    work = sum(t.units * t.runtime for t in tasks if "runtime_law" not in t.extra)
    assert measured == pytest.approx(work / (10 * last), rel=1e-9)
    assert measured == pytest.approx(0.3, rel=0.1)
