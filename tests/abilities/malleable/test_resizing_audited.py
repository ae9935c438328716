"""Dispatchers under `resizing` as their users run them: the files of the run pass the audit, and shapes are kept."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from batdispatch.abilities.topology.generate import torus
from batdispatch.cli.main import cli
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec
from malleable import malleable_tasks

pytestmark = pytest.mark.usefixtures("worker_threads")
DIMS = (4, 4, 2)
DISPATCHERS = {
    "easy": {"dispatcher": "easy"},
    "conservative": {"dispatcher": "conservative"},
    "convex": {"dispatcher": "easy[placement=convex]", "policy": "equal-share"},
    "shares": {"dispatcher": "easy[placement=best-fit]", "policy": "equal-share", "mode": "async"},
    "pcp20": {"dispatcher": "pcp20"},
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A torus of 32 hosts, and jobs of which two in three can be resized."""
    folder = tmp_path_factory.mktemp("site")
    platform, workload = folder / "torus.xml", folder / "w.json"
    platform.write_bytes(torus(DIMS, hosts_per_router=1))
    jobs, profiles = [], {}
    for task in malleable_tasks(np.random.default_rng(5), 32, 60, data=1e9, period=1):
        profiles[f"d{task.runtime}"] = {"type": "delay", "delay": task.runtime}
        said = {"id": task.id, "subtime": task.submission, "res": task.units, "walltime": 4 * task.runtime + 60}
        jobs.append({**said, "profile": f"d{task.runtime}", **task.extra})
    workload.write_text(json.dumps({"nb_res": 32, "jobs": jobs, "profiles": profiles}))
    return platform, workload


def ran(site: tuple[Path, Path], options: dict[str, str], folder: Path) -> dict[str, Any]:
    """Run under the layer, check the run as `batdispatch check` does, and return its result.json."""
    platform, workload = site
    execute(RunSpec(platform=str(platform), workload=str(workload), dispatcher="resizing", options=options), folder)
    checked = CliRunner().invoke(cli, ["check", str(folder)])
    assert checked.exit_code == 0, checked.output
    result: dict[str, Any] = json.loads((folder / "result.json").read_bytes())
    assert result["metrics"]["nb_jobs_rejected"] == 0
    return result


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name == "pcp20" else []) for name in DISPATCHERS]
)
def test_runs_pass_the_audit(name: str, site: tuple[Path, Path], tmp_path: Path) -> None:
    result = ran(site, DISPATCHERS[name], tmp_path / "run")
    told = result["report"]["resizing"]
    assert told["expand"]["count"] > 5
    assert told["shrink"]["count"] > 5
    # Jobs that are convex share no link with others, whatever they were resized to.
    assert (result["metrics"]["mean_shared_time"] == 0.0) == (name == "convex")
