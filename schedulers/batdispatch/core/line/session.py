"""The line: events in, ledger updated, dispatcher decides, decisions checked, decisions out.

Theory of operation
-------------------

A session is one simulation as one dispatcher lives through it. It has no clock, file or socket: whoever has them hands
it messages and takes its replies. Everything that changes what is known of the cluster happens in `Session.handle`.

Three parties have their say there, and only these:

- the *ledger* (`core.line.ledger`): jobs, hosts that are there, what is idle. It applies events, and takes or refuses
  decisions.
- its *concerns* (`core.line.concern`): whatever else keeps capacity, closes hosts or holds starts back. The ledger asks
  those that have joined, in the order in which they did: most runs have none.
- the *dispatcher*, which may be a layer around another one (`batdispatch.layers`). The wrapped one sees the same ledger
  with the jobs as the layer amended them. Who asks it for what beside decisions stands in `core.line.roles`.

The steps, in this order:

1. *Begin.* The first event of the first message is SIMULATION_BEGINS. A simulation that lacks what the dispatcher or
   the machine needs is refused. Otherwise the event makes the ledger, concerns join that have something to see to from
   the beginning, and refuse a dispatcher that cannot do with them (`concern.Introduction`), and `Dispatcher.begin` is
   called. Before that nothing else can happen; afterwards it cannot happen again.
2. *Apply.* The events of a message are applied one by one, in the order in which they stand: the ledger checks and
   applies an event, concerns hear of it (`admit` and `line_up` for a submission, `on_end`, `on_event`), then the
   dispatcher does (`on_submit`, `on_end`, `on_killed`, `on_event`). If an event undid a start (`Concerns.called_off`),
   the dispatcher hears of that first (`on_called_off`). A job that can never run is rejected before the dispatcher
   hears of it, unless a layer gives it another form (`Dispatcher.reshapes`). A job that depends on others, or a task of
   an array with a limit, is kept back (`core.line.roll`). Time never goes backwards.
3. *Turn.* Concerns show waiting jobs anew where that is due (`QueueTerms.turn`), such as where reservations have closed
   or opened hosts: the dispatcher hears of `on_withdrawn`, then of `on_submit`.
4. *Follow up.* Three things are done in turn until none of them changes anything (`concerns.dependencies`). What ended
   is over, unless a registered job continues it by now. Blocked jobs that can never start are rejected. Blocked jobs
   that have nothing to wait for any more enter the queue in order of arrival, and the dispatcher hears of them. So
   before it decides, it knows of every job that may start at this moment, whatever the order of the events was. One end
   is left open here: that of a job which a decision has killed. The dispatcher may continue it until it has decided
   with the answer to the kill (`on_killed`), which may come in a later message than the job's end.
5. *Decide.* `Dispatcher.decide` is called once for all events of a message, whatever their number. It acts through the
   ledger's methods, which check each decision at the line that makes it: what is impossible raises `ImpossibleDecision`
   there, and no decision of the message is sent. A start goes through three gates before anything changes: concerns may
   forbid it, or give back what they keep for this job (`may_start`); then the hosts must be there and have what the job
   needs. After that the job holds its hosts, concerns learn of it (`on_start`), and the decision is sent, unless a
   concern takes it later (`let_through`). A dispatcher may also act while it hears of events. What the decisions start
   or reject may free others or leave them without hope: step 4 is done again, now for killed jobs as well if the answer
   to the kill has come. If it frees jobs, the dispatcher decides once more, until no job is freed.
6. *Reply.* Concerns add their last decisions (`concern.ReplyDue`). The decisions leave in the order in which they were
   taken. If deciding takes simulated time, they take effect when it has passed, and so do the starts in the ledger.
7. *End.* SIMULATION_ENDS is the last event, and comes when no job runs or waits. The dispatcher reports, and no message
   may follow.

What holds after each step stands as invariants in `core.line.ledger` and at the top of each concern; `Ledger.check`
verifies them all, and the property tests call it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import msgspec

from batdispatch.core import extras
from batdispatch.core.errors import BatdispatchError, InputError, SimulationError
from batdispatch.core.jobs.job import Job
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.core.line.blame import blame, file_of, interrupt_of
from batdispatch.core.line.concern import Introduction, ReplyDue
from batdispatch.core.line.concerns.dependencies import Dependencies
from batdispatch.core.line.concerns.registration import Registration
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.idle_calls import IdleCalls
from batdispatch.core.line.ledger import SOONEST, Ledger
from batdispatch.core.line.messages import Message, Reply
from batdispatch.core.line.ticks import TICK
from batdispatch.core.machine.storages import uses_storage

#: Seconds of simulated time that a decision takes: a constant, or None for the measured time.
DecisionTime = float | None


class Session:
    """A dispatcher and its ledger over one simulation; answers messages (see `batdispatch.core.line.messages.Peer`).

    Attributes:
        ledger: the ledger, once the simulation has begun.
        ended: True after SimulationEnds.
        decision_times: simulated time of each call of `decide`, s; empty without a clock.
        decision_seconds: seconds that each of them took by the clock.
        report: what the dispatcher reported at the end.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        *,
        decision_time: DecisionTime = 0.0,
        clock: Callable[[], float] | None = None,
    ) -> None:
        """Take a dispatcher for one simulation.

        Args:
            dispatcher: the dispatcher.
            decision_time: simulated seconds that each decision takes; None: as long as it took by `clock`.
            clock: seconds by which decisions are timed, such as `time.perf_counter`; None: they are not timed.

        Raises:
            ValueError: decisions are to take their measured time and there is no clock.
        """
        if decision_time is None and clock is None:
            raise ValueError("a measured decision time needs a clock")
        self.dispatcher = dispatcher
        self.decision_time = decision_time
        self.ledger: Ledger | None = None
        self.ended = False
        self.decision_times: list[float] = []
        self.decision_seconds: list[float] = []
        self.report: dict[str, Any] = {}
        self._timed = clock is not None
        self._clock = clock or (lambda: 0.0)
        dispatcher.clock = self._clock
        self._registration_open = False
        self._idle_calls = IdleCalls()
        self._apply: dict[type[e.Event], Callable[[Ledger, Any], None]] = {
            e.SimulationBegins: self._begins_again,
            e.JobSubmitted: self._submitted,
            e.JobCompleted: self._completed,
            e.JobsKilled: self._killed,
            e.SimulationEnds: self._ends,
        }

    def handle(self, message: Message) -> Reply:
        """Apply a message's events, let the dispatcher decide once, and return its decisions.

        Raises:
            InputError: the message contradicts what was said or decided before, or a library is missing.
            ImpossibleDecision: the dispatcher decided something impossible.
            SimulationError: the dispatcher raised an exception of its own, or has itself called without end, or the
                simulation ended with jobs left.
        """
        try:
            return self._handle(message)
        except BatdispatchError:
            raise
        except (Exception, SystemExit) as problem:
            if isinstance(problem, ImportError) and (said := extras.explanation_of(problem)) is not None:
                raise said from None
            if (interrupt := interrupt_of(problem)) is not None:
                raise interrupt from None
            cls = type(self.dispatcher.innermost())
            raise SimulationError(
                f"dispatcher {cls.__name__} failed at {message.now:.6f} s: {blame(problem, file_of(cls))}"
            ) from problem

    def _handle(self, message: Message) -> Reply:
        now = message.now
        events = message.events
        ledger = self.ledger
        if self.ended:
            raise InputError(f"a message of {now:.6f} s came after SIMULATION_ENDS")
        if ledger is None:
            ledger = self._begin(events)
            events = events[1:]
        if now < ledger.now:
            raise InputError(f"time goes backwards: message of {now:.6f} s after {ledger.now:.6f} s")
        ledger.now = now
        apply, hear = self._apply, self._heard
        for event in events:
            apply.get(type(event), hear)(ledger, event)
        if self.ended:
            return Reply(now, ledger.take_decisions())
        if ledger.concerns.terms:
            self._turn(ledger)
        self._follow_up(ledger, decided=False)
        timed = self._timed
        began = self._clock() if timed else 0.0
        self.dispatcher.decide(ledger)
        while self._follow_up(ledger, decided=True):
            self.dispatcher.decide(ledger)
        if ledger.concerns.active:
            ledger.concerns.tell(ReplyDue())
        spent = self._clock() - began if timed else 0.0
        if timed:
            self.decision_times.append(now)
            self.decision_seconds.append(spent)
        if self._registration_open and self.dispatcher.registration_done(ledger):
            Registration.of(ledger).finish_registration()
            self._registration_open = False
        decisions = ledger.take_decisions()
        if events and type(events[-1]) is not e.RequestedCall:
            self._idle_calls.interrupt()
        elif loop := self._idle_calls.endless(message, decisions):
            cls = type(self.dispatcher.innermost())
            raise SimulationError(f"dispatcher {cls.__name__} does not get on at {now:.6f} s: {loop}")
        delay = spent if self.decision_time is None else self.decision_time
        if delay > 0.0:
            return Reply(now + delay, self._postponed(ledger, decisions, now + delay))
        return Reply(now, decisions)

    def _begin(self, events: Sequence[e.Event]) -> Ledger:
        if not events or not isinstance(events[0], e.SimulationBegins):
            raise InputError("the first event must be SIMULATION_BEGINS")
        _check_features(events[0], self.dispatcher)
        self.ledger = ledger = Ledger(events[0])
        ledger.concerns.tell(Introduction(self.dispatcher, self.decision_time))
        registration = Registration.of(ledger)
        registration.on_registered = lambda job: self._entered(ledger, job)
        if type(self.dispatcher).on_start is not Dispatcher.on_start:
            ledger.on_start = partial(self.dispatcher.on_start, ledger)
        self.dispatcher.begin(ledger)
        if ledger.config.get("dynamic-jobs-enabled"):
            if self.dispatcher.registers_jobs:
                self._registration_open = True
            else:
                registration.finish_registration()
        return ledger

    def _begins_again(self, ledger: Ledger, event: e.SimulationBegins) -> None:
        raise InputError(f"SIMULATION_BEGINS came a second time, at {ledger.now:.6f} s")

    def _submitted(self, ledger: Ledger, event: e.JobSubmitted) -> None:
        self._entered(ledger, ledger.apply_submitted(event))

    def _entered(self, ledger: Ledger, job: Job) -> None:
        """Tell the dispatcher of a job that entered the queue, unless it can never run."""
        if job.id not in ledger.queue:
            return
        reason = ledger.why_impossible(job)
        if reason and not self.dispatcher.reshapes(ledger, job):
            ledger.reject(job, reason)
        else:
            self.dispatcher.on_submit(ledger, job)

    def _completed(self, ledger: Ledger, event: e.JobCompleted) -> None:
        stay = ledger.apply_completed(event)
        self.dispatcher.on_end(ledger, stay)

    def _turn(self, ledger: Ledger) -> None:
        """Let the dispatcher see waiting jobs in the form in which concerns show them from now on."""
        for terms in ledger.concerns.terms:
            for before, shown in terms.turn():
                if before is not None:
                    self.dispatcher.on_withdrawn(ledger, before)
                if shown is not None:
                    self._entered(ledger, shown)

    def _follow_up(self, ledger: Ledger, *, decided: bool) -> bool:
        """Reject what is hopeless and free what waits no longer until nothing changes; return whether jobs were freed.

        Args:
            ledger: the cluster.
            decided: whether the dispatcher has decided about what it heard of.
        """
        roll = ledger.roll
        if not (roll.unsettled or roll.blocked):
            return False
        dependencies, freed, changed = Dependencies.of(ledger), False, True
        while changed:
            dependencies.settle(decided=decided)
            if not roll.blocked:
                break
            rejected = dependencies.reject_hopeless()
            ready = dependencies.unblock()
            for job in ready:
                self._entered(ledger, job)
            freed |= bool(ready)
            changed = bool(rejected or ready)
        return freed

    def _killed(self, ledger: Ledger, event: e.JobsKilled) -> None:
        ledger.apply(event)
        self.dispatcher.on_killed(ledger, event)

    def _heard(self, ledger: Ledger, event: e.Event) -> None:
        ledger.apply(event)
        called_off = ledger.concerns.called_off
        while called_off:
            self.dispatcher.on_called_off(ledger, called_off.pop(0))
        self.dispatcher.on_event(ledger, event)

    def _ends(self, ledger: Ledger, event: e.SimulationEnds) -> None:
        ledger.apply(event)
        self.ended = True
        self.report = self._checked_report()

    def _checked_report(self) -> dict[str, Any]:
        """Return the dispatcher's report, before any result is written that it would spoil."""
        report = self.dispatcher.report()
        if not isinstance(report, dict):
            raise TypeError(f"report() returned {report!r}, expected a dict")
        if self.ledger is not None and self.ledger.given_up:
            report = {**report, "placement_given_up": dict(sorted(self.ledger.given_up.items()))}
        int(report.get("fallbacks", 0))
        msgspec.json.encode(report)
        return report

    def _postponed(self, ledger: Ledger, decisions: list[d.Decision], at: float) -> list[d.Decision]:
        """Let decisions take effect when the dispatcher has finished deciding."""
        moved: list[d.Decision] = []
        for decision in decisions:
            if isinstance(decision, d.CallMeLater) and decision.at <= at + TICK / 2:
                # The asked-for moment passed while deciding; Batsim accepts only calls in the future.
                decision = msgspec.structs.replace(decision, at=at + SOONEST)
            elif isinstance(decision, d.Execute):
                ledger.running[decision.job_id].start = at
                ledger.roll.begin(decision.job_id, at)
            moved.append(msgspec.structs.replace(decision, time=at))
        return moved


def _check_features(begins: e.SimulationBegins, dispatcher: Dispatcher) -> None:
    """Compare what a simulator allows with what the dispatcher says it does and what the machine is.

    What a simulator does not speak of (Batsim 5 always lets jobs share hosts) is not missed.

    Raises:
        InputError: names each option of Batsim that is missing or too much, with the reason.
    """
    changes = [
        f"{change} ({reason})" for key, change, reason in _wanted(begins, dispatcher) if begins.config.get(key) is False
    ]
    if changes:
        raise InputError(f"the simulation is not as this run needs it: start Batsim 4 {' and '.join(changes)}")


def _wanted(begins: e.SimulationBegins, dispatcher: Dispatcher) -> list[tuple[str, str, str]]:
    """Return (key of Batsim's configuration that must not be false, what to change, why)."""
    wanted = []
    machine = begins.machine
    if dispatcher.registers_jobs:
        wanted.append(("dynamic-jobs-enabled", "with --enable-dynamic-jobs", "the dispatcher registers jobs"))
    if dispatcher.reuses_profiles:
        reason = "the jobs that it registers use profiles of jobs that may have ended"
        wanted.append(("profile-reuse-enabled", "with --enable-profile-reuse", reason))
    if not machine.exclusive:
        reason = "the platform states what its hosts offer, so that jobs share hosts"
        wanted.append(("allow_compute_sharing", "with --enable-compute-sharing", reason))
    if machine.storage:
        for workload, profiles in sorted(begins.profiles.items()):
            name = uses_storage(profiles)
            if name is not None:
                reason = f"profile {workload}!{name} uses storage, which dispatchers let jobs share"
                wanted.append(("allow_storage_sharing", "without --disable-storage-sharing", reason))
                break
    return wanted
