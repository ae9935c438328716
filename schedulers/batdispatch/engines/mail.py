"""Batsim's clock: what happens is told by messages, which take time and arrive one after the other.

Theory of operation
-------------------

Inside Batsim 4.2.1 several actors write to one server, and only the server talks to the scheduler:

- A running job, on its first host, says that it has ended.
- A submitter, on the master host, says which jobs or external events have come, all those of a date in one message.
- On the master host, a waiter says that the time of a CALL_ME_LATER has come, and a killer that jobs are dead.
- After each message to the scheduler, an actor on the master host hands over its decisions one by one, each at its
  time, and then says that the scheduler is ready again.

The server takes one message at a time, in the order in which they were sent. A message takes the latency of the route
from its sender's host to the master host, counted from when the server turns to it, and then the nanosecond or so that
its one byte takes on that route. Its sender goes on when it has arrived. So a submitter comes later to its next date
when its last message had to wait.

Whenever a message has arrived, the server writes to the scheduler if the scheduler is ready, if there is something to
tell, and if no other message waits.

SimGrid goes from one moment at which something ends to the next, and what would end within a nanosecond of such a
moment ends then. Suppose that a job ends at the very microsecond in which another job's message arrives. Its message is
mostly sent when the other one's latency is over, just before that one's byte is. Then both are told together. Which
ends are told together decides whole schedules, so time is not rounded to microseconds here; what is told of it is.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from batdispatch.core.line.events import Event

#: Seconds before its time at which SimGrid lets something end when it looks: its ``precision/timing``. A little more,
#: because a byte on the default loopback takes a tenth of it: whole nanoseconds are frequent and doubles inexact.
EARLY = 1.0001e-9


class Delay(NamedTuple):
    """How long a message takes: seconds of latency, and seconds for its byte."""

    latency: float
    byte: float


#: Returns the delay of messages from a host, by id, or from the master host (None) to the master host.
Delays = Callable[[int | None], Delay]


class _Letter(NamedTuple):
    """A message to the server."""

    delay: Delay
    #: What it does when it arrives.
    arrive: Callable[[], None]
    #: How its sender goes on then.
    then: Callable[[], None] | None
    #: What it will tell the scheduler.
    events: Sequence[Event]


def _nothing() -> None:
    pass


class Mail:
    """The server's side. Posting and receiving change it; everything else is a question.

    Attributes:
        due: when the latency or the byte of the message on its way is over, s; infinity: none is on its way.
        ready: whether the scheduler has answered the last message.
        turn: whether the server would write to the scheduler now, if there were something to tell.
    """

    def __init__(self, delays: Delays) -> None:
        self._delays = delays
        self._known: dict[int | None, Delay] = {}
        #: The first one is on its way, the others wait.
        self._letters: deque[_Letter] = deque()
        self._byte = False
        #: What those send whom an arriving message brings to life; None: no message is arriving.
        self._newborn: list[_Letter] | None = None
        self.due = math.inf
        self.ready = False
        self.turn = False

    @property
    def idle(self) -> bool:
        """Whether no message is on its way or waits, and the scheduler is ready."""
        return self.ready and not self._letters

    def events(self) -> Iterator[Event]:
        """Yield what messages will tell that have not arrived."""
        for letter in self._letters:
            yield from letter.events

    def delay(self, host: int | None) -> Delay:
        """Return how long a message from a host (None: the master host) takes."""
        delay = self._known.get(host)
        if delay is None:
            delay = self._known[host] = self._delays(host)
        return delay

    def post(
        self,
        now: float,
        host: int | None,
        arrive: Callable[[], None],
        *,
        then: Callable[[], None] | None = None,
        events: Sequence[Event] = (),
    ) -> None:
        """Send a message from a host (None: the master host): it does `arrive`, and its sender goes on with `then`."""
        letter = _Letter(self.delay(host), arrive, then, events)
        if self._newborn is not None:
            self._newborn.append(letter)
            return
        self._letters.append(letter)
        if len(self._letters) == 1:
            self._turn_to_next(now)

    def _turn_to_next(self, now: float) -> None:
        if not self._letters:
            self.due = math.inf
            return
        latency, byte = self._letters[0].delay
        self._byte = not latency
        self.due = now + (latency or byte)

    def receive(self, now: float) -> Callable[[], None]:
        """Let the message that is due come nearer, or arrive; return what follows when all else of now has happened.

        Then its sender goes on, and after that those whom the message brought to life, such as a job that it started.
        """
        if not self._byte:
            self._byte = True
            self.due = now + self._letters[0].delay.byte
            return _nothing
        letter = self._letters.popleft()
        self._turn_to_next(now)
        newborn: list[_Letter] = []
        self._newborn = newborn
        letter.arrive()
        self._newborn = None
        self.turn = self.idle

        def follow() -> None:
            if letter.then is not None:
                letter.then()
            waiting = len(self._letters)
            self._letters.extend(newborn)
            if not waiting:
                self._turn_to_next(now)

        return follow

    def written(self) -> None:
        """Note that the scheduler was written to and has to answer."""
        self.ready = self.turn = False

    def answered(self) -> None:
        """Note that the scheduler has answered."""
        self.ready = True
