"""Dispatchers that solve a model: by constraint programming, auction, integer programming and pinned I/O."""

from batdispatch.core.abilities import Ability, Command

ABILITY = Ability(
    name="solvers",
    # `pinned-io` puts jobs along lines through networks.
    needs=("topology",),
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
