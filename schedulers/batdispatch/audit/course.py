"""Goes through a recorded exchange, and notes where it contradicts itself, the inputs, or the jobs file.

A job waits from its submission (or registration) on, runs from EXECUTE_JOB on, and is over with JOB_COMPLETED or
REJECT_JOB. The recording is read frame by frame, so that its length does not matter.
"""

from __future__ import annotations

import heapq
from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import msgspec
import numpy as np

from batdispatch.audit.exchange import Event, Exchange, Frame, read_exchanges, told_hosts
from batdispatch.audit.findings import Fault
from batdispatch.audit.hosts import mask_of
from batdispatch.audit.idling import Idling
from batdispatch.audit.machine import Machine
from batdispatch.audit.request import Demands
from batdispatch.audit.rows import Rows, Units
from batdispatch.audit.words import (
    FAILED,
    RECORDING,
    REJECTED,
    STATES,
    SUCCESS,
    TOLERANCE,
    alike,
    full_name,
    is_number,
)
from batdispatch.audit.workload import Endings, Job, Workload, job_of
from batdispatch.core.errors import InputError

#: Faults that are kept of one rule.
_MOST = 1000
#: What is told or decided and says nothing about a job's course.
_LEFT_ALONE = {
    *("JOB_KILLED", "RESOURCE_STATE_CHANGED", "FROM_JOB_MSG", "ANSWER", "HELLO"),
    *("SET_RESOURCE_STATE", "QUERY", "TO_JOB_MSG", "CHANGE_JOB_STATE"),
}


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
    """Hosts that went away, or came back, from `earliest` to `latest`, in seconds."""

    earliest: float
    latest: float
    back: bool
    mask: int

    def __str__(self) -> str:
        hosts = [bit for bit in range(self.mask.bit_length()) if self.mask >> bit & 1]
        shown = ", ".join(map(str, hosts[:10])) + (", ..." if len(hosts) > 10 else "")
        return f"that hosts {shown} {'came back' if self.back else 'went away'} at {self.latest:.6f} s"


class Given(NamedTuple):
    """What a course is compared with: the jobs file, the inputs, and what the run says of itself."""

    rows: Rows
    units: Units
    #: Index of each row's job in the workload, -1: it is none of these.
    at: Sequence[int]
    workload: Workload
    machine: Machine
    demands: Demands
    said: Mapping[str, Any]
    clock: Clock
    reserved: bool


class Course:
    """What the exchange says. Times are seconds, float64 [row], NaN where nothing is said.

    Attributes:
        ordered: when the job was to start.
        late: by how much it may have started later.
        ended: when its end was told.
        told_late: by how much that may have been later than the end.
        states: in which state it was said to have ended; empty: it was not.
        killed: when it was first ordered to be killed.
        rejected: when it was rejected.
        arrived: position in the order of arrival, int64 [row]; -1: it never came.
        gone: position in the order in which jobs were over, int64 [row]; -1: it never was.
        jobs: fields of the jobs that were registered while the simulation ran, by row.
        metadata: the text that each job was given, by row.
        parents: row of the job that each job continues, by row.
        profiles: the registered profiles, by workload and name.
        outages: the hosts that went away or came back, in order.
        messages: number of messages.
        handshakes: number of exchanges before the first message.
        moments: times of the messages of which a dispatcher is asked for decisions.
        config: of the simulation.
        complete: whether the recording goes on to the end of the simulation.
        faults: what is wrong, by the name of the rule.
    """

    def __init__(self, given: Given) -> None:
        count = len(given.rows)
        self.ordered, self.ended, self.killed, self.rejected = (np.full(count, np.nan) for _ in range(4))
        self.late, self.told_late = np.zeros(count), np.zeros(count)
        self.arrived, self.gone = (np.full(count, -1, dtype=np.int64) for _ in range(2))
        self.states = [""] * count
        self.jobs: dict[int, dict[str, Any]] = {}
        self.metadata: dict[int, str] = {}
        self.parents: dict[int, int] = {}
        self.profiles: dict[str, dict[str, dict[str, Any]]] = {}
        self.outages: list[Outage] = []
        self.messages = self.handshakes = 0
        self.moments = array("d")
        self.config: dict[str, Any] = {}
        self.complete = False
        self.faults: dict[str, list[Fault]] = {}
        self.endings = Endings(given.workload.profiles, self.profiles)
        self._given, self._rows, self._clock = given, given.rows, given.clock
        self._row_of = given.rows.row_of
        self._told = 0
        self._now = 0.0
        self._line = 0
        self._began = self._no_more = False
        #: Jobs that wait, that run, that were registered and not acknowledged yet, and how the others ended.
        self._waiting: dict[str, Job] = {}
        self._running: set[str] = set()
        self._registered: dict[str, dict[str, Any]] = {}
        self._over: dict[str, str] = {}
        self._ranks = 0
        #: When calls were asked for.
        self._calls: list[float] = []
        self._away = 0
        self._idling = Idling(given.machine, given.demands, reserved=given.reserved)

    # ------------------------------------------------------------------ the recording

    def follow(self, path: Path) -> None:
        """Go through a recording; if it breaks off or cannot be followed, what came before still counts."""
        try:
            for exchange in read_exchanges(path):
                self._line = exchange.line
                if exchange.message is None:
                    self._greet(exchange)
                    continue
                self._message(exchange.message)
                if exchange.reply is not None:
                    self._line += 1
                    self._reply(exchange.message, exchange.reply)
        except (InputError, OSError) as problem:
            self._broken(str(problem))
        except (KeyError, TypeError, ValueError, AttributeError, msgspec.ValidationError) as problem:
            self._broken(f"line {self._line}: {problem!r}")
        else:
            if not self.complete:
                self._wrong(f"the recording ends at {self._now:.6f} s, before the simulation does")

    def _broken(self, problem: str) -> None:
        self.faults.setdefault("exchange", []).append(Fault(f"cannot be followed: {problem}"))
        self.complete = False

    def _greet(self, exchange: Exchange) -> None:
        self.handshakes += 1
        for event in [] if exchange.reply is None else exchange.reply.events:
            features = event.data.get("requested_simulation_features", {})
            self.config["dynamic-jobs-acknowledged"] = bool(features.get("acknowledge_dynamic_jobs"))

    def _wrong(self, message: str, job: str = "", rule: str = "exchange") -> None:
        self._note(rule, Fault(f"{RECORDING} line {self._line}: {message}", job=job.partition("!")[2], time=self._now))

    def _note(self, rule: str, fault: Fault) -> None:
        listed = self.faults.setdefault(rule, [])
        if len(listed) < _MOST:
            listed.append(fault)

    def _message(self, message: Frame) -> None:
        now = message.now
        if self.complete:
            self._wrong("a message comes after SIMULATION_ENDS")
        if now < self._now:
            self._wrong(f"time goes back to {now:.6f} s")
        if not self._began and (not message.events or message.events[0].type != "SIMULATION_BEGINS"):
            raise InputError(f"line {self._line}: the exchange does not begin with SIMULATION_BEGINS")
        slack = self._clock.slack(len(message.events))
        if (fault := self._idling.until(now, slack, self._line)) is not None:
            self._note("idle machine", fault)
        self._now = now
        self.messages += 1
        self._told = len(message.events)
        self._in_order(message)
        for event in message.events:
            self._handle(event, self._HEAR)
        if not self.complete:
            self.moments.append(now)

    def _reply(self, message: Frame, reply: Frame) -> None:
        if reply.now < message.now - TOLERANCE:
            self._wrong(f"the reply is of {reply.now:.6f} s, before its message")
        if not self.complete:
            self._check_deciding(message.now, reply)
        self._told = len(reply.events)
        self._in_order(reply)
        for decision in reply.events:
            self._handle(decision, self._DECIDE)
        if not (self._running or self._calls or self._registered):
            self._idling.begin(reply.now, self._waiting, self._over, self._away)

    def _in_order(self, frame: Frame) -> None:
        times = [event.timestamp for event in frame.events]
        if times and (times != sorted(times) or not 0 <= times[-1] <= frame.now + TOLERANCE):
            self._wrong(f"its events are of {min(times):.6f} to {max(times):.6f} s, out of order or after its own time")

    def _handle(self, event: Event, handlers: Mapping[str, Callable[[Course, Event], None]]) -> None:
        handler = handlers.get(event.type)
        if handler is not None:
            handler(self, event)
        elif event.type not in _LEFT_ALONE:
            self._wrong(f"nobody says {event.type[:40]}")

    def _check_deciding(self, now: float, reply: Frame) -> None:
        """A decision takes the time that result.json says it takes."""
        said = self._given.said.get("decision_time")
        takes = 0.0 if said == "none" else said
        if is_number(takes) and not abs(reply.now - now - takes) <= TOLERANCE:
            self._wrong(f"deciding took {reply.now - now:.6f} s, result.json says {takes:g}", rule="decision time")

    # ------------------------------------------------------------------ what is told

    def _begins(self, event: Event) -> None:
        if self._began:
            self._wrong("SIMULATION_BEGINS comes again")
            return
        self._began = True
        self.config |= event.data["config"]
        machine = self._given.machine
        names, size = told_hosts(event)
        if (names, size) != (machine.names, machine.size):
            at = next((at for at, pair in enumerate(zip(names, machine.names, strict=False)) if pair[0] != pair[1]), -1)
            what = f"host {at} is {names[at]!r}" if at >= 0 else f"{size} of {len(names)} hosts compute"
            expected = f"{machine.names[at]!r}" if at >= 0 else f"{machine.size} of {len(machine.names)}"
            self._wrong(f"{what}, the platform says {expected}", rule="machine told")
        told: Mapping[str, Any] = next(iter(event.data.get("profiles", {}).values()), {})
        if self._clock.exact:
            for name, profile in self._given.workload.profiles.items():
                if self._given.workload.version == 4 and not alike(told.get(name), profile):
                    self._wrong(f"profile {name!r} is told as {told.get(name)}, the workload says {profile}")
                    break

    def _submitted(self, event: Event) -> None:
        name, told = event.data["job_id"], event.data["job"]
        if name in self._waiting or name in self._running or name in self._over:
            self._wrong("is submitted a second time", name)
            return
        row = self._row_of.get(name)
        if row is None:
            self._waiting[name] = job_of(told)
            self._wrong("is submitted, and is not in the jobs file", name)
            return
        expected = self._registered.pop(name, None)
        at = self._given.at[row]
        if expected is not None:
            if not self._clock.exact:
                # Batsim 5 takes the moment at which it reads a registration for the job's submission.
                expected = self.jobs[row] = {**expected, "subtime": told.get("subtime")}
            job = job_of(expected)
        elif at >= 0:
            expected, job = self._given.workload.fields(at), self._given.workload.jobs[at]
            self._told_in_time(name, event.timestamp, job.subtime)
        else:
            self._wrong("is submitted, and neither the workload nor the dispatcher has such a job", name)
            expected, job = told, job_of(told)
        self._arrive(name, row, job)
        self._compare(name, told, expected)

    def _arrive(self, name: str, row: int, job: Job) -> None:
        self.arrived[row] = self._ranks
        self._ranks += 1
        self._waiting[name] = job
        parent = full_name(name.partition("!")[0], job.parent)
        if job.parent and (parent in self._waiting or parent in self._running or parent in self._over):
            other = self._row_of.get(parent)
            if other is not None:
                self.parents[row] = other

    def _told_in_time(self, name: str, time: float, submission: float) -> None:
        if not -TOLERANCE <= time - submission <= self._clock.slack(self._told):
            self._wrong(f"its submission at {submission:.6f} s is told as of {time:.6f} s", name)

    def _compare(self, name: str, told: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
        """Compare a job as it was told with the workload's, or the registered one."""
        one, other = (
            {key: value for key, value in fields.items() if key != "id" and (key, value) != ("walltime", -1)}
            for fields in (told, expected)
        )
        if one == other:
            return
        for key in sorted({*one, *other}):
            # A real Batsim need not hand on what it does not know.
            if key in Job.__struct_fields__ or self._clock.exact:
                found, wanted = one.get(key), other.get(key)
                if not (alike(found, wanted) or str(found) == str(wanted)):
                    self._wrong(f"its {key} is told as {found!r} and should be {wanted!r}", name)

    def _completed(self, event: Event) -> None:
        name, state, code = event.data["job_id"], event.data["job_state"], event.data["return_code"]
        if name not in self._running:
            self._wrong("is told to have ended and does not run", name)
            return
        if state not in STATES or state == REJECTED:
            self._wrong(f"is told to have ended as {state!r}", name)
        self._running.discard(name)
        self._end(name, state)
        row = self._row_of.get(name)
        if row is None:
            return
        self.ended[row], self.told_late[row] = event.timestamp, self._clock.slack(self._told)
        self.states[row] = state
        if event.data.get("alloc") is not None:
            self._place("end told", row, event.data["alloc"])
        expected = self.endings.of(name.partition("!")[0], self._profile(row)).code
        if state not in (SUCCESS, FAILED) and self._clock.exact:
            expected = -1
        if (state in (SUCCESS, FAILED) or self._clock.exact) and expected is not None and code != expected:
            self._wrong(f"its return code is told as {code}, its profile has {expected}", name)

    def _profile(self, row: int) -> str:
        at = self._given.at[row]
        return str(self.jobs[row].get("profile")) if row in self.jobs else self._given.workload.jobs[at].profile

    def _end(self, name: str, state: str) -> None:
        """Note how a job ended; the success of a further attempt is that of the logical job."""
        self._over[name] = state
        row = self._row_of.get(name)
        if row is not None:
            self.gone[row] = len(self._over)
        while state == SUCCESS and row is not None and row in self.parents:
            row = self.parents[row]
            self._over[self._rows.names[row]] = state

    def _called(self, event: Event) -> None:
        if not self._calls:
            self._wrong("a call comes that was not asked for")
            return
        asked = heapq.heappop(self._calls)
        if not -TOLERANCE <= event.timestamp - asked <= self._clock.slack(self._told):
            self._wrong(f"a call comes at {event.timestamp:.6f} s, asked for at {asked:.6f} s")

    def _notified(self, event: Event) -> None:
        kind = event.data["type"]
        if kind == "no_more_static_job_to_submit":
            self._no_more = True
        elif kind in ("event_machine_unavailable", "event_machine_available"):
            mask, back = mask_of(event.data["resources"]), kind == "event_machine_available"
            # Batsim 5.0.0-rc2 gives an external event the time of the event before it.
            self.outages.append(Outage(event.timestamp, self._now, back, mask))
            self._away = self._away & ~mask if back else self._away | mask

    def _ends(self, event: Event) -> None:
        self.complete = True
        left = [*self._running, *self._waiting]
        if left:
            self._wrong(f"the simulation ends while {len(left)} jobs wait or run", left[0])
        if self._clock.exact and not self._no_more:
            self._wrong("the simulation ends, and nothing said that all jobs of the workload were submitted")
        if self._calls and self._clock.exact:
            self._wrong(f"the call asked for at {self._calls[0]:.6f} s never came")

    # ------------------------------------------------------------------ what is decided

    def _moment(self, decision: Event) -> float:
        return max(decision.timestamp, self._now)

    def _execute(self, decision: Event) -> None:
        name, text = decision.data["job_id"], decision.data["alloc"]
        if self._waiting.pop(name, None) is None:
            self._wrong("EXECUTE_JOB names it, and it does not wait", name)
            return
        self._running.add(name)
        row = self._row_of.get(name)
        if row is None:
            return
        self.ordered[row], self.late[row] = self._moment(decision), self._clock.slack(self._told)
        self._place("start ordered", row, text)
        if not self._given.machine.exclusive:
            self._count(row, decision.data.get("mapping"))
        if self._away and self._clock.exact and mask_of(text) & self._away:
            self._wrong(f"is started on {text[:80]}, of which some hosts are away", name, "host away")

    def _place(self, rule: str, row: int, text: str) -> None:
        """Compare a job's hosts with those in the jobs file."""
        found = self._rows.places[row]
        if text != found and mask_of(text) != mask_of(found):
            said = f"ran on {found[:80] or 'no host'}, {RECORDING} line {self._line} says {text[:80]}"
            self._note(rule, Fault(said, row))

    def _count(self, row: int, mapping: Mapping[Any, Any] | None) -> None:
        """Compare the units on each host with units.csv."""
        found = self._given.units.of(row).tolist()
        placed = Counter(int(index) for index in (mapping or {}).values())
        expected = [placed[index] for index in range(len(found))] if mapping else [1] * len(found)
        if found != expected:
            at = next(index for index, pair in enumerate(zip(found, expected, strict=True)) if pair[0] != pair[1])
            host = self._given.machine.name(int(self._rows.hosts.of(row)[at]))
            message = f"has {found[at]} units there, {RECORDING} line {self._line} places {expected[at]}"
            self._note("units ordered", Fault(message, row, host=host))

    def _reject(self, decision: Event) -> None:
        name = decision.data["job_id"]
        if self._waiting.pop(name, None) is None:
            self._wrong("REJECT_JOB names it, and it does not wait", name)
            return
        self._end(name, REJECTED)
        row = self._row_of.get(name)
        if row is not None:
            self.rejected[row] = self._moment(decision)

    def _kill(self, decision: Event) -> None:
        for name in decision.data["job_ids"]:
            row = self._row_of.get(name)
            if name not in self._running:
                if name not in self._over:
                    self._wrong("KILL_JOB names it, and it does not run", name)
            elif row is not None and np.isnan(self.killed[row]):
                self.killed[row] = self._moment(decision)
                self.late[row] = max(self.late[row], self._clock.slack(self._told))

    def _call_later(self, decision: Event) -> None:
        heapq.heappush(self._calls, float(decision.data["timestamp"]))

    def _register_profile(self, decision: Event) -> None:
        data = decision.data
        self.profiles.setdefault(data["workload_name"], {})[data["profile_name"]] = data["profile"]

    def _register_job(self, decision: Event) -> None:
        name, fields = decision.data["job_id"], decision.data["job"]
        job, row = job_of(fields), self._row_of.get(name)
        if row is None:
            self._wrong("is registered, and is not in the jobs file", name)
        elif self._given.at[row] >= 0 or row in self.jobs:
            self._wrong("is registered, and there is such a job already", name)
        else:
            self.jobs[row] = fields
            self._arrive(name, row, job)
            del self._waiting[name]
        if self.config.get("dynamic-jobs-acknowledged"):
            self._registered[name] = fields
        else:
            self._waiting[name] = job

    def _set_metadata(self, decision: Event) -> None:
        row = self._row_of.get(decision.data["job_id"])
        if row is not None:
            self.metadata[row] = decision.data["metadata"]

    _HEAR: ClassVar[dict[str, Callable[[Course, Event], None]]] = {
        "SIMULATION_BEGINS": _begins,
        "JOB_SUBMITTED": _submitted,
        "JOB_COMPLETED": _completed,
        "REQUESTED_CALL": _called,
        "NOTIFY": _notified,
        "SIMULATION_ENDS": _ends,
    }
    _DECIDE: ClassVar[dict[str, Callable[[Course, Event], None]]] = {
        "EXECUTE_JOB": _execute,
        "REJECT_JOB": _reject,
        "KILL_JOB": _kill,
        "CALL_ME_LATER": _call_later,
        "REGISTER_PROFILE": _register_profile,
        "REGISTER_JOB": _register_job,
        "SET_JOB_METADATA": _set_metadata,
        "NOTIFY": lambda course, decision: None,
    }
