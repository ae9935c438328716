"""Hosts that sleep under `powered`, decided in process and behind Batsim's protocols: all is the same."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from batdispatch.batsim import protocol
from batdispatch.core.line import decisions as d
from batdispatch.links.replay import read_exchanges, told_by
from command_line import call

DISPATCHER = "powered[dispatcher=easy,sleep=idle,after=60,keep=2]"


@pytest.fixture
def site(tmp_path: Path) -> tuple[Path, Path]:
    machine, workload = tmp_path / "p.xml", tmp_path / "w.json"
    assert (
        call("platform", "generate", "flat", "--hosts", 8, "--power", "batsim-homogeneous", "-o", machine).status == 0
    )
    jobs = [
        {
            "id": str(i),
            "subtime": 97 * i + 400 * (i // 6),
            "res": 1 + 3 * i % 7,
            "walltime": 300,
            "profile": f"d{i % 3}",
        }
        for i in range(24)
    ]
    profiles = {f"d{i}": {"type": "delay", "delay": 50 + 90 * i} for i in range(3)}
    workload.write_text(json.dumps({"nb_res": 8, "jobs": jobs, "profiles": profiles}))
    return machine, workload


@pytest.mark.parametrize("version", ["4", "5"])
def test_behind_a_socket_hosts_sleep_as_in_process(
    version: str, site: tuple[Path, Path], decide: Callable[..., Any], tmp_path: Path
) -> None:
    machine, workload = site
    inputs = ("--platform", machine, "--workload", workload)
    done = call("run", *inputs, "--dispatcher", DISPATCHER, "--out", tmp_path / "here")
    assert done.status == 0, done.output
    recording = tmp_path / "decisions.jsonl"
    # Batsim 4 tells no speeds, and so not how long hosts take to wake up; Batsim 5 does.
    told = ("--platform", str(machine)) if version == "4" else ()
    decider = decide("--dispatcher", DISPATCHER, "--protocol", version, "--record", str(recording), *told)
    words = ("--socket", decider.endpoint, "--protocol", version, "--energy", "batsim", "--out", tmp_path / "there")
    done = call("engine", *inputs, *words)
    assert done.status == 0, done.output
    assert decider.finish()[0] == 0
    for name in ("jobs.csv", "pstate_changes.csv", "machine_states.csv", "consumed_energy.csv"):
        here, there = ((tmp_path / where / name).read_text() for where in ("here", "there"))
        assert here == there, name
    assert told_by(recording) == version
    switched = [
        one.switched
        for _, _, reply in read_exchanges(recording, protocol(version))
        for one in (reply.decisions if reply else ())
        if isinstance(one, d.SetResourceState)
    ]
    assert len(switched) > 4
    assert set(switched) == ({True} if version == "5" else {False})
    assert call("replay", recording, "--dispatcher", DISPATCHER, *map(str, told)).status == 0
