"""Every recorded exchange is replayed: its decisions are taken again through the ledger, which refuses as Batsim."""

from pathlib import Path

import pytest

from batdispatch.batsim import v4
from batdispatch.core.errors import ImpossibleDecision
from batdispatch.core.line.session import Session
from batdispatch.links.replay import read_recording, replay
from scripted import Scripted

RECORDINGS = Path(__file__).parent / "recordings" / "batsim4"
NAMES = sorted(folder.name for folder in RECORDINGS.iterdir())
#: Replies that the wire already refuses to read (see test_batsim4_wire).
UNREADABLE = {"err_dyn_no_subtime", "err_two_optionals", "err_unknown_event", "err_unknown_notify"}
#: Recordings of decisions that Batsim refused and the ledger refuses -> what the ledger says.
REFUSED = {
    "change_state": r"job w0!no: its state cannot become 'COMPLETED_SUCCESSFULLY'",
    "err_busy_host": r"job w0!z cannot start on 0-1: host 0 \(alder\) has 0 host free.*held by w0!x",
    "err_dyn_composed": r"profile w0!c: Batsim 4.2 crashes on composed profiles registered dynamically: flatten it",
    "err_dyn_disabled": r"registering jobs is not enabled .* --enable-dynamic-jobs",
    "err_past_call": r"a call at 3(\.0+)? s was asked for, which is not later than now",
    "kill_done_job": r"job w0!kd cannot be killed: it is ended",
}


def scripted(name: str) -> Session:
    exchanges = read_recording(RECORDINGS / name / "exchange.jsonl")
    replies = [list(v4.decode_reply(exchange.reply).decisions) for exchange in exchanges if exchange.reply]
    return Session(Scripted(replies))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in REFUSED and name not in UNREADABLE])
def test_recorded_decisions_pass_the_ledger_and_come_out_the_same(name: str) -> None:
    session = scripted(name)
    result = replay(RECORDINGS / name / "exchange.jsonl", session, v4)
    assert result.difference is None
    assert result.messages > 5
    assert session.ended
    assert session.ledger is not None
    assert not session.ledger.running


def hear_all(session: Session, name: str) -> None:
    for exchange in read_recording(RECORDINGS / name / "exchange.jsonl"):
        session.handle(v4.decode_message(exchange.message))


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_decisions_that_batsim_refuses_are_refused_by_the_ledger(name: str) -> None:
    session = scripted(name)
    # One that says it registers jobs would be refused at the first message.
    session.dispatcher.registers_jobs &= name != "err_dyn_disabled"  # type: ignore[misc]
    with pytest.raises(ImpossibleDecision, match=REFUSED[name]):
        hear_all(session, name)


def test_every_recording_without_an_end_is_a_refusal() -> None:
    last = {name: (RECORDINGS / name / "exchange.jsonl").read_text().splitlines()[-2] for name in NAMES}
    unfinished = {name for name in NAMES if "SIMULATION_ENDS" not in last[name]}
    assert unfinished == set(REFUSED) | UNREADABLE
