"""The ledger: what the simulator tells, what is free, what is decided."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.capacity.filling import first_fit
from batdispatch.core.errors import ImpossibleDecision, InputError
from batdispatch.core.hosts.allocation import Allocation, Place
from batdispatch.core.jobs.job import Job, JobState, Stay
from batdispatch.core.jobs.profiles import spreads_freely
from batdispatch.core.jobs.request import Request, amounts
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.core.line.events import MachinesAvailable, MachinesUnavailable
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Host, Machine
from strategies import jobs, machines


def ledger_of(machine: Machine, *, dynamic: bool = False, acknowledged: bool = False) -> Ledger:
    config = {"dynamic-jobs-enabled": dynamic, "dynamic-jobs-acknowledged": acknowledged}
    return Ledger(e.SimulationBegins(0.0, machine, config))


def submit(ledger: Ledger, number: int = 1, units: int = 1, **fields: object) -> Job:
    job = Job(id=f"w0!{number}", request=Request(units=units), **fields)  # type: ignore[arg-type]
    ledger.apply_submitted(e.JobSubmitted(ledger.now, job))
    assert ledger.why_impossible(job) == ""
    return job


def complete(ledger: Ledger, job: Job, state: JobState = JobState.COMPLETED_SUCCESSFULLY) -> Stay:
    if state is JobState.COMPLETED_KILLED:
        ledger.kill([job])
    return ledger.apply_completed(e.JobCompleted(ledger.now, job.id, state))


def test_a_job_through_its_life() -> None:
    ledger = ledger_of(Machine.flat(4))
    ledger.now = 3.0
    job = submit(ledger, units=2, walltime=4.0)
    assert list(ledger.queue.values()) == [job]
    ledger.now = 5.0
    stay = ledger.start(job, Allocation.parse("1 3"))
    assert (stay.job, stay.state, stay.start, str(stay.allocation)) == (job, JobState.RUNNING, 5.0, "1 3")
    assert not ledger.queue
    assert ledger.running == {"w0!1": stay}
    assert ledger.free == 0b0101
    assert ledger.take_decisions() == [d.Execute(5.0, "w0!1", Allocation.parse("1 3"))]
    assert ledger.take_decisions() == []
    epoch = ledger.epoch
    ledger.now = 9.0
    assert complete(ledger, job, JobState.COMPLETED_WALLTIME_REACHED) is stay
    assert stay.state is JobState.COMPLETED_WALLTIME_REACHED
    assert not ledger.running
    assert ledger.free == 0b1111
    assert ledger.epoch > epoch


def test_ranks_count_arrivals() -> None:
    ledger = ledger_of(Machine.flat(1))
    assert [ledger.rank(submit(ledger, number)) for number in (7, 3, 5)] == [0, 1, 2]


def test_a_rejected_job_is_gone_with_its_reason() -> None:
    ledger = ledger_of(Machine.flat(1))
    job = submit(ledger)
    ledger.reject(job, "too late")
    assert not ledger.queue
    with pytest.raises(ImpossibleDecision, match="it is ended or rejected already"):
        ledger.start(job, Allocation.parse("0"))
    assert ledger.rejections == [("w0!1", "too late")]
    assert ledger.take_decisions() == [d.Reject(0.0, "w0!1", "too late")]


def test_profiles_forwarded_on_submission_are_known() -> None:
    ledger = ledger_of(Machine.flat(1))
    job = Job(id="w1!a", request=Request(units=1), profile="p")
    ledger.apply_submitted(e.JobSubmitted(0.0, job, {"type": "delay", "delay": 3}))
    assert ledger.profiles == {"w1": {"p": {"type": "delay", "delay": 3}}}


@pytest.mark.parametrize("what", ["waiting", "running", "ended", "rejected"])
def test_a_job_cannot_be_submitted_twice(what: str) -> None:
    ledger = ledger_of(Machine.flat(1))
    job = submit(ledger)
    if what == "rejected":
        ledger.reject(job, "")
    elif what != "waiting":
        ledger.start(job, Allocation.parse("0"))
        if what == "ended":
            complete(ledger, job)
    with pytest.raises(InputError, match=r"event at 7.000000 s: job w0!1 was submitted twice"):
        ledger.apply_submitted(e.JobSubmitted(7.0, Job(id="w0!1", request=Request(units=1))))


@pytest.mark.parametrize(
    ("what", "state"), [("unknown", "unknown"), ("waiting", "waiting"), ("ended", "ended or rejected already")]
)
def test_only_a_running_job_can_complete(what: str, state: str) -> None:
    ledger = ledger_of(Machine.flat(1))
    if what != "unknown":
        job = submit(ledger)
        if what == "ended":
            ledger.start(job, Allocation.parse("0"))
            complete(ledger, job)
    with pytest.raises(
        InputError,
        match=rf"event at 8.000000 s: job w0!1 was reported complete \(COMPLETED_SUCCESSFULLY\) but is {state}",
    ):
        ledger.apply_completed(e.JobCompleted(8.0, "w0!1", JobState.COMPLETED_SUCCESSFULLY))


def test_what_runs_on_an_unavailable_host_goes_on() -> None:
    ledger = ledger_of(Machine.flat(3))
    job = submit(ledger)
    ledger.start(job, Allocation.parse("0"))
    epoch = ledger.epoch
    ledger.apply(MachinesUnavailable(ledger.now, Allocation.parse("0-1")))
    assert ledger.epoch > epoch
    assert ledger.free == 0b100
    complete(ledger, job)
    assert ledger.free == 0b100
    epoch = ledger.epoch
    ledger.apply(MachinesAvailable(ledger.now, Allocation.parse("0")))
    assert ledger.epoch > epoch
    assert ledger.free == 0b101
    ledger.apply(MachinesAvailable(ledger.now, Allocation.parse("0-2")))
    assert ledger.free == 0b111


@given(st.data())
def test_free_is_the_machine_without_jobs_and_absent_hosts(data: st.DataObject) -> None:
    machine = data.draw(machines())
    ledger = ledger_of(machine)
    space = ledger.space
    for number in range(data.draw(st.integers(1, 10))):
        action = data.draw(st.sampled_from(["start", "start", "end", "away", "back"]))
        hosts = Allocation(data.draw(st.integers(1, 2 ** len(machine.hosts) - 1)))
        if action == "start":
            job = data.draw(jobs(machine, f"w0!{number}"))
            ledger.apply_submitted(e.JobSubmitted(0.0, job))
            place = ledger.place(job)
            # What is found without the value of what is free is what that value says.
            assert ledger.fits(job) == (place is not None) == space.fits(ledger.free, job)
            assert (place and place.allocation) == first_fit(space, ledger.free, job)
            assert ledger.plausible([job]) == space.plausible(ledger.free, [job])
            if place is not None:
                ledger.start(job, place)
        elif action == "end" and ledger.running:
            complete(ledger, data.draw(st.sampled_from(list(ledger.running.values()))).job)
        elif action == "away":
            ledger.apply(MachinesUnavailable(ledger.now, hosts))
        elif action == "back":
            ledger.apply(MachinesAvailable(ledger.now, hosts))
        expected = space.whole()
        for stay in ledger.running.values():
            expected = space.take(expected, stay.job, stay.allocation)
        assert space.same(ledger.free, space.only(expected, ~ledger.unavailable))
        assert machine.exclusive or (ledger.free >= 0).all()
        assert not machine.exclusive or ledger.free_hosts == ledger.free.bit_count()
        ledger.check()


def test_hosts_are_counted_beside_licences() -> None:
    hosts = [Host(id=i, name=f"n{i}", properties={"licences": "matlab=1"}) for i in range(4)]
    ledger = ledger_of(Machine(hosts))
    ledger.start(submit(ledger), Allocation.parse("2"))
    assert ledger.free_hosts == 3


def test_what_is_free_is_worked_out_once_after_each_change() -> None:
    ledger = ledger_of(Machine.flat(70_000))
    before = ledger.free
    assert ledger.free is before
    job = submit(ledger, units=3)
    ledger.start(job, Allocation.parse("1 5-6"))
    assert ledger.free == before & ~0b1100010
    complete(ledger, job)
    assert ledger.free == before


def test_why_a_job_can_never_run() -> None:
    flat = ledger_of(Machine.flat(3))
    assert flat.why_impossible(Job(id="w0!1", request=Request(units=3))) == ""
    assert (
        flat.why_impossible(Job(id="w0!1", request=Request(units=4)))
        == "asks for 4 hosts, the whole machine has room for 3"
    )
    shared = ledger_of(Machine.flat(2, "core=4 gpu=1"))
    fine = Job(id="w0!1", request=Request(units=4, per_unit=amounts({"core": 2})))
    assert shared.why_impossible(fine) == ""
    assert shared.space.need(fine).amounts == (2, 0)
    assert shared.why_impossible(Job(id="w0!1", request=Request(units=3, per_unit=amounts({"core": 1, "gpu": 1})))) == (
        "asks for 3 units of 1 core, 1 gpu, the whole machine has room for 2"
    )
    assert (
        shared.why_impossible(Job(id="w0!1", request=Request(units=3)))
        == "asks for 3 hosts, the whole machine has room for 2"
    )
    assert shared.why_impossible(Job(id="w0!1", request=Request(units=1, per_unit=amounts({"mic": 1})))) == (
        "needs resource 'mic', the machine has core, gpu"
    )
    shared.apply(MachinesUnavailable(0.0, Allocation.parse("0-1")))
    assert shared.why_impossible(fine) == "", "absent hosts may come back"


def test_units_may_be_folded_onto_hosts() -> None:
    ledger = ledger_of(Machine.flat(3))
    job = Job(id="w0!1", request=Request(units=4))
    ledger.apply_submitted(e.JobSubmitted(0.0, job))
    ledger.start(job, Allocation.of([0, 1], [2, 2]))
    (execute,) = ledger.take_decisions()
    assert isinstance(execute, d.Execute)
    assert execute.executors() == {0: 0, 1: 0, 2: 1, 3: 1}
    other = Job(id="w0!2", request=Request(units=3))
    ledger.apply_submitted(e.JobSubmitted(0.0, other))
    ledger.start(other, Place(Allocation.parse("2"), mapping={0: 0, 1: 0, 2: 0}))
    assert ledger.free == 0


def test_a_total_amount_of_work_may_run_on_any_number_of_hosts() -> None:
    ledger = ledger_of(Machine.flat(3))
    ledger.profiles["w0"] = {
        "total": {"type": "parallel_homogeneous_total", "cpu": 1e9, "com": 0},
        "seq": {"type": "composed", "seq": ["total", "total"]},
    }
    for number, profile in enumerate(("total", "seq")):
        job = submit(ledger, number, units=1, profile=profile)
        ledger.start(job, Allocation.parse("0-2"))
        complete(ledger, job)


def test_what_spreads_freely() -> None:
    total, delay = {"type": "parallel_homogeneous_total"}, {"type": "delay"}
    known = {"t": total, "d": delay, "tt": {"type": "composed", "seq": ["t", "t"]}}
    assert spreads_freely(total, known)
    assert spreads_freely({"type": "composed", "seq": ["tt", "t"]}, known)
    assert not spreads_freely(delay, known)
    assert not spreads_freely({"type": "composed", "seq": ["t", "d"]}, known)
    assert not spreads_freely({"type": "composed", "seq": []}, known)
    assert not spreads_freely({"type": "composed", "seq": ["gone"]}, known)
    loop = {"loop": {"type": "composed", "seq": ["loop"]}}
    assert not spreads_freely(loop["loop"], loop)


def test_kills_and_calls_and_the_rest_become_decisions() -> None:
    machine = Machine([Host(id=0, name="n0"), Host(id=1, name="disk", storage=True)])
    ledger = ledger_of(machine, dynamic=True)
    ledger.now = 2.0
    job = submit(ledger)
    ledger.change_state(job, "RUNNING")
    ledger.set_metadata(job, "early")
    ledger.start(job, Place(Allocation.parse("0"), storage={"pfs": 1}))
    ledger.set_metadata(job, "late")
    ledger.send_message(job, "hello")
    ledger.kill([job, job])
    ledger.kill([])
    ledger.wake_at(3.0)
    ledger.query_energy()
    ledger.register_profile("w1", "p", {"type": "delay", "delay": 1})
    ledger.register_profile("w1", "p", {"type": "delay", "delay": 1})
    ledger.finish_registration()
    ledger.continue_registration()
    profile = d.RegisterProfile(2.0, "w1", "p", {"type": "delay", "delay": 1})
    assert ledger.take_decisions() == [
        d.ChangeState(2.0, job.id, "RUNNING"),
        d.SetMetadata(2.0, job.id, "early"),
        d.Execute(2.0, job.id, Allocation.parse("0"), None, {"pfs": 1}),
        d.SetMetadata(2.0, job.id, "late"),
        d.SendMessage(2.0, job.id, "hello"),
        d.Kill(2.0, [job.id]),
        d.CallMeLater(2.0, 3.0),
        d.QueryEnergy(2.0),
        profile,
        profile,
        d.FinishRegistration(2.0),
        d.ContinueRegistration(2.0),
    ]


def test_a_call_is_at_least_a_millisecond_away() -> None:
    # The request reaches a simulator by messages that take time, and Batsim aborts if the call's time has passed then.
    ledger = ledger_of(Machine.flat(1))
    ledger.now = 100.0
    ledger.wake_at(math.nextafter(100.0, math.inf))
    (call,) = ledger.take_decisions()
    assert isinstance(call, d.CallMeLater)
    assert round(call.at, 6) == 100.001


def test_a_registered_job_waits_for_its_acknowledgement() -> None:
    ledger = ledger_of(Machine.flat(2), dynamic=True, acknowledged=True)
    job = Job(id="w0!again", request=Request(units=2))
    ledger.register_job(job)
    assert not ledger.queue
    assert ledger.take_decisions() == [d.RegisterJob(0.0, job)]
    copy = Job(id="w0!again", request=Request(units=2))
    ledger.apply_submitted(e.JobSubmitted(1.0, copy))
    ledger.start(copy, Allocation.parse("0-1"))
    assert list(ledger.running) == ["w0!again"]


def test_without_acknowledgements_a_registered_job_waits_at_once() -> None:
    ledger = ledger_of(Machine.flat(2, "core=4"), dynamic=True)
    told: list[Job] = []
    ledger.on_registered = told.append
    job = Job(id="w0!again", request=Request(units=3, per_unit=amounts({"core": 2})))
    ledger.register_job(job)
    assert ledger.queue == {"w0!again": job}
    assert told == [job]
    assert ledger.space.need(job).amounts == (2,), "its demand counts as that of any other job"
    ledger.start(job, Allocation.of([0, 1], [2, 1]))
    assert ledger.free.tolist() == [[0], [2]]


def test_starts_are_told_to_a_dispatcher_that_asks() -> None:
    ledger = ledger_of(Machine.flat(2))
    started: list[Stay] = []
    ledger.on_start = started.append
    job = submit(ledger)
    stay = ledger.start(job, Allocation.parse("1"))
    assert started == [stay]
