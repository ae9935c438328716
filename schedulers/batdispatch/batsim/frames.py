"""What every frame of either protocol has: a list of events, in order of time, none later than the frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from batdispatch.batsim.problems import field_error
from batdispatch.core.errors import FieldError, InputError
from batdispatch.core.jobs.fields import MAX_MOMENT

Read = TypeVar("Read")


def read_events(events: Sequence[Any], now: float, read: Callable[[Any], Read], source: str, whole: str) -> list[Read]:
    """Read the events of a frame one by one.

    Args:
        events: as the schema gives them: tagged structs with a ``timestamp``.
        now: the frame's own time, in seconds.
        read: makes one event what the core knows; raises FieldError.
        source: what the frame is, for messages.
        whole: what the frame is called beside its events: the message, the reply.

    Raises:
        InputError: the frame is of a moment that no clock reaches, or an event is out of order or wrong; says which,
            its type, the field, found and expected.
    """
    if not now <= MAX_MOMENT:
        raise InputError(f"{whole} is of {now:g} s, expected at most {MAX_MOMENT:g} s", source=source)
    done: list[Read] = []
    last = 0.0
    event: Any = None
    try:
        for event in events:
            time = event.timestamp
            if not last <= time <= now:
                raise FieldError("timestamp", time, f"from {last:.6f} (the event before) to {now:.6f} ({whole})")
            last = time
            done.append(read(event))
    except FieldError as problem:
        raise field_error(problem, source, len(done), str(type(event).__struct_config__.tag)) from None
    return done
