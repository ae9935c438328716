"""``serve --protocol 5`` and ``engine --protocol 5``, as commands, and what is recorded of them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command_line import call

INPUTS = Path(__file__).parents[1] / "conformance" / "recordings"
FOUR = ["--platform", INPUTS / "platforms" / "four.xml", "--workload"]


def command(*arguments: Any) -> tuple[int, str]:
    done = call(*arguments)
    return done.status, done.output


@pytest.mark.parametrize("workload", ["delay.json", "delays5.json", "reject5.json"])
def test_same_schedule_as_in_process(workload: str, decide: Callable[..., Any], tmp_path: Path) -> None:
    given = [*FOUR, INPUTS / "workloads" / workload]
    assert command("run", *given, "--dispatcher", "easy", "--out", tmp_path / "here")[0] == 0
    record = tmp_path / "exchange.jsonl"
    decider = decide("--dispatcher", "easy", "--protocol", "5", "--record", str(record))
    status, said = command(
        "engine", *given, "--protocol", "5", "--socket", decider.endpoint, "--out", tmp_path / "there"
    )
    assert status == 0, said
    assert decider.finish()[0] == 0
    assert (tmp_path / "there" / "jobs.csv").read_bytes() == (tmp_path / "here" / "jobs.csv").read_bytes()
    # The recording has the form of Batsim 5's and says of itself which protocol it is in.
    first, second, third = map(json.loads, record.read_text().splitlines()[:3])
    assert first == {"dir": "batsim->edc", "raw": {"init_size_u32": 0, "init_data": ""}}
    assert second["raw"]["flags_u32"] == 2
    assert json.loads(third["raw"])["events"][0]["event_type"] == "SimulationBeginsEvent"
    for more in ([], ["--dispatcher", "easy", "--times"]):
        status, said = command("replay", record, *more)
        assert status == 0, said
    status, said = command("replay", record, "--protocol", "4")
    assert status == 2
    assert "line 1" in said


def test_the_init_string_reaches_the_scheduler(decide: Callable[..., Any], tmp_path: Path) -> None:
    record = tmp_path / "exchange.jsonl"
    decider = decide("--dispatcher", "fcfs", "--protocol", "5", "--record", str(record))
    given = [*FOUR, INPUTS / "workloads" / "delay.json", "--protocol", "5", "--sched-cfg", "hé"]
    assert command("engine", *given, "--socket", decider.endpoint, "--out", tmp_path / "out")[0] == 0
    assert decider.finish()[0] == 0
    assert json.loads(record.read_text().splitlines()[0])["raw"] == {"init_size_u32": 3, "init_data": "hé"}


@pytest.mark.parametrize(
    "option",
    [
        "--enable-dynamic-jobs",
        "--acknowledge-dynamic-jobs",
        "--forward-profiles-on-submission",
    ],
)
def test_what_the_scheduler_asks_for_is_no_option(option: str, tmp_path: Path) -> None:
    status, said = command(
        "engine", *FOUR, INPUTS / "workloads" / "delay.json", "--protocol", "5", option, "--out", tmp_path / "out"
    )
    assert status == 2
    assert f"option {option}: with --protocol 5 the scheduler asks for it in the handshake" in said
    assert list(tmp_path.iterdir()) == []


def test_a_workload_that_batsim_5_does_not_have(tmp_path: Path) -> None:
    status, said = command(
        "engine", *FOUR, INPUTS / "workloads" / "msg.json", "--protocol", "5", "--out", tmp_path / "out"
    )
    assert status == 2
    assert "Batsim 5 has no messages between jobs and schedulers" in said


def test_a_scheduler_of_batsim_4_is_recognised(decide: Callable[..., Any], tmp_path: Path) -> None:
    decider = decide("--dispatcher", "fcfs", apart=True)
    given = [*FOUR, INPUTS / "workloads" / "delay.json", "--protocol", "5", "--timeout", "3"]
    status, said = command("engine", *given, "--socket", decider.endpoint, "--out", tmp_path / "out")
    assert status == 1
    assert "closed the connection after 0 answers" in said
    status, said = decider.finish()
    assert status == 2
    assert "the first message: seems to be that of a Batsim 5; for this Batsim use --protocol 5" in said
    assert "Traceback" not in said


def test_a_batsim_4_is_recognised(decide: Callable[..., Any], tmp_path: Path) -> None:
    decider = decide("--dispatcher", "fcfs", "--protocol", "5", apart=True)
    given = [*FOUR, INPUTS / "workloads" / "delay.json", "--protocol", "4"]
    status, _ = command("engine", *given, "--socket", decider.endpoint, "--out", tmp_path / "out")
    assert status == 1
    status, said = decider.finish()
    assert status == 2
    assert "the first message: seems to be that of a Batsim 4; for this Batsim use --protocol 4" in said
