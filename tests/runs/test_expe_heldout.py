"""A run of expe/heldout that takes too long is stopped, and what is said of it is kept."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from batdispatch.core.errors import SimulationError
from batdispatch.runs.run import RunSpec, execute

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def within() -> ModuleType:
    spec = importlib.util.spec_from_file_location("within", ROOT / "expe" / "heldout" / "within.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def for_ever(spec: RunSpec, folder: Path, progress: Callable[[int, int], None]) -> None:
    folder.mkdir()
    (folder / "decisions.jsonl.partial").write_text(
        '{"dir": "batsim->sched", "raw": "{\\"now\\":1.0,\\"events\\":[]}"}\n'
        '{"dir": "sched->batsim", "raw": "{\\"now\\":25.5,\\"events\\":[]}"}\n'
    )
    progress(3, 10)
    try:
        while True:
            pass
    except BaseException as problem:
        # As a solver that was interrupted ends a run.
        raise SimulationError("the dispatcher failed") from problem


def fail(*_: Any, **__: Any) -> None:
    raise SimulationError("of itself")


def refuse(*_: Any, **__: Any) -> None:
    raise AssertionError("it ran again")


def test_a_run_is_stopped_and_not_tried_again_with_no_more_time(
    within: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    platform, workload = (str(ROOT / name) for name in ("platforms/flat64.xml", "workloads/demo64.json"))
    spec, folder = RunSpec(platform=platform, workload=workload, dispatcher="easy"), tmp_path / "easy"
    monkeypatch.setattr(within, "execute", for_ever)
    came = within.execute_within(spec, folder, 0.001)
    assert (came.ended, came.jobs, came.now) == (3, 10, 25.5)
    assert came.minutes > 0
    assert str(came).endswith("at 26 s of simulated time, when 3 of 10 jobs had ended")
    monkeypatch.setattr(within, "execute", refuse)
    assert within.execute_within(spec, folder, came.minutes) == came
    with pytest.raises(AssertionError, match="it ran again"):
        within.execute_within(spec, folder, 2 * came.minutes)
    monkeypatch.setattr(within, "execute", fail)
    with pytest.raises(SimulationError):
        within.execute_within(spec, folder, 60.0)
    monkeypatch.setattr(within, "execute", execute)
    assert within.execute_within(spec, folder, 60.0) is None
    monkeypatch.setattr(within, "execute", refuse)
    assert within.execute_within(spec, folder, 60.0) is None
    assert [path.name for path in tmp_path.iterdir()] == ["easy"]
