"""Sites that run Slurm: its files and accounts, its two ways of scheduling, and when the jobs of a queue start."""

from batdispatch.core.abilities import Ability, Command

ABILITY = Ability(
    name="sites",
    commands=(
        Command(
            "slurm-conf",
            "batdispatch.abilities.sites.doors.commands.slurm_conf",
            "Say what slurm-backfill takes from a slurm.conf.",
            heading="Workloads and platforms",
            after="platform",
        ),
        Command(
            "eta",
            "batdispatch.abilities.sites.doors.commands.eta",
            "Say when the waiting jobs of a queue start.",
            heading="Results",
            after="explain-wait",
        ),
        Command(
            "queues",
            "batdispatch.abilities.sites.doors.commands.queues",
            "Write a platform with the queues of a site.",
            group="platform",
        ),
    ),
)
