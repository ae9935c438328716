"""What may be chosen of an engine, for people and programs; nothing large is imported, so that help is quick."""

from __future__ import annotations

from typing import Literal

#: When a peer hears of what happens. ``together``: at once, and all that happens at one moment in one message.
#: ``apart``: at once, each event in a message of its own. ``batsim``: see `batdispatch.engines.mail`.
Clock = Literal["together", "apart", "batsim"]
#: When SimGrid times what depends on the platform.
UseSimGrid = Literal["auto", "always"]
#: When a compiled engine simulates. ``auto``: where it can; ``always``: what it cannot is refused; ``never``.
UseCompiled = Literal["auto", "always", "never"]
#: How energy is counted. ``batsim``: charged now and then. ``exact``: integrated.
CountEnergy = Literal["batsim", "exact"]
#: ``auto``: as Batsim does where the dispatcher needs power states, else not at all.
Energy = Literal["auto", "batsim", "exact"]
#: What decisions are timed by: wall-clock, or CPU time of the process, which a busy machine does not lengthen.
DecisionClock = Literal["wall", "cpu"]
