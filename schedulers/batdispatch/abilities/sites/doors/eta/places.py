"""Each waiting job's place in line, by the order of the dispatcher."""

from __future__ import annotations

import numpy as np

from batdispatch.abilities.sites.doors.eta.futures import columns_of
from batdispatch.abilities.sites.doors.eta.queue_moment import Ints, QueueMoment, join
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.events import JobSubmitted, SimulationBegins
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.dispatchers.backfilling.queue import QueueDispatcher
from batdispatch.links.foreign import create_any


def places_of(dispatcher: str, units: int, moment: QueueMoment) -> Ints:
    """Return the place in line of each waiting job, int64 [waiting job]: 1 goes first, 0 can never start.

    The dispatcher is told of the jobs as they came and started, and sorts its queue. A job behind others may still
    start before them where the dispatcher fills gaps.

    Deviations: the dispatcher knows of no job that has ended, so that fair shares count the running jobs alone, and
    predictions have learned nothing.

    Args:
        dispatcher: its name, with options in brackets.
        units: of the machine, at least those that the running jobs hold.
        moment: the queue.
    """
    chosen = create_any(dispatcher, {}, 0)
    assert isinstance(chosen, QueueDispatcher)
    running, waiting = moment.running, moment.waiting
    jobs = join(running, waiting)
    begin = float(jobs.submission.min(initial=moment.now))
    columns = columns_of(jobs.submission - begin, jobs.units, jobs.walltime, np.zeros(len(jobs.ids)), jobs.users)
    first = len(running.ids)
    # Of two events of one moment, a submission comes first.
    events = [(at, 0, row) for row, at in enumerate(jobs.submission.tolist()) if jobs.units[row] <= units]
    events += [(at, 1, row) for row, at in enumerate(np.maximum(running.start, running.submission).tolist())]
    ledger = Ledger(SimulationBegins(0.0, Machine([Host(id=number, name=f"h{number}") for number in range(units)])))
    chosen.begin(ledger)
    shown: dict[int, Job] = {}
    for at, starts, row in sorted(events):
        ledger.now = at - begin
        if starts:
            place = ledger.place(shown[row])
            assert place is not None
            ledger.start(shown[row], place)
            chosen.forget(shown[row])
        else:
            shown[row] = ledger.apply_submitted(JobSubmitted(ledger.now, columns.job(row)))
            chosen.on_submit(ledger, shown[row])
    ledger.now = moment.now - begin
    places = np.zeros(len(waiting.ids), dtype=np.int64)
    for ahead, job in enumerate(chosen.in_order(ledger)):
        places[int(job.id) - first] = ahead + 1
    return places
