"""What a dispatcher tells a job or the simulator that changes neither who waits nor what is idle."""

from __future__ import annotations

from batdispatch.core.jobs.job import Job, JobState
from batdispatch.core.line import decisions as d
from batdispatch.core.line.concern import Concern
from batdispatch.core.line.ledger import Ledger, some_of


class Remarks(Concern):
    """What is told a job or the simulator. It only decides, and is never asked."""

    offers = ("change_state", "send_message", "set_metadata", "stop_simulation")
    ledger: Ledger

    def stop_simulation(self) -> None:
        """End the simulation now, whatever waits (Batsim 5 only)."""
        ledger = self.ledger
        if ledger.running:
            raise ledger.refusal(f"the simulation cannot end while jobs run: {some_of(ledger.running)}")
        ledger.roll.stopped = True
        ledger.decisions.append(d.StopSimulation(ledger.now))

    def set_metadata(self, job: Job, text: str) -> None:
        """Write a text into the job's line of the jobs file."""
        ledger = self.ledger
        if job.id not in ledger.queue and job.id not in ledger.running and job.id not in ledger.roll.registered:
            raise ledger.refusal(f"job {job.id} cannot be given metadata: it is {ledger.state_of(job.id)}")
        if '"' in text:
            raise ledger.refusal(f"job {job.id}: metadata must not contain double quotes")
        ledger.decisions.append(d.SetMetadata(ledger.now, job.id, text))

    def send_message(self, job: Job, message: str) -> None:
        """Say something to a running job."""
        ledger = self.ledger
        if job.id not in ledger.running:
            raise ledger.refusal(f"job {job.id} cannot be told anything: it is {ledger.state_of(job.id)}")
        ledger.decisions.append(d.SendMessage(ledger.now, job.id, message))

    def change_state(self, job: Job, state: str) -> None:
        """Overwrite a waiting job's state (Batsim 4); end states are refused as Batsim does."""
        ledger = self.ledger
        if state not in (JobState.SUBMITTED, JobState.RUNNING) or job.id not in ledger.queue:
            raise ledger.refusal(
                f"job {job.id}: its state cannot become {state!r}: only SUBMITTED or RUNNING, of a waiting job"
            )
        ledger.decisions.append(d.ChangeState(ledger.now, job.id, state))
