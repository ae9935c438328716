"""Worker processes: none waits for another, and one that dies or fails loses only its own task."""

import gc
import os
import signal
import stat
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any, Self

import msgspec
import pytest

from batdispatch.core.errors import InputError
from batdispatch.runs import compare as comparing
from batdispatch.runs import workers
from batdispatch.runs.compare import compare
from batdispatch.runs.listener import sparse_progress
from batdispatch.runs.run import InputFiles, execute
from batdispatch.runs.spec import RunSpec
from batdispatch.runs.workers import DEATH, Worker, carry_out, workers_beside
from working import HANDED, hand, tell_handed, thresholds, work

RECORDINGS = Path(__file__).parents[1] / "conformance" / "recordings"
PLATFORM = str(RECORDINGS / "platforms" / "four.xml")
WORKLOAD = str(RECORDINGS / "workloads" / "delay.json")


def test_progress_is_told_some_200_times_whatever_the_steps_in_which_it_is_made() -> None:
    for step in (1, 7, 333, 10_000):
        told: list[Any] = []
        progress = sparse_progress(told.append)
        for done in range(step, 10_001, step):
            progress(done, 10_000)
        assert len(told) == 10_000 // step or 150 < len(told) <= 200, step


class Log:
    """What `carry_out` said."""

    def __init__(self) -> None:
        self.began: list[str] = []
        self.ended: dict[str, str | None] = {}
        #: Task -> process, tasks that it had done before, whether it leaves interrupts to its parent.
        self.told: dict[str, tuple[int, int, bool]] = {}

    def run(self, tasks: list[str], processes: int, **options: Any) -> Self:
        carry_out(
            work,
            tasks,
            processes=processes,
            began=self.began.append,
            told=self.told.__setitem__,
            ended=self.ended.__setitem__,
            **options,
        )
        return self


def test_a_worker_looks_for_circles_as_seldom_as_its_parent() -> None:
    before = gc.get_threshold()
    gc.set_threshold(12_345, 7, 8)
    try:
        worker = Worker()
    finally:
        gc.set_threshold(*before)
    assert worker.call(thresholds) == (12_345, 7, 8)
    worker.stop()


def test_a_worker_that_is_free_takes_the_next_task(tmp_path: Path) -> None:
    # With a barrier between the first two and the third, the first would never end.
    tasks = [f"await {tmp_path / 'c'}", f"touch {tmp_path / 'b'}", f"touch {tmp_path / 'c'}"]
    log = Log().run(tasks, 2)
    assert log.began == tasks
    assert log.ended == dict.fromkeys([*tasks[1:], tasks[0]])
    assert list(log.ended)[-1] == tasks[0]
    assert log.told[tasks[1]][0] == log.told[tasks[2]][0] != os.getpid()
    assert [before for _, before, _ in log.told.values()].count(1) == 1
    assert all(blocked for _, _, blocked in log.told.values())


def test_a_worker_that_dies_loses_only_its_own_task(tmp_path: Path) -> None:
    tasks = [f"await {tmp_path / 'c'}", "die", f"touch {tmp_path / 'c'}"]
    assert Log().run(tasks, 2).ended == {"die": DEATH, tasks[2]: None, tasks[0]: None}


def test_a_task_that_fails_says_why() -> None:
    log = Log().run(["fail it is so", "break it", "rest"], 1)
    assert log.ended["fail it is so"] == "it is so"
    assert str(log.ended["break it"]).startswith("this is a bug: ZeroDivisionError: it (")
    assert log.ended["rest"] is None


def test_wrong_input_begins_nothing_more_and_is_raised_when_the_others_have_ended(tmp_path: Path) -> None:
    ended: list[str] = []

    def end(task: str, problem: str | None) -> None:
        ended.append(task)
        (tmp_path / "c").touch()

    began: list[str] = []
    tasks = ["wrong it is wrong", f"await {tmp_path / 'c'}", "never"]
    with pytest.raises(InputError, match="it is wrong"):
        carry_out(work, tasks, processes=2, began=began.append, told=lambda *_: None, ended=end)
    assert began == ended == tasks[:2]


def test_a_task_alone_has_a_new_process_that_ends_with_it() -> None:
    log = Log().run(["one", "alone", "two", "three"], 1, alone="alone".__eq__)
    processes = {task: process for task, (process, _, _) in log.told.items()}
    assert list(processes.values()).count(processes["alone"]) == 1
    assert log.told["alone"][1] == 0


def test_each_worker_is_handed_once_what_its_tasks_need() -> None:
    """A task alone is in a process of its own, which is handed it, too; a long text does not fit into a pipe."""
    told: dict[str, Any] = {}
    tasks, text = ["one", "two", "alone", "three", "four"], "x" * 1_000_000
    carry_out(
        tell_handed,
        tasks,
        processes=2,
        began=lambda _: None,
        told=told.__setitem__,
        ended=lambda _, problem: None if problem is None else pytest.fail(problem),
        alone="alone".__eq__,
        first=partial(hand, text),
    )
    assert sorted(told) == sorted(tasks)
    assert all(handed == [text] for _, handed in told.values())
    assert 2 <= len({process for process, _ in told.values()}) <= 3
    assert HANDED == []


def test_an_interrupt_ends_the_workers(tmp_path: Path) -> None:
    processes: list[int] = []

    def told(task: str, what: tuple[int, int, bool]) -> None:
        processes.append(what[0])
        raise KeyboardInterrupt

    tasks = [f"await {tmp_path / 'nothing'}"] * 2
    with pytest.raises(KeyboardInterrupt):
        carry_out(work, tasks, processes=2, began=lambda _: None, told=told, ended=lambda *_: pytest.fail("it ended"))
    with pytest.raises(ProcessLookupError):
        os.kill(processes[0], signal.SIGKILL)


def test_an_interrupt_leaves_no_worker_beside() -> None:
    beside: set[int] = set()

    def interrupted() -> None:
        with workers_beside(2) as workers:
            assert workers is not None
            while len(beside) < 2:
                beside.update(each.result() for each in [workers.submit(os.getpid) for _ in range(4)])
            # At a terminal, an interrupt is sent to all processes; it is for the first one.
            for pid in beside:
                os.kill(pid, signal.SIGINT)
            assert {workers.submit(os.getpid).result() for _ in range(4)} <= beside
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    for pid in beside:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def spec(dispatcher: str, **other: Any) -> RunSpec:
    return RunSpec(platform=PLATFORM, workload=WORKLOAD, dispatcher=dispatcher, **other)


def test_dispatchers_that_take_long_go_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    monkeypatch.setattr(workers, "carry_out", lambda _, runs, **__: order.extend(name for name, _ in runs))
    names = ["fcfs", "conservative", "easy", "pcp20", "best-list", "stochastic-conservative"]
    folders, _ = compare([spec(name) for name in names], tmp_path / "out")
    assert order == ["pcp20", "conservative", "best-list", "stochastic-conservative", "fcfs", "easy"]
    assert [folder.name for folder in folders] == names


@pytest.mark.parametrize(("dispatcher", "little"), [("conservative", True), ("pcp20", False)])
def test_few_jobs_wait_for_no_worker_unless_a_library_might_crash(
    dispatcher: str, little: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[str] = []
    monkeypatch.setattr(workers, "carry_out", lambda _, runs, **__: left.extend(name for name, _ in runs))
    for limit in (comparing.LITTLE, Path(WORKLOAD).stat().st_size * 2 - 1):
        monkeypatch.setattr(comparing, "LITTLE", limit)
        folders, _ = compare([spec(dispatcher), spec("easy")], tmp_path / str(limit))
        assert [(folder / "result.json").is_file() for folder in folders] == [little, little]
        assert sorted(left) == ([] if little else sorted([dispatcher, "easy"]))
        left.clear()
        little = False


def test_a_worker_reads_the_workload_once(tmp_path: Path) -> None:
    pipe = tmp_path / "delay.json"
    os.mkfifo(pipe)

    def write() -> None:
        # A pipe gives its content once; whoever reads it again finds nothing.
        pipe.write_bytes(Path(WORKLOAD).read_bytes())
        while pipe.exists():
            time.sleep(0.1)
            pipe.write_bytes(b"")

    threading.Thread(target=write, daemon=True).start()
    specs = [msgspec.structs.replace(spec(name), workload=str(pipe)) for name in ("easy", "fcfs", "stochastic-easy")]
    folders, failures = compare(specs, tmp_path / "out")
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert failures == {}
    for folder in folders:
        execute(spec(folder.name), tmp_path / "alone" / folder.name)
        for name in ("jobs.csv", "decisions.jsonl", "machine_states.csv"):
            found, expected = ((root / name).read_bytes() for root in (folder, tmp_path / "alone" / folder.name))
            assert found.replace(str(pipe).encode(), WORKLOAD.encode()) == expected


def test_what_a_run_registers_is_not_there_for_the_next() -> None:
    files = InputFiles()
    one = files.workload(spec("easy")).workload()
    one.profiles["made_by_a_run"] = {"type": "delay", "delay": 1.0}
    one.jobs.pop()
    other = files.workload(spec("fcfs")).workload()
    assert "made_by_a_run" not in other.profiles
    assert len(other.jobs) == len(one.jobs) + 1
    assert other.jobs[0] is one.jobs[0]
    assert files.platform(spec("easy")) is files.platform(spec("fcfs"))


COUNTING = """
from batdispatch.dispatchers.backfilling.fcfs import Fcfs
import os, decimal
decimal.used = getattr(decimal, "used", 0)
class Counting(Fcfs):
    def report(self):
        decimal.used += 1
        return {"used": decimal.used}
"""


def test_code_of_others_leaves_nothing_behind_in_a_worker(tmp_path: Path) -> None:
    (tmp_path / "counting.py").write_text(COUNTING)
    name = f"{tmp_path / 'counting.py'}:Counting"
    specs = [spec(name, options={"ordering": ordering}) for ordering in ("fcfs", "sjf", "ljf")]
    folders, failures = compare(specs, tmp_path / "out")
    assert failures == {}
    reports = [msgspec.json.decode((folder / "result.json").read_bytes())["report"] for folder in folders]
    assert reports[0] == reports[1] == reports[2]
