"""Asks a run's dispatcher, after the run, why it left a job waiting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from batdispatch.core.errors import InputError
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job, Stay
from batdispatch.core.line import decisions as d
from batdispatch.core.line import registry
from batdispatch.core.line.dispatcher import GROUP, Dispatcher, create
from batdispatch.core.line.events import Event, JobsKilled
from batdispatch.core.line.hindsight import Hindsight, Reason
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import parse_named
from batdispatch.dispatchers.backfilling.queue import QueueDispatcher, QueueOptions
from batdispatch.inputs.named_files import files_at
from batdispatch.links.retrace import RetracePeer
from batdispatch.parts.ordering import Ordering
from batdispatch.results.decisions import PLANS
from batdispatch.results.origins import find_series
from batdispatch.results.runs import Result

#: Entry-point group. Each entry point leads to a function that returns, for the `Dispatcher` of a run, one that speaks
#: of waits in its place without deciding anything, or None if it knows no such one.
WITNESSES = "batdispatch.witnesses"
#: Options that name files of data, or dates: nothing is run there.
_DATA = ("cap", "price", "carbon", "water", "origin")


class _QueueWitness(QueueDispatcher):
    """Speaks of the order of a queue. It has no plan, which whoever never decides cannot keep."""

    def __init__(self, asked: QueueDispatcher) -> None:
        """Take what orders the queue of the run's dispatcher and what it expects."""
        names = QueueOptions.__struct_fields__
        super().__init__(QueueOptions(**{name: getattr(asked.options, name) for name in names}))

    def decide(self, ledger: Ledger) -> None:
        """Decide nothing."""


class Witness:
    """A dispatcher that is told what happened in a run, and is asked about decisions that it need not make again.

    Attributes:
        dispatcher: built as the run's was. It hears of all events, and is never asked to decide.
    """

    def __init__(self, dispatcher: Dispatcher, notes: Sequence[Mapping[str, Any]]) -> None:
        """Prepare a witness.

        Args:
            dispatcher: as above.
            notes: the lines of solver.jsonl, in their order.
        """
        self.dispatcher = dispatcher
        self._notes = notes
        self._next = 0

    @property
    def learns(self) -> bool:
        """Whether what it says may rest on jobs that were over before, so that it has to hear of the whole run."""
        dispatcher = self.dispatcher
        if not isinstance(dispatcher, _QueueWitness):
            return True
        ordering = type(dispatcher.ordering)
        learns = ordering.ended is not Ordering.ended or ordering.came is not Ordering.came
        return learns or not dispatcher.predictions.exact_requests

    def note(self, now: float) -> Mapping[str, Any] | None:
        """Return the line of the decision at `now`, s, or None if no plan was made then."""
        if self._next < len(self._notes) and self._notes[self._next]["now"] <= now:
            return self._notes[self._next]
        return None

    def pass_on(self, now: float) -> None:
        """Go on to the decision after the one at `now`, s."""
        self._next += self.note(now) is not None

    def ask(self, ledger: Ledger, job: Job, started: Sequence[tuple[Job, Allocation]]) -> Reason | None:
        """Return why the decision that is about to be carried out leaves a job waiting."""
        before = float(self._notes[self._next - 1]["now"]) if self._next else None
        return self.dispatcher.why_waited(job, Hindsight(ledger, started, self.note(ledger.now), before))

    def ask_of_start(self, ledger: Ledger, job: Job) -> Reason | None:
        """Return why the decision that is about to be carried out starts a job before others."""
        return self.dispatcher.why_started(job, ledger)


class WitnessedRetrace(RetracePeer):
    """Goes through a recording with a witness, if there is one, beside it."""

    def __init__(self, witness: Witness | None) -> None:
        super().__init__()
        self._witness = witness

    def begin(self, ledger: Ledger) -> None:
        if self._witness is None:
            return
        try:
            self._witness.dispatcher.begin(ledger)
        except InputError:
            # Its placement needs a network, which no recording tells.
            self._witness = None

    def on_submit(self, ledger: Ledger, job: Job) -> None:
        if self._witness is not None:
            self._witness.dispatcher.on_submit(ledger, job)

    def on_start(self, ledger: Ledger, stay: Stay) -> None:
        if self._witness is not None:
            self._witness.dispatcher.on_start(ledger, stay)

    def on_end(self, ledger: Ledger, stay: Stay) -> None:
        super().on_end(ledger, stay)
        if self._witness is not None:
            self._witness.dispatcher.on_end(ledger, stay)

    def on_killed(self, ledger: Ledger, event: JobsKilled) -> None:
        if self._witness is not None:
            self._witness.dispatcher.on_killed(ledger, event)

    def on_event(self, ledger: Ledger, event: Event) -> None:
        if self._witness is not None:
            self._witness.dispatcher.on_event(ledger, event)

    def testimony(self, ledger: Ledger, job: Job) -> Reason | None:
        """Return what the witness says of the decision to come, if that leaves a job waiting."""
        if self._witness is None or job.id not in ledger.queue:
            return None
        executed = [decision for decision in self.recorded if isinstance(decision, d.Execute)]
        started = [(ledger.queue[one.job_id], one.allocation) for one in executed if one.job_id in ledger.queue]
        if any(other.id == job.id for other, _ in started):
            return None
        return self._witness.ask(ledger, ledger.queue[job.id], started)

    def testimony_of_start(self, ledger: Ledger, job: Job) -> Reason | None:
        """Return what the witness says of the decision to come, if that starts a job that waits."""
        if self._witness is None or job.id not in ledger.queue:
            return None
        starts = any(isinstance(one, d.Execute) and one.job_id == job.id for one in self.recorded)
        return self._witness.ask_of_start(ledger, job) if starts else None

    def decide(self, ledger: Ledger) -> None:
        super().decide(ledger)
        if self._witness is not None:
            self._witness.pass_on(ledger.now)


def witness_of(folder: Path, result: Result) -> Witness | None:
    """Return a run's witness, or None if its dispatcher has nothing to add.

    A file is not run just because a result names it as the dispatcher, or as a part in an option.
    """
    try:
        name = parse_named(result.dispatcher)[0] if result.dispatcher else ""
        # A colon names a class of a file or a module, at whatever depth of brackets.
        code = [str(value) for key, value in result.options.items() if key not in _DATA]
        if name not in registry.names(GROUP) or any(":" in value for value in code):
            return None
        there = find_series(folder, result.input_digests)
        with files_at({name: path for name, path in there.items() if path is not None}):
            dispatcher = create(name, result.options, result.seed or 0)
    except InputError:
        # Of another version, or altered: there is nothing to ask.
        return None
    if isinstance(dispatcher, QueueDispatcher) and type(dispatcher).why_waited is QueueDispatcher.why_waited:
        return Witness(_QueueWitness(dispatcher), [])
    for kind in registry.names(WITNESSES):
        stand_in: Dispatcher | None = registry.load(WITNESSES, kind, "witness")(dispatcher)
        if stand_in is not None:
            return Witness(stand_in, [])
    path = folder / PLANS
    if type(dispatcher).why_waited is Dispatcher.why_waited or not path.is_file():
        return None
    try:
        notes = [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    readable = all(isinstance(note, dict) and isinstance(note.get("now"), int | float) for note in notes)
    return Witness(dispatcher, notes) if readable else None
