"""Queues as a real Slurm 22.05.8 printed them (tests/data/slurm_queue), and as other versions do."""

import json
import math
from pathlib import Path

import pytest

from batdispatch.core.errors import InputError
from batdispatch.inputs.slurm.queue import SlurmQueue, read_queue
from batdispatch.inputs.workloads.moments import Clock

DATA = Path(__file__).parents[2] / "data" / "slurm_queue"
#: 2026-11-23 19:08:00 UTC, the zone of the machine that printed them.
BEGAN = 1795460880.0


def read(path: Path) -> SlurmQueue:
    return read_queue(path, Clock())


def written(folder: Path, text: str, name: str = "queue") -> SlurmQueue:
    path = folder / name
    path.write_text(text)
    return read(path)


@pytest.mark.parametrize("name", ["squeue.json", "squeue.txt", "scontrol.txt"])
def test_three_commands_tell_of_the_same_queue(name: str) -> None:
    queue = read(DATA / name)
    jobs = sorted(queue.jobs, key=lambda job: int(job.id))
    assert [(job.id, job.nodes, job.cores, job.walltime / 60) for job in jobs] == [
        *[("1", 2, 8, 10), ("2", 1, 4, 5), ("3", 3, 3, 20), ("4", 1, 1, 2)],
        *[("5", 2, 2, 30), ("6", 1, 1, 60), ("7", 1, 2, 7)],
    ]
    assert [job.start for job in jobs[:2]] == [BEGAN + 1, BEGAN + 1]
    assert all(math.isnan(job.start) for job in jobs[2:])
    assert {job.submission for job in jobs} == {BEGAN}
    assert {(job.user, job.partition) for job in jobs} == {("root", "batch")}
    assert queue.taken is None
    assert queue.zoned is (name == "squeue.json")


def newer(job: dict[str, object]) -> dict[str, object]:
    """Return a job as Slurm 23.11 and later write it."""
    numbers = ("cpus", "node_count", "time_limit", "submit_time", "start_time", "array_job_id", "array_task_id")
    said = {name: {"set": job[name] is not None, "infinite": False, "number": job[name] or 0} for name in numbers}
    return {**job, **said, "job_state": [job["job_state"]]}


def test_numbers_and_states_of_newer_versions_are_read_alike(tmp_path: Path) -> None:
    old = json.loads((DATA / "squeue.json").read_text())
    now = {"set": True, "infinite": False, "number": int(BEGAN) + 4}
    text = json.dumps({"jobs": [newer(job) for job in old["jobs"]], "last_update": now})
    queue = written(tmp_path, text)
    known = [(job.id, job.nodes, job.cores, job.submission, job.walltime) for job in read(DATA / "squeue.json").jobs]
    assert [(job.id, job.nodes, job.cores, job.submission, job.walltime) for job in queue.jobs] == known
    assert queue.taken == BEGAN + 4


def row(**changes: object) -> str:
    fields = {
        **{"JOBID": "3", "USER": "root", "PARTITION": "batch", "STATE": "PENDING", "NODES": "3", "CPUS": "3"},
        **{"TIME_LIMIT": "20:00", "SUBMIT_TIME": "2026-11-23T19:08:00", "START_TIME": "N/A", "REASON": "Resources"},
        **changes,
    }
    return "|".join(fields) + "\n" + "|".join(map(str, fields.values())) + "\n"


def test_each_waiting_task_of_an_array_is_a_job(tmp_path: Path) -> None:
    queue = written(tmp_path, row(JOBID="12_[1-5:2,9%2]"))
    assert [job.id for job in queue.jobs] == ["12_1", "12_3", "12_5", "12_9"]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"REASON": "PartitionTimeLimit"}, "waiting for something else than room (PartitionTimeLimit)"),
        (
            {"REASON": "launch failed requeued held"},
            "waiting for something else than room (launch failed requeued held)",
        ),
        ({"REASON": "(AssocGrpCpuLimit)"}, "waiting for something else than room (AssocGrpCpuLimit)"),
        (
            {"REASON": "ReqNodeNotAvail, UnavailableNodes:n[7-9]"},
            "waiting for something else than room (ReqNodeNotAvail)",
        ),
        ({"REASON": "JobHeldUser"}, "waiting for something else than room (JobHeldUser)"),
        ({"REASON": "Dependency"}, "waiting for something else than room (Dependency)"),
        ({"REASON": "BeginTime"}, "waiting for something else than room (BeginTime)"),
        ({"STATE": "SUSPENDED"}, "in state SUSPENDED"),
        ({"STATE": "COMPLETED"}, "in state COMPLETED"),
    ],
)
def test_jobs_that_wait_for_no_room_are_left_out_and_counted(changes: dict[str, str], why: str, tmp_path: Path) -> None:
    queue = written(tmp_path, row(**changes))
    assert queue.jobs == []
    assert queue.left_out == {why: 1}


def test_no_limit_is_infinite(tmp_path: Path) -> None:
    assert math.isinf(written(tmp_path, row(TIME_LIMIT="UNLIMITED")).jobs[0].walltime)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "queue: begins with '', expected what this printed: squeue --all --json"),
        ("JOBID PARTITION\n3 batch\n", "begins with 'JOBID PARTITION"),
        ('{"jobs": [', "is no whole JSON"),
        ('{"jobs": 3}', "has no list 'jobs'"),
        ('{"jobs": [{"job_id": 3}]}', "jobs[0]: no field 'state'"),
        (row(NODES="x"), "line 2: 'x' is no number of nodes or CPUs"),
        (row(SUBMIT_TIME="yesterday"), "line 2: yesterday; expected what this printed"),
        (row(JOBID="12_[1-x]"), "line 2: '12_[1-x]' is no job's id"),
        (row(JOBID="12_[1-999999999]"), "is no array of at most 100,000 tasks"),
        (row() + "4|root\n", "line 3: 2 fields, expected 10 as in the first line"),
        ("JobId=3 JobName=x\n   JobState=PENDING\n", "no field 'nodes'"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        written(tmp_path, text)
    assert message in str(caught.value)
