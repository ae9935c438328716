"""The ESP experiment: its data are the published ones, its page shows them, and the rows are near the paper's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from experiments import experiment, pictures_agree, sections

ROOT = Path(__file__).parents[2]
ORACLE = json.loads((ROOT / "tests" / "oracles" / "auction" / "esp.json").read_text(encoding="utf-8"))
#: Row of the experiment -> row of the oracle.
NAMES = {
    "backfill, basic": "backfill/basic",
    "IPSCHED, basic": "ip/basic",
    "backfill, multifactor": "backfill/multifactor",
    "IPSCHED, multifactor": "ip/multifactor",
}


@pytest.fixture(scope="module")
def modules() -> Iterator[dict[str, ModuleType]]:
    """The files of the experiment."""
    with experiment("esp", "grid", "show", "run") as found:
        yield found


def test_the_figures_are_the_published_ones(modules: dict[str, ModuleType]) -> None:
    grid = modules["grid"]
    for known, told in (("paper", grid.PAPER), ("mean_of_3_seeds_spaced_over_10800_s", grid.REFERENCE)):
        assert told.keys() == NAMES.keys()
        for row, name in NAMES.items():
            published = ORACLE[known][name]
            fields = ("wait", "wait_std", "slowdown", "slowdown_std", "util")
            assert told[row] == tuple(published[field] for field in fields)


def measured(show: ModuleType, wait: float, slowdown: float = 10.0, **statuses: int) -> Any:
    """A run that waited for so long; the rest does not matter."""
    return show.Measured(wait, 1.0, slowdown, 20.0, 0.9, 3.0, 2.0, 1.0, 5.0, 0.002, 0.3, statuses)


def test_a_row_that_is_not_measured_says_so_and_a_mean_too_far_off_stands_out(modules: dict[str, ModuleType]) -> None:
    show = modules["show"]
    runs = [measured(show, wait, 18.11 * 1.2) for wait in (1.5, 1.7)]
    lines = show.comparison_table({"backfill, basic": runs}).splitlines()
    assert "| backfill, basic | wait (h) | 1.60 | 1.65 | 1.60 ± 1.27 | +0% | yes |" in lines
    assert "| backfill, basic | slowdown | 18.11 | 16.56 | 21.73 ± 0.00 | +20% | **no** |" in lines
    assert sum("not measured yet" in line for line in lines) == 15


def test_a_ratio_of_waits_is_taken_seed_by_seed_and_too_large_a_mean_stands_out(modules: dict[str, ModuleType]) -> None:
    show = modules["show"]
    waits = {
        "backfill, basic": (2.0, 4.0),
        "IPSCHED, basic": (1.0, 2.4),
        "backfill, multifactor": (2.0, 2.0),
        "IPSCHED, multifactor": (1.2, 1.2),
    }
    found = {row: [measured(show, wait) for wait in times] for row, times in waits.items()}
    basic, multifactor = show.reduction_table(found).splitlines()[2:]
    assert basic == "| basic | 0.48 | 0.48 | 0.55 ± 0.64 | 0.60 | yes |"
    assert multifactor == "| multifactor | 0.36 | 0.33 | 0.60 ± 0.00 | 0.60 | **no** |"


def test_windows_that_are_not_proven_are_not_counted_as_such(modules: dict[str, ModuleType]) -> None:
    show = modules["show"]
    runs = [measured(show, 1.0, BOUND=3, OPTIMAL=2, FEASIBLE=1), measured(show, 1.0, BOUND=1)]
    lines = show.decisions_table({"one": runs, "without": [measured(show, 1.0)]}).splitlines()
    assert lines[2] == "| one | 7 | 6 | 2 | 2.0 | 0.30 | 5.0 |"
    assert lines[3] == "| without |  |  |  | 2.0 | 0.30 | 5.0 |"


def test_the_page_holds_every_section_and_picture() -> None:
    inside = sections("esp")
    assert inside.keys() == {"table", "reduction", "sizes", "decisions", "cases", "slurm"}
    assert all(text.count("\n|") > 3 for text in inside.values())
    assert pictures_agree("esp")


@pytest.mark.slow
def test_means_are_within_15_percent_of_the_papers(modules: dict[str, ModuleType], tmp_path: Path) -> None:
    grid, run = modules["grid"], modules["run"]
    found = run.measure(grid.ROWS, 3, tmp_path, {})
    for row, runs in found.items():
        for metric in ("wait", "utilisation"):
            mean = float(np.mean([getattr(each, metric) for each in runs]))
            assert mean == pytest.approx(getattr(grid.PAPER[row], metric), rel=grid.TOLERANCE), (row, metric)
    for priorities in ("basic", "multifactor"):
        pairs = zip(found[f"IPSCHED, {priorities}"], found[f"backfill, {priorities}"], strict=True)
        assert np.mean([ours.wait / theirs.wait for ours, theirs in pairs]) <= grid.MOST_WAIT
        for each in found[f"IPSCHED, {priorities}"]:
            assert set(each.statuses) <= {"BOUND", "OPTIMAL"}, "a window is not proven"
