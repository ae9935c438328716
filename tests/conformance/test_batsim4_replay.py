"""Every recorded exchange is replayed: its decisions are taken again through the ledger, which refuses as Batsim."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from batdispatch.core import decisions as d
from batdispatch.core.dispatcher import Dispatcher
from batdispatch.core.errors import ImpossibleDecision
from batdispatch.core.job import Job
from batdispatch.core.ledger import Ledger
from batdispatch.core.session import Session
from batdispatch.links.replay import read_recording, replay
from batdispatch.wire import batsim4

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


class Scripted(Dispatcher):
    """Takes recorded decisions again, one reply after the other."""

    registers_jobs = True

    def __init__(self, replies: list[list[d.Decision]]) -> None:
        super().__init__()
        self.replies = iter(replies)

    def registration_done(self, cluster: Ledger) -> bool:
        return False

    def decide(self, cluster: Ledger) -> None:
        for decision in next(self.replies):
            if not (isinstance(decision, d.Reject) and decision.job_id not in cluster.queue):
                TAKE[type(decision)](cluster, decision)


def job(cluster: Ledger, job_id: str) -> Any:
    # A job that has ended is no longer in the ledger; any object with its id says what is meant.
    return cluster.queue.get(job_id) or cluster.running.get(job_id) or Job(id=job_id, units=1)


TAKE: dict[type, Callable[[Ledger, Any], None]] = {
    d.Execute: lambda c, x: c.start(
        job(c, x.job_id), x.allocation, mapping=x.mapping, storage=x.storage, io_job=x.io_job
    ),
    d.Reject: lambda c, x: c.reject(job(c, x.job_id), "as recorded"),
    d.Kill: lambda c, x: c.kill([job(c, job_id) for job_id in x.job_ids]),
    d.CallMeLater: lambda c, x: c.wake_at(x.at),
    d.RegisterProfile: lambda c, x: c.register_profile(x.workload, x.name, x.profile),
    d.RegisterJob: lambda c, x: c.register_job(x.job),
    d.SetMetadata: lambda c, x: c.set_metadata(job(c, x.job_id), x.metadata),
    d.SendMessage: lambda c, x: c.send_message(job(c, x.job_id), x.message),
    d.ChangeState: lambda c, x: c.change_state(job(c, x.job_id), x.state),
    d.FinishRegistration: lambda c, x: c.finish_registration(),
    d.ContinueRegistration: lambda c, x: c.continue_registration(),
}


def scripted(name: str) -> Session:
    exchanges = read_recording(RECORDINGS / name / "exchange.jsonl")
    replies = [list(batsim4.decode_reply(exchange.reply).decisions) for exchange in exchanges if exchange.reply]
    return Session(Scripted(replies))


@pytest.mark.parametrize("name", [name for name in NAMES if name not in REFUSED and name not in UNREADABLE])
def test_recorded_decisions_pass_the_ledger_and_come_out_the_same(name: str) -> None:
    session = scripted(name)
    result = replay(RECORDINGS / name / "exchange.jsonl", session, batsim4)
    assert result.difference is None
    assert result.messages > 5
    assert session.ended
    assert session.ledger is not None
    assert not session.ledger.running


def hear_all(session: Session, name: str) -> None:
    for exchange in read_recording(RECORDINGS / name / "exchange.jsonl"):
        session.handle(batsim4.decode_message(exchange.message))


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_decisions_that_batsim_refuses_are_refused_by_the_ledger(name: str) -> None:
    session = scripted(name)
    with pytest.raises(ImpossibleDecision, match=REFUSED[name]):
        hear_all(session, name)


def test_every_recording_without_an_end_is_a_refusal() -> None:
    last = {name: (RECORDINGS / name / "exchange.jsonl").read_text().splitlines()[-2] for name in NAMES}
    unfinished = {name for name in NAMES if "SIMULATION_ENDS" not in last[name]}
    assert unfinished == set(REFUSED) | UNREADABLE
