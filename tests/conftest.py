"""What holds for all tests."""

import gc
import os

import pytest
from hypothesis import HealthCheck, settings

# Collecting makes hundreds of thousands of objects that all stay (see below).
gc.disable()

# How long it takes to draw an example says how busy the machine is, and nothing about the code. Every run of the suite
# takes other examples. Property tests that need more or fewer than these say so.
settings.register_profile(
    "any machine",
    max_examples=int(os.environ.get("BATDISPATCH_EXAMPLES", "60")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("any machine")


def pytest_collection_finish() -> None:
    """What was collected stays for as long as the suite runs: the garbage collector need not go through it again."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture
def worker_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let workers be threads of this process, where what becomes of a process is not the question."""
    from batdispatch.runs import workers
    from worker_threads import WorkerThread

    monkeypatch.setattr(workers, "Worker", WorkerThread)
