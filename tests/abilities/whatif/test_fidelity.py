"""The waits of a log beside those of simulations, worked out by hand."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from batdispatch.abilities.whatif.fidelity.grade import LIMITS, _grade, grade_of
from batdispatch.abilities.whatif.fidelity.page import render
from batdispatch.abilities.whatif.fidelity.waits import WEEK, Waits, apart
from batdispatch.abilities.whatif.fidelity.words import LOG, sentences
from batdispatch.cli.main import cli
from batdispatch.core.errors import InputError


def waits(*rows: tuple[float, float, float, float], hosts: int = 4) -> Waits:
    """Return jobs of (submission, start, run time, units)."""
    return Waits(*np.array(rows, dtype=np.float64).T, hosts)


def test_idle_time_counts_only_while_the_job_would_have_fitted() -> None:
    # Of 4 hosts, 3 are held until 10, and 1 until 20. Job 2 needs 2: it waits from 5 to 20, and fits from 10 on.
    told = waits((0, 0, 10, 2), (0, 0, 20, 1), (5, 20, 5, 2))
    assert told.idle_share() == pytest.approx(10 / 15)
    # Job 2 starts when it can; before, nothing was free for it.
    assert waits((0, 0, 10, 2), (0, 0, 20, 1), (5, 10, 5, 2)).idle_share() == 0
    assert math.isnan(waits((0, 0, 10, 2)).idle_share())


def test_hosts_are_idle_before_the_first_start() -> None:
    assert waits((0, 8, 5, 4)).idle_share() == 1


def test_weeks() -> None:
    half = WEEK / 2
    told = waits((0, 100, half, 4), (1, 101, half, 2), (WEEK + 5, WEEK + 5, half, 4))
    wait, busy = told.by_week(2, 0.0)
    assert wait.tolist() == [100, 0]
    assert busy == pytest.approx([6 / 8, 0.5])


def test_waits_ten_times_as_long_are_a_decade_apart() -> None:
    short = waits(*((at, at + 1e5 * (at + 1), 10, 1) for at in range(20)))
    long = waits(*((at, at + 1e6 * (at + 1), 10, 1) for at in range(20)))
    found = apart(short, long)
    assert found.ratio == pytest.approx(10)
    assert found.decades == pytest.approx(1, abs=1e-4)
    assert found.rank == pytest.approx(1)
    same = apart(short, short)
    assert (same.ratio, same.decades, same.busy) == (1, 0, 0)
    backwards = Waits(short.submission, short.submission + short.wait[::-1], short.runtime, short.units, 4)
    assert apart(short, backwards).rank == pytest.approx(-1)


def test_the_sentences_say_whether_the_log_tells_policies_apart() -> None:
    log = waits(*((10 * at, 10 * at + 1000, 10, 1) for at in range(20)))
    near = waits(*((10 * at, 10 * at + 1100, 10, 1) for at in range(20)))
    far = waits(*((10 * at, 10 * at + 10, 10, 1) for at in range(20)))
    told = " ".join(sentences({LOG: log, "near": near, "far": far}))
    assert "near is nearest to the log; far follows" in told
    assert "so it can tell near from them" in told
    told = " ".join(sentences({LOG: log, "far": far, "near": near, "same": far}))
    assert "not far but near is nearest to the log (0.04 decades)" in told
    assert "The log is further from far than same (0.00)" in told
    assert "take no simulated wait for a forecast" in told


def test_the_page_says_what_the_sentences_say() -> None:
    log = waits(*((10 * at, 10 * at + 1000, 10, 1) for at in range(20)))
    page = render({LOG: log, "easy": log}, title="a <log>", account="all kept")
    assert page == render({LOG: log, "easy": log}, title="a <log>", account="all kept")
    assert page.count("<svg") == 3
    assert "a &lt;log&gt;" in page
    assert "0.00 decades apart" in page


def call(log: Path, *words: object) -> Result:
    arguments = ["workload", "fidelity", str(log), "--out", str(log.parent / "out"), "--jobs", "1", *map(str, words)]
    return CliRunner().invoke(cli, arguments)


def test_the_command(tmp_path: Path) -> None:
    # Two hosts; in the log job 2 waits 90 s, though job 1 leaves after 60. Simulated it starts then.
    log = tmp_path / "log.swf"
    rows = [(1, 0, 0, 60, 2), (2, 0, 90, 60, 2), (3, 10, 140, 60, 1)]
    log.write_text(
        "; MaxProcs: 2\n"
        + "".join(f"{i} {s} {w} {r} {n} -1 -1 {n} 100 -1 1 1 1 1 1 -1 -1 -1\n" for i, s, w, r, n in rows)
    )
    done = call(log, "--dispatchers", "easy,fcfs", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told[LOG]["mean_wait"] == pytest.approx(230 / 3)
    assert told["easy"]["mean_wait"] == pytest.approx((0 + 60 + 110) / 3)
    assert told["easy"]["idle_share"] == 0
    assert told[LOG]["idle_share"] == pytest.approx((30 + 30) / 230)
    assert (tmp_path / "out" / "fidelity.html").exists()
    assert (tmp_path / "out" / "quantiles.svg").read_bytes().startswith(b"<svg")


def test_a_log_without_waits_is_refused(tmp_path: Path) -> None:
    log = tmp_path / "log.swf"
    log.write_text("; MaxProcs: 2\n1 0 -1 60 2 -1 -1 2 100 -1 1 1 1 1 1 -1 -1 -1\n")
    done = call(log)
    assert isinstance(done.exception, InputError)
    assert "does not say when jobs started" in str(done.exception)


@pytest.mark.parametrize("name", LIMITS)
def test_a_grade_includes_its_limit(name: str) -> None:
    found = [_grade(name, value) for limit in LIMITS[name] for value in (limit, limit + 1e-9)]
    assert found == ["A", "B", "B", "C", "C", "D"]


def constant(wait: float) -> Waits:
    """Ten jobs, a minute apart, that all wait for so long."""
    submission = np.arange(10.0) * 60
    return Waits(submission, submission + wait, np.full(10, 5.0), np.ones(10), 100)


@pytest.mark.parametrize(
    ("log", "simulation", "mean", "decades"),
    [
        # Three times as long, either way.
        (99.0, 299.0, 299 / 99, math.log10(300 / 100)),
        (299.0, 99.0, 299 / 99, math.log10(300 / 100)),
        # Both below a minute are alike in the mean; one above it is enough that they are not.
        (0.0, 9.0, 1.0, 1.0),
        (59.0, 19.0, 1.0, math.log10(60 / 20)),
        (30.0, 90.0, 3.0, math.log10(91 / 31)),
        (90.0, 30.0, 3.0, math.log10(91 / 31)),
        # Nobody waits in the simulation, or in the log.
        (90.0, 0.0, math.inf, math.log10(91)),
        (0.0, 90.0, math.inf, math.log10(91)),
    ],
)
def test_measures_of_waits_by_hand(log: float, simulation: float, mean: float, decades: float) -> None:
    measures = grade_of(constant(log), constant(simulation), rejected=0.0).measures
    assert measures["mean"][0] == pytest.approx(mean)
    assert measures["distribution"][0] == pytest.approx(decades)
