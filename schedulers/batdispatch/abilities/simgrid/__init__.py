"""SimGrid as the timer of what depends on the platform's speeds and links, in a process of its own."""

from batdispatch.core.abilities import Ability

ABILITY = Ability(name="simgrid")
