"""Malleable jobs: sizes that change while a job runs, the policies that decide it, and DMR."""

from batdispatch.core.abilities import Ability, Kind

ABILITY = Ability(
    name="malleable",
    kinds=(Kind("policies", "batdispatch.parts.policy:Policy", "policy", after="predictions"),),
    names={
        "Action": "batdispatch.parts.policy",
        "Policy": "batdispatch.parts.policy",
        "Situation": "batdispatch.parts.policy",
    },
)
