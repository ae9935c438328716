"""Stochastic jobs as a user runs them: what the commands print, warn about and write."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from batdispatch.cli.main import cli


def batdispatch(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, list(map(str, arguments)), catch_exceptions=False)


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("platform") / "P.xml"
    assert batdispatch("platform", "generate", "flat", "--hosts", "2", "-o", path).exit_code == 0
    return path


def workload(path: Path, *jobs: dict[str, Any]) -> Path:
    """Write a workload of jobs of one unit, each of which takes its ``runtime`` seconds."""
    lengths = sorted({job["runtime"] for job in jobs})
    listed = [
        {"subtime": 0, "res": 1, **job, "id": str(n), "profile": f"d{job['runtime']}"} for n, job in enumerate(jobs)
    ]
    for job in listed:
        del job["runtime"]
    profiles = {f"d{length}": {"type": "delay", "delay": length} for length in lengths}
    path.write_text(json.dumps({"nb_res": 2, "jobs": listed, "profiles": profiles}))
    return path


def test_a_law_that_jobs_exceed_is_warned_about(platform: Path, tmp_path: Path) -> None:
    law = {"runtime_law": "empirical:2,3"}
    exceeded = workload(tmp_path / "W.json", {"runtime": 30, **law}, {"runtime": 2.5, **law})
    single = batdispatch(
        "run",
        "--platform",
        platform,
        "--workload",
        exceeded,
        "--dispatcher",
        "stochastic-easy",
        "--out",
        tmp_path / "r",
    )
    warning = "1 job ran for more than 2 times the upper bound of the law stated, job w0!0 for 10 times"
    assert single.exit_code == 0
    assert f"batdispatch: warning: {warning}" in single.stderr
    assert warning not in single.stdout
    told = json.loads((tmp_path / "r" / "result.json").read_bytes())["report"]
    assert told["warnings"][0].startswith(warning)
    several = batdispatch(
        *("compare", "--platform", platform, "--workload", exceeded, "--out", tmp_path / "c"),
        *("--dispatchers", "fcfs,stochastic-easy"),
    )
    assert f"batdispatch: warning: stochastic-easy: {warning}" in several.stderr
    assert "warning: fcfs" not in several.stderr
    assert warning in (tmp_path / "c" / "report" / "index.html").read_text()
    fine = workload(tmp_path / "F.json", {"runtime": 2.5, **law})
    quiet = batdispatch(
        "run", "--platform", platform, "--workload", fine, "--dispatcher", "stochastic-easy", "--out", tmp_path / "f"
    )
    assert "warning" not in quiet.stderr


SHARED = Path(os.environ.get("BATDISPATCH_SHARED", Path(__file__).parents[3] / "shared"))


@pytest.mark.reallogs
@pytest.mark.skipif(not (SHARED / "data").is_dir(), reason="the real logs are not here")
def test_what_requests_occupy_on_a_real_log(tmp_path: Path) -> None:
    """The order that the manual's table shows, on the log's first 2,000 jobs."""
    log = SHARED / "data" / "swf" / "KTH-SP2-1996-2.1-cln.swf.xz"
    assert batdispatch("convert", log, "-o", tmp_path / "W.json", "--select", "first=2000").exit_code == 0
    assert batdispatch("platform", "generate", "flat", "--hosts", "100", "-o", tmp_path / "P.xml").exit_code == 0
    made = ("-o", tmp_path / "L.json", "--seed", "1", "--from", tmp_path / "W.json", "--fit", "empirical")
    assert batdispatch("generate", "stochastic", *made).exit_code == 0

    def attempts(workload: str, requests: str) -> dict[str, Any]:
        given = ("--platform", tmp_path / "P.xml", "--workload", tmp_path / workload, "--no-record")
        name = f"stochastic-easy[requests={requests}]"
        assert batdispatch("run", *given, "--dispatcher", name, "--out", tmp_path / "r").exit_code == 0
        told: dict[str, Any] = json.loads((tmp_path / "r" / "result.json").read_bytes())["attempts"]
        assert told["jobs"] == 2000
        return told

    def occupied(told: dict[str, Any]) -> float:
        return float((told["useful_work"] + told["wasted_work"]) / told["useful_work"])

    walltime, learned = attempts("W.json", "walltime"), attempts("W.json", "learned-ratio[final=false]")
    assert walltime["jobs_succeeded"] == learned["jobs_succeeded"] == 2000
    assert walltime["useful_work"] == pytest.approx(learned["useful_work"])
    toptimal = attempts("L.json", "toptimal")
    saved = attempts("L.json", "checkpoints")
    assert 1 <= occupied(walltime) < occupied(learned) < occupied(toptimal)
    assert occupied(saved) < occupied(toptimal)
    assert saved["saved_work"] > 0
