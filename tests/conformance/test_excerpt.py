"""Which part of a recording is gone through to explain a wait."""

from pathlib import Path

import pytest

from batdispatch.core.line import events as e
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.messages import Message
from batdispatch.core.machine.machine import Machine
from batdispatch.links.excerpt import excerpt_of
from batdispatch.links.retrace import RetracePeer, retrace
from recording import record
from simulating import Task, simulate

#: Twenty jobs, one after the other, each alone on the machine; then two that come together, of which one waits.
TASKS = [Task(str(number), 10.0 * number, 2, 5.0, 5.0) for number in range(20)]
TASKS += [Task("a", 203.0, 2, 5.0, 5.0), Task("b", 204.0, 1, 5.0, 5.0), Task("z", 300.0, 1, 5.0, 5.0)]


class Hearing(RetracePeer):
    """Notes what it hears."""

    def __init__(self) -> None:
        super().__init__()
        self.jobs: list[str] = []
        self.moments: list[float] = []

    def hear(self, message: Message) -> None:
        self.moments.append(message.now)
        self.jobs += [event.job.id for event in message.events if isinstance(event, e.JobSubmitted)]

    def begin(self, ledger: Ledger) -> None:
        self.ledger = ledger


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return record(simulate(Machine.flat(2), TASKS, "fcfs"), tmp_path / "decisions.jsonl")


@pytest.mark.parametrize("wanted", ["b", "w0!b"])
def test_only_jobs_alive_while_it_waited_are_gone_through(path: Path, wanted: str) -> None:
    excerpt = excerpt_of(path, {wanted})
    assert excerpt is not None
    assert excerpt.submitted == [f"w0!{task.id}" for task in TASKS]
    hearing = Hearing()
    retrace(path, hearing, excerpt=excerpt)
    assert hearing.jobs == ["w0!a", "w0!b"]
    # Its start at 208, its end at 213, the notice at 300 that no job will come, and how the simulation begins and ends.
    assert hearing.moments == [0.0, 203.0, 204.0, 208.0, 213.0, 300.0, 305.0]
    assert hearing.ledger.now == 305.0


def test_windows_of_several_jobs_are_apart(path: Path) -> None:
    excerpt = excerpt_of(path, {"3", "b"})
    assert excerpt is not None
    hearing = Hearing()
    retrace(path, hearing, excerpt=excerpt)
    # Job 2 ended with the message before job 3 came: what was free until then is known from it.
    assert hearing.jobs == ["w0!2", "w0!3", "w0!a", "w0!b"]


@pytest.mark.parametrize(
    "change",
    [
        (b'{\\"id\\":\\"w0!5\\"', b'{\\"parent\\":\\"4\\",\\"id\\":\\"w0!5\\"'),
        (b'{\\"id\\":\\"w0!5\\"', b'{\\"dependencies\\":\\"afterok:4\\",\\"id\\":\\"w0!5\\"'),
        (b'{\\"id\\":\\"w0!5\\"', b'{\\"array\\":{\\"id\\":\\"1\\",\\"index\\":1},\\"id\\":\\"w0!5\\"'),
        (b'\\"job_id\\":\\"w0!5\\",\\"alloc\\"', b'\\"job_id\\":\\"w0!6\\",\\"alloc\\"'),
        (b'JOB_COMPLETED\\",\\"data\\":{\\"job_id\\":\\"w0!5', b'JOB_COMPLETED\\",\\"data\\":{\\"job_id\\":\\"w0!4'),
        (b'JOB_COMPLETED\\",\\"data\\":{\\"job_id\\":\\"w0!5', b'JOB_KILLED\\",\\"data\\":{\\"job_id\\":\\"w0!5'),
        (b'JOB_SUBMITTED\\",\\"data\\":{\\"job_id\\":\\"w0!5', b'JOB_SUBMITTED\\",\\"data\\":{\\"job_id\\":\\"w0!4'),
        (b'\n{"dir":', b'\n\n{"dir":'),
        (b'"sched->batsim"', b'"batsim->sched"'),
    ],
)
def test_a_recording_in_which_jobs_are_tied_or_wrong_is_left_whole(path: Path, change: tuple[bytes, bytes]) -> None:
    text = path.read_bytes().replace(b'": ', b'":')
    assert change[0] in text
    path.write_bytes(text)
    assert excerpt_of(path, {"b"}) is not None
    path.write_bytes(text.replace(*change))
    assert excerpt_of(path, {"b"}) is None


def test_a_recording_of_batsim_5_is_left_whole(tmp_path: Path) -> None:
    path = record(simulate(Machine.flat(2), TASKS, "fcfs"), tmp_path / "decisions.jsonl", "5")
    assert excerpt_of(path, {"b"}) is None
