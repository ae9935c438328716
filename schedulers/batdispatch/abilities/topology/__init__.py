"""Networks of hosts: topologies, placements by geometry, measures of allocations, and platforms with networks.

`networks` says what each topology is and answers, `placement` puts jobs on hosts of a shape, `results` measures a run's
allocations, `generate` writes platforms.
"""

from batdispatch.core.abilities import Ability

ABILITY = Ability(name="topology")
