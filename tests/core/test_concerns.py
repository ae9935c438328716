"""A concern that the line does not know has a say in everything: what a stranger's package can bring."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from batdispatch.core.errors import ImpossibleDecision, InputError
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job, JobState, Stay
from batdispatch.core.jobs.request import Request
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.core.line import ledger as ledgers
from batdispatch.core.line import registry
from batdispatch.core.line.concern import Concern, News, QueueTerms, Rejection
from batdispatch.core.line.concerns.holds import Holds
from batdispatch.core.line.concerns.registration import Registration
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Machine


def ledger_of(hosts: int) -> Ledger:
    return Ledger(e.SimulationBegins(0.0, Machine.flat(hosts)))


def submit(ledger: Ledger, name: str, units: int = 1) -> Job:
    return ledger.apply_submitted(e.JobSubmitted(ledger.now, Job(id=f"w0!{name}", request=Request(units=units))))


class Maintenance(QueueTerms):
    """Closes a host, lets nobody start on Sundays, and keeps starts of host 1 back."""

    offers = ("service",)
    ledger: Ledger

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(ledger)
        self.closed, self.sunday = 0, False
        self.heard = list[object]()
        self.kept = list[d.Execute]()

    def service(self, hosts: int) -> None:
        """Close hosts."""
        self.closed = hosts
        self.join()
        self.ledger.shut()

    def mask(self) -> int:
        return self.closed

    def late(self) -> int:
        return 0b10

    def held(self) -> Iterable[tuple[int, str]]:
        return [(self.closed, "w0!nobody")]

    def longest(self, job: Job) -> float:
        return 60.0

    def admit(self, job: Job) -> Job:
        self.heard.append(("admit", job.id))
        return job

    def why_never(self, job: Job, unfit: Callable[[Job], str]) -> str:
        return "is unlucky" if job.id.endswith("13") else unfit(job)

    def may_start(self, job: Job, allocation: Allocation, entry: Any) -> Any:
        if self.sunday:
            raise self.ledger.refusal(f"job {job.id} cannot start: it is Sunday")
        return entry

    def let_through(self, decision: Any) -> Any:
        if isinstance(decision, d.Kill):
            kept = {execute.job_id for execute in self.kept}
            return d.Kill(decision.time, [job_id for job_id in decision.job_ids if job_id not in kept])
        if decision.allocation.mask & self.late():
            self.kept.append(decision)
            return None
        return decision

    def on_start(self, stay: Stay) -> None:
        self.heard.append(("start", stay.job.id))

    def on_end(self, stay: Stay) -> None:
        self.heard.append(("end", stay.job.id))

    def on_event(self, event: News) -> None:
        self.heard.append(("reject", event.job.id) if isinstance(event, Rejection) else type(event))

    def check(self, idle: Any) -> Any:
        assert self.closed >= 0, "nothing is closed that does not exist"
        return idle


def test_a_concern_that_has_not_joined_is_not_asked() -> None:
    ledger = ledger_of(2)
    concern = Maintenance.of(ledger)
    concern.sunday = True
    ledger.start(submit(ledger, "1"), Allocation.parse("0"))
    assert concern.heard == []
    assert Maintenance.of(ledger) is concern


def test_a_concern_that_has_joined_has_a_say() -> None:
    ledger = ledger_of(4)
    concern = Maintenance.of(ledger)
    epoch = ledger.epoch
    concern.service(0b1)
    assert (ledger.unavailable, ledger.free_hosts, ledger.epoch) == (0b1, 3, epoch + 1)
    job, late, other = submit(ledger, "1"), submit(ledger, "2"), submit(ledger, "3")
    with pytest.raises(ImpossibleDecision, match=r"job w0!1 cannot start on 0: host 0 \(n0\) is unavailable"):
        ledger.start(job, Allocation.parse("0"))
    concern.sunday = True
    with pytest.raises(ImpossibleDecision, match="job w0!1 cannot start: it is Sunday"):
        ledger.start(job, Allocation.parse("2"))
    concern.sunday = False
    ledger.start(job, Allocation.parse("2"))
    ledger.start(late, Allocation.parse("1"))
    assert [decision.job_id for decision in ledger.take_decisions() if isinstance(decision, d.Execute)] == ["w0!1"]
    assert (ledger.roll.has_begun("w0!1"), ledger.roll.has_begun("w0!2")) == (True, False)
    assert ledger.space.nodes(ledger.free_at_once) == ledger.free == 0b1000
    ledger.kill([job, late])
    assert ledger.take_decisions() == [d.Kill(0.0, ["w0!1"])]
    ledger.reject(other, "no")
    ledger.apply_completed(e.JobCompleted(1.0, "w0!1", JobState.COMPLETED_KILLED))
    ledger.apply(e.MachinesUnavailable(1.0, Allocation.parse("3")))
    assert (ledger.unavailable, ledger.concerns.longest(job)) == (0b1001, 60.0)
    admitted = [("admit", f"w0!{number}") for number in (1, 2, 3)]
    said = [("start", "w0!1"), ("start", "w0!2"), ("reject", "w0!3"), ("end", "w0!1"), e.MachinesUnavailable]
    assert concern.heard == [*admitted, *said]
    ledger.check()
    ledger.concerns.leave(concern)
    ledger.shut()
    assert ledger.unavailable == 0b1000
    ledger.check()


def test_a_refused_start_changes_nothing() -> None:
    """Whichever concern is asked first: none hears of a start before all have agreed."""
    ledger = ledger_of(3)
    running, job = submit(ledger, "1", 2), submit(ledger, "2", 2)
    ledger.start(running, Allocation.parse("0-1"))
    Holds.of(ledger).hold(running, Allocation.parse("0-2"))
    concern = Maintenance.of(ledger)
    concern.service(0)
    before = (dict(ledger.queue), dict(ledger.running), dict(Holds.of(ledger).holds), ledger.epoch)
    with pytest.raises(ImpossibleDecision, match="held by w0!1"):
        ledger.start(job, Allocation.parse("1-2"))
    concern.sunday = True
    with pytest.raises(ImpossibleDecision, match="Sunday"):
        ledger.start(job, Allocation.parse("1-2"))
    assert (dict(ledger.queue), dict(ledger.running), dict(Holds.of(ledger).holds), ledger.epoch) == before
    assert concern.heard == []
    ledger.check()


def test_why_a_job_can_never_run_is_asked_of_every_concern() -> None:
    ledger = ledger_of(2)
    Maintenance.of(ledger).join()
    lucky, unlucky, large = (Job(id=f"w0!{n}", request=Request(units=units)) for n, units in ((1, 2), (13, 2), (14, 3)))
    assert ledger.why_impossible(lucky) == ""
    assert ledger.why_impossible(unlucky) == "is unlucky"
    assert ledger.why_impossible(large) == "asks for 3 hosts, the whole machine has room for 2"


def test_hosts_that_are_closed_in_secret_are_noticed() -> None:
    ledger = ledger_of(2)
    concern = Maintenance.of(ledger)
    concern.service(0b1)
    concern.closed = 0b10
    with pytest.raises(AssertionError, match="hosts are closed by nobody, or open again"):
        ledger.check()


def test_holds_that_nobody_asks_for_are_noticed() -> None:
    ledger = ledger_of(2)
    job = submit(ledger, "1")
    ledger.start(job, Allocation.parse("0"))
    holds = Holds.of(ledger)
    holds.hold(job, Allocation.parse("0-1"))
    assert ledger.concerns.active == (holds,)
    ledger.check()
    ledger.concerns.leave(holds)
    with pytest.raises(AssertionError, match="holds that nobody asks for"):
        ledger.check()
    holds.join()
    holds.release(job.id)
    assert ledger.concerns.active == ()
    ledger.check()


@pytest.fixture
def announced(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Announce further concerns, as a package does by entry points, for one test."""

    def announce(**kinds: type[Concern]) -> None:
        names, find = registry.names, registry.find
        ledgers.announced_concerns.cache_clear()
        for name in {name for kind in ledgers_kinds for name in kind.offers}:
            monkeypatch.delattr(Ledger, name)
        monkeypatch.setattr(registry, "names", lambda group: [*names(group), *kinds])
        monkeypatch.setattr(
            registry, "find", lambda group, name, *more: kinds[name] if name in kinds else find(group, name, *more)
        )

    ledger_of(1)
    ledgers_kinds = ledgers.announced_concerns()
    yield announce  # type: ignore[misc]
    monkeypatch.undo()
    ledgers.announced_concerns.cache_clear()
    for name in [name for name, each in vars(Ledger).items() if type(each).__name__ == "_Offer"]:
        delattr(Ledger, name)
    ledgers.announced_concerns()


def test_an_announced_concern_is_asked_by_the_ledgers_name_and_begins_when_it_wants_to(
    announced: Callable[..., None],
) -> None:
    class Always(Maintenance):
        def __init__(self, ledger: Ledger) -> None:
            super().__init__(ledger)
            if ledger.machine.size > 2:
                self.join()

    announced(always=Always)
    small, large = ledger_of(2), ledger_of(3)
    assert (small.concerns.active, [type(each) for each in large.concerns.active]) == ((), [Always])
    small.service(0b1)  # type: ignore[attr-defined]
    assert small.unavailable == 0b1


def test_a_name_that_is_taken_cannot_be_offered(announced: Callable[..., None]) -> None:
    announced(twice=type("Twice", (Concern,), {"offers": ("hold",)}))
    with pytest.raises(InputError, match="concern Twice offers 'hold', which concern Holds has already"):
        ledger_of(1)


def test_a_name_of_the_ledger_cannot_be_offered(announced: Callable[..., None]) -> None:
    announced(thief=type("Thief", (Concern,), {"offers": ("start",)}))
    with pytest.raises(InputError, match="concern Thief offers 'start', which the ledger has already"):
        ledger_of(1)


def test_plans_do_not_hold_once_a_hold_keeps_other_hosts_than_before() -> None:
    """The first hold only takes capacity, as a start does; the next ones may give some back."""
    ledger = ledger_of(3)
    job = submit(ledger, "1")
    ledger.start(job, Allocation.parse("0"))
    epoch, holds = ledger.epoch, Holds.of(ledger)
    holds.hold(job, Allocation.parse("0-2"))
    assert (ledger.free_hosts, ledger.epoch) == (0, epoch)
    holds.hold(job, Allocation.parse("0-1"))
    assert (ledger.free_hosts, ledger.epoch) == (1, epoch + 1)
    ledger.check()


def test_a_killed_job_can_be_continued_only_while_jobs_may_be_registered() -> None:
    ledger = Ledger(e.SimulationBegins(0.0, Machine.flat(1), config={"dynamic-jobs-enabled": True}))
    registration = Registration.of(ledger)
    assert ledger.roll.may_grow
    registration.finish_registration()
    assert not ledger.roll.may_grow
    registration.continue_registration()
    assert ledger.roll.may_grow


def test_the_strictest_concern_limits_walltimes() -> None:
    ledger = ledger_of(1)
    job = submit(ledger, "1")
    assert ledger.concerns.longest(job) == float("inf")
    Maintenance.of(ledger).join()
    type("Stricter", (Maintenance,), {"longest": lambda self, job: 30.0}).of(ledger).join()
    assert ledger.concerns.longest(job) == 30.0
