"""Moving planned starts up: whom what became free may help."""

import pytest

from batdispatch.abilities.stochastic.repack import FreedRoom
from batdispatch.core.capacity.space import HostCount
from batdispatch.core.hosts.allocation import Allocation, Place
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.core.line import events as e
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Machine
from batdispatch.core.plans.reservations import Reservation, Reservations


@pytest.mark.parametrize("holes", [[(0.0, 30.0), (22.0, 23.0)], [(22.0, 23.0), (0.0, 30.0)]])
def test_a_job_is_helped_that_fits_or_starts_where_a_stretch_ends(holes: list[tuple[float, float]]) -> None:
    # One host is free from 0 to 15 s, from 20 to 25 s, and from 40 s on.
    machine = Machine.flat(1)
    ledger = Ledger(e.SimulationBegins(0.0, machine))
    plan = Reservations(ledger, lambda scene, job: Place(Allocation(1)), HostCount(machine))
    job = Job(id="w0!1", request=Request(units=1))
    for key, start, end in (("a", 15.0, 20.0), ("b", 25.0, 40.0)):
        plan.put(key, Reservation(job, start, end, Place(Allocation(1))))
    room = FreedRoom(plan, holes, slack=0.0)
    assert room.may_help(job, start=40.0, duration=15.0, least=15.0)
    assert not room.may_help(job, start=40.0, duration=15.1, least=0.0), "longer than the longest stretch"
    assert room.may_help(job, start=25.0, duration=99.0, least=5.0), "it starts where a stretch ends"
    assert not room.may_help(job, start=25.0, duration=99.0, least=15.1), "no stretch gains so much"
    assert not room.may_help(job, start=0.0, duration=1.0, least=0.0), "it starts before"
