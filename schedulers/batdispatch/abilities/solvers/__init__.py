"""Dispatchers that solve a model: by constraint programming, auction, integer programming and pinned I/O."""

from batdispatch.core.abilities import Ability, Command

ABILITY = Ability(
    name="solvers",
    commands=(
        Command(
            "instance",
            "batdispatch.abilities.solvers.doors.command",
            "Save a run's instances and solve them with any model.",
            heading="Results",
            after="export",
        ),
    ),
)
