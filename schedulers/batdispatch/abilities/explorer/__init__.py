"""The part of a report that people explore: the jobs of all runs, in the page, with what draws them there."""

from batdispatch.core.abilities import Ability

# Maps and link loads are drawn of networks, and curves of the power of hosts.
ABILITY = Ability(name="explorer", needs=("power", "topology"))
