"""What holds for all tests."""

import gc

from hypothesis import HealthCheck, settings

# Collecting makes hundreds of thousands of objects that all stay (see below).
gc.disable()

# How long it takes to draw an example says how busy the machine is, and nothing about the code.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")


def pytest_collection_finish() -> None:
    """What was collected stays for as long as the suite runs: the garbage collector need not go through it again."""
    gc.collect()
    gc.freeze()
    gc.enable()
