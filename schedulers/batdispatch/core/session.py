"""The line: events in, ledger updated, dispatcher decides, decisions checked, decisions out."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from batdispatch.core import decisions as d
from batdispatch.core import events as e
from batdispatch.core.blame import blame, file_of
from batdispatch.core.dispatcher import Dispatcher
from batdispatch.core.errors import BatdispatchError, InputError, SimulationError
from batdispatch.core.ledger import TICK, Ledger
from batdispatch.core.messages import Message, Reply

#: Seconds of simulated time that a decision takes: a constant, or None for the measured time.
DecisionTime = float | None


class Session:
    """A dispatcher and its ledger over one simulation; answers messages (see `batdispatch.core.messages.Peer`).

    Attributes:
        ledger: the ledger, once the simulation has begun.
        ended: True after SimulationEnds.
        decision_seconds: wall-clock seconds of each call of `decide`.
        report: what the dispatcher reported at the end.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        *,
        decision_time: DecisionTime = 0.0,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.dispatcher = dispatcher
        self.decision_time = decision_time
        self.ledger: Ledger | None = None
        self.ended = False
        self.decision_seconds: list[float] = []
        self.report: dict[str, Any] = {}
        self._clock = clock
        self._registration_open = False
        self._apply: dict[type[e.Event], Callable[[Ledger, Any], None]] = {
            e.JobSubmitted: self._submitted,
            e.JobCompleted: self._completed,
            e.JobsKilled: dispatcher.on_killed,
            e.MachinesUnavailable: self._unavailable,
            e.MachinesAvailable: self._available,
            e.NoMoreStaticJobs: self._static_jobs_done,
            e.SimulationEnds: self._ends,
        }

    def handle(self, message: Message) -> Reply:
        """Apply a message's events, let the dispatcher decide once, and return its decisions.

        Raises:
            InputError: the message contradicts what was said before.
            ImpossibleDecision: the dispatcher decided something impossible.
            SimulationError: the dispatcher raised an exception of its own.
        """
        try:
            return self._handle(message)
        except BatdispatchError:
            raise
        except (Exception, SystemExit) as problem:
            cls = type(self.dispatcher)
            raise SimulationError(
                f"dispatcher {cls.__name__} failed at {message.now:.6f} s: {blame(problem, file_of(cls))}"
            ) from problem

    def _handle(self, message: Message) -> Reply:
        now = message.now
        events = message.events
        ledger = self.ledger
        if ledger is None:
            ledger = self._begin(events)
            events = events[1:]
        if now < ledger.now:
            raise InputError(f"time goes backwards: message of {now:.6f} s after {ledger.now:.6f} s")
        ledger.now = now
        apply = self._apply
        for event in events:
            handler = apply.get(type(event))
            if handler is not None:
                handler(ledger, event)
            else:
                self.dispatcher.on_event(ledger, event)
        if self.ended:
            return Reply(now, ledger.take_decisions())
        began = self._clock()
        self.dispatcher.decide(ledger)
        spent = self._clock() - began
        self.decision_seconds.append(spent)
        if self._registration_open and self.dispatcher.registration_done(ledger):
            ledger.finish_registration()
            self._registration_open = False
        decisions = ledger.take_decisions()
        delay = spent if self.decision_time is None else self.decision_time
        if delay > 0.0:
            return Reply(now + delay, self._postponed(ledger, decisions, now + delay))
        return Reply(now, decisions)

    def _begin(self, events: Sequence[e.Event]) -> Ledger:
        if not events or not isinstance(events[0], e.SimulationBegins):
            raise InputError("the first event must be SIMULATION_BEGINS")
        self.ledger = ledger = Ledger(events[0])
        ledger.on_registered = lambda job: self.dispatcher.on_submit(ledger, job)
        self.dispatcher.begin(ledger)
        if ledger.config.get("dynamic-jobs-enabled"):
            if self.dispatcher.registers_jobs:
                self._registration_open = True
            else:
                ledger.finish_registration()
        return ledger

    def _submitted(self, ledger: Ledger, event: e.JobSubmitted) -> None:
        job = ledger.apply_submitted(event)
        reason = ledger.why_impossible(job)
        if reason:
            ledger.reject(job, reason)
        else:
            self.dispatcher.on_submit(ledger, job)

    def _completed(self, ledger: Ledger, event: e.JobCompleted) -> None:
        self.dispatcher.on_end(ledger, ledger.apply_completed(event))

    def _unavailable(self, ledger: Ledger, event: e.MachinesUnavailable) -> None:
        ledger.apply_unavailable(event.hosts)
        self.dispatcher.on_event(ledger, event)

    def _available(self, ledger: Ledger, event: e.MachinesAvailable) -> None:
        ledger.apply_available(event.hosts)
        self.dispatcher.on_event(ledger, event)

    def _static_jobs_done(self, ledger: Ledger, event: e.NoMoreStaticJobs) -> None:
        ledger.static_jobs_done = True
        self.dispatcher.on_event(ledger, event)

    def _ends(self, ledger: Ledger, event: e.SimulationEnds) -> None:
        self.ended = True
        self.report = self._checked_report()

    def _checked_report(self) -> dict[str, Any]:
        """Return the dispatcher's report, before any result is written that it would spoil."""
        report = self.dispatcher.report()
        if not isinstance(report, dict):
            raise TypeError(f"report() returned {report!r}, expected a dict")
        int(report.get("fallbacks", 0))
        msgspec.json.encode(report)
        return report

    def _postponed(self, ledger: Ledger, decisions: list[d.Decision], at: float) -> list[d.Decision]:
        """Let decisions take effect when the dispatcher has finished deciding."""
        moved: list[d.Decision] = []
        for decision in decisions:
            if isinstance(decision, d.CallMeLater) and decision.at <= at + TICK / 2:
                # The asked-for moment passed while deciding; Batsim accepts only calls in the future.
                decision = msgspec.structs.replace(decision, at=at + 1e-3)
            elif isinstance(decision, d.Execute):
                ledger.running[decision.job_id].start = at
            moved.append(msgspec.structs.replace(decision, time=at))
        return moved
