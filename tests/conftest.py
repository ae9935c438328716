"""What holds for all tests."""

import gc

import pytest

import examples
import skips

# Collecting makes hundreds of thousands of objects that all stay (see below).
gc.disable()

examples.load_profile()

pytest_plugins = ["result_fixtures"]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    examples.multiply(items)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line what is missing here; pytest's own summary follows, and stays the last line."""
    line = skips.line_of(terminalreporter.stats.get("skipped", ()))
    if line:
        terminalreporter.write_line(line)


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
