"""Finds the part of a recording that tells why some jobs waited, and leaves the rest unread.

What held a job is known from the jobs that waited or ran while it waited. So the exchanges are kept whole from the one
before its submission, which says what was free until then, to the one in which its wait ends. Of every job that was
alive in one of these windows its submission, start and end are kept, wherever they stand. A ledger that goes through
this says within the windows what it says after the whole recording.

That holds as long as jobs meet only in the queue and on hosts. A recording is not cut if a job in it continues or
awaits another, if jobs were killed or registered, or if it is in another protocol than Batsim 4's. Nor is one cut whose
story is wrong: whoever goes through all of it says where.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from batdispatch.batsim import protocol
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.core.line.messages import Message, Reply
from batdispatch.links.replay import MAX_LINE, told_by

#: Types of events and decisions that change nothing for who looks at jobs and hosts.
_MUTE = frozenset(
    ("REQUESTED_CALL", "CALL_ME_LATER", "RESOURCE_STATE_CHANGED", "SET_RESOURCE_STATE", "QUERY", "ANSWER")
)
#: Types that name no job: their exchanges are kept.
_COMMON = frozenset(("SIMULATION_BEGINS", "SIMULATION_ENDS", "NOTIFY"))


class _Ties(msgspec.Struct):
    """What ties a job to others."""

    parent: msgspec.Raw | None = None
    dependencies: msgspec.Raw | None = None
    array: msgspec.Raw | None = None


class _Data(msgspec.Struct):
    job_id: str = ""
    job: _Ties | None = None


class _Event(msgspec.Struct):
    type: str
    data: _Data | None = None


class _Line(msgspec.Struct):
    dir: str
    raw: str


class _Frame(msgspec.Struct):
    events: list[_Event]


class _UncutError(Exception):
    """The recording has to be gone through as a whole."""


class _Lives:
    """When each job came, ceased to wait, and was over, as the number of an exchange from 0.

    Attributes:
        came: by job id, in order of submission.
        waited: when a job was started or rejected.
        over: when it ended or was rejected.
        common: exchanges that concern all.
        count: how many exchanges there are.
    """

    def __init__(self) -> None:
        self.came: dict[str, int] = {}
        self.waited: dict[str, int] = {}
        self.over: dict[str, int] = {}
        self.common: list[int] = []
        self.count = 0
        self._step = {
            "JOB_SUBMITTED": self._submitted,
            "EXECUTE_JOB": self._started,
            "REJECT_JOB": self._rejected,
            "JOB_COMPLETED": self._completed,
        }

    def hear(self, index: int, event: _Event) -> None:
        """Note an event or decision of an exchange."""
        step = self._step.get(event.type)
        if step is not None and event.data is not None:
            step(index, event.data)
        elif event.type in _COMMON:
            self.common.append(index)
        elif event.type not in _MUTE:
            raise _UncutError

    def _submitted(self, index: int, data: _Data) -> None:
        ties = data.job
        if ties is None or ties.parent or ties.dependencies or ties.array or data.job_id in self.came:
            raise _UncutError
        self.came[data.job_id] = index

    def _started(self, index: int, data: _Data) -> None:
        if data.job_id not in self.came or data.job_id in self.waited:
            raise _UncutError
        self.waited[data.job_id] = index

    def _rejected(self, index: int, data: _Data) -> None:
        self._started(index, data)
        self.over[data.job_id] = index

    def _completed(self, index: int, data: _Data) -> None:
        if data.job_id not in self.waited or data.job_id in self.over:
            raise _UncutError
        self.over[data.job_id] = index


class Excerpt:
    """Some exchanges of a recording, and some jobs in them.

    Attributes:
        submitted: ids of all jobs of the recording, in order of submission.
    """

    def __init__(self, lives: _Lives, wanted: Collection[str]) -> None:
        """Keep what tells of the waits of jobs whose ids, or numbers within their workload, are `wanted`."""
        self.submitted = list(lives.came)
        came = _column(lives.came, lives, 0)
        waited, over = _column(lives.waited, lives, lives.count), _column(lives.over, lives, lives.count)
        rows = [row for row, name in enumerate(self.submitted) if name in wanted or name.partition("!")[2] in wanted]
        rows.sort(key=lambda row: came[row])
        # In order, and reaching as far as any window before: what one covers of another changes nothing.
        first, last = np.maximum(came[rows] - 1, 0), np.maximum.accumulate(waited[rows])
        following = np.searchsorted(last, came)
        alive = np.append(first, lives.count + 1)[following] <= over
        self._jobs = {self.submitted[row] for row in np.flatnonzero(alive).tolist()}
        kept = np.zeros(lives.count + 1, dtype=bool)
        for begin, end in zip(first.tolist(), last.tolist(), strict=True):
            kept[begin : end + 1] = True
        for moments in (came, waited, over):
            kept[moments[alive]] = True
        kept[[0, *lives.common, lives.count - 1]] = True
        self._kept: list[bool] = kept.tolist()

    def keeps(self, line: int) -> bool:
        """Return whether the exchange is kept in which a line of the recording stands, from 1."""
        return self._kept[(line - 1) // 2]

    def of(self, message: Message, reply: Reply | None) -> tuple[Message, Reply | None]:
        """Return an exchange as it was, without the jobs that are not kept."""
        events = [event for event in message.events if self._knows(event)]
        message = message if len(events) == len(message.events) else replace(message, events=events)
        if reply is not None:
            taken = [decision for decision in reply.decisions if self._knows(decision)]
            reply = reply if len(taken) == len(reply.decisions) else replace(reply, decisions=taken)
        return message, reply

    def _knows(self, struct: Any) -> bool:
        if isinstance(struct, e.JobSubmitted):
            return struct.job.id in self._jobs
        return not isinstance(struct, e.JobCompleted | d.Execute | d.Reject) or struct.job_id in self._jobs


def excerpt_of(path: Path, wanted: Collection[str]) -> Excerpt | None:
    """Return what tells of the waits of some jobs in a recording, or None if that takes the whole of it.

    Time: about a microsecond for each line.

    Args:
        path: decisions.jsonl.
        wanted: ids of jobs, or numbers within their workload.

    Raises:
        OSError: it cannot be read.
    """
    if told_by(path) != "4":
        return None
    lives = _Lives()
    try:
        for index, frame in _frames(path):
            lives.count = index + 1
            for event in frame.events:
                lives.hear(index, event)
    except (msgspec.DecodeError, UnicodeDecodeError, _UncutError):
        return None
    return Excerpt(lives, wanted) if lives.came else None


def _frames(path: Path) -> Iterator[tuple[int, _Frame]]:
    """Yield the number of each line's exchange and the line's frame, as far as jobs are concerned."""
    line, frame = msgspec.json.Decoder(_Line).decode, msgspec.json.Decoder(_Frame).decode
    directions = protocol("4").DIRECTIONS
    with path.open("rb") as file:
        for number, text in enumerate(iter(partial(file.readline, MAX_LINE + 1), b"")):
            told = line(text)
            if told.dir != directions[number % 2]:
                raise _UncutError
            yield number // 2, frame(told.raw)


def _column(moments: dict[str, int], lives: _Lives, missing: int) -> NDArray[np.int64]:
    """Return a moment for each job in order of submission, int64 [job]."""
    return np.array([moments.get(name, missing) for name in lives.came], dtype=np.int64)
