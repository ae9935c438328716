"""Which random examples property tests take: the same ones everywhere, or fresh ones and many more."""

import os
from collections.abc import Iterable
from typing import Any

from hypothesis import HealthCheck, settings

#: How many times as many examples as each test says are drawn afresh; 0: as many as it says, the same ones in each run.
FRESH = int(os.environ.get("BATDISPATCH_FRESH", "0"))


def load_profile() -> None:
    """Choose the examples; before any test is imported, because their own settings begin with these."""
    # How long it takes to draw an example says how busy the machine is, and nothing about the code.
    settings.register_profile(
        "any machine",
        max_examples=int(os.environ.get("BATDISPATCH_EXAMPLES", "60")),
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        derandomize=not FRESH,
    )
    settings.load_profile("any machine")


def multiply(items: Iterable[Any]) -> None:
    """Let property tests draw `FRESH` times as many examples as each says, if that is asked for."""
    if not FRESH:
        return
    # A function is there once for each set of parameters.
    functions = {getattr(item.obj, "__func__", item.obj) for item in items if item.get_closest_marker("hypothesis")}
    for function in functions:
        # Hypothesis has no other way to change what a decorator has said.
        said = function._hypothesis_internal_use_settings
        function._hypothesis_internal_use_settings = settings(said, max_examples=FRESH * said.max_examples)
