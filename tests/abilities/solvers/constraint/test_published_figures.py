"""The figures of the authors' code on its own kind of workload, and ours (see shared data's README)."""

import os
from pathlib import Path

import pytest
from constraint import machine_of, simulate, workload_of

FOLDER = Path(os.environ.get("BATDISPATCH_SHARED", "")) / "data" / "peer-cp"
pytestmark = [
    pytest.mark.reallogs,
    pytest.mark.skipif(not os.environ.get("BATDISPATCH_SHARED") or not FOLDER.exists(), reason="needs the real logs"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "slowdown", "wait"), [("filler", 2.89, 349.0), ("hcp19", 2.20, 239.0)])
def test_by_default_a_dispatcher_comes_near_the_authors_figures(name: str, slowdown: float, wait: float) -> None:
    """Mean slowdown and mean wait, s, on the first 400 jobs with known run times: within 1 % of the authors' code."""
    machine = machine_of(FOLDER / "eurora-system.json")
    workload = workload_of(FOLDER / "eurora_2000_l45.swf", machine, 400)
    run = simulate(machine, workload, name, {"prediction": "oracle"})
    assert run.slowdown.mean() == pytest.approx(slowdown, rel=0.01)
    assert run.wait.mean() == pytest.approx(wait, rel=0.01)
