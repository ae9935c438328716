"""Tests with SimGrid: each simulation in a process of its own, skipped with the reason where SimGrid is missing."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from batdispatch.abilities.simgrid.library import find_simgrid, how_to_install
from batdispatch.abilities.simgrid.timer import SimGridTimer
from batdispatch.batsim import v4
from batdispatch.engines.activities import Activity
from batdispatch.engines.mail import Delay
from batdispatch.inputs.platforms import Platform, read_platform
from batdispatch.runs.workers import call_isolated
from recorded import play

needs_simgrid = pytest.mark.skipif(
    find_simgrid() is None, reason=f"SimGrid is not installed; to run this: {how_to_install()}"
)


def play_with_simgrid(name: str, out: Path, workload: Path | None = None) -> dict[str, list[dict[str, Any]]]:
    """Take the decisions of a recording again with SimGrid; return what was heard: type of event -> data."""
    return call_isolated(play_here, name, str(out), None if workload is None else str(workload))


def frames_with_simgrid(name: str, out: Path) -> list[dict[str, Any]]:
    """Take the decisions of a recording again with SimGrid and Batsim's clock; return the frames that were heard."""
    return call_isolated(frames_here, name, str(out))


def frames_here(name: str, out: str, progress: object) -> list[dict[str, Any]]:
    timers: list[SimGridTimer] = []

    def timer(platform: Platform) -> SimGridTimer:
        timers.append(SimGridTimer(platform))
        return timers[0]

    def delays(host: int | None) -> Delay:
        return timers[0].delay(host)

    script = play(name, Path(out), timer=timer, delays=delays)
    return [json.loads(v4.encode_message(message)) for message in script.heard]


def play_here(name: str, out: str, workload: str | None, progress: object) -> dict[str, list[dict[str, Any]]]:
    script = play(name, Path(out), workload, timer=SimGridTimer)
    assert not script.replies, "recorded decisions were left over"
    return {kind: script.events(kind) for kind in ("JOB_COMPLETED", "JOB_KILLED")}


def delays_of(platform: str, master: str | None, progress: object) -> list[tuple[float, float]]:
    """Return latency and byte time to the master host: its own first, then those of each host by id."""
    site = read_platform(platform, master=master)
    timer = SimGridTimer(site)
    found: list[tuple[float, float]] = []
    timer.run(lambda: found.extend(tuple(timer.delay(host)) for host in (None, *range(len(site.hosts)))))
    return found


def start_twice(platform: str, progress: object) -> None:
    for _ in range(2):
        SimGridTimer(read_platform(platform))


def ends_of(platform: str, messages: list[tuple[str, str, float]], progress: object) -> list[float]:
    """Return when each of some messages arrives that all set out at once: sender, receiver, bytes."""
    site = read_platform(platform)
    timer = SimGridTimer(site)
    ends = [math.nan] * len(messages)

    def loop() -> None:
        for number, (sender, receiver, size) in enumerate(messages):
            hosts = (site.by_name[sender], site.by_name[receiver])
            timer.start(Activity(hosts, np.zeros(2), np.array([[0.0, size], [0.0, 0.0]])), number, 0.0)
        while timer.running:
            for number in timer.advance(math.inf):
                ends[number] = timer.clock

    timer.run(loop)
    return ends
