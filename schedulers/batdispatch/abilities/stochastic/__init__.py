"""Stochastic jobs, whose run time is a random variable: how long to ask for, attempt after attempt."""

from batdispatch.core.abilities import Ability, Command, Kind, Skeleton

ABILITY = Ability(
    name="stochastic",
    commands=(
        Command(
            "requests",
            "batdispatch.abilities.stochastic.question",
            "Print how long a stochastic job should ask for.",
            heading="Dispatchers, and your own",
            after="explain",
        ),
    ),
    kinds=(
        Kind(
            "requests",
            "batdispatch.abilities.stochastic.requests:RequestSequence",
            "request",
            title="request sequence",
            option="requests",
            after="placements",
        ),
    ),
    skeletons=(
        Skeleton(
            "request-sequence",
            "requests",
            "requests",
            "A request sequence for batdispatch's stochastic jobs.",
            "mean-first",
            package=__name__,
        ),
    ),
    names={
        "Law": "batdispatch.abilities.stochastic.requests.laws",
        "RequestSequence": "batdispatch.abilities.stochastic.requests",
        "SequenceOptions": "batdispatch.abilities.stochastic.requests",
    },
)
