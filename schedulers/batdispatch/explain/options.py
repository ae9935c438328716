"""What people state of an explanation; nothing large is imported, so that help is quick."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta


class ExplainWaitOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How much is said.

    limit: Show at most this many phases, and as many later jobs.
    holders: Name at most this many running jobs for each phase.
    """

    limit: Annotated[int, Meta(ge=1)] = 8
    holders: Annotated[int, Meta(ge=0)] = 4
