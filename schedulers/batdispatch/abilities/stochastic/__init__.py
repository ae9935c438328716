"""Stochastic jobs, whose run time is a random variable: how long to ask for, attempt after attempt."""

from batdispatch.core.abilities import Ability, Command, Kind, Skeleton

ABILITY = Ability(
    name="stochastic",
    commands=(
        Command(
            "requests",
            "batdispatch.cli.requests",
            "Print how long a stochastic job should ask for.",
            heading="Dispatchers, and your own",
            after="explain",
        ),
    ),
    kinds=(
        Kind(
            "requests",
            "batdispatch.parts.requests:RequestSequence",
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
        "Law": "batdispatch.parts.requests.laws",
        "RequestSequence": "batdispatch.parts.requests",
        "SequenceOptions": "batdispatch.parts.requests",
    },
)
