"""The workloads of the DMR paper: its applications, and Feitelson's model, as described."""

import itertools
import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from batdispatch.cli.generate import command as generate
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import Job, JobState
from batdispatch.core.machine.machine import Machine
from batdispatch.inputs.workloads import Workload, read_workload
from batdispatch.inputs.workloads.writer import job_fields
from batdispatch_papers.dmr.feitelson import (
    draw_arrivals,
    draw_runtimes,
    draw_sizes,
    short_probability,
    size_probabilities,
)
from batdispatch_papers.dmr.resize import resizes
from batdispatch_papers.dmr.workload import APPLICATIONS, Times, dmr
from simulating import Result, Task, simulate

ALL = tuple(APPLICATIONS)
MANY = 20_000


def rng(seed: int = 7) -> np.random.Generator:
    return np.random.default_rng(seed)


def make(seed: int = 1, **options: Any) -> Workload:
    return dmr(rng(seed), **options)


def of(workload: Workload, name: str) -> list[Job]:
    return [job for job in workload.jobs if job.extra["name"] == name]


def runtime(workload: Workload, job: Job) -> float:
    return float(workload.profiles[job.profile]["delay"])


# ---------------------------------------------------------------------- Feitelson's model


def test_sizes_of_feitelson_by_hand() -> None:
    """Four sizes: 5, 5 / 2^1.5, 1 / 3^1.5, 5 / 8 over their sum."""
    weights = [5.0, 5 / 2**1.5, 1 / 3**1.5, 5 / 8]
    assert size_probabilities(4) == pytest.approx([weight / sum(weights) for weight in weights])


def test_sizes_follow_their_distribution() -> None:
    counts = np.bincount(draw_sizes(rng(), MANY, 20), minlength=21)[1:]
    assert stats.chisquare(counts, MANY * size_probabilities(20)).pvalue > 0.01


def test_run_times_are_hyperexponential_and_grow_with_the_size() -> None:
    sizes = np.repeat([1, 20], MANY)
    drawn = draw_runtimes(rng(), sizes, 20, 100.0)
    # The mean of all sizes is 100 s by definition; of one size it follows from how likely the short mean is.
    short = 100 / float(size_probabilities(20) @ (7 - 6 * short_probability(np.arange(1, 21), 20)))
    for size, chance in ((1, 0.94), (20, 0.75)):
        found = drawn[sizes == size]

        def law(x: np.ndarray, chance: float = chance) -> np.ndarray:
            return 1 - chance * np.exp(-x / short) - (1 - chance) * np.exp(-x / (7 * short))

        assert stats.kstest(found, law).pvalue > 0.01
        assert found.std() > 1.2 * found.mean()


def test_the_mean_run_time_is_that_asked_for() -> None:
    sizes = draw_sizes(rng(), 20 * MANY, 20)
    assert draw_runtimes(rng(8), sizes, 20, 60.0).mean() == pytest.approx(60, rel=0.01)


def test_arrivals_are_poisson() -> None:
    arrivals = draw_arrivals(rng(), MANY, 10.0)
    gaps = np.diff(arrivals, prepend=0.0)
    assert stats.kstest(gaps, stats.expon(scale=10).cdf).pvalue > 0.01


# ---------------------------------------------------------------------- the applications


def test_table_3_of_the_paper() -> None:
    sizes = {job.extra["name"]: job.extra["sizes"] for job in make(jobs=100, applications=ALL).jobs}
    usual = {"factor": 2, "kind": "malleable"}
    cg = {"least": 2, "most": 32, "preferred": 8, "steps": 10_000, "period": 15.0, "scalability": "power:0.7", **usual}
    assert sizes == {
        "cg": {**cg, "data": 2_148_007_936.0},
        "jacobi": {**cg, "data": 537_001_984.0},
        "n-body": {
            "least": 1,
            "most": 16,
            "preferred": 1,
            "steps": 25,
            "data": 2_147_483_648.0,
            "scalability": "power:0",
            **usual,
        },
        "fs": {"least": 1, "most": 20, "steps": 25, "data": 1e9, **usual},
    }


def test_sizes_run_times_and_walltimes_by_hand() -> None:
    """CG halves from 32 to 2: 16^0.7 times 200 s. N-body is as fast on one. Then times 1.5, and a minute."""
    workload, without = make(jobs=100, walltime_factor=1.5), make(jobs=100)
    for name, units, length, walltime in (
        ("cg", 32, 200, 1.5 * 200 * 16**0.7 + 60),
        ("jacobi", 32, 200, 1.5 * 200 * 16**0.7 + 60),
        ("n-body", 16, 1200, 1.5 * 1200 + 60),
    ):
        for job in of(workload, name):
            assert (job.units, runtime(workload, job)) == (units, length)
            assert job.walltime == pytest.approx(walltime, abs=0.001)
    assert {job.walltime for job in without.jobs} == {math.inf}
    assert not any("walltime" in job_fields(job) for job in without.jobs)


def test_the_flexible_sleep_by_hand() -> None:
    """Linear: from 12 hosts it gets to 6 and 3, and takes four times as long there; from an odd size never longer."""
    workload = make(jobs=2000, hosts=20, applications=("fs",), walltime_factor=2.0)
    slowest = {1: 1, 2: 2, 3: 1, 4: 4, 6: 2, 8: 8, 12: 4, 16: 16, 20: 4}
    seen = set()
    for job in workload.jobs:
        seen.add(job.units)
        if job.units in slowest:
            assert job.walltime == pytest.approx(2 * slowest[job.units] * runtime(workload, job) + 60, abs=0.002)
    assert seen == set(range(1, 21))
    assert np.mean([runtime(workload, job) for job in workload.jobs]) == pytest.approx(60, rel=0.1)


def test_applications_are_drawn_alike_often_and_as_often_as_they_are_named() -> None:
    counts = Counter(job.extra["name"] for job in make(jobs=4000, applications=ALL).jobs)
    assert stats.chisquare([counts[name] for name in ALL]).pvalue > 0.01
    counts = Counter(job.extra["name"] for job in make(jobs=4000, applications=("cg", "fs", "cg", "cg")).jobs)
    assert stats.chisquare([counts["cg"], counts["fs"]], [3000, 1000]).pvalue > 0.01


def test_arrivals_in_the_order_of_ids_and_as_far_apart_as_asked() -> None:
    workload = make(jobs=2000, gap=25.0)
    assert [job.id for job in workload.jobs] == sorted(job.id for job in workload.jobs)
    gaps = [b.submission - a.submission for a, b in itertools.pairwise(workload.jobs)]
    assert np.mean(gaps) == pytest.approx(25, rel=0.06)


@given(seed=st.integers(0, 999), jobs=st.integers(1, 60), shares=st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_shares_are_of_the_same_jobs_and_nested(seed: int, jobs: int, shares: tuple[float, float]) -> None:
    few, many = sorted(shares)
    fixed, less, more = (make(seed, jobs=jobs, applications=ALL, share=share) for share in (0.0, few, many))
    malleable = [{job.id for job in made.jobs if job.request.sizes is not None} for made in (fixed, less, more)]
    assert malleable[0] == set()
    assert malleable[1] <= malleable[2]
    assert abs(len(malleable[1]) - few * jobs) <= 0.5
    bare = [[{**job_fields(job), "sizes": None} for job in made.jobs] for made in (fixed, less, more)]
    assert bare[0] == bare[1] == bare[2]
    assert fixed.profiles == more.profiles


def test_options_change_the_applications_that_they_name() -> None:
    times = Times(50.0, "amdahl:0.1", 70.0, "table:1=9,16=1", 10.0)
    workload = make(jobs=60, applications=ALL, times=times, walltime_factor=1.5)
    for name, length, scalability in (
        ("cg", 50, "amdahl:0.1"),
        ("jacobi", 50, "amdahl:0.1"),
        ("n-body", 70, "table:1=9,16=1"),
    ):
        job = of(workload, name)[0]
        assert (runtime(workload, job), job.extra["sizes"]["scalability"]) == (length, scalability)
    short, usual = (runtime(made, of(made, "fs")[0]) for made in (workload, make(jobs=60, applications=ALL)))
    assert short == pytest.approx(usual / 6, abs=0.001)
    slow = of(workload, "n-body")[0]
    assert slow.walltime == pytest.approx(1.5 * 70 * 9 + 60)


# ---------------------------------------------------------------------- jobs that are resized once


@pytest.mark.parametrize(
    ("least", "factor", "action"), [(1, 2, "expand"), (4, 8, "expand"), (1, 2, "shrink"), (4, 8, "shrink")]
)
def test_each_job_is_resized_once_and_alone(least: int, factor: int, action: Any) -> None:
    workload = resizes(least=least, factor=factor, action=action, jobs=3)
    assert workload.nb_res == least * factor
    result = run(workload, "dmr[unit_cost=0.1,acknowledge_cost=0.2]", least * factor)
    told = result.session.report["resizing"]
    assert {kind: told[kind]["count"] for kind in ("expand", "shrink")} == {"expand": 0, "shrink": 0, action: 3}
    # Table 1's mean and the check before it; a tenth of a second a node; 1 GB at 5 GB/s, and the processes that wait.
    base, most = {"expand": 0.423, "shrink": 0.425}[action] + 0.0094, least * factor
    assert told["scheduling"][action] == pytest.approx(base + 0.1 * most)
    moving = (1 / least - 1 / most) / 5 + (0.2 * most if action == "shrink" else 0)
    assert told[action]["mean"] == pytest.approx(base + 0.1 * most + moving)
    sizes = [sum(row.units.values()) for row in result.rows.values()]
    assert sorted(sizes) == sorted([least, most] * 3)


@pytest.mark.parametrize(
    ("option", "value"),
    [("least", 0), ("factor", 1), ("jobs", 0), ("data", -1.0), ("data", math.nan), ("runtime", 0.0), ("least", 2**21)],
)
def test_resizes_that_cannot_be(option: str, value: float) -> None:
    given: dict[str, Any] = {option: value}
    with pytest.raises(InputError, match=f"option --{option}: .*expected"):
        resizes(**given)


# ---------------------------------------------------------------------- runs


def run(workload: Workload, dispatcher: str, hosts: int) -> Result:
    tasks = [
        Task(job.id, job.submission, job.units, runtime(workload, job), job.walltime, extra=job.extra)
        for job in workload.jobs
    ]
    return simulate(Machine.flat(hosts), tasks, dispatcher)


@pytest.mark.parametrize("dispatcher", ["easy", "dmr", "dmr[mode=async]"])
@pytest.mark.parametrize(("applications", "hosts"), [(("cg", "jacobi", "n-body"), 64), (("fs",), 20)])
def test_every_job_ends_in_time_once(applications: tuple[str, ...], hosts: int, dispatcher: str) -> None:
    workload = make(jobs=40, hosts=hosts, applications=applications, walltime_factor=1.5)
    states = Counter(row.state for row in run(workload, dispatcher, hosts).rows.values())
    assert states[JobState.COMPLETED_SUCCESSFULLY] == 40
    assert states.keys() <= {JobState.COMPLETED_SUCCESSFULLY, JobState.COMPLETED_KILLED}
    assert (states[JobState.COMPLETED_KILLED] > 0) == (dispatcher != "easy")


def test_as_rigid_jobs_they_are_not_resized_and_end_later() -> None:
    fixed, malleable = (run(make(jobs=30, share=share), "dmr", 64) for share in (0.0, 1.0))
    assert len(fixed.rows) == 30
    assert max(row.end for row in malleable.rows.values()) < 0.7 * max(row.end for row in fixed.rows.values())


# ---------------------------------------------------------------------- the command


def test_same_seed_same_bytes_by_the_command(tmp_path: Path) -> None:
    for name, seed in (("a", "5"), ("b", "5"), ("c", "6")):
        arguments = ["dmr", "-o", str(tmp_path / name), "--seed", seed, "--share", "0.5", "--json"]
        facts = json.loads(CliRunner().invoke(generate, arguments, catch_exceptions=False).stdout)
        assert (facts["jobs"], facts["hosts"], facts["malleable"]) == (50, 64, 25)
    first, again, other = ((tmp_path / name).read_bytes() for name in "abc")
    assert first == again
    assert first != other
    workload = read_workload(tmp_path / "a")
    assert [job_fields(job) for job in workload.jobs] == [job_fields(job) for job in make(5, share=0.5).jobs]
    origin = workload.about["origin"]
    assert (origin["model"], origin["runtime"], origin["applications"]) == ("dmr", 200.0, ["cg", "jacobi", "n-body"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"jobs": 0}, "option --jobs: 0, expected 1 to"),
        ({"share": -0.1}, "option --share: -0.1, expected 0 to 1"),
        ({"gap": 0.0}, "option --gap: 0, expected 0.001 to"),
        ({"walltime_factor": 0.9}, "option --walltime-factor: 0.9, expected 1 to"),
        ({"times": Times(runtime=0.0)}, "option --runtime: 0, expected"),
        ({"times": Times(nbody_runtime=0.0)}, "option --nbody-runtime: 0, expected"),
        ({"times": Times(fs_runtime=float("nan"))}, "option --fs-runtime: nan, expected"),
        ({"times": Times(scalability="power:3")}, "option --scalability: 'power:3', expected linear, power:EXPONENT"),
        (
            {"times": Times(nbody_scalability="table:2=4,16=1")},
            "option --nbody-scalability: 'table:2=4,16=1', expected",
        ),
        ({"applications": ("cg", "nbody")}, "option --applications: 'nbody': no application is named so; did you mean"),
        ({"hosts": 31}, "option --hosts: 31, and cg runs on up to 32 hosts, expected at least as many"),
    ],
)
def test_what_cannot_be_made_is_refused_in_words(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as problem:
        make(**options)
    assert message in str(problem.value)
