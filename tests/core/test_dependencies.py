"""Jobs that depend on others, and jobs that are planned with other values than they were submitted with."""

import pytest

from batdispatch.core.errors import ImpossibleDecision
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job, JobState, Stay
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.messages import Message
from batdispatch.core.line.session import Session
from batdispatch.core.machine.machine import Machine
from strategies import make_job

A = Allocation.parse
OK, FAILED, KILLED = JobState.COMPLETED_SUCCESSFULLY, JobState.COMPLETED_FAILED, JobState.COMPLETED_KILLED


class Starts(Dispatcher):
    """Starts what fits; rejects those whose names begin with bad; remembers what it was told."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []

    def on_submit(self, ledger: Ledger, job: Job) -> None:
        self.told.append(job.id)

    def on_end(self, ledger: Ledger, stay: Stay) -> None:
        self.told.append(f"end of {stay.job.id}")

    def decide(self, ledger: Ledger) -> None:
        for job in list(ledger.queue.values()):
            place = ledger.place(job)
            if "!bad" in job.id:
                ledger.reject(job, "it is bad")
            elif place is not None:
                ledger.start(job, place)


class Line:
    """A session over a machine of two hosts; the ledger is checked after every message."""

    def __init__(self) -> None:
        self.dispatcher = Starts()
        self.session = Session(self.dispatcher)
        self.say(0.0, e.SimulationBegins(0.0, Machine.flat(2)))

    def say(self, now: float, *events: e.Event) -> list[str]:
        """Say something and return what was decided, in short."""
        reply = self.session.handle(Message(now, list(events)))
        assert self.session.ledger is not None
        self.ledger = self.session.ledger
        self.ledger.check()
        return [
            f"start {x.job_id}" if isinstance(x, d.Execute) else f"reject {x.job_id}: {x.reason}"
            for x in reply.decisions
            if isinstance(x, d.Execute | d.Reject)
        ]


def comes(name: str, *dependencies: str) -> e.JobSubmitted:
    fields = {"dependencies": list(dependencies)} if dependencies else {}
    return e.JobSubmitted(0.0, make_job(name, walltime=9.0, **fields))


def ends(name: str, state: JobState = OK, time: float = 0.0) -> e.JobCompleted:
    return e.JobCompleted(time, name, state)


def test_a_job_waits_for_the_success_of_those_it_depends_on() -> None:
    line = Line()
    assert line.say(0.0, comes("w0!c", "a", "w0!b"), comes("w0!a"), comes("w0!b")) == ["start w0!a", "start w0!b"]
    assert list(line.ledger.blocked) == ["w0!c"]
    assert line.dispatcher.told == ["w0!a", "w0!b"]
    with pytest.raises(ImpossibleDecision, match="job w0!c cannot start: it is waiting for w0!a, w0!b"):
        line.ledger.start(line.ledger.blocked["w0!c"], A("0"))
    assert line.say(3.0, ends("w0!b")) == []
    with pytest.raises(ImpossibleDecision, match="job w0!c cannot be rejected: it is waiting for w0!a"):
        line.ledger.reject(line.ledger.blocked["w0!c"], "")
    assert line.say(5.0, ends("w0!a")) == ["start w0!c"]
    assert line.dispatcher.told[-2:] == ["end of w0!a", "w0!c"], "told when it enters the queue"
    assert not line.ledger.blocked


def test_jobs_are_released_in_order_of_arrival_and_keep_their_rank() -> None:
    line = Line()
    line.say(0.0, comes("w0!z", "a"), comes("w0!y", "a"), comes("w0!a"), comes("w0!x", "a"))
    ranks = [line.ledger.rank(line.ledger.blocked[f"w0!{name}"]) for name in "zyx"]
    assert ranks == [0, 1, 3]
    assert line.say(1.0, ends("w0!a")) == ["start w0!z", "start w0!y"]
    assert line.ledger.rank(line.ledger.queue["w0!x"]) == 3


def test_what_has_succeeded_already_is_not_waited_for() -> None:
    line = Line()
    line.say(0.0, comes("w1!a"))
    line.say(1.0, ends("w1!a"))
    assert line.say(2.0, comes("w0!b", "w1!a")) == ["start w0!b"]


def test_a_name_without_a_workload_is_of_the_jobs_own() -> None:
    line = Line()
    line.say(0.0, comes("w1!a"), comes("w0!b", "a"))
    assert line.say(1.0, ends("w1!a")) == []
    assert list(line.ledger.blocked) == ["w0!b"]


@pytest.mark.parametrize("state", [FAILED, KILLED, JobState.COMPLETED_WALLTIME_REACHED])
def test_those_that_depend_on_a_failure_are_rejected_with_those_that_depend_on_them(state: JobState) -> None:
    line = Line()
    line.say(0.0, comes("w0!c", "b"), comes("w0!b", "a"), comes("w0!a"))
    if state is KILLED:
        line.ledger.kill([line.ledger.running["w0!a"].job])
    assert line.say(9.0, ends("w0!a", state, 9.0)) == [
        f"reject w0!b: depends on job w0!a, which ended {state.value}",
        "reject w0!c: depends on job w0!b, which ended REJECTED",
    ]
    assert not line.ledger.blocked
    assert line.dispatcher.told == ["w0!a", "end of w0!a"], "it never hears of them"


def test_a_job_that_depends_on_a_rejected_one_is_rejected() -> None:
    line = Line()
    assert line.say(0.0, comes("w0!b", "bad"), comes("w0!bad")) == [
        "reject w0!bad: it is bad",
        "reject w0!b: depends on job w0!bad, which ended REJECTED",
    ]
    assert line.say(1.0, comes("w0!late", "bad")) == ["reject w0!late: depends on job w0!bad, which ended REJECTED"]


def test_a_job_that_depends_on_nobody_known_waits_until_no_more_come() -> None:
    line = Line()
    assert line.say(0.0, comes("w0!b", "a"), comes("w0!d", "c")) == []
    assert line.say(1.0, comes("w0!a")) == ["start w0!a"]
    assert line.say(2.0, e.NoMoreStaticJobs(2.0)) == ["reject w0!d: depends on job w0!c, which was never submitted"]
    assert line.say(3.0, ends("w0!a")) == ["start w0!b"]


def test_an_impossible_job_that_depends_on_another_is_rejected_when_it_would_enter() -> None:
    line = Line()
    big = e.JobSubmitted(0.0, make_job("w0!big", 3, dependencies=["a"]))
    assert line.say(0.0, comes("w0!a"), big) == ["start w0!a"]
    assert line.say(1.0, ends("w0!a")) == ["reject w0!big: asks for 3 hosts, the whole machine has room for 2"]


@pytest.mark.parametrize("end", [OK, FAILED])
def test_the_success_of_an_attempt_is_that_of_its_job(end: JobState) -> None:
    ledger = Ledger(e.SimulationBegins(0.0, Machine.flat(2), {"dynamic-jobs-enabled": True}))
    job = ledger.apply_submitted(comes("w0!a"))
    waiting = ledger.apply_submitted(comes("w0!b", "a"))
    ledger.start(job, A("0"))
    ledger.kill([job])
    ledger.apply_completed(ends("w0!a", KILLED))
    assert ledger.unblock() == []
    again = Job(id="w0!a2", request=job.request, parent="w0!a")
    ledger.register_job(again)
    assert ledger.reject_hopeless() == [], "it may still succeed"
    ledger.check()
    ledger.start(again, A("1"))
    assert ledger.reject_hopeless() == []
    ledger.apply_completed(ends("w0!a2", end))
    assert ledger.unblock() == ([waiting] if end is OK else [])
    ledger.settle(decided=True)
    assert ledger.reject_hopeless() == ([] if end is OK else [waiting])
    ledger.check()


def test_a_chain_of_jobs_that_continue_each_other_runs_one_after_the_other() -> None:
    line = Line()
    second, third = (Job(id=f"w0!{n}", request=make_job().request, parent=f"w0!{n - 1}") for n in (2, 3))
    events = [comes("w0!1"), e.JobSubmitted(0.0, second), e.JobSubmitted(0.0, third), e.NoMoreStaticJobs(0.0)]
    assert line.say(0.0, *events) == ["start w0!1"]
    assert line.say(1.0, ends("w0!1")) == ["start w0!2"]
    assert line.say(2.0, ends("w0!2")) == ["start w0!3"]


def test_a_job_that_continues_a_rejected_one_does_not_wait_for_ever() -> None:
    line = Line()
    again = Job(id="w0!again", request=make_job().request, parent="w0!bad")
    line.say(0.0, comes("w0!bad"), e.JobSubmitted(0.0, again))
    line.say(1.0, e.NoMoreStaticJobs(1.0))
    assert not line.ledger.blocked


@pytest.mark.parametrize("around", [("a",), ("b", "a"), ("b", "c", "a")])
def test_jobs_that_wait_for_each_other_are_rejected_when_no_more_come(around: tuple[str, ...]) -> None:
    line = Line()
    line.say(0.0, *(comes(f"w0!{name}", on) for name, on in zip(sorted(around), around, strict=True)))
    line.say(1.0, e.NoMoreStaticJobs(1.0))
    assert not line.ledger.blocked
    assert len(line.ledger.rejections) == len(around)


# ---------------------------------------------------------------------- amended jobs


def test_a_waiting_job_is_planned_with_other_values() -> None:
    ledger = Ledger(e.SimulationBegins(0.0, Machine.flat(2)))
    first, job = ledger.apply_submitted(comes("w0!a")), ledger.apply_submitted(comes("w0!b"))
    changed = ledger.amend(job, walltime=7.0, submission=3.0, rank=-1)
    ledger.check()
    assert (changed.id, changed.walltime, changed.submission) == ("w0!b", 7.0, 3.0)
    assert (changed.request, changed.profile, changed.extra) == (job.request, job.profile, job.extra)
    assert (job.walltime, job.submission) == (9.0, 0.0), "what was submitted stays"
    assert ledger.queue == {"w0!a": first, "w0!b": changed}
    assert (ledger.rank(changed), ledger.rank(first)) == (-1, 0)
    assert ledger.amend(changed).walltime == 7.0
    with pytest.raises(ImpossibleDecision, match="job w0!b cannot start"):
        ledger.start(job, A("0"))
    stay = ledger.start(ledger.queue["w0!b"], A("0"))
    assert stay.job.walltime == 7.0
    ledger.check()


@pytest.mark.parametrize("what", ["running", "unknown", "waiting for w0!a"])
def test_only_a_waiting_job_can_be_amended(what: str) -> None:
    ledger = Ledger(e.SimulationBegins(0.0, Machine.flat(2)))
    job = make_job("w0!b")
    if what == "running":
        ledger.start(ledger.apply_submitted(e.JobSubmitted(0.0, job)), A("0"))
    elif what != "unknown":
        job = ledger.apply_submitted(comes("w0!b", "a"))
    with pytest.raises(ImpossibleDecision, match=f"job w0!b cannot be amended: it is {what}"):
        ledger.amend(job, walltime=3.0)
    ledger.check()
