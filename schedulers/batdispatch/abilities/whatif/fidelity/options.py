"""What people state of a log that is compared with simulations; nothing large is imported, so that help is quick."""

from __future__ import annotations

from typing import Annotated

import msgspec

from batdispatch.core.line.settings import DISPATCHER, INPUTS, Form


class FidelityOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a log is compared with.

    dispatchers: Simulate these. The first one is the policy that the site is said to have run.
    platform: Read the machine from this SimGrid platform. By default, one of the right size is made.
    """

    dispatchers: Annotated[str, Form("A,B,...", DISPATCHER, offers="dispatchers")] = "easy,conservative,filler,fcfs"
    platform: Annotated[str | None, Form("P.xml", INPUTS, file=True)] = None
