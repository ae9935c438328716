"""Types of values that both protocols share.

Structs stand only for what has a fixed shape; jobs, profiles and generic notifications stay dicts, since users add
fields to them.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

#: Seconds. JSON has no infinity and msgspec refuses numbers that overflow, so a time is always finite.
Time = Annotated[float, msgspec.Meta(ge=0)]
Count = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
Name = Annotated[str, msgspec.Meta(min_length=1)]
Fields = dict[str, Any]


class Empty(msgspec.Struct, frozen=True):
    """The data of events that say everything by their type."""
