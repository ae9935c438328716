"""Malleable jobs: sizes that change while a job runs, the policies that decide it, and DMR."""

from batdispatch.core.abilities import Ability, Kind

ABILITY = Ability(
    name="malleable",
    needs=("sites",),
    kinds=(Kind("policies", "batdispatch.abilities.malleable.policy:Policy", "policy", after="predictions"),),
    names={
        "Action": "batdispatch.abilities.malleable.policy",
        "Policy": "batdispatch.abilities.malleable.policy",
        "Situation": "batdispatch.abilities.malleable.policy",
    },
)
