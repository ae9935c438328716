"""Moving planned starts up: what two holes that belong together are worth."""

import pytest

from batdispatch.core.capacity.space import HostCount
from batdispatch.core.hosts.allocation import Allocation, Place
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.core.line import events as e
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Machine
from batdispatch.core.plans.reservations import Reservation, Reservations
from batdispatch.dispatchers.stochastic.movable import MovableJobs, PlannedStart
from batdispatch.dispatchers.stochastic.repack import RepackPass


@pytest.mark.parametrize("holes", [[(0.0, 30.0), (22.0, 23.0)], [(22.0, 23.0), (0.0, 30.0)]])
def test_a_hole_inside_another_does_not_hide_its_longer_stretch(holes: list[tuple[float, float]]) -> None:
    # One host is free from 0 to 15 s and from 20 to 25 s; the job of 12 s is planned to start at 40 s.
    machine = Machine.flat(1)
    ledger = Ledger(e.SimulationBegins(0.0, machine))
    plan = Reservations(ledger, lambda scene, job: Place(Allocation(1)), HostCount(machine))
    host = Place(Allocation(1))
    for key, start, end in (("a", 15.0, 20.0), ("b", 25.0, 40.0)):
        plan.put(key, Reservation(Job(id=key, request=Request(units=1)), start, end, host))
    job = Job(id="w0!1", request=Request(units=1))
    plan.put(job.id, Reservation(job, 40.0, 52.0, host))
    movable = MovableJobs()
    movable.put(job, PlannedStart(40.0, 0, job.id, 12.0))
    moved = RepackPass(plan, movable, {job.id: job}, share=0.01, slack=0.0).run(holes)
    assert [key for key, _ in moved] == [job.id]
    assert plan.planned[job.id].start == 0.0
