"""Functions in a process of their own: what comes back, and what is said when nothing does."""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import elsewhere
from batdispatch.core.errors import ImpossibleDecision, InputError, SimulationError
from batdispatch.runs.workers import call_isolated


def call(name: str, *arguments: Any) -> Any:
    return call_isolated(getattr(elsewhere, name), *arguments)


def test_arguments_go_there_and_results_come_back() -> None:
    found = call("add", 1, [2.5, None])
    assert found["both"] == [1, [2.5, None]]
    assert found["process"] != os.getpid()


def test_progress_is_told_on_the_way() -> None:
    told: list[tuple[int, int]] = []
    call_isolated(elsewhere.count, 1000, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (1000, 1000)
    assert 100 <= len(told) <= 300
    assert told == sorted(told)


@pytest.mark.parametrize("kind", [InputError, ImpossibleDecision, SimulationError])
def test_errors_keep_their_kind_and_words(kind: type[Exception]) -> None:
    with pytest.raises(kind, match=r"^it went wrong$"):
        call("fail", kind.__name__)


def test_a_crash_is_one_message_with_its_last_words(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SimulationError, match=r"ended by SIGABRT\. Its last words: the end / is near$"):
        call("crash", "the end\n\nis near\n")
    assert capfd.readouterr().err == ""


def test_a_crash_without_a_word() -> None:
    with pytest.raises(SimulationError, match=r"ended by SIGABRT without a word \(out of memory, or"):
        call("crash", "")


def test_a_bug_is_a_message_too() -> None:
    with pytest.raises(SimulationError, match=r"^this is a bug: ZeroDivisionError: .* \(.*elsewhere\.py, line \d+\)$"):
        call("divide")


def test_a_file_that_is_not_there_is_wrong_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.xml: No such file"):
        call("read", str(tmp_path / "absent.xml"))


def test_warnings_are_passed_on(capfd: pytest.CaptureFixture[str]) -> None:
    call("warn", "mind the gap\n")
    assert capfd.readouterr().err == "mind the gap\n"


def test_an_interrupt_here_ends_the_other_process() -> None:
    def interrupt(done: int, total: int) -> None:
        pids.append(done)
        raise KeyboardInterrupt

    pids: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        call_isolated(elsewhere.linger, progress=interrupt)
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux's way to follow a parent into death")
def test_the_other_process_does_not_outlive_this_one() -> None:
    program = (
        "import elsewhere; from batdispatch.runs.workers import call_isolated\n"
        "call_isolated(elsewhere.linger, progress=lambda pid, _: print(pid, flush=True))"
    )
    path = os.pathsep.join(path for path in sys.path if path)
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path}
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()
    for _ in range(100):
        try:
            state = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return
        if state == "Z":
            return  # Dead, and nobody has asked for its status.
        time.sleep(0.05)
    pytest.fail("it is still there")
