"""Recorded decisions on power states are taken again through the ledger, which refuses what Batsim refuses."""

import json
from collections.abc import Iterable

import msgspec
import pytest

from batdispatch.batsim import v4
from batdispatch.core.errors import BatdispatchError
from batdispatch.core.line import decisions as d
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.session import Session
from batdispatch.examples.sleeper import Sleeper
from batdispatch.links.replay import read_recording, replay
from recorded_energy import ENERGY
from scripted import Scripted

WHOLE = sorted(folder.name for folder in (ENERGY / "batsim4").iterdir() if (folder / "jobs.csv").is_file())
#: What the ledger says; what the wire or the engine alone knows is left out.
REFUSED = {
    "err_busy_to_sleep": r"host 0 \(e00\) cannot sleep in power state 3: jobs run there",
    "err_same_sleep": r"host 0 \(e00\) sleeps in power state 3: it must wake up before it can sleep in 3",
    "err_sleep_to_sleep": r"host 10 \(e10\) sleeps in power state 3: it must wake up before it can sleep in 6",
    "err_sleep_unavailable": r"host 1 \(e01\) cannot sleep in power state 3: it is unavailable",
    "err_start_on_sleeping": r"job w0!a1 cannot start on 0: host 0 \(e00\) cannot compute now: it sleeps in power",
    "err_start_while_switching": r"job w0!a1 cannot start on 0: host 0 \(e00\) cannot compute now: it is switching off",
    "err_unknown_host": r"hosts 12 are not all in the platform, which has 0-11",
    "err_unknown_pstate": r"host 0 \(e00\) has no power state 9, expected one of 0-5",
    "odd_set_while_switching": r"host 0 \(e00\) is switching to power state 3, and can be set when it is there",
    "odd_virtual_pstate": r"host 0 \(e00\) cannot be set to power state 4: it only goes through that one",
}


def scripted(name: str) -> Session:
    exchanges = read_recording(ENERGY / "batsim4" / name / "exchange.jsonl")
    return Session(Scripted([list(v4.decode_reply(one.reply).decisions) for one in exchanges if one.reply]))


@pytest.mark.parametrize("name", [name for name in WHOLE if name != "sharing_small"])
def test_recorded_decisions_pass_the_ledger_and_come_out_the_same(name: str) -> None:
    session = scripted(name)
    result = replay(ENERGY / "batsim4" / name / "exchange.jsonl", session, v4)
    assert result.difference is None
    assert session.ended


def test_the_sleeper_of_the_manual_decides_as_batscheds_did() -> None:
    session = Session(Sleeper())
    result = replay(ENERGY / "batsim4" / "sleeper.homo8" / "exchange.jsonl", session, v4)
    assert (result.difference, session.ended) == (None, True)


TIMES = "time_switch_on=20.5,time_switch_off=5.5"
PERIODS = f"{TIMES},monitoring_period=60,idle_time_to_sedate=90,sedate_idle_on_classical_events=true"
#: batsched's dispatchers as recorded: ours, with the options that Batsim 4 tells nothing of.
NAMED = {
    "energy_bf": f"energy-bf[{TIMES}]",
    "energy_bf_idle_sleeper": f"energy-bf-idle-sleeper[{PERIODS}]",
    "energy_bf_subpart_sleeper": f"energy-bf-subpart-sleeper[{PERIODS},fraction_of_machines_to_let_awake=0.5]",
}


def decided(reply: bytes) -> list[d.Decision]:
    """Return what a reply says, calls to the microsecond.

    batsched has the jobs of one decision in the order of their addresses in memory, and adds up times as fractions.
    """
    decisions = [
        msgspec.structs.replace(one, at=round(one.at, 6)) if isinstance(one, d.CallMeLater) else one
        for one in v4.decode_reply(reply).decisions
    ]
    return sorted(decisions, key=lambda one: one.job_id if isinstance(one, d.Execute) else "")


@pytest.mark.parametrize("name", NAMED)
def test_batscheds_dispatchers_that_let_hosts_sleep_decide_as_recorded(name: str) -> None:
    session = Session(create(NAMED[name]))
    for exchange in read_recording(ENERGY / "batsim4" / f"{name}.homo8" / "exchange.jsonl"):
        reply = v4.encode_reply(session.handle(v4.decode_message(exchange.message)))
        assert exchange.reply is not None
        assert decided(reply) == decided(exchange.reply)
    assert session.ended


def hear_all(session: Session, messages: Iterable[bytes]) -> None:
    for message in messages:
        session.handle(v4.decode_message(message))


def messages_of(name: str) -> list[bytes]:
    return [exchange.message for exchange in read_recording(ENERGY / "batsim4" / name / "exchange.jsonl")]


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_batsim_refuses_or_never_answers_the_ledger_refuses(name: str) -> None:
    with pytest.raises(BatdispatchError, match=REFUSED[name]):
        hear_all(scripted(name), messages_of(name))


def test_a_host_in_another_power_state_than_decided_is_a_contradiction() -> None:
    frames = [json.loads(message) for message in messages_of("sleeper.homo8")]
    for frame in frames:
        for event in frame["events"]:
            if event["type"] == "RESOURCE_STATE_CHANGED":
                event["data"]["state"] = "1"
    with pytest.raises(BatdispatchError, match=r"was reported in power state 1, expected 3, which was decided"):
        hear_all(scripted("sleeper.homo8"), [json.dumps(frame).encode() for frame in frames])


def test_hosts_that_sleep_or_switch_are_not_free() -> None:
    session, seen = scripted("sleeper.homo8"), set[int]()
    for message in messages_of("sleeper.homo8"):
        session.handle(v4.decode_message(message))
        ledger = session.ledger
        assert ledger is not None
        if ledger.states is not None:
            seen.add(ledger.states.away)
            assert not ledger.free & ledger.states.away
        ledger.check()
    assert len(seen) > 3
