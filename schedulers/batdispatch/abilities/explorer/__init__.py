"""The part of a report that people explore: the jobs of all runs, in the page, with what draws them there."""

from batdispatch.core.abilities import Ability

# Maps and link loads are drawn of networks.
ABILITY = Ability(name="explorer", needs=("topology",))
