"""The experiment on pinned jobs: its batches keep their bounds, and its tables show what was measured."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.platforms.generate.torus import torus

FOLDER = Path(__file__).parents[2] / "expe" / "pinned_io"


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, ModuleType]]:
    """The files of the experiment; their names are taken from nobody else's."""
    names = ("draw", "grid", "show", "run")
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(str(FOLDER))
    yield {name: __import__(name) for name in names}
    for name in names:
        sys.modules.pop(name, None)


def test_batches_keep_their_bounds_and_are_shown(
    modules: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run, show = modules["run"], modules["show"]
    monkeypatch.setattr(run, "JOBS", (10, 20))
    monkeypatch.setattr(run, "LARGEST", (4,))
    found = run.plans(2)
    assert list(found) == [(4, 10), (4, 20)]
    for batches in found.values():
        for one in batches:
            assert 1 - 1e-6 <= one.levelled <= one.rounded + 1e-9 <= 2 + 1e-6
            assert 1 - 1e-9 <= one.packed <= one.coloured <= 3 + 1e-6
    text = show.plans_table(found)
    assert len(text.splitlines()) == 4
    assert f"{max(one.whole for one in found[4, 20]):.3f} |" in text
    show.plans_picture(tmp_path / "ratio.svg", found)
    assert (tmp_path / "ratio.svg").read_text().startswith("<svg")


def test_every_job_of_the_workloads_is_pinned_to_an_io_node(modules: dict[str, ModuleType], tmp_path: Path) -> None:
    grid, run = modules["grid"], modules["run"]
    (tmp_path / "t.xml").write_bytes(torus(grid.DIMS, hosts_per_router=1, io=grid.IO))
    machine = read_platform(tmp_path / "t.xml").machine
    made = run.workload_of(np.random.default_rng(0), machine, 0.7)
    assert len(made.jobs) == grid.COUNT
    assert {name for job in made.jobs for name in job.request.io_nodes} == {disk.name for disk in machine.storage}
    once = run.workload_of(np.random.default_rng(0), machine, None)
    assert {job.submission for job in once.jobs} == {0.0}


def test_the_page_shows_every_row(modules: dict[str, ModuleType]) -> None:
    page = (FOLDER / "results.md").read_text(encoding="utf-8")
    grid = modules["grid"]
    shown = re.findall(r"^\| ([^|]+?) \| ([^|]+?) \|", page, re.MULTILINE)
    assert {(f"{largest}", f"{jobs:,}") for largest in grid.LARGEST for jobs in grid.JOBS} <= set(shown)
    assert {(f"{load:g}", label) for load in grid.LOADS for label in grid.CELLS} <= set(shown)
    assert set(grid.ONCE) <= {first for first, _ in shown}
