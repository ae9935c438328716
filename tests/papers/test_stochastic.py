"""Workloads of stochastic jobs: the scenarios' parameters, and laws fitted to logs."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.stochastic.requests.base import make_sequence
from batdispatch.abilities.stochastic.requests.vocabulary import parse_law
from batdispatch.cli.generate import command as generate
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.inputs.workloads import Workload, read_workload
from batdispatch_papers.stochastic.law_fits import HISTORY as LAST
from batdispatch_papers.stochastic.law_fits import MEAN_TOLERANCE, fit, histories, with_laws
from batdispatch_papers.stochastic.likelihood import held_out
from batdispatch_papers.stochastic.workload import HISTORY, WEEKS, draw_widths, scenario


def rng() -> np.random.Generator:
    return np.random.default_rng(11)


def lengths(workload: Workload, kind: str) -> np.ndarray:
    return np.array([workload.profiles[j.profile]["delay"] for j in workload.jobs if j.extra["kind"] == kind])


def test_scenario_1() -> None:
    made = scenario(rng(), 1, jobs=2000)
    assert {job.submission for job in made.jobs} == {0.0}
    assert {job.walltime for job in made.jobs} == {float("inf")}
    assert {job.extra["runtime_law"] for job in made.jobs} == {"tnorm:0,72000,28800,7200"}
    assert lengths(made, "large").mean() == pytest.approx(8 * 3600, rel=0.02)
    sizes = np.array([job.units for job in made.jobs])
    assert sizes.min() == 1
    assert sizes.max() == 9
    assert sizes.mean() == pytest.approx(4.5, abs=0.2)


def test_history_is_the_runs_before() -> None:
    made = scenario(rng(), 1, jobs=20)
    ordered = sorted(made.jobs, key=lambda job: int(job.id.partition("-")[2]))
    runs = [*ordered[0].extra["history"], *(made.profiles[job.profile]["delay"] for job in ordered)]
    for n, job in enumerate(ordered):
        assert job.extra["history"] == runs[n : n + HISTORY]


@pytest.mark.parametrize("rate", [0.05, 0.4])
def test_scenario_2_offers_the_wanted_rate(rate: float) -> None:
    made = scenario(rng(), 2, jobs=200, rate=rate)
    small = [job for job in made.jobs if job.extra["kind"] == "small"]
    work = lengths(made, "small").sum()
    assert work / (10 * max(job.submission for job in small)) == pytest.approx(rate, rel=0.1)
    assert all(job.walltime > made.profiles[job.profile]["delay"] for job in small)
    assert all("runtime_law" not in job.extra for job in small)
    assert lengths(made, "small").mean() == pytest.approx(lengths(made, "large").mean() / 100, rel=0.1)


def test_scenario_3() -> None:
    made = scenario(rng(), 3, jobs=1000, share=0.4)
    assert len(lengths(made, "short")) == 400
    assert lengths(made, "short").mean() == pytest.approx(parse_law("tnorm:0.1,6,1,1").mean * 3600, rel=0.1)
    assert {job.submission for job in made.jobs if job.extra["kind"] == "short"} == {10.0}


def test_scenario_4() -> None:
    made = scenario(rng(), 4)
    assert {kind: len(lengths(made, kind)) for kind in ("abdominal", "brain", "fsl")} == {
        "abdominal": 10,
        "brain": 90,
        "fsl": 300,
    }
    assert lengths(made, "fsl").max() <= 35 * 60
    assert made.nb_res == 80
    assert lengths(made, "small").sum() / (80 * WEEKS) == pytest.approx(0.21, rel=0.1)


@pytest.mark.parametrize(("widths", "seen"), [("all", {12}), ("half", {6})])
def test_fixed_widths(widths: str, seen: set[int]) -> None:
    assert set(draw_widths(rng(), widths, 50, 12).tolist()) == seen  # type: ignore[arg-type]


def test_normal_widths() -> None:
    drawn = draw_widths(rng(), "normal", 4000, 20)
    assert drawn.min() >= 1
    assert drawn.mean() == pytest.approx(9.5, abs=0.2)


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        ({"jobs": 0}, "jobs"),
        ({"hosts": -1}, "hosts"),
        ({"rate": 1.0}, "rate"),
        ({"share": 2}, "share"),
        ({"law": "x"}, "law"),
    ],
)
def test_unreasonable_arguments(arguments: dict[str, int], option: str) -> None:
    with pytest.raises(InputError, match=f"option --{option}"):
        scenario(rng(), 2, **arguments)  # type: ignore[arg-type]


# ------------------------------------------------------------------ laws of a log


def test_fitted_lognormal_finds_the_parameters() -> None:
    law = parse_law("tlognorm:1,1e6,6,0.7")
    found = fit(law.draw(rng(), 4000), "lognormal")
    _, _, mu, sigma = map(float, found.text.partition(":")[2].split(","))
    assert mu == pytest.approx(6, abs=0.05)
    assert sigma == pytest.approx(0.7, abs=0.03)


@pytest.mark.parametrize("kind", ["best", "lognormal", "mixture", "empirical"])
def test_fitted_laws_hold_every_run(kind: str) -> None:
    runs = np.array([3.0, 9.0, 4.0, 4.0, 4.0])
    law = fit(runs, kind)  # type: ignore[arg-type]
    assert law.lower <= runs.min()
    assert law.upper >= runs.max()
    assert fit(np.full(7, 5.0), kind).at(6.0)[0] == pytest.approx(1.0)  # type: ignore[arg-type]


def log(count: int = 30, user: Callable[[int], str] | None = None) -> Workload:
    jobs = [
        Job(
            id=str(n),
            request=Request(units=1 + n % 2),
            submission=float(n),
            walltime=100.0,
            profile=f"d{1 + n}",
            user="ann" if user is None else user(n),
            extra={"executable": n % 3},
        )
        for n in range(count)
    ]
    profiles = {f"d{1 + n}": {"type": "delay", "delay": 1 + n} for n in range(count)}
    return Workload(path=Path("log.json"), name="log", nb_res=2, jobs=jobs, profiles=profiles)


def test_applications_are_users_and_sizes() -> None:
    made, fitted = with_laws(log(31), kind="empirical", least=16)
    assert [(each.key, each.jobs) for each in fitted.applications] == [(["ann", "1"], 16)]
    assert (fitted.stochastic, fitted.known, fitted.unknown) == (16, 15, 0)
    first = made.jobs[0]
    assert first.extra["runtime_law"] == "empirical:" + ",".join(str(1 + 2 * n) for n in range(16))
    assert (first.walltime, made.jobs[1].walltime) == (float("inf"), 100.0)


def test_applications_by_other_fields() -> None:
    _, fitted = with_laws(log(30), kind="gamma", least=10, application=["executable"])
    assert [(each.key, each.jobs) for each in fitted.applications] == [(["0"], 10), (["1"], 10), (["2"], 10)]
    _, fitted = with_laws(log(30), kind="gamma", least=5, application=["units", "executable"])
    assert len(fitted.applications) == 6


def test_jobs_of_nobody_are_no_application() -> None:
    with pytest.raises(InputError) as refused:
        with_laws(log(30, user=lambda n: ""))
    assert "none of the 30 jobs has a field 'user'" in str(refused.value)
    assert "--application units takes all jobs of one size for one" in str(refused.value)
    _, fitted = with_laws(log(60, user=lambda n: ""), kind="gamma", application=["units"])
    assert [each.key for each in fitted.applications] == [["1"], ["2"]]
    with pytest.raises(InputError, match="none of the 30 jobs has a field 'queue'"):
        with_laws(log(30), application=["user", "queue"])


def test_a_job_of_nobody_stays_as_it_was() -> None:
    made, fitted = with_laws(log(60, user=lambda n: "ann" if n >= 4 else ""), kind="gamma", least=20)
    assert (fitted.stochastic, fitted.known, fitted.unknown) == (56, 4, 4)
    assert [job.walltime for job in made.jobs[:5]] == [100.0] * 4 + [float("inf")]
    assert "runtime_law" not in made.jobs[0].extra


def test_history_is_what_had_ended() -> None:
    """The runs of 1, 3, 5, ... s are submitted every 2 s: the run of length l of job n ends at n + l."""
    made, _ = with_laws(log(31), kind="empirical", least=16)
    assert made.jobs[0].extra["history"] == []
    assert made.jobs[2].extra["history"] == [1.0]
    # Jobs 0 and 2 end at 1 and 5; job 4 ends at 9.
    assert made.jobs[4].extra["history"] == [1.0]
    assert made.jobs[6].extra["history"] == [1.0, 3.0]
    assert made.jobs[30].extra["history"] == [7.0, 9.0, 11.0, 13.0, 15.0]


@given(
    gaps=st.lists(st.integers(0, 4), min_size=1, max_size=30),
    lengths=st.lists(st.integers(1, 40), min_size=30, max_size=30),
)
def test_history_knows_no_future(gaps: list[int], lengths: list[int]) -> None:
    times = np.cumsum(gaps).astype(float).tolist()
    jobs = [
        Job(id=str(n), request=Request(units=1), submission=time, walltime=1.0, profile="p")
        for n, time in enumerate(times)
    ]
    # A run time that tells which job it was.
    runs = [length + n / 1000 for n, length in enumerate(lengths[: len(jobs)])]
    for job, history in zip(jobs, histories(jobs, np.array(runs)), strict=True):
        of = [runs.index(run) for run in history]
        ends = [times[n] + runs[n] for n in of]
        assert all(end <= job.submission for end in ends)
        assert ends == sorted(ends)
        ended = sorted(times[n] + run for n, run in enumerate(runs) if times[n] + run <= job.submission)
        assert ends == ended[-LAST:]


def test_the_family_is_the_likeliest_that_has_the_mean_of_the_runs() -> None:
    runs = parse_law("tgamma:10,2000,3,100").draw(rng(), 1200)
    law = fit(runs, "best")
    assert law.text.startswith("tgamma:")
    # The later runs are unlike the earlier ones: the uniform law is the least surprised by them, and says nothing.
    changed = np.concatenate((rng().uniform(1, 3, 60), rng().uniform(40, 500, 30)))
    judged = held_out(changed)
    assert max(judged, key=judged.__getitem__) == "uniform"
    law = fit(changed, "best")
    assert not law.text.startswith("uniform")
    assert law.mean == pytest.approx(changed.mean(), rel=MEAN_TOLERANCE)


@pytest.mark.parametrize("kind", ["gamma", "best", "empirical"])
def test_cost_is_that_of_the_later_runs_under_requests_of_the_earlier_ones(kind: str) -> None:
    _, fitted = with_laws(log(60), kind=kind, application=["user"], least=60)  # type: ignore[arg-type]
    (found,) = fitted.applications
    earlier, later = np.arange(1.0, 41), np.arange(41.0, 61)
    assert found.later_used == later.sum()
    assert found.later_reserved["users"] == 100 * 20
    family = found.family if kind == "best" else kind
    assert (found.family, bool(found.held_out)) == (family, kind == "best")
    for name in ("toptimal", "hpc"):
        sequence = make_sequence(name)
        limits = sequence.limits(fit(earlier, family))  # type: ignore[arg-type]
        reserved = 0.0
        for run in later:
            attempt = 0
            while True:
                limit = sequence.limit(limits, attempt)
                reserved += limit
                if limit >= run:
                    break
                attempt += 1
        assert found.later_reserved[name] == pytest.approx(reserved)


def test_without_walltimes_users_have_no_cost() -> None:
    made, _ = with_laws(log(60), kind="gamma", application=["user"])
    _, fitted = with_laws(made, kind="gamma", application=["user"])
    assert set(fitted.applications[0].later_reserved) == {"toptimal", "hpc"}


def test_no_application_is_large_enough() -> None:
    with pytest.raises(InputError, match=r"log.json: no application \(user, units\) has 50 jobs"):
        with_laws(log(), least=50)


def test_generated_files_are_repeatable_and_readable(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        arguments = ["stochastic", "-o", str(tmp_path / name), "--seed", "3", "--scenario", "3"]
        assert CliRunner().invoke(generate, arguments, catch_exceptions=False).exit_code == 0
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    made = read_workload(tmp_path / "a.json")
    assert made.about["origin"]["scenario"] == 3
    again = ["stochastic", "-o", str(tmp_path / "c.json"), "--seed", "3", "--from", str(tmp_path / "a.json")]
    refused = CliRunner().invoke(generate, again)
    assert isinstance(refused.exception, InputError)
    assert "--application units" in str(refused.exception)
    again += ["--application", "kind", "--least", "10"]
    result = CliRunner().invoke(generate, again, catch_exceptions=False)
    lines = result.stdout.splitlines()
    assert lines[0] == "2 applications (kind): 100 jobs with a law, 0 as they were"
    assert lines[1].startswith("families: ")
    assert lines[3].startswith("mean of law / mean of runs")
    assert float(lines[3].split()[-3]) == pytest.approx(1, abs=0.1)
    assert lines[4].startswith("Kolmogorov-Smirnov distance")
    assert lines[5].startswith("time reserved / time used, later third of the runs: toptimal ")
    assert "users" not in lines[5]
    result = CliRunner().invoke(generate, [*again, "--json"], catch_exceptions=False)
    found = json.loads(result.stdout)["fitted"]
    assert [each["key"] for each in found["applications"]] == [["large"], ["short"]]
    made = read_workload(tmp_path / "c.json")
    assert {job.extra["runtime_law"] for job in made.jobs} == {each["law"] for each in found["applications"]}
    assert made.about["origin"]["application"] == "kind"


def test_widths_of_partitions() -> None:
    drawn = draw_widths(rng(), "powers", 4000, 80)
    assert set(drawn.tolist()) == {1, 2, 4, 8, 16, 32, 64}


def test_applications_that_arrive_at_the_start() -> None:
    made = scenario(rng(), 4, arrivals="start", rate=0.0)
    assert {job.submission for job in made.jobs} == {0.0}


@pytest.mark.parametrize("units", [1, 5, 10])
def test_wider_small_jobs_bring_the_same_work(units: int) -> None:
    made = scenario(rng(), 2, jobs=100, rate=0.3, small_units=units)
    small = [job for job in made.jobs if job.extra["kind"] == "small"]
    assert {job.units for job in small} == {units}
    work = units * lengths(made, "small").sum()
    assert work / (10 * max(job.submission for job in small)) == pytest.approx(0.3, rel=0.15)


def test_small_jobs_wider_than_the_machine() -> None:
    with pytest.raises(InputError, match=r"option --small-units: 11, expected 1 to 10"):
        scenario(rng(), 2, small_units=11)


def test_an_empirical_law_of_many_runs_is_short_and_bounded_by_the_longest() -> None:
    runs = rng().exponential(100.0, 5000)
    law = fit(runs, "empirical")
    assert law.text.count(",") < 200
    assert law.upper == pytest.approx(runs.max())
    assert law.mean == pytest.approx(runs.mean(), rel=0.03)
