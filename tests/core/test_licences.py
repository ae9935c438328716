"""Licences, which exist once for the whole machine, beside what hosts and nodes have."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.capacity.filling import first_fit
from batdispatch.core.capacity.granularity import space_of
from batdispatch.core.capacity.licences import LicensedSpace
from batdispatch.core.capacity.space import Space
from batdispatch.core.errors import ImpossibleDecision, InputError
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job, JobState
from batdispatch.core.line import events as e
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.core.plans.timeline import Timeline
from strategies import make_job

A = Allocation.parse


def licensed(capacity: str | None = None, hosts: int = 4, licences: str = "matlab=3 abaqus=2") -> Machine:
    own = {} if capacity is None else {"capacity": capacity}
    return Machine([Host(id=i, name=f"n{i}", properties={"licences": licences, **own}) for i in range(hosts)])


def test_the_space_of_a_machine_with_licences() -> None:
    machine = licensed()
    assert machine.licences == (("abaqus", 2), ("matlab", 3))
    space = space_of(machine)
    assert isinstance(space, LicensedSpace)
    assert space.pools == ("host", "abaqus", "matlab")
    whole = space.whole()
    assert space.pooled(whole).tolist() == [4, 2, 3]
    job = make_job(units=2, licences={"matlab": 2})
    assert space.pooled_need(job).tolist() == [2, 0, 2]
    assert space.pooled_use(job, A("0-1")).tolist() == [2, 0, 2]
    assert space.fits(whole, job)
    assert not space.fits(whole, make_job(licences={"matlab": 4}))
    assert not space.fits(whole, make_job(units=5, licences={"matlab": 1}))
    assert space.lacking(whole, make_job(licences={"abaqus": 3}), A("0")) == (-1, "abaqus", 2, 3)


@st.composite
def some_jobs(draw: st.DrawFn, shared: bool, name: str) -> Job:
    demand = draw(st.sampled_from([None, {"core": 1}, {"core": 3}])) if shared else None
    licences = draw(st.dictionaries(st.sampled_from(["matlab", "abaqus"]), st.integers(0, 3)))
    return make_job(name, draw(st.integers(1, 4)), demand, **({"licences": licences} if licences else {}))


def random_free(data: st.DataObject, space: Space[Any], shared: bool) -> Any:
    free = space.whole()
    for number in range(data.draw(st.integers(0, 3))):
        job = data.draw(some_jobs(shared, f"w0!p{number}"))
        allocation = first_fit(space, free, job)
        assert (allocation is not None) == space.fits(free, job)
        if allocation is not None:
            free = space.take(free, job, allocation)
    return free


@given(st.booleans(), st.data())
def test_the_laws_of_free_capacity_hold_with_licences(shared: bool, data: st.DataObject) -> None:
    machine = licensed("core=4" if shared else None)
    space = space_of(machine)
    bare = space_of(Machine.flat(4, "core=4" if shared else None))
    a, b = random_free(data, space, shared), random_free(data, space, shared)
    both = space.meet(a, b)
    assert both.left.tolist() == [min(pair) for pair in zip(a.left.tolist(), b.left.tolist(), strict=True)]
    assert space.same(both, space.meet(b, a))
    assert space.same(space.meet(both, a), both)
    job = data.draw(some_jobs(shared, "w0!1"))
    asked = dict(job.request.licences)
    without = make_job(units=job.units, demand=job.request.demand)
    for free in (a, b, both):
        enough = all(left >= asked.get(name, 0) for (name, _), left in zip(machine.licences, free.left, strict=True))
        assert space.fits(free, job) == (enough and bare.fits(free.nodes, without))
        assert bool(space.fitting(free, [job])) == space.fits(free, job)
        assert not space.fits(free, job) or space.plausible(free, [job]) == [job]
        (room,) = space.rooms([free], job)
        assert (room is not None) == space.fits(free, job)
        assert room is None or space.enough(room, job)
    allocation = first_fit(space, a, job)
    assert (allocation is not None) == space.fits(a, job)
    if allocation is not None:
        less = space.take(a, job, allocation)
        assert [have - left for have, left in zip(a.left, less.left, strict=True)] == [
            asked.get(name, 0) for name, _ in machine.licences
        ]
        assert space.same(space.give(less, job, allocation), a)
        assert (space.pooled(a) - space.pooled(less)).tolist() == space.pooled_use(job, allocation).tolist()
        assert space.lacking(a, job, allocation) is None
    assert space.only(a, 0b101).left.tolist() == a.left.tolist(), "licences are no host's"


def test_two_free_capacities_differ_by_their_licences() -> None:
    space = space_of(licensed("core=4"))
    # A unit that needs nothing of its node, and a licence.
    job = make_job(demand={"core": 0}, licences={"matlab": 1})
    less = space.take(space.whole(), job, A("0"))
    assert not space.same(less, space.whole())
    assert (less.nodes == space.whole().nodes).all()


def submit(ledger: Ledger, job: Job) -> Job:
    return ledger.apply_submitted(e.JobSubmitted(ledger.now, job))


@pytest.mark.parametrize("capacity", [None, "core=4"])
def test_the_ledger_refuses_licences_beyond_what_there_is(capacity: str | None) -> None:
    ledger = Ledger(e.SimulationBegins(0.0, licensed(capacity)))
    first = submit(ledger, make_job("w0!1", licences={"matlab": 2}))
    second = submit(ledger, make_job("w0!2", licences={"matlab": 2}))
    third = submit(ledger, make_job("w0!3", licences={"abaqus": 2}))
    ledger.start(first, A("0"))
    ledger.check()
    assert ledger.place(second) is None
    with pytest.raises(
        ImpossibleDecision, match="job w0!2 cannot start: the machine has 1 matlab free, the job needs 2"
    ):
        ledger.start(second, A("1"))
    ledger.check()
    ledger.start(third, A("1"))
    ledger.check()
    ledger.apply_completed(e.JobCompleted(1.0, "w0!1", JobState.COMPLETED_SUCCESSFULLY))
    ledger.check()
    place = ledger.place(second)
    assert place is not None
    ledger.start(second, place)
    ledger.check()
    assert ledger.free.left.tolist() == [0, 1]


def test_why_a_job_with_licences_can_never_run() -> None:
    ledger = Ledger(e.SimulationBegins(0.0, licensed()))
    assert ledger.why_impossible(make_job(licences={"matlab": 3})) == ""
    assert ledger.why_impossible(make_job(licences={"matlab": 4})) == "asks for 4 matlab, the whole machine has 3"
    assert ledger.why_impossible(make_job(licences={"ansys": 1})) == (
        "needs licence 'ansys', the machine has abaqus, matlab"
    )
    assert ledger.why_impossible(make_job(licences={"ansys": 0})) == ""
    bare = Ledger(e.SimulationBegins(0.0, Machine.flat(2)))
    assert bare.why_impossible(make_job(licences={"ansys": 1})) == "needs licence 'ansys', the machine has none"


def test_a_timeline_waits_for_licences() -> None:
    space = space_of(licensed())
    timeline = Timeline(space, 0.0, space.whole())
    timeline.reserve(make_job("w0!1", licences={"matlab": 2}), A("0"), 0.0, 5.0)

    def choose(free: Any, job: Job, start: float, end: float) -> Any:
        return first_fit(space, free, job)

    assert timeline.earliest(make_job("w0!2", licences={"matlab": 2}), 3.0, choose) == (5.0, A("0"))
    assert timeline.earliest(make_job("w0!3", licences={"matlab": 1}), 3.0, choose) == (0.0, A("1"))


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (("matlab=3", "matlab=4"), "hosts state different licences: 'matlab=3' and 'matlab=4'"),
        (("matlab",), "'matlab' is not name=amount"),
        (("matlab=0",), "is empty"),
    ],
)
def test_licences_that_make_no_machine(texts: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Machine([Host(id=i, name=f"n{i}", properties={"licences": text}) for i, text in enumerate(texts)])
