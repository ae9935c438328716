"""The part of a report that people explore: the jobs of all runs, in the page, with what draws them there."""

from batdispatch.core.abilities import Ability

ABILITY = Ability(name="explorer")
