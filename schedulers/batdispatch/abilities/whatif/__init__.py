"""What other settings or machines would have done to a log's jobs, and how near a simulation comes to a log."""

from batdispatch.core.abilities import Ability, Command

ABILITY = Ability(
    name="whatif",
    needs=("campaigns", "sites"),
    commands=(
        Command(
            "whatif",
            "batdispatch.abilities.whatif.command",
            "Say what other settings would have done to a log's jobs.",
            heading="Compare dispatchers",
            after="compare",
        ),
        Command(
            "fidelity",
            "batdispatch.abilities.whatif.fidelity.command",
            "Compare the waits of a log with those of simulations.",
            group="workload",
        ),
    ),
    names={"whatif": "batdispatch.abilities.whatif.whatif"},
)
