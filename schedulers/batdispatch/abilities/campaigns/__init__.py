"""Grids of runs from a file, comparisons on replicates, and the statistics that say how sure a difference is."""

from batdispatch.core.abilities import Ability, Command

ABILITY = Ability(
    name="campaigns",
    commands=(
        Command(
            "campaign",
            "batdispatch.abilities.campaigns.command",
            "Run a grid of runs from a file, here or on a cluster.",
            heading="Compare dispatchers",
            after="run",
        ),
    ),
    names={
        "campaign": "batdispatch.abilities.campaigns.python",
        "replicate": "batdispatch.abilities.campaigns.python",
    },
)
