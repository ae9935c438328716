"""What a recorded exchange says of each job: when it was submitted, started where, ended how, killed or rejected.

The recording is read frame by frame and compared with the jobs file at once, so that its length does not matter.
Nothing here is asked of the ledger, of a dispatcher or of the engine.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from batdispatch.batsim import Wire, protocol
from batdispatch.core import decisions as d
from batdispatch.core import events as e
from batdispatch.core.allocation import Allocation
from batdispatch.core.errors import InputError
from batdispatch.core.job import Job, JobState
from batdispatch.core.messages import Message, Reply
from batdispatch.links.replay import opened, read_recording, same_values, told_by
from batdispatch.results.audit.beginning import Beginning, compare_profiles
from batdispatch.results.audit.findings import Violation
from batdispatch.results.audit.idling import Idling
from batdispatch.results.audit.jobs import RowJobs
from batdispatch.results.audit.over import Over
from batdispatch.results.audit.rows import TOLERANCE, Rows, Units
from batdispatch.results.audit.setting import Setting
from batdispatch.results.run_files import RECORDING

Floats = NDArray[np.float64]


class Clock(NamedTuple):
    """How exactly the simulator's clock can be told from its messages."""

    #: Whether what is decided happens at its moment, and what happens is told at its moment.
    exact: bool

    def slack(self, told: int) -> float:
        """Return by how many seconds something may happen later than it was decided, or be told later than it was.

        Batsim's messages take time on the platform's links, each event and each decision of a message some more.

        Args:
            told: number of events, or of decisions, in the message.
        """
        return TOLERANCE if self.exact else 0.05 + 2e-3 * told


class Outage(NamedTuple):
    """Hosts that went away, or came back."""

    time: float
    back: bool
    hosts: str

    def __str__(self) -> str:
        return f"that hosts {self.hosts[:80]} {'came back' if self.back else 'went away'} at {self.time:.6f} s"


class Course:
    """What the exchange says of the simulation as a whole.

    Attributes:
        outages: the hosts that went away or came back, in order.
        messages: number of messages.
        decided: number of messages of which a dispatcher is asked for decisions.
        config: of the simulation.
        complete: whether the recording goes on to the end of the simulation.
    """

    def __init__(self) -> None:
        self.outages: list[Outage] = []
        self.messages = self.decided = 0
        self.config: dict[str, Any] = {}
        self.complete = False


class Heard:
    """What the exchange says of the job of each row. Times are seconds, float64 [row], NaN where nothing is said.

    Attributes:
        ordered: when the job was to start.
        late: by how much it may have started later.
        ended: when its end was told.
        told_late: by how much that may have been later than the end.
        state: in which state it was said to have ended.
        killed: when it was first ordered to be killed.
        rejected: when it was rejected.
        submitted: whether it was submitted, bool [row].
        jobs: the jobs that were registered while the simulation ran, by row.
        metadata: the text that each job was given, by row.
        parents: row of the job that each job continues, by row.
        profiles: the registered profiles, by workload and name.
        course: what it says of the simulation as a whole.
    """

    def __init__(self, rows: int) -> None:
        self.ordered, self.ended, self.killed, self.rejected = (np.full(rows, np.nan) for _ in range(4))
        self.late, self.told_late = np.zeros(rows), np.zeros(rows)
        self.submitted = np.zeros(rows, dtype=bool)
        self.state: list[str] = [""] * rows
        self.jobs: dict[int, Job] = {}
        self.metadata: dict[int, str] = {}
        self.parents: dict[int, int] = {}
        self.profiles: dict[str, dict[str, dict[str, Any]]] = {}
        self.course = Course()


class Listener:
    """Goes through an exchange, and reports where it contradicts itself, the inputs, or the jobs file.

    Attributes:
        heard: what it said of each job so far.
    """

    def __init__(
        self,
        rows: Rows,
        jobs: RowJobs,
        units: Units,
        setting: Setting,
        clock: Clock,
        beginning: Beginning | None,
    ) -> None:
        """Begin.

        Args:
            rows: of the jobs file.
            jobs: the workload's job of each row.
            units: of each row's job on each of its hosts.
            setting: the machine and what else the run was given.
            clock: of the simulator.
            beginning: the first message, if it was heard before.
        """
        self.heard = Heard(len(rows.ids))
        self._rows = rows
        self._jobs = jobs
        self._units = units
        self._setting = setting
        self._machine = setting.machine
        self._clock = clock
        self._beginning = beginning
        self._row_of = rows.row_of
        self._told = 0
        self._now = 0.0
        self._line = 0
        self._began = self._no_more = False
        #: Jobs that wait, that run, and that were registered and not acknowledged yet.
        self._waiting: dict[str, Job] = {}
        self._running: set[str] = set()
        self._registered: dict[str, Job] = {}
        #: Everything that was submitted or registered, and what is over: state by id.
        self._over = Over(self._row_of, len(rows.ids))
        #: When calls were asked for.
        self._calls: list[float] = []
        self._away = 0
        self._idling = Idling(setting, rows.findings)

    # ------------------------------------------------------------------ the recording

    def listen(self, path: Path) -> None:
        """Read a recording; if it breaks off or contradicts itself, what came before still counts."""
        rule = "exchange"
        self._rows.findings.checked += [rule, "idle machine"]
        try:
            wire = protocol(told_by(path))
            begun = self._beginning
            if begun is not None:
                self._exchange(wire, begun.line, begun.message, begun.reply)
            for exchange in read_recording(path, wire) if begun is None else begun.rest:
                if opened(path, exchange, wire) is not None:
                    continue
                self._line = exchange.line
                self._exchange(wire, exchange.line, wire.decode_message(exchange.message), exchange.reply)
        except (InputError, OSError) as problem:
            text = str(problem) if str(path) in str(problem) else f"{path}: line {self._line}: {problem}"
            self._rows.findings.add(Violation(rule, f"cannot be followed: {text}"))
            self.heard.course.complete = False
            return
        if not self.heard.course.complete:
            self._wrong(f"the recording ends at {self._now:.6f} s, before the simulation does")

    def _exchange(self, wire: Wire, line: int, message: Message, reply: bytes | None) -> None:
        self._line = line
        self._message(message)
        if reply is not None:
            self._line += 1
            self._reply(message, wire.decode_reply(reply))

    def _wrong(self, message: str, job: str = "", kind: str = "exchange") -> None:
        self._rows.findings.add(
            Violation(
                kind, f"{RECORDING} line {self._line}: {message}", job=job.partition("!")[2] or job, time=self._now
            )
        )

    def _message(self, message: Message) -> None:
        heard, now = self.heard, message.now
        if heard.course.complete:
            self._wrong("a message comes after SIMULATION_ENDS")
        if now < self._now:
            self._wrong(f"time goes back to {now:.6f} s")
        if not self._began and not (message.events and isinstance(message.events[0], e.SimulationBegins)):
            raise InputError("the exchange does not begin with SIMULATION_BEGINS")
        self._idling.until(now, self._clock.slack(len(message.events)), self._line)
        self._now = now
        heard.course.messages += 1
        self._told = len(message.events)
        for event in message.events:
            hear = self._HEAR.get(type(event))
            if hear is not None:
                hear(self, event)
        heard.course.decided += not heard.course.complete

    def _reply(self, message: Message, reply: Reply) -> None:
        if reply.now < message.now - TOLERANCE:
            self._wrong(f"the reply is of {reply.now:.6f} s, before its message")
        if not self.heard.course.complete:
            self._check_deciding(message.now, reply)
        self._told = len(reply.decisions)
        for decision in reply.decisions:
            decide = self._DECIDE.get(type(decision))
            if decide is not None:
                decide(self, decision, max(decision.time, message.now))
        if not (self._running or self._calls or self._registered):
            self._idling.begin(reply.now, self._waiting.values(), self._over, self._away)

    def _check_deciding(self, now: float, reply: Reply) -> None:
        """A decision takes the time that result.json says it takes."""
        said = self._setting.result.get("decision_time")
        takes = 0.0 if said == "none" else said
        if isinstance(takes, int | float) and not abs(reply.now - now - takes) <= TOLERANCE:
            self._wrong(f"deciding took {reply.now - now:.6f} s, result.json says {takes:g}", kind="decision time")
        late = next((decision for decision in reply.decisions if decision.time > reply.now + TOLERANCE), None)
        if late is not None:
            self._wrong(f"a decision is of {late.time:.6f} s, after its reply", getattr(late, "job_id", ""))

    # ------------------------------------------------------------------ what is told

    def _begins(self, event: e.SimulationBegins) -> None:
        if self._began:
            self._wrong("SIMULATION_BEGINS comes again")
            return
        self._began = True
        self.heard.course.config = event.config
        begun = self._beginning
        if begun is not None and begun.machine_problem:
            self._wrong(f"the machine is not the platform's: {begun.machine_problem}", kind="machine told")
        problem = compare_profiles(event, self._setting.profiles) if begun is None else begun.profile_problem
        if problem and self._clock.exact:
            self._wrong(problem)

    def _submitted(self, event: e.JobSubmitted) -> None:
        job = event.job
        row = self._row_of.get(job.id)
        if job.id in self._waiting or job.id in self._running or job.id in self._over:
            self._wrong("is submitted a second time", job.id)
            return
        self._waiting[job.id] = job
        expected = self._registered.pop(job.id, None)
        if row is None:
            self._wrong("is submitted, and is not in the jobs file", job.id)
            return
        self.heard.submitted[row] = True
        if expected is None:
            expected = self._jobs[row]
            if expected is None:
                self._wrong("is submitted, and neither the workload nor the dispatcher has such a job", job.id)
            else:
                self._told_in_time(event, expected)
        elif not self._clock.exact:
            # Batsim 5 takes the moment at which it reads a registration for the job's submission.
            expected = msgspec.structs.replace(expected, submission=job.submission)
            self.heard.jobs[row] = expected
        if expected is not None:
            self._compare(job, expected)
            # The workload's lists are read as they were written, whatever was told of them.
            self._continues(row, job.id, expected.parent)

    def _told_in_time(self, event: e.JobSubmitted, job: Job) -> None:
        slack = self._clock.slack(self._told)
        if not -TOLERANCE <= event.time - job.submission <= slack:
            self._wrong(f"its submission at {job.submission:.6f} s is told as of {event.time:.6f} s", event.job.id)

    def _compare(self, told: Job, job: Job) -> None:
        """Compare a job as it was told with the workload's, or the registered one."""
        for what, found, expected in (
            ("submission", told.submission, job.submission),
            ("walltime", told.walltime, job.walltime),
        ):
            if found != expected and not abs(found - expected) <= TOLERANCE:
                self._wrong(f"its {what} is told as {found:g} s and should be {expected:g} s", told.id)
        for what, one, other in (
            ("number of units", told.units, job.units),
            ("profile", told.profile, job.profile),
            ("request", told.request, job.request),
            ("user", told.user, job.user),
            ("parent", told.parent, job.parent),
        ):
            if one != other:
                self._wrong(f"its {what} is told as {one!r} and should be {other!r}", told.id)
        if self._clock.exact and not same_values(told.extra, job.extra):
            self._wrong(f"its further fields are told as {told.extra} and should be {job.extra}", told.id)

    def _continues(self, row: int, job_id: str, parent: str) -> None:
        if not parent:
            return
        full = parent if "!" in parent else f"{job_id.partition('!')[0]}!{parent}"
        if full in self._waiting or full in self._running or full in self._over or full in self._registered:
            other = self._row_of.get(full)
            if other is not None:
                self.heard.parents[row] = other

    def _completed(self, event: e.JobCompleted) -> None:
        job_id = event.job_id
        if job_id not in self._running:
            self._wrong("is told to have ended and does not run", job_id)
            return
        self._running.discard(job_id)
        self._end(job_id, event.state)
        row = self._row_of.get(job_id)
        if row is None:
            return
        heard = self.heard
        heard.ended[row], heard.told_late[row] = event.time, self._clock.slack(self._told)
        heard.state[row] = event.state.value
        if event.allocation is not None:
            self._place("end told", row, event.allocation)
        profile = heard.jobs[row].profile if row in heard.jobs else self._jobs.profile(row)
        if profile is not None and event.state in (JobState.COMPLETED_SUCCESSFULLY, JobState.COMPLETED_FAILED):
            code = self._setting.outcomes(heard.profiles).of(job_id.partition("!")[0], profile).code
            if code is not None and event.return_code != code:
                self._wrong(f"its return code is told as {event.return_code}, its profile has {code}", job_id)

    def _end(self, job_id: str, state: JobState) -> None:
        """Note how a job ended; the success of a further attempt is that of the logical job."""
        self._over[job_id] = state
        row = self._row_of.get(job_id)
        while state is JobState.COMPLETED_SUCCESSFULLY and row is not None and row in self.heard.parents:
            row = self.heard.parents[row]
            self._over[self._row_of.name(row)] = state

    def _called(self, event: e.RequestedCall) -> None:
        if not self._calls:
            self._wrong("a call comes that was not asked for")
            return
        asked = heapq.heappop(self._calls)
        if not -TOLERANCE <= event.time - asked <= self._clock.slack(self._told):
            self._wrong(f"a call comes at {event.time:.6f} s, asked for at {asked:.6f} s")

    def _outage(self, event: e.MachinesUnavailable | e.MachinesAvailable) -> None:
        back = isinstance(event, e.MachinesAvailable)
        self.heard.course.outages.append(Outage(event.time, back, str(event.hosts)))
        if back:
            self._away &= ~event.hosts.mask
        else:
            self._away |= event.hosts.mask

    def _all_submitted(self, event: e.NoMoreStaticJobs) -> None:
        self._no_more = True

    def _ends(self, event: e.SimulationEnds) -> None:
        self.heard.course.complete = True
        left = [*self._running, *self._waiting]
        if left:
            self._wrong(f"the simulation ends while {len(left)} jobs wait or run", left[0])
        if self._clock.exact and not self._no_more:
            self._wrong("the simulation ends, and nothing said that all jobs of the workload were submitted")
        if self._calls and self._clock.exact:
            self._wrong(f"the call asked for at {self._calls[0]:.6f} s never came")

    # ------------------------------------------------------------------ what is decided

    def _execute(self, decision: d.Execute, moment: float) -> None:
        job_id = decision.job_id
        if self._waiting.pop(job_id, None) is None:
            self._wrong("EXECUTE_JOB names it, and it does not wait", job_id)
            return
        self._running.add(job_id)
        row = self._row_of.get(job_id)
        if row is None:
            return
        heard = self.heard
        heard.ordered[row], heard.late[row] = moment, self._clock.slack(self._told)
        self._place("start ordered", row, decision.allocation)
        if not self._machine.exclusive:
            self._count(row, decision)
        if self._clock.exact and decision.allocation.mask & self._away:
            away = Allocation(decision.allocation.mask & self._away)
            self._wrong(f"is started on {str(away)[:80]}, which is away", job_id, "host away")

    def _place(self, kind: str, row: int, allocation: Allocation) -> None:
        """Compare a job's hosts with those in the jobs file."""
        text, found = str(allocation), self._rows.hosts[row]
        if text == found:
            return
        try:
            same = Allocation.parse(found).mask == allocation.mask
        except InputError:
            same = False
        if not same:
            self._rows.add(
                kind, f"ran on {found[:80] or 'no host'}, {RECORDING} line {self._line} says {text[:80]}", row
            )

    def _count(self, row: int, decision: d.Execute) -> None:
        """Compare the units on each host with units.csv."""
        allocation = decision.allocation
        counts: Sequence[int] | None = allocation.counts
        if counts is None and decision.mapping is not None:
            placed = Counter(decision.mapping.values())
            counts = [placed[index] for index in range(allocation.size)]
        found = self._units.of(row).tolist()
        expected = [1] * allocation.size if counts is None else list(counts)
        if found != expected and len(found) == len(expected):
            at = next(index for index, pair in enumerate(zip(found, expected, strict=True)) if pair[0] != pair[1])
            host = self._machine.hosts[allocation.ids[at]].name
            message = f"has {found[at]} units there, {RECORDING} line {self._line} places {expected[at]}"
            self._rows.add("units ordered", message, row, host=host)

    def _reject(self, decision: d.Reject, moment: float) -> None:
        if self._waiting.pop(decision.job_id, None) is None:
            self._wrong("REJECT_JOB names it, and it does not wait", decision.job_id)
            return
        self._over[decision.job_id] = JobState.REJECTED
        row = self._row_of.get(decision.job_id)
        if row is not None:
            self.heard.rejected[row] = moment

    def _kill(self, decision: d.Kill, moment: float) -> None:
        for job_id in decision.job_ids:
            row = self._row_of.get(job_id)
            if job_id not in self._running:
                if job_id not in self._over:
                    self._wrong("KILL_JOB names it, and it does not run", job_id)
            elif row is not None and np.isnan(self.heard.killed[row]):
                self.heard.killed[row] = moment
                self.heard.late[row] = max(self.heard.late[row], self._clock.slack(self._told))

    def _call_later(self, decision: d.CallMeLater, moment: float) -> None:
        heapq.heappush(self._calls, decision.at)

    def _register_profile(self, decision: d.RegisterProfile, moment: float) -> None:
        self.heard.profiles.setdefault(decision.workload, {})[decision.name] = decision.profile

    def _register_job(self, decision: d.RegisterJob, moment: float) -> None:
        job = decision.job
        row = self._row_of.get(job.id)
        if row is None:
            self._wrong("is registered, and is not in the jobs file", job.id)
        elif self._jobs[row] is not None or row in self.heard.jobs:
            self._wrong("is registered, and there is such a job already", job.id)
        else:
            self.heard.jobs[row] = job
            self.heard.submitted[row] = True
            self._continues(row, job.id, job.parent)
        if self.heard.course.config.get("dynamic-jobs-acknowledged"):
            self._registered[job.id] = job
        else:
            self._waiting[job.id] = job

    def _set_metadata(self, decision: d.SetMetadata, moment: float) -> None:
        row = self._row_of.get(decision.job_id)
        if row is not None:
            self.heard.metadata[row] = decision.metadata

    # Of the class: an object that holds methods of its own is in memory until Python looks for circles.
    _HEAR: ClassVar[dict[type, Callable[[Listener, Any], None]]] = {
        e.SimulationBegins: _begins,
        e.JobSubmitted: _submitted,
        e.JobCompleted: _completed,
        e.RequestedCall: _called,
        e.MachinesUnavailable: _outage,
        e.MachinesAvailable: _outage,
        e.NoMoreStaticJobs: _all_submitted,
        e.SimulationEnds: _ends,
    }
    _DECIDE: ClassVar[dict[type, Callable[[Listener, Any, float], None]]] = {
        d.Execute: _execute,
        d.Reject: _reject,
        d.Kill: _kill,
        d.CallMeLater: _call_later,
        d.RegisterProfile: _register_profile,
        d.RegisterJob: _register_job,
        d.SetMetadata: _set_metadata,
    }


def listen(
    path: Path,
    rows: Rows,
    jobs: RowJobs,
    units: Units,
    setting: Setting,
    clock: Clock,
    beginning: Beginning | None = None,
) -> Heard:
    """Go through a recording and return what it says, see `Listener`."""
    listener = Listener(rows, jobs, units, setting, clock, beginning)
    listener.listen(path)
    return listener.heard
