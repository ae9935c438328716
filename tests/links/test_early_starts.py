"""Which starts were decided before their jobs' hosts were awake, by recordings of a few lines."""

from pathlib import Path

import pytest

from batdispatch.batsim import protocol
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.core.line.messages import Message, Reply
from batdispatch.links.early_starts import early_starts
from batdispatch.links.recorder import Recorder, record_exchange

Step = tuple[list[e.Event], list[d.Decision]]


def recording(path: Path, *steps: Step) -> Path:
    """Write steps, 1 s apart; the message of step n is in line 2 n + 1."""
    record_exchange(
        path, [(Message(float(now), events), Reply(float(now), decided)) for now, (events, decided) in enumerate(steps)]
    )
    return path


def woken(now: float, *hosts: int) -> d.Decision:
    return d.SetResourceState(now, Allocation.of(hosts), "0")


def awake(now: float, *hosts: int) -> e.Event:
    return e.ResourceStateChanged(now, Allocation.of(hosts), "0")


def start(now: float, job: str, *hosts: int) -> d.Execute:
    return d.Execute(now, job, Allocation.of(hosts))


def test_a_start_was_decided_when_the_first_of_its_hosts_was_woken(tmp_path: Path) -> None:
    begun = start(3.0, "w0!1", 0, 1, 2)
    path = recording(
        tmp_path / "decisions.jsonl",
        ([], []),
        ([], [woken(1.0, 0)]),
        ([], [woken(2.0, 1)]),
        ([awake(3.0, 0, 1)], [begun]),
    )
    assert early_starts(path) == {3: [begun]}


@pytest.mark.parametrize(
    "between",
    [
        # Host 2, awake all along, is somebody else's meanwhile.
        ([], [start(2.0, "w0!other", 2)]),
        # So it is where that job starts in the very message in which the hosts are woken.
        None,
    ],
)
def test_hosts_that_another_job_takes_meanwhile_were_woken_for_no_start(tmp_path: Path, between: Step | None) -> None:
    begun = [start(1.0, "w0!other", 2)] if between is None else []
    steps: list[Step] = [([], []), ([], [woken(1.0, 0, 1), *begun]), ([], []) if between is None else between]
    steps.append(([awake(3.0, 0, 1)], [start(3.0, "w0!1", 0, 1, 2)]))
    assert early_starts(recording(tmp_path / "decisions.jsonl", *steps)) == {}


def test_hosts_that_were_awake_before_the_message_of_the_start_tell_nothing(tmp_path: Path) -> None:
    path = recording(
        tmp_path / "decisions.jsonl",
        ([], [woken(0.0, 0)]),
        ([awake(1.0, 0)], []),
        ([], [start(2.0, "w0!1", 0)]),
    )
    assert early_starts(path) == {}


def test_a_recording_of_batsim_5_has_none_whatever_its_jobs_are_called(tmp_path: Path) -> None:
    wire, path = protocol("5"), tmp_path / "decisions.jsonl"
    with Recorder(path, wire) as recorder:
        recorder.message(wire.encode_message(Message(1.0, [])))
        recorder.reply(wire.encode_reply(Reply(1.0, [d.Reject(1.0, "w0!SET_RESOURCE_STATE")])))
    assert early_starts(path) == {}
