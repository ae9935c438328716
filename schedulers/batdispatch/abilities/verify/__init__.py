"""Verification of runs and schedules: the audit of a run's files, the check that makes runs again, and the textbook.

`audit` reads the files of a run a second time, by rules that stand in tables. `checks` asks it, makes the run again,
and works out tables over many runs. `differ` holds the job files of any simulator against textbook definitions.
"""

from batdispatch.core.abilities import Ability, Command

ABILITY = Ability(
    name="verify",
    commands=(
        Command(
            "check",
            "batdispatch.abilities.verify.doors.check",
            "Audit runs against their workload and platform.",
            heading="Results",
            after="eta",
        ),
        Command(
            "differ",
            "batdispatch.abilities.verify.doors.differ",
            "Hold any simulator's schedules against textbook definitions.",
            heading="Results",
            after="check",
        ),
    ),
    names={"check": "batdispatch.abilities.verify.doors.python"},
)
