"""Goes through a recorded run again: the ledger before every decision, with the recorded decisions applied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from batdispatch.batsim import protocol
from batdispatch.core.errors import ImpossibleDecision, InputError
from batdispatch.core.hosts.allocation import Allocation, Place
from batdispatch.core.jobs.job import Job, Stay
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.core.line.concerns.registration import Registration
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.messages import Message
from batdispatch.core.line.session import Session
from batdispatch.links.excerpt import Excerpt
from batdispatch.links.replay import read_exchanges, told_by


class RetracePeer(Dispatcher):
    """Decides what was recorded. Subclasses look at the cluster in `look`, before the decisions take effect.

    Attributes:
        recorded: the decisions of the current message that are to be taken next.
    """

    #: The hosts of a recorded start may lie in any part of the machine that the job chose from.
    heeds_choices = True
    recorded: Sequence[d.Decision] = ()
    #: Starts that come later in the recording, for which hosts begin to wake up now.
    early: Sequence[d.Execute] = ()

    def hear(self, message: Message) -> None:
        """Hear of a message before the ledger applies its events."""

    def look(self, ledger: Ledger) -> None:
        """See the cluster as the recorded dispatcher saw it."""

    def registration_done(self, ledger: Ledger) -> bool:
        # What was recorded says when.
        return False

    def on_end(self, ledger: Ledger, stay: Stay) -> None:
        # A job that ends by itself is over before the decision, unless it is continued by then.
        for decision in self.recorded:
            if isinstance(decision, d.RegisterJob) and decision.job.parent == stay.job.id:
                Registration.of(ledger).register_job(decision.job)

    def bring_forward(self, ledger: Ledger) -> list[str]:
        """Take the starts in `early` first whose hosts are free, and return the ids of their jobs."""
        space, free, starts = ledger.space, ledger.free, list[d.Execute]()
        for decision in self.early:
            job = ledger.queue.get(decision.job_id)
            if job is None or space.lacking(free, job, decision.allocation) is not None:
                continue
            free = space.take(free, job, decision.allocation)
            starts.append(decision)
        self.early = ()
        self.recorded = (*starts, *self.recorded)
        return [decision.job_id for decision in starts]

    def decide(self, ledger: Ledger) -> None:
        self.look(ledger)
        taken, self.recorded = self.recorded, ()
        blocked = list[d.Decision]()
        for index, decision in enumerate(taken):
            if isinstance(decision, d.Execute) and decision.job_id in ledger.blocked:
                # What was decided before frees the job; then the dispatcher decided once more.
                self.recorded = [*blocked, *taken[index:]]
                return
            if isinstance(decision, d.Reject) and decision.job_id in ledger.blocked:
                # So here, or the ledger rejects it by itself.
                blocked.append(decision)
            if isinstance(decision, d.Execute) and decision.job_id in ledger.running:
                # It was brought forward.
                continue
            if isinstance(decision, d.Execute):
                job = _waiting(ledger, decision.job_id)
                stay = ledger.start(job, _place(ledger, job, decision))
                # Deciding may have taken time.
                stay.start = decision.time
            elif isinstance(decision, d.Reject) and decision.job_id in ledger.queue:
                ledger.reject(ledger.queue[decision.job_id], decision.reason)
            elif isinstance(decision, d.Kill):
                ledger.kill([ledger.running[name].job for name in decision.job_ids if name in ledger.running])
            elif isinstance(decision, d.RegisterProfile):
                Registration.of(ledger).register_profile(decision.workload, decision.name, decision.profile)
            elif isinstance(decision, d.RegisterJob) and not ledger.roll.knows(decision.job.id):
                Registration.of(ledger).register_job(decision.job)
            elif isinstance(decision, d.FinishRegistration):
                Registration.of(ledger).finish_registration()
            elif isinstance(decision, d.ContinueRegistration):
                Registration.of(ledger).continue_registration()
        self.recorded = blocked


def _waiting(ledger: Ledger, job_id: str) -> Job:
    if job_id not in ledger.queue:
        raise InputError(f"the recording starts job {job_id}, which does not wait at {ledger.now:g} s")
    return ledger.queue[job_id]


def _place(ledger: Ledger, job: Job, decision: d.Execute) -> Place:
    """Return where a recorded decision puts a job."""
    allocation, mapping = decision.allocation, decision.mapping
    if mapping is None or ledger.machine.units_are_hosts(job.request):
        return Place(allocation, mapping)
    # On the wire, units on nodes are executors mapped to hosts.
    placed = Counter(mapping.values())
    return Place(Allocation.of(allocation.ids, [placed[index] for index in range(allocation.size)]))


def retrace(
    path: Path,
    dispatcher: RetracePeer,
    *,
    partial: bool = False,
    excerpt: Excerpt | None = None,
    early: Mapping[int, Sequence[d.Execute]] | None = None,
) -> None:
    """Let a peer go through a recording.

    Args:
        path: decisions.jsonl.
        dispatcher: the peer.
        partial: whether it may end before the simulation does.
        excerpt: the part of it that is gone through; None: all.
        early: starts for which hosts had to wake up, see `links.early_starts`; None: they are taken where they stand.

    Raises:
        InputError: the recording is malformed or contradicts itself.
        OSError: it cannot be read.
    """
    wire = protocol(told_by(path))
    session = Session(dispatcher)
    wants = None if excerpt is None else excerpt.keeps
    for exchange, message, reply in read_exchanges(path, wire, partial=partial, wants=wants):
        if message is None:
            continue
        if excerpt is not None:
            message, reply = excerpt.of(message, reply)
        try:
            dispatcher.recorded = () if reply is None else reply.decisions
            dispatcher.early = () if early is None else early.get(exchange.line, ())
            dispatcher.hear(message)
            if session.ledger is None and message.events and isinstance(message.events[0], e.SimulationBegins):
                # It registers what was registered.
                enabled = bool(message.events[0].config.get("dynamic-jobs-enabled"))
                setattr(dispatcher, "registers_jobs", enabled)  # noqa: B010
            session.handle(message)
            left = next((one for one in dispatcher.recorded if isinstance(one, d.Execute)), None)
            if left is not None and session.ledger is not None:
                _waiting(session.ledger, left.job_id)
        except (InputError, ImpossibleDecision) as problem:
            raise InputError(str(problem), source=str(path), place=f"line {exchange.line}") from None
