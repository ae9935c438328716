"""Tests with SimGrid: each simulation in a process of its own, skipped with the reason where SimGrid is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from batdispatch.engines.simgrid_library import find_simgrid, how_to_install
from batdispatch.engines.simgrid_timer import SimGridTimer
from batdispatch.inputs.platforms import read_platform
from batdispatch.runs.isolation import isolated
from recorded import play

needs_simgrid = pytest.mark.skipif(
    find_simgrid() is None, reason=f"SimGrid is not installed; to run this: {how_to_install()}"
)


def play_with_simgrid(name: str, out: Path, workload: Path | None = None) -> dict[str, list[dict[str, Any]]]:
    """Take the decisions of a recording again with SimGrid; return what was heard: type of event -> data."""
    arguments = {"name": name, "out": str(out), "workload": None if workload is None else str(workload)}
    heard: dict[str, list[dict[str, Any]]] = isolated("with_simgrid:play_here", arguments)
    return heard


def play_here(name: str, out: str, workload: str | None, progress: object) -> dict[str, list[dict[str, Any]]]:
    script = play(name, Path(out), workload, timer=SimGridTimer)
    assert not script.replies, "recorded decisions were left over"
    return {kind: script.events(kind) for kind in ("JOB_COMPLETED", "JOB_KILLED")}


def start_twice(platform: str, progress: object) -> None:
    for _ in range(2):
        SimGridTimer(read_platform(platform))
