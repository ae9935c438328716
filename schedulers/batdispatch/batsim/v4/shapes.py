"""The frame of every Batsim 4 event."""

from __future__ import annotations

import msgspec

from batdispatch.batsim.shapes import Time


class Timed(msgspec.Struct, tag_field="type"):
    """Base of all events: ``{timestamp, type, data}``."""

    timestamp: Time
