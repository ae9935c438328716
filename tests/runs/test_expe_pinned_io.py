"""The experiment on pinned jobs: its batches keep their bounds, and its tables show what was measured."""

from pathlib import Path

import pytest

from expe.pinned_io import show
from experiments import small


def test_batches_keep_their_bounds_and_are_shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(show, "QUICK_JOBS", (10, 20))
    monkeypatch.setattr(show, "QUICK_SEEDS", 2)
    monkeypatch.setattr(show, "LARGEST", (4,))
    found = small("pinned_io", tmp_path, ("jobs: 600", "jobs: 30"), ("seeds: 0..1", "seeds: 0"))
    plans = found[found["part"] == "plans"]
    assert list(plans["workload.jobs"]) == [10, 10, 20, 20]
    for one in plans.itertuples():
        assert 1 - 1e-6 <= one.levelled <= one.rounded + 1e-9 <= 2 + 1e-6
        assert 1 - 1e-9 <= one.packed <= one.coloured <= 3 + 1e-6
    text = show.plans_table(plans)
    assert len(text.splitlines()) == 4
    assert f"{plans[plans['workload.jobs'] == 20]['whole'].max():.3f} |" in text
    once = show.once_table(found[found["part"] == "once"]).splitlines()[2:]
    assert [line.split("|")[1].strip() for line in once] == [
        "all jobs in a batch",
        "easy, ranges",
        "easy, local",
        "easy, anywhere",
        "easy, ranges, longest first",
    ]
    # No plan undercuts the bound.
    assert float(once[0].split("|")[3]) >= 1
    runs = show.runs_table(found[found["part"] == "runs"]).splitlines()[2:]
    assert len(runs) == 8
    assert all(line.startswith("| 0.7 | ") for line in runs)
    assert [bool(line.split("|")[7].strip()) for line in runs] == [True] * 5 + [False] * 3
