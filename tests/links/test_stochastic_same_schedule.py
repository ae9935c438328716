"""Stochastic jobs behind a socket: the schedule is that of the same dispatcher in process, in messages Batsim knows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from batdispatch.core.dispatcher import create
from batdispatch.core.job import Job
from batdispatch.core.machine import Machine
from batdispatch.core.messages import Message, Peer, Reply
from batdispatch.core.session import Session
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.records import EngineOptions
from batdispatch.links.remote_peer import RemotePeer
from batdispatch.parts.requests.laws import parse_law
from batdispatch.wire import batsim4
from batdispatch.workloads import Workload

#: What Batsim 4 understands from a decision process with dynamic registration, without its energy option.
UNDERSTOOD = {"EXECUTE_JOB", "REJECT_JOB", "KILL_JOB", "CALL_ME_LATER", "REGISTER_PROFILE", "REGISTER_JOB", "NOTIFY"}
OPTIONS = {
    "stochastic-batch": {"speculate": "true", "requests": "hpc"},
    "stochastic-easy": {"requests": "toptimal"},
    "stochastic-conservative": {"requests": "atoptimal", "rate": "0.5"},
}


class Listening:
    """Passes messages on and keeps the types of the decisions, as Batsim would see them."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.types: set[str] = set()

    def handle(self, message: Message) -> Reply:
        reply = self.peer.handle(message)
        self.types |= {event["type"] for event in json.loads(batsim4.encode_reply(reply))["events"]}
        return reply


def simulate(peer: Peer, folder: Path) -> str:
    rng = np.random.default_rng(3)
    law = parse_law("tnorm:0,20,8,2").scaled(3600)
    runtimes = np.round(law.draw(rng, 60), 3).tolist()
    jobs = [
        Job(
            id=str(n),
            units=int(rng.integers(1, 10)),
            submission=float(n // 20 * 3600),
            profile=f"d{n}",
            extra={"runtime_law": law.text, "user": "ann"},
        )
        for n in range(60)
    ]
    profiles = {f"d{n}": {"type": "delay", "delay": length} for n, length in enumerate(runtimes)}
    workload = Workload(path=Path("made.json"), name="made", jobs=jobs, profiles=profiles)
    workload.sort()
    machine = Machine.flat(10)
    folder.mkdir()
    options = EngineOptions(dynamic_jobs=True)
    EmbeddedEngine(machine, workload, Outputs(folder, machine.size), options=options).run(peer)
    return (folder / "jobs.csv").read_text()


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_same_schedule_behind_a_socket(name: str, decide: Callable[..., Any], tmp_path: Path) -> None:
    expected = simulate(Session(create(name, OPTIONS[name])), tmp_path / "here")
    assert expected.count("\n") > 61, "no job was tried twice"
    settings = [part for key, value in OPTIONS[name].items() for part in ("--set", f"{key}={value}")]
    decider = decide("--dispatcher", name, *settings)
    with RemotePeer(decider.endpoint, batsim4, timeout=30) as peer:
        listening = Listening(peer)
        assert simulate(listening, tmp_path / "there") == expected
    assert decider.finish()[0] == 0
    assert listening.types <= UNDERSTOOD
    assert "REGISTER_JOB" in listening.types
