"""Whole logs: another simulator's EASY schedules, and the figures of the manual (see shared data's README)."""

import os
from pathlib import Path

import numpy as np
import pytest

from batdispatch.abilities.verify.differ.figures import figures_of
from batdispatch.abilities.verify.differ.hold import hold
from batdispatch.abilities.verify.differ.job_files import read_schedule

SHARED = Path(os.environ.get("BATDISPATCH_SHARED", Path(__file__).parents[5] / "shared"))
FOLDER = SHARED / "data" / "easy-reference"
FILE = "res_easy_backfill_scheduler_None_None.swf.xz"
pytestmark = [pytest.mark.reallogs, pytest.mark.skipif(not FOLDER.exists(), reason="the real logs are not here")]


@pytest.mark.parametrize(("name", "hosts"), [("KTH-SP2", 100), pytest.param("CTC-SP2", 338, marks=pytest.mark.slow)])
def test_another_simulators_easy_is_easy(name: str, hosts: int) -> None:
    schedule = read_schedule(FOLDER / name / FILE)
    assert next(iter(schedule.sizes)) == hosts
    held = hold(schedule.jobs, schedule.starts, "easy", hosts, tolerance=0)
    assert held.closest.exact
    assert held.closest.readings[0].name == "freed-when-expected"
    assert held.differing == []


@pytest.mark.slow
def test_the_wrong_size_of_ctc_is_found() -> None:
    schedule = read_schedule(FOLDER / "CTC-SP2" / FILE)
    held = hold(schedule.jobs, schedule.starts, "easy", 512, other_sizes=[338])
    assert held.explained is not None
    assert held.explained.rules.hosts == 338
    assert held.explained.mistakes == ()
    assert len(held.differing) == 50_264


def test_the_figures_of_the_manual() -> None:
    schedule = read_schedule(FOLDER / "CTC-SP2" / FILE)
    found = figures_of(schedule.jobs, "easy", [338, 512], threshold=60.0, quantile=0.95, together=0)
    assert [(figure.hosts, float(np.round(figure.slowdown, 2))) for figure in found] == [(338, 245.3), (512, 9.06)]
