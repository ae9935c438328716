"""A dispatcher that takes recorded decisions again, through the ledger, which checks them."""

from collections.abc import Callable
from typing import Any

from batdispatch.core.hosts.allocation import Place
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.core.line import decisions as d
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.ledger import Ledger


class Scripted(Dispatcher):
    """Takes recorded decisions again, one reply after the other."""

    def __init__(self, replies: list[list[d.Decision]]) -> None:
        super().__init__()
        # What a dispatcher needs of the simulation is asked at its beginning.
        self.registers_jobs = any(isinstance(decision, REGISTERING) for reply in replies for decision in reply)
        self.replies = iter(replies)

    def registration_done(self, ledger: Ledger) -> bool:
        return False

    def decide(self, ledger: Ledger) -> None:
        for decision in next(self.replies):
            if not (isinstance(decision, d.Reject) and decision.job_id not in ledger.queue):
                TAKE[type(decision)](ledger, decision)


REGISTERING = d.RegisterJob | d.RegisterProfile | d.FinishRegistration | d.ContinueRegistration


def job(ledger: Ledger, job_id: str) -> Any:
    # A job that has ended is no longer in the ledger; any object with its id says what is meant.
    stay = ledger.running.get(job_id)
    return stay.job if stay else ledger.queue.get(job_id) or Job(id=job_id, request=Request())


TAKE: dict[type, Callable[[Ledger, Any], None]] = {
    d.Execute: lambda c, x: c.start(job(c, x.job_id), Place(x.allocation, x.mapping, x.storage, x.io_job)),
    d.Reject: lambda c, x: c.reject(job(c, x.job_id), "as recorded"),
    d.Kill: lambda c, x: c.kill([job(c, job_id) for job_id in x.job_ids]),
    d.CallMeLater: lambda c, x: c.wake_at(x.at),
    d.RegisterProfile: lambda c, x: c.register_profile(x.workload, x.name, x.profile),
    d.RegisterJob: lambda c, x: c.register_job(x.job),
    d.SetMetadata: lambda c, x: c.set_metadata(job(c, x.job_id), x.metadata),
    d.SendMessage: lambda c, x: c.send_message(job(c, x.job_id), x.message),
    d.ChangeState: lambda c, x: c.change_state(job(c, x.job_id), x.state),
    d.FinishRegistration: lambda c, x: c.finish_registration(),
    d.ContinueRegistration: lambda c, x: c.continue_registration(),
    d.SetResourceState: lambda c, x: c.set_state(x.hosts, x.state),
    d.QueryEnergy: lambda c, x: c.query_energy(),
    d.CallEvery: lambda c, x: c.call_every(x.call_id, x.period, x.times),
    d.StopCalls: lambda c, x: c.stop_calls(x.call_id),
    d.CreateProbe: lambda c, x: c.probe(x.probe_id, x.hosts, x.period, x.times, aggregate=x.aggregate),
    d.StopProbe: lambda c, x: c.stop_probe(x.probe_id),
    d.StopSimulation: lambda c, x: c.stop_simulation(),
}
