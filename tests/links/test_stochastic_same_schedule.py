"""Stochastic jobs behind a socket: the schedule is that of the same dispatcher in process, in messages Batsim knows."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command_line import call

RECORDINGS = Path(__file__).parents[1] / "conformance" / "recordings"
#: What a scheduler may say with dynamic registration: for Batsim 4 its documentation, without the energy option; for
#: Batsim 5 what its recordings hold.
UNDERSTOOD = {
    "4": {"EXECUTE_JOB", "REJECT_JOB", "KILL_JOB", "CALL_ME_LATER", "REGISTER_PROFILE", "REGISTER_JOB", "NOTIFY"},
    "5": {
        "ExecuteJobEvent",
        "RejectJobEvent",
        "KillJobsEvent",
        "CallMeLaterEvent",
        "RegisterProfileEvent",
        "RegisterJobEvent",
        "FinishRegistrationEvent",
    },
}
REGISTERS = {"4": "REGISTER_JOB", "5": "RegisterJobEvent"}
#: In the fast suite each is tried with one protocol in turn.
OPTIONS = [
    ("stochastic-batch", {"speculate": "true", "requests": "hpc"}),
    ("stochastic-batch", {"plan": "repack"}),
    ("stochastic-easy", {"requests": "toptimal"}),
    ("stochastic-easy", {"requests": "hpc", "speculate": "true"}),
    ("stochastic-conservative", {"requests": "atoptimal", "speculate": "true"}),
]


def command(*arguments: Any) -> None:
    done = call(*arguments)
    assert done.status == 0, done.output


def decisions(record: Path) -> list[dict[str, Any]]:
    """Every decision of a recorded exchange, as it went over the wire."""
    told: list[dict[str, Any]] = []
    for line in record.read_text().splitlines():
        entry = json.loads(line)
        if entry["dir"].endswith("->batsim") and isinstance(entry["raw"], str):
            told += json.loads(entry["raw"]).get("events", [])
    return told


@pytest.mark.parametrize(
    ("name", "options", "protocol"),
    [
        pytest.param(name, options, protocol, marks=[] if (number + int(protocol)) % 2 else pytest.mark.slow)
        for number, (name, options) in enumerate(OPTIONS)
        for protocol in ("4", "5")
    ],
)
def test_same_schedule_behind_a_socket(
    name: str, options: dict[str, str], protocol: str, decide: Callable[..., Any], tmp_path: Path
) -> None:
    command("generate", "stochastic", "-o", tmp_path / "W.json", "--seed", "3", "--scenario", "3", "--share", "0.5")
    command("platform", "generate", "flat", "--hosts", "10", "-o", tmp_path / "P.xml")
    given = ["--platform", tmp_path / "P.xml", "--workload", tmp_path / "W.json"]
    settings = [part for key, value in options.items() for part in ("--set", f"{key}={value}")]
    command("run", *given, "--dispatcher", name, *settings, "--out", tmp_path / "here")
    record = tmp_path / "exchange.jsonl"
    decider = decide("--dispatcher", name, *settings, "--protocol", protocol, "--record", str(record))
    asked = ["--enable-dynamic-jobs", "--acknowledge-dynamic-jobs"] if protocol == "4" else []
    command("engine", *given, *asked, "--protocol", protocol, "--socket", decider.endpoint, "--out", tmp_path / "there")
    assert decider.finish()[0] == 0
    here, there = ((tmp_path / folder / "jobs.csv").read_text() for folder in ("here", "there"))
    assert here == there
    assert here.count("\n") > 101, "no job was tried twice"
    kinds = {event.get("type") or event["event_type"] for event in decisions(record)}
    assert kinds <= UNDERSTOOD[protocol]
    assert REGISTERS[protocol] in kinds


def test_what_batsim_5_understands_is_in_its_recordings() -> None:
    seen = {
        event["event_type"]
        for record in sorted((RECORDINGS / "batsim5").glob("*/exchange.jsonl"))
        for event in decisions(record)
    }
    assert seen == UNDERSTOOD["5"]
