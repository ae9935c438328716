"""Workloads of stochastic jobs: the scenarios' parameters, and laws fitted to logs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from batdispatch.cli.generate import command as generate
from batdispatch.core.errors import InputError
from batdispatch.core.job import Job
from batdispatch.core.request import Request
from batdispatch.inputs.workloads import Workload, read_workload
from batdispatch.inputs.workloads.fitting import fit, with_laws
from batdispatch.inputs.workloads.stochastic import HISTORY, WEEKS, draw_widths, scenario
from batdispatch.parts.requests.vocabulary import parse_law


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


@pytest.mark.parametrize("kind", ["lognormal", "empirical"])
def test_fitted_laws_hold_every_run(kind: str) -> None:
    runs = np.array([3.0, 9.0, 4.0, 4.0, 4.0])
    law = fit(runs, kind)  # type: ignore[arg-type]
    assert law.lower <= runs.min()
    assert law.upper >= runs.max()
    assert fit(np.full(7, 5.0), kind).at(6.0)[0] == pytest.approx(1.0)  # type: ignore[arg-type]


def log(count: int = 30) -> Workload:
    jobs = [
        Job(
            id=str(n),
            request=Request(units=1 + n % 2),
            submission=float(n),
            walltime=100.0,
            profile=f"d{1 + n}",
            user="ann",
        )
        for n in range(count)
    ]
    profiles = {f"d{1 + n}": {"type": "delay", "delay": 1 + n} for n in range(count)}
    return Workload(path=Path("log.json"), name="log", nb_res=2, jobs=jobs, profiles=profiles)


def test_groups_of_user_and_size() -> None:
    made, fitted = with_laws(log(31), kind="empirical", least=16)
    assert (fitted.groups, fitted.stochastic, fitted.known) == (1, 16, 15)
    first = made.jobs[0]
    assert first.extra["runtime_law"] == "empirical:" + ",".join(str(1 + 2 * n) for n in range(16))
    assert first.extra["history"] == []
    assert made.jobs[6].extra["history"] == [1.0, 3.0, 5.0]
    assert made.jobs[30].extra["history"] == [21.0, 23.0, 25.0, 27.0, 29.0]
    assert (first.walltime, made.jobs[1].walltime) == (float("inf"), 100.0)


def test_no_group_is_large_enough() -> None:
    with pytest.raises(InputError, match=r"log.json: no user has 50 jobs"):
        with_laws(log(), least=50)


def test_generated_files_are_repeatable_and_readable(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        arguments = ["stochastic", "-o", str(tmp_path / name), "--seed", "3", "--scenario", "3"]
        assert CliRunner().invoke(generate, arguments, catch_exceptions=False).exit_code == 0
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    made = read_workload(tmp_path / "a.json")
    assert made.about["origin"]["scenario"] == 3
    again = ["stochastic", "-o", str(tmp_path / "c.json"), "--seed", "3", "--from", str(tmp_path / "a.json")]
    result = CliRunner().invoke(generate, [*again, "--least", "2"], catch_exceptions=False)
    assert "groups of user and size" in result.stdout
    assert all(
        parse_law(j.extra["runtime_law"]) for j in read_workload(tmp_path / "c.json").jobs if "history" in j.extra
    )


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
