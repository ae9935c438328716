"""Resizes as Batsim 4.2.1 takes and refuses them: ledger, engine and layer on fifteen recorded exchanges."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from batdispatch.batsim import v4
from batdispatch.core.errors import ImpossibleDecision, SimulationError
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.fields import read_request
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.messages import Message, Reply
from batdispatch.core.line.session import Session
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.records import EngineOptions
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.workloads import read_workload
from batdispatch.links.replay import replay
from recorded import InTurn, four
from scripted import Scripted

RECORDINGS = Path(__file__).parent / "recordings"
RESIZES = RECORDINGS / "resize"
NAMES = sorted(folder.name for folder in RESIZES.iterdir())
#: What Batsim refuses -> what the ledger says before that.
REFUSED = {
    "expand_nodes_taken": r"job w0!a-1 cannot start on 0-3: host 2 \(cedar\) has 0 host free.*held by w0!b",
    "kill_at_100.000004": r"job w0!a cannot be killed: it is ended",
    "walltime_first": r"job w0!a cannot be killed: it is ended",
    "register_after_finished": r"profile w0!a-1 cannot be registered: it was said that the registration is finished",
}
#: Batsim takes it, and the ledger does not: a host is free when the end of the job on it has been told.
STRICTER = "kill_and_execute_in_one_message"
#: Batsim waits for ever for the end of the registration.
ENDLESS = "never_finished"


def lines(name: str) -> list[dict[str, Any]]:
    """The frames of a recording; where no message came any more, a note says so."""
    told = map(json.loads, (RESIZES / name / "exchange.jsonl").read_text().splitlines())
    return [line for line in told if "raw" in line]


def messages(name: str) -> list[Message]:
    return [v4.decode_message(line["raw"].encode()) for line in lines(name) if line["dir"] == "batsim->sched"]


def replies(name: str) -> list[list[d.Decision]]:
    return [
        list(v4.decode_reply(line["raw"].encode()).decisions) for line in lines(name) if line["dir"] == "sched->batsim"
    ]


def test_every_refusal_is_dealt_with() -> None:
    assert {name for name in NAMES if (RESIZES / name / "refusal.txt").exists()} == {*REFUSED, ENDLESS}


@pytest.mark.parametrize("name", [name for name in NAMES if name not in {*REFUSED, ENDLESS, STRICTER}])
def test_what_batsim_takes_passes_the_ledger_and_comes_out_the_same(name: str) -> None:
    session = Session(Scripted(replies(name)))
    result = replay(RESIZES / name / "exchange.jsonl", session, v4)
    assert result.difference is None
    assert session.ended


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_batsim_refuses_is_refused_by_the_ledger(name: str) -> None:
    session = Session(Scripted(replies(name)))
    with pytest.raises(ImpossibleDecision, match=REFUSED[name]):
        hear_all(session, name)


def test_a_simulation_that_nobody_ends_is_refused_by_the_engine(tmp_path: Path) -> None:
    """The real one hangs, and ends with status 0."""
    platform = read_platform(RECORDINGS / "platforms/four.xml")
    workload = read_workload(RESIZES / ENDLESS / "workload.json")
    options = EngineOptions(dynamic_jobs=True)
    engine = EmbeddedEngine(platform.machine, workload, Outputs(tmp_path / "out", 4), options=options, delays=four)
    script = Patient(lines(ENDLESS))
    with pytest.raises(SimulationError, match="the dispatcher never said that it finished registering jobs"):
        engine.run(script)
    assert not script.replies


class Patient(InTurn):
    """Has nothing more to say when the script is over."""

    def handle(self, message: Message) -> Reply:
        return super().handle(message) if self.replies else Reply(message.now, [])


def hear_all(session: Session, name: str) -> None:
    for message in messages(name):
        session.handle(message)


def test_hosts_of_a_job_that_is_being_killed_are_not_given_away() -> None:
    session = Session(Scripted(replies(STRICTER)))
    with pytest.raises(ImpossibleDecision, match=r"job w0!b cannot start on 2-3: .*held by w0!a"):
        hear_all(session, STRICTER)


# ---------------------------------------------------------------------- the layer in the place of the script

#: The point that counts is the second one, at 20 s.
SIZES = {"least": 1, "most": 4, "preferred": 2, "kind": "malleable", "steps": 5}
#: The application asks for what was recorded, just before 20 s or 40 s.
SHRINKS = {"kind": "evolving", "steps": 5001, "asks": [{"step": 1000, "most": 2}]}
EXPANDS = {"kind": "evolving", "steps": 5001, "asks": [{"step": 2000, "least": 4}]}
OPTIONS = {
    **{"check_cost": "0", "expand_cost": "1.5", "shrink_cost": "2.5", "acknowledge": "false"},
    **{"walltime": "scaled", "policy": "dmr[idle_expand=false]"},
}


def with_sizes(event: e.Event, sizes: dict[str, Any]) -> e.Event:
    """Let the first job of the recording be malleable by its fields."""
    if not isinstance(event, e.JobSubmitted) or event.job.id != "w0!a":
        return event
    request = read_request(event.job.units, {"sizes": sizes})
    return msgspec.structs.replace(event, job=msgspec.structs.replace(event.job, request=request))


def renamed(event: e.Event, ours: dict[str, str]) -> e.Event:
    """Call the rest by the name that the layer gave it."""
    if isinstance(event, e.JobCompleted):
        # The other job may be elsewhere.
        allocation = event.allocation if event.job_id != "w0!b" else None
        return msgspec.structs.replace(event, job_id=ours.get(event.job_id, event.job_id), allocation=allocation)
    if isinstance(event, e.JobSubmitted) and event.job.id in ours:
        return msgspec.structs.replace(event, job=msgspec.structs.replace(event.job, id=ours[event.job.id]))
    return event


def layered(name: str, **sizes: Any) -> tuple[Session, list[list[d.Decision]]]:
    """Feed a recording to the layer, up to what answers a kill that it did not decide; return what it decides.

    Calls and the end of the registration are left out.
    """
    session = Session(create("resizing", OPTIONS))
    decided: list[list[d.Decision]] = []
    ours = {"w0!a-1": "w0!a~2"}
    for message in messages(name):
        killed = any(isinstance(event, e.JobsKilled) for event in message.events)
        if killed and not any(isinstance(one, d.Kill) for one in decided[-1]):
            break
        if name == "parallel_total" and message.now > 1000:
            # The recorded rest has a walltime of its own.
            break
        events = [renamed(with_sizes(event, SIZES | sizes), ours) for event in message.events]
        reply = session.handle(Message(message.now, events))
        assert session.ledger is not None
        session.ledger.check()
        kept = [one for one in reply.decisions if not isinstance(one, d.CallMeLater | d.FinishRegistration)]
        decided.append(kept)
    return session, decided


def said(decisions: list[d.Decision], *, about: bool = False) -> list[tuple[Any, ...]]:
    """What decisions say that does not depend on names."""
    found: list[tuple[Any, ...]] = []
    for one in decisions:
        if isinstance(one, d.Execute):
            found.append(("execute", one.job_id in ("w0!a-1", "w0!a~2"), str(one.allocation)))
        elif isinstance(one, d.RegisterProfile):
            told = one.profile.items()
            # The clock is off by a microsecond or two.
            found.append(("profile", {key: pytest.approx(value, abs=1e-5) if about else value for key, value in told}))
        elif isinstance(one, d.RegisterJob):
            found.append(("job", one.job.units, one.job.parent, one.job.submission))
        elif not isinstance(one, d.CallMeLater | d.FinishRegistration):
            found.append((type(one).__name__, one))
    return found


@pytest.mark.parametrize("name", ["shrink", "shrink_ack", "expand", "parallel_total"])
def test_the_layer_says_what_was_recorded(name: str) -> None:
    session, decided = layered(name, **{"parallel_total": {"period": 10}, "expand": EXPANDS}.get(name, SHRINKS))
    found = [said(reply) for reply in decided]
    expected = [said(reply, about=True) for reply in replies(name)[: len(found)]]
    if name == "shrink_ack":
        # Ours starts what waits when the rest has been acknowledged, 5 us later than recorded.
        after = next(index for index, reply in enumerate(expected) if ("execute", False, "2-3") in reply)
        expected[after].remove(("execute", False, "2-3"))
        expected[after + 1].append(("execute", False, "2-3"))
    assert found == expected
    assert session.ended or name == "parallel_total"
    assert session.ledger is not None
    assert session.ledger.parents == {"w0!a~2": "w0!a"}


def test_a_sequence_goes_on_with_what_is_left_of_it() -> None:
    """Killed in the third of ten tasks of 10 s, at its half: 75 s on 4 nodes are left, twice as many on 2."""
    session, decided = layered("composed")
    (rest,) = [one for reply in decided for one in reply if isinstance(one, d.RegisterProfile)]
    assert rest.profile == {"type": "delay", "delay": pytest.approx(75 * 2 + 2.5, abs=1e-5)}
    assert session.ended


def test_a_job_killed_at_its_very_end_has_nothing_left_and_ends_as_it_would_have() -> None:
    session, decided = layered("kill_at_99.999999")
    (rest,) = [one for reply in decided for one in reply if isinstance(one, d.RegisterProfile)]
    assert rest.profile == {"type": "delay", "delay": 1e-6}
    assert session.ledger is not None
    assert session.ledger.roll.ended["w0!a"] == "COMPLETED_SUCCESSFULLY"


def test_a_job_that_ends_while_its_kill_is_under_way_has_no_rest() -> None:
    session, decided = layered("kill_at_100.000003")
    kinds = [[type(one).__name__ for one in reply] for reply in decided]
    assert ["Kill"] in kinds
    assert not [kind for reply in kinds for kind in reply if kind.startswith("Register")]
    assert [one.job_id for reply in decided for one in reply if isinstance(one, d.Execute)] == ["w0!a", "w0!b"]
    assert session.ended
    assert session.ledger is not None
    assert not session.ledger.holds
    assert not session.dispatcher.segments  # type: ignore[attr-defined]


class KillsAt:
    """Kills the first job when it is called, unless its end has been told."""

    def __init__(self, at: float) -> None:
        self.at = at
        self.state = ""

    def handle(self, message: Message) -> Reply:
        now = message.now
        decided: list[d.Decision] = []
        for event in message.events:
            if isinstance(event, e.JobCompleted):
                self.state = str(event.state)
            elif isinstance(event, e.JobSubmitted) and event.job.id == "w0!a":
                decided += [d.Execute(now, "w0!a", Allocation.parse("0-3")), d.CallMeLater(now, self.at)]
            elif isinstance(event, e.JobSubmitted):
                decided.append(d.Reject(now, event.job.id))
            elif isinstance(event, e.RequestedCall) and not self.state:
                decided.append(d.Kill(now, ["w0!a"]))
        return Reply(now, decided)


@pytest.mark.parametrize(
    ("at", "state"),
    [
        (99.999999, "COMPLETED_KILLED"),
        (100.000002, "COMPLETED_KILLED"),
        # Rounded, this call would come before the job's end and not with it.
        (100.0000023, "COMPLETED_SUCCESSFULLY"),
        (100.000003, "COMPLETED_SUCCESSFULLY"),
    ],
)
def test_a_call_comes_at_the_moment_that_was_said_and_not_at_its_microsecond(
    at: float, state: str, tmp_path: Path
) -> None:
    """Recorded are the first and the last."""
    machine = read_platform(RECORDINGS / "platforms" / "four.xml").machine
    workload = read_workload(RESIZES / "kill_at_100.000003" / "workload.json")
    peer = KillsAt(at)
    EmbeddedEngine(machine, workload, Outputs(tmp_path, 4), delays=four).run(peer)
    assert peer.state == state


@pytest.mark.parametrize("name", ["kill_at_100.000004", "walltime_first", "expand_nodes_taken"])
def test_the_layer_does_not_do_what_batsim_refused(name: str) -> None:
    """The job has ended in the message that lets the layer decide, or the nodes of the expansion are taken."""
    _, decided = layered(name)
    assert not [one for reply in decided for one in reply if isinstance(one, d.Kill | d.RegisterJob)]
