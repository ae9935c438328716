"""Goes through a recorded exchange, and notes where it contradicts itself, the inputs, or the jobs file.

A job waits from its submission (or registration) on, runs from EXECUTE_JOB on, and is over with JOB_COMPLETED or
REJECT_JOB. The recording is read frame by frame, so that its length does not matter.
"""

from __future__ import annotations

import heapq
import math
from array import array
from collections import Counter
from collections.abc import Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from batdispatch.abilities.verify.audit.exchange import Clock, Event, Frame, Outage, Silence, read_exchanges
from batdispatch.abilities.verify.audit.findings import RECORDING, REJECTED, STATES, TOLERANCE, Fault, alike, full_name
from batdispatch.abilities.verify.audit.hosts import mask_of
from batdispatch.abilities.verify.audit.machine import Machine
from batdispatch.abilities.verify.audit.rows import Rows, Units
from batdispatch.abilities.verify.audit.workload import Endings, Job, Workload, job_of
from batdispatch.core.errors import BatdispatchError, InputError

#: Faults that are kept of one rule.
_MOST = 1000
#: What is told or decided and says nothing about a job's course.
_LEFT_ALONE = {
    *("JOB_KILLED", "RESOURCE_STATE_CHANGED", "FROM_JOB_MSG", "ANSWER"),
    *("SET_RESOURCE_STATE", "QUERY", "TO_JOB_MSG", "CHANGE_JOB_STATE", "NOTIFY"),
}
#: How the methods begin that take what is told and what is decided; they end with the type of the event.
_HEAR, _DECIDE = "_hear_", "_decide_"
_NEW, _WAITS, _RUNS, _OVER = "is new", "waits", "runs", "is over"
#: What is said of a job -> what it must do before, what it does then, and what is wrong if it did something else.
_MOVES = {
    "JOB_SUBMITTED": (_NEW, _WAITS, "is submitted a second time"),
    "EXECUTE_JOB": (_WAITS, _RUNS, "EXECUTE_JOB names it, and it does not wait"),
    "REJECT_JOB": (_WAITS, _OVER, "REJECT_JOB names it, and it does not wait"),
    "JOB_COMPLETED": (_RUNS, _OVER, "is told to have ended and does not run"),
}


class Inputs(Protocol):
    """What an exchange is compared with: a case whose exchange was not read yet."""

    rows: Rows
    machine: Machine
    workload: Workload
    clock: Clock
    units: Units
    at: list[int]


class Course:
    """What the exchange says. Times are seconds, float64 [row], NaN where nothing is said.

    Attributes:
        ordered: when the job was to start, and by how much it may have started `late`.
        ended: when its end was told, and by how much that may have been later than the end (`told_late`).
        told: in which state it was said to have ended; empty: it was not.
        killed: when it was first ordered to be killed.
        rejected: when it was rejected.
        arrived: position in the order of arrival, int64 [row]; -1: it never came.
        gone: position in the order in which jobs were over, int64 [row]; -1: it never was.
        jobs: fields of the jobs that were registered while the simulation ran, by row.
        metadata: the text that each job was given, by row, as `parents`, the row of the job that it continues.
        outages: the hosts that went away or came back, in order.
        silences: when nothing happened although jobs waited.
        handshakes: number of exchanges before the first message.
        moments: times of the messages of which a dispatcher is asked for decisions.
        endings: how profiles end, those that were registered included.
        complete: whether the recording goes on to the end of the simulation.
        faults: what is wrong, by the name of the rule.
    """

    def __init__(self, case: Inputs) -> None:
        count = len(case.rows)
        self.ordered, self.ended, self.killed, self.rejected = np.full((4, count), np.nan)
        self.late, self.told_late = np.zeros((2, count))
        self.arrived, self.gone = np.full((2, count), -1, dtype=np.int64)
        self.told = [""] * count
        self.jobs: dict[int, dict[str, Any]] = {}
        self.metadata: dict[int, str] = {}
        self.parents: dict[int, int] = {}
        self.outages: list[Outage] = []
        self.silences: list[Silence] = []
        self.messages = self.handshakes = 0
        self.moments = array("d")
        self.config: dict[str, Any] = {}
        self.complete = False
        self.faults: dict[str, list[Fault]] = {}
        self._profiles: dict[str, dict[str, dict[str, Any]]] = {}
        self.endings = Endings(case.workload.profiles, self._profiles)
        self._case, self._rows, self._clock, self._row_of = case, case.rows, case.clock, case.rows.row_of
        #: Time of the message, and of the one before.
        self._now = self._before = 0.0
        #: Line of the message or the reply, and how many events or decisions it has.
        self._line = self._size = 0
        self._began = False
        #: What each job does, how many do what, and those that were registered and not acknowledged yet.
        self._does: dict[str, str] = {}
        self._number = dict.fromkeys((_NEW, _WAITS, _RUNS, _OVER), 0)
        self._registered: dict[str, dict[str, Any]] = {}
        self._ranks = 0
        #: When calls were asked for, and which hosts are away.
        self._calls: list[float] = []
        self._away = 0
        self._quiet_since = math.nan
        #: What takes an event, by what is done with it and its type.
        self._takers = {name: getattr(self, name) for name in dir(self) if name.startswith((_HEAR, _DECIDE))}

    # ------------------------------------------------------------------ the recording

    def followed(self, path: Path) -> Course:
        """Go through a recording; if it breaks off or cannot be followed, what came before still counts."""
        try:
            for self._line, message, reply in read_exchanges(path):
                self._exchange(message, reply)
        except (BatdispatchError, OSError, KeyError, TypeError, ValueError, AttributeError) as problem:
            said = problem if isinstance(problem, BatdispatchError | OSError) else f"line {self._line}: {problem!r}"
            self.faults.setdefault("exchange", []).append(Fault(f"cannot be followed: {said}"))
            self.complete = False
        else:
            if not self.complete:
                self._wrong(f"the recording ends at {self._now:.6f} s, before the simulation does")
        return self

    def _wrong(self, message: str, job: str = "", rule: str = "exchange") -> None:
        """Note that the exchange contradicts itself or the inputs at the present line."""
        self._note(rule, Fault(f"{RECORDING} line {self._line}: {message}", job=job.partition("!")[2], time=self._now))

    def _note(self, rule: str, fault: Fault) -> None:
        listed = self.faults.setdefault(rule, [])
        if len(listed) < _MOST:
            listed.append(fault)

    def _exchange(self, message: Frame | None, reply: Frame | None) -> None:
        if message is None:
            self.handshakes += 1
            return
        self._message(message)
        if reply is not None:
            self._line += 1
            self._reply(message, reply)

    def _message(self, message: Frame) -> None:
        """Take a message: when it comes, what did not happen before it, and what it tells."""
        now = message.now
        if self.complete:
            self._wrong("a message comes after SIMULATION_ENDS")
        if now < self._now:
            self._wrong(f"time goes back to {now:.6f} s")
        if not self._began and (not message.events or message.events[0].type != "SIMULATION_BEGINS"):
            raise InputError(f"line {self._line}: the exchange does not begin with SIMULATION_BEGINS")
        if now - self._quiet_since > self._clock.slack(len(message.events)):
            waiting = np.flatnonzero((self.arrived >= 0) & (self.gone < 0))
            in_order = waiting[np.argsort(self.arrived[waiting])]
            self.silences.append(Silence(self._quiet_since, now, in_order, self._away))
        self._before, self._now = self._now, now
        self.messages += 1
        self._handle(message, _HEAR)
        if not self.complete:
            self.moments.append(now)

    def _reply(self, message: Frame, reply: Frame) -> None:
        """Take a reply: what it decides, and whether something may still happen after it."""
        if reply.now < message.now - TOLERANCE:
            self._wrong(f"the reply is of {reply.now:.6f} s, before its message")
        self._handle(reply, _DECIDE)
        quiet = not (self._number[_RUNS] or self._calls or self._registered)
        self._quiet_since = reply.now if quiet and self._number[_WAITS] else math.nan

    def _handle(self, frame: Frame, does: str) -> None:
        """Let each event be taken."""
        self._size = len(frame.events)
        times = [event.timestamp for event in frame.events]
        if times and ((len(times) > 1 and times != sorted(times)) or not 0 <= times[-1] <= frame.now + TOLERANCE):
            self._wrong(f"its events are of {min(times):.6f} to {max(times):.6f} s, out of order or after its own time")
        for event in frame.events:
            take = self._takers.get(does + event.type.lower())
            if take is not None and event.type.isupper():
                take(event)
            elif event.type not in _LEFT_ALONE:
                self._wrong(f"nobody says {event.type[:40]}")

    # ------------------------------------------------------------------ jobs

    def _moves(self, event: Event) -> bool:
        """Let an event say what its job does from now on, and return whether the job could do so."""
        name = event.data["job_id"]
        before, then, otherwise = _MOVES[event.type]
        is_right = self._does.get(name, _NEW) == before
        if is_right:
            self._begin(name, then)
        else:
            self._wrong(otherwise, name)
        return is_right

    def _begin(self, name: str, what: str) -> None:
        """Let a job do something else from now on, and count what jobs do."""
        self._number[self._does.get(name, _NEW)] -= 1
        self._does[name] = what
        self._number[what] += 1
        if what == _OVER and (row := self._row_of.get(name)) is not None:
            self.gone[row] = self._number[_OVER]

    def _arrive(self, name: str, row: int, job: Job) -> None:
        """Note that a job came, and which job it continues."""
        self.arrived[row] = self._ranks
        self._ranks += 1
        if not job.parent:
            return
        parent = full_name(name.partition("!")[0], job.parent)
        if parent in self._does and parent in self._row_of:
            self.parents[row] = self._row_of[parent]

    def _in_time(self, event: Event, due: float) -> bool:
        """Return whether an event is told at the time that it was due, as exactly as the clock allows."""
        return -TOLERANCE <= event.timestamp - due <= self._clock.slack(self._size)

    def _place(self, rule: str, row: int, text: str) -> None:
        """Compare a job's hosts with those in the jobs file."""
        noted = self._rows.places[row]
        if text != noted and mask_of(text) != mask_of(noted):
            said = f"ran on {noted[:80] or 'no host'}, {RECORDING} line {self._line} says {text[:80]}"
            self._note(rule, Fault(said, row))

    # ------------------------------------------------------------------ what is told

    def _hear_simulation_begins(self, event: Event) -> None:
        """Compare the hosts that are told with the platform."""
        if self._began:
            self._wrong("SIMULATION_BEGINS comes again")
            return
        self._began = True
        self.config |= event.data["config"]
        machine, compute = self._case.machine, event.data["compute_resources"]
        listed = sorted([*compute, *event.data["storage_resources"]], key=lambda host: int(host["id"]))
        for at, (host, name) in enumerate(zip_longest(listed, machine.names)):
            if host is None or host["name"] != name or (at < len(compute)) != (at < machine.size):
                said = f"host {at} is told as {host}, the platform says {name!r}"
                self._wrong(f"{said}, and that {machine.size} compute", rule="machine told")
                break

    def _hear_job_submitted(self, event: Event) -> None:
        """Compare a job that is told with the workload, or with its registration."""
        name, told = event.data["job_id"], event.data["job"]
        if not self._moves(event):
            return
        row, expected = self._row_of.get(name), self._registered.pop(name, None)
        if row is None:
            self._wrong("is submitted, and is not in the jobs file", name)
            return
        at, job = self._case.at[row], None
        if expected is not None and not self._clock.exact:
            # Batsim 5 takes the moment at which it reads a registration for the job's submission.
            expected = self.jobs[row] = {**expected, "subtime": told.get("subtime")}
        elif expected is None and at >= 0:
            expected, job = self._case.workload.fields(at), self._case.workload.jobs[at]
            if not self._in_time(event, due := job.subtime):
                self._wrong(f"its submission at {due:.6f} s is told as of {event.timestamp:.6f} s", name)
        elif expected is None:
            self._wrong("is submitted, and neither the workload nor the dispatcher has such a job", name)
            expected = told
        self._arrive(name, row, job or job_of(expected))
        # Most differ in the name alone, which has the workload's before it.
        if {**told, "id": expected.get("id")} != expected:
            self._compare(name, told, expected)

    def _compare(self, name: str, told: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
        """Compare a job as it was told with the workload's, or the registered one."""
        one, other = (
            {key: value for key, value in fields.items() if key != "id" and (key, value) != ("walltime", -1)}
            for fields in (told, expected)
        )
        for key in sorted({*one, *other}) if one != other else ():
            given, due = one.get(key), other.get(key)
            # A real Batsim need not hand on what it does not know.
            known = key in Job.__struct_fields__ or self._clock.exact
            if known and not (alike(given, due) or str(given) == str(due)):
                self._wrong(f"its {key} is told as {given!r} and should be {due!r}", name)

    def _hear_job_completed(self, event: Event) -> None:
        """Note when and how a job ended."""
        name, state = event.data["job_id"], event.data["job_state"]
        if not self._moves(event):
            return
        if state not in STATES or state == REJECTED:
            self._wrong(f"is told to have ended as {state!r}", name)
        row = self._row_of.get(name)
        if row is None:
            return
        self.ended[row], self.told_late[row] = event.timestamp, self._clock.slack(self._size)
        self.told[row] = state
        if event.data.get("alloc") is not None:
            self._place("end told", row, event.data["alloc"])

    def _hear_requested_call(self, event: Event) -> None:
        if self._calls:
            heapq.heappop(self._calls)

    def _hear_notify(self, event: Event) -> None:
        kind = event.data["type"]
        if kind in ("event_machine_unavailable", "event_machine_available"):
            mask, back = mask_of(event.data["resources"]), kind == "event_machine_available"
            # Batsim 5.0.0-rc2 gives an external event the time of the event before it, be it hours ago.
            self.outages.append(Outage(event.timestamp if self._clock.exact else self._before, self._now, back, mask))
            self._away = self._away & ~mask if back else self._away | mask

    def _hear_simulation_ends(self, event: Event) -> None:
        """Note that the recording is complete, and what was left undone."""
        self.complete = True
        left = [name for name, what in self._does.items() if what in (_WAITS, _RUNS)]
        if left:
            self._wrong(f"the simulation ends while {len(left)} jobs wait or run", left[0])

    # ------------------------------------------------------------------ what is decided

    def _decide_execute_job(self, decision: Event) -> None:
        """Note when and where a job is to start, and compare its hosts and units with those noted."""
        name, text = decision.data["job_id"], decision.data["alloc"]
        if not self._moves(decision) or (row := self._row_of.get(name)) is None:
            return
        self.ordered[row], self.late[row] = max(decision.timestamp, self._now), self._clock.slack(self._size)
        self._place("start ordered", row, text)
        if not self._case.machine.exclusive:
            self._count(row, decision.data.get("mapping"))
        if self._away and self._clock.exact and mask_of(text) & self._away:
            self._wrong(f"is started on {text[:80]}, of which some hosts are away", name, "host away")

    def _count(self, row: int, mapping: Mapping[Any, Any] | None) -> None:
        """Compare the units on each host with units.csv."""
        noted = self._case.units.of(row)
        placed = Counter(int(index) for index in (mapping or {}).values())
        expected = np.array([placed[index] if mapping else 1 for index in range(len(noted))])
        for at in np.flatnonzero(noted != expected).tolist()[:1]:
            host = self._case.machine.name(int(self._rows.hosts.of(row)[at]))
            message = f"has {noted[at]} units there, {RECORDING} line {self._line} places {expected[at]}"
            self._note("units ordered", Fault(message, row, host=host))

    def _decide_reject_job(self, decision: Event) -> None:
        row = self._row_of.get(decision.data["job_id"])
        if self._moves(decision) and row is not None:
            self.rejected[row] = max(decision.timestamp, self._now)

    def _decide_kill_job(self, decision: Event) -> None:
        for name in decision.data["job_ids"]:
            row, what = self._row_of.get(name), self._does.get(name)
            if what not in (_RUNS, _OVER):
                self._wrong("KILL_JOB names it, and it does not run", name)
            elif what == _RUNS and row is not None and np.isnan(self.killed[row]):
                self.killed[row] = max(decision.timestamp, self._now)
                self.late[row] = max(self.late[row], self._clock.slack(self._size))

    def _decide_call_me_later(self, decision: Event) -> None:
        heapq.heappush(self._calls, float(decision.data["timestamp"]))

    def _decide_register_profile(self, decision: Event) -> None:
        data = decision.data
        self._profiles.setdefault(data["workload_name"], {})[data["profile_name"]] = data["profile"]

    def _decide_register_job(self, decision: Event) -> None:
        """Note a job that is not of the workload; if such jobs are not acknowledged, it waits at once."""
        name, fields = decision.data["job_id"], decision.data["job"]
        row = self._row_of.get(name)
        if row is None:
            self._wrong("is registered, and is not in the jobs file", name)
        elif self._case.at[row] >= 0 or row in self.jobs:
            self._wrong("is registered, and there is such a job already", name)
        else:
            self.jobs[row] = fields
            self._arrive(name, row, job_of(fields))
        if self.config.get("dynamic-jobs-acknowledged"):
            self._registered[name] = fields
        else:
            self._begin(name, _WAITS)

    def _decide_set_job_metadata(self, decision: Event) -> None:
        row = self._row_of.get(decision.data["job_id"])
        if row is not None:
            self.metadata[row] = decision.data["metadata"]
