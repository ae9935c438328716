"""Every impossible decision is refused, with the job, the host, the resource and the time."""

import math
from collections.abc import Callable

import pytest

from batdispatch.core.errors import ImpossibleDecision
from batdispatch.core.hosts.allocation import Allocation, IoJob, Place
from batdispatch.core.jobs.job import Job, JobState
from batdispatch.core.jobs.request import Request, amounts
from batdispatch.core.line import events as e
from batdispatch.core.line.events import MachinesUnavailable
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Host, Machine
from strategies import make_job

A = Allocation.parse


class Exclusive:
    """Four hosts, a disk (4). r runs on 0, w and big (3 units) wait, old ended, bad was rejected, host 3 is away."""

    def __init__(self, machine: Machine | None = None, **config: bool) -> None:
        hosts = [Host(id=i, name=f"n{i}", storage=i == 4) for i in range(5)]
        self.ledger = Ledger(e.SimulationBegins(0.0, machine or Machine(hosts), dict(config)))
        self.w, self.big, self.r, self.old, self.bad = (
            self.submit(name, units) for name, units in (("w", 1), ("big", 3), ("r", 1), ("old", 1), ("bad", 1))
        )
        self.ledger.start(self.old, A("1"))
        self.ledger.apply_completed(e.JobCompleted(1.0, "w0!old", JobState.COMPLETED_SUCCESSFULLY))
        self.ledger.now = 5.25
        self.ledger.start(self.r, A("0"))
        self.ledger.reject(self.bad, "")
        self.ledger.apply(MachinesUnavailable(self.ledger.now, A("3")))
        self.ledger.take_decisions()
        self.ledger.now = 17.5
        self.unknown = Job(id="w0!new", request=Request(units=1))

    def submit(self, name: str, units: int, demand: dict[str, int] | None = None) -> Job:
        job = make_job(f"w0!{name}", units, demand)
        self.ledger.apply_submitted(e.JobSubmitted(0.0, job))
        self.ledger.why_impossible(job)
        return job


class Dynamic(Exclusive):
    """The same, with dynamic registration."""

    def __init__(self) -> None:
        super().__init__(**{"dynamic-jobs-enabled": True, "dynamic-jobs-acknowledged": True})
        self.ledger.register_job(Job(id="w0!soon", request=Request(units=1)))
        self.ledger.register_profile("w0", "p", {"type": "delay", "delay": 1})
        self.ledger.take_decisions()


class Shared(Exclusive):
    """Four nodes of 4 cores and a GPU: g (a unit of a core and a GPU) runs on node 1, r has node 0, node 3 is away."""

    def __init__(self) -> None:
        super().__init__(Machine.flat(4, "core=4 gpu=1"))
        running = self.submit("g", 1, {"core": 1, "gpu": 1})
        self.ledger.start(running, A("1"))
        self.gpu = self.submit("gpu", 1, {"gpu": 1})
        self.cores = self.submit("cores", 4, {"core": 2})
        self.ledger.take_decisions()


Act = Callable[[Exclusive], None]


def start(name: str, hosts: str, **others: object) -> Act:
    return lambda s: s.ledger.start(getattr(s, name), Place(A(hosts), **others))  # type: ignore[arg-type]


def placed(name: str, hosts: list[int], counts: list[int], **others: object) -> Act:
    return lambda s: s.ledger.start(getattr(s, name), Place(Allocation.of(hosts, counts), **others))  # type: ignore[arg-type]


def io_job() -> IoJob:
    return IoJob(A("4"), "io")


REFUSALS: dict[str, tuple[type[Exclusive], Act, tuple[str, ...]]] = {
    "start a running job": (Exclusive, start("r", "1"), ("job w0!r cannot start", "running since 5.25 s")),
    "start an ended job": (Exclusive, start("old", "1"), ("job w0!old cannot start", "ended or rejected already")),
    "start a rejected job": (Exclusive, start("bad", "1"), ("job w0!bad cannot start", "ended or rejected already")),
    "start an unknown job": (Exclusive, start("unknown", "1"), ("job w0!new cannot start", "unknown")),
    "start a registered job": (
        Dynamic,
        lambda s: s.ledger.start(Job(id="w0!soon", request=Request(units=1)), A("1")),
        ("job w0!soon cannot start", "registered but not acknowledged yet"),
    ),
    "start nowhere": (Exclusive, start("w", ""), ("job w0!w", "empty allocation")),
    "start outside": (Exclusive, start("w", "7"), ("job w0!w", "host 7 is outside the platform", "0-4")),
    "start on a disk": (Exclusive, start("w", "4"), ("job w0!w", "host 4 (n4) is a storage host")),
    "start on an absent host": (Exclusive, start("big", "1-3"), ("job w0!big", "1-3", "host 3 (n3) is unavailable")),
    "start on a busy host": (
        Exclusive,
        start("big", "0-2"),
        ("job w0!big", "0-2", "host 0 (n0) has 0 host free", "needs 1", "held by w0!r"),
    ),
    "too few units": (Exclusive, start("big", "1-2"), ("job w0!big", "it has 3 units", "places 2")),
    "too many units": (Exclusive, start("w", "1-2"), ("job w0!w", "it has 1 units", "places 2")),
    "too many units on a host": (Exclusive, placed("big", [1, 2], [2, 2]), ("job w0!big", "3 units", "places 4")),
    "a mapping of too few": (Exclusive, start("big", "1-2", mapping={0: 0, 1: 1}), ("job w0!big", "places 2")),
    "a mapping outside": (Exclusive, start("big", "1-2", mapping={0: 0, 1: 1, 2: 2}), ("job w0!big", "places 3")),
    "a mapping with holes": (Exclusive, start("big", "1-2", mapping={0: 0, 1: 1, 3: 1}), ("job w0!big", "places 3")),
    "a mapping and storage": (
        Exclusive,
        start("w", "1", mapping={0: 0}, storage={"pfs": 4}),
        ("job w0!w", "only one of mapping, storage mapping and I/O job"),
    ),
    "storage and an I/O job": (
        Exclusive,
        start("w", "1", storage={"pfs": 4}, io_job=io_job()),
        ("job w0!w", "only one of mapping, storage mapping and I/O job"),
    ),
    "storage that is none": (Exclusive, start("w", "1", storage={"pfs": 2}), ("w0!w", "'pfs'", "host 2", "no storage")),
    "a GPU that is taken": (
        Shared,
        start("gpu", "1"),
        ("job w0!gpu", "host 1 (n1) has 0 gpu free", "needs 1", "held by w0!g"),
    ),
    "a GPU of a whole node": (Shared, start("gpu", "0"), ("host 0 (n0) has 0 gpu free", "held by w0!r")),
    "cores beyond the node": (
        Shared,
        placed("cores", [2], [4]),
        ("job w0!cores", "host 2 (n2) has 4 core free", "needs 8"),
    ),
    "a whole node in use": (Shared, start("w", "1"), ("job w0!w", "host 1 (n1) has 3 core free", "needs 4")),
    "a mapping that hides units": (
        Shared,
        start("cores", "1-2", mapping={0: 0, 1: 1, 2: 1, 3: 1}),
        ("job w0!cores", "1-2", "mapping does not put as many units"),
    ),
    "reject a running job": (
        Exclusive,
        lambda s: s.ledger.reject(s.r, ""),
        ("job w0!r cannot be rejected", "running"),
    ),
    "reject twice": (Exclusive, lambda s: s.ledger.reject(s.bad, ""), ("job w0!bad", "ended or rejected already")),
    "kill a waiting job": (Exclusive, lambda s: s.ledger.kill([s.r, s.w]), ("job w0!w cannot be killed", "waiting")),
    "kill an ended job": (Exclusive, lambda s: s.ledger.kill([s.old]), ("job w0!old cannot be killed", "ended")),
    "a call now": (Exclusive, lambda s: s.ledger.wake_at(17.5), ("17.500000 s", "not later than now")),
    "a call in the past": (Exclusive, lambda s: s.ledger.wake_at(3.0), ("3.000000 s", "not later than now")),
    "a call never": (Exclusive, lambda s: s.ledger.wake_at(math.inf), ("call at inf", "not later than now")),
    "a call at no time": (Exclusive, lambda s: s.ledger.wake_at(math.nan), ("call at nan", "not later than now")),
    "a static profile": (
        Exclusive,
        lambda s: s.ledger.register_profile("w0", "p", {}),
        ("registering profiles is not enabled", "--enable-dynamic-jobs"),
    ),
    "a composed profile": (
        Dynamic,
        lambda s: s.ledger.register_profile("w0", "q", {"type": "composed", "seq": ["p"]}),
        ("profile w0!q", "composed", "flatten"),
    ),
    "another profile": (
        Dynamic,
        lambda s: s.ledger.register_profile("w0", "p", {"type": "delay", "delay": 2}),
        ("profile w0!p is registered already and is another",),
    ),
    "a static job": (
        Exclusive,
        lambda s: s.ledger.register_job(s.unknown),
        ("registering jobs is not enabled", "--enable-dynamic-jobs"),
    ),
    "a job without workload": (
        Dynamic,
        lambda s: s.ledger.register_job(Job(id="7", request=Request(units=1))),
        ("job 7", "workload!name"),
    ),
    "a known job": (Dynamic, lambda s: s.ledger.register_job(s.r), ("job w0!r cannot be registered", "running since")),
    "a job registered twice": (
        Dynamic,
        lambda s: s.ledger.register_job(Job(id="w0!soon", request=Request(units=1))),
        ("job w0!soon cannot be registered", "not acknowledged yet"),
    ),
    "a job of no units": (
        Dynamic,
        lambda s: s.ledger.register_job(Job(id="w0!x", request=Request(units=0))),
        ("job w0!x cannot be registered", "0 units"),
    ),
    "a job of no time": (
        Dynamic,
        lambda s: s.ledger.register_job(Job(id="w0!x", request=Request(units=1), walltime=-1.0)),
        ("job w0!x cannot be registered", "walltime of -1 s"),
    ),
    "a job beyond the machine": (
        Dynamic,
        lambda s: s.ledger.register_job(Job(id="w0!x", request=Request(units=5))),
        ("job w0!x cannot be registered", "asks for 5 hosts", "room for 4"),
    ),
    "metadata of an unknown job": (
        Exclusive,
        lambda s: s.ledger.set_metadata(s.unknown, "x"),
        ("job w0!new cannot be given metadata", "unknown"),
    ),
    "metadata with quotes": (
        Exclusive,
        lambda s: s.ledger.set_metadata(s.w, 'say "x"'),
        ("job w0!w", "double quotes"),
    ),
    "a message to a waiting job": (
        Exclusive,
        lambda s: s.ledger.send_message(s.w, "x"),
        ("job w0!w cannot be told anything", "waiting"),
    ),
    "an end state": (
        Exclusive,
        lambda s: s.ledger.change_state(s.w, "COMPLETED_SUCCESSFULLY"),
        ("job w0!w", "'COMPLETED_SUCCESSFULLY'"),
    ),
    "a running job's state": (Exclusive, lambda s: s.ledger.change_state(s.r, "SUBMITTED"), ("job w0!r", "waiting")),
    "the end of registration": (
        Exclusive,
        lambda s: s.ledger.finish_registration(),
        ("finishing registration is not enabled", "--enable-dynamic-jobs"),
    ),
    "more registration": (
        Exclusive,
        lambda s: s.ledger.continue_registration(),
        ("continuing registration is not enabled", "--enable-dynamic-jobs"),
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusal(case: str) -> None:
    make, act, parts = REFUSALS[case]
    scene = make()
    ledger = scene.ledger
    before = (repr(ledger.free), list(ledger.queue), list(ledger.running), list(ledger.rejections))
    with pytest.raises(ImpossibleDecision) as caught:
        act(scene)
    message = str(caught.value)
    for part in ("at 17.500000 s: ", *parts):
        assert part in message
    assert (repr(ledger.free), list(ledger.queue), list(ledger.running), list(ledger.rejections)) == before
    assert ledger.take_decisions() == []


def test_the_holders_of_a_crowded_host_are_listed_up_to_five() -> None:
    ledger = Ledger(e.SimulationBegins(0.0, Machine.flat(1, "core=8")))
    small = []
    for number in range(8):
        job = Job(id=f"w0!{number}", request=Request(units=1, per_unit=amounts({"core": 1})))
        ledger.apply_submitted(e.JobSubmitted(0.0, job))
        ledger.why_impossible(job)
        small.append(job)
    for job in small[:7]:
        ledger.start(job, A("0"))
    big = Job(id="w0!big", request=Request(units=2, per_unit=amounts({"core": 1})))
    ledger.apply_submitted(e.JobSubmitted(0.0, big))
    ledger.why_impossible(big)
    with pytest.raises(ImpossibleDecision, match=r"held by w0!0, w0!1, w0!2, w0!3, w0!4, \.\.\."):
        ledger.start(big, Allocation.of([0], [2]))


def test_nothing_is_registered_after_the_end_of_the_registration() -> None:
    """As Batsim 4.2.1 refuses it; Batsim 4 and 5 let it be opened again."""
    ledger = Ledger(e.SimulationBegins(0.0, Machine.flat(2), {"dynamic-jobs-enabled": True}))
    ledger.finish_registration()
    with pytest.raises(ImpossibleDecision, match=r"job w0!1 cannot be registered: it was said that the registration"):
        ledger.register_job(make_job("w0!1"))
    with pytest.raises(ImpossibleDecision, match=r"profile w0!p cannot be registered: it was said"):
        ledger.register_profile("w0", "p", {"type": "delay", "delay": 1.0})
    ledger.continue_registration()
    ledger.register_profile("w0", "p", {"type": "delay", "delay": 1.0})
    ledger.register_job(make_job("w0!1"))
    ledger.check()
