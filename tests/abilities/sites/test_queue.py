"""Queues as a real Slurm 22.05.8 printed them (tests/data/slurm_queue), and as other versions do."""

import json
import math
from pathlib import Path

import pytest

from batdispatch.abilities.sites.doors.slurm.queue import SlurmQueue, read_queue
from batdispatch.core.errors import InputError
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


@pytest.mark.parametrize("delimiter", [None, "|", ";"])
@pytest.mark.parametrize("place", [0, 1, 5, 10])
def test_the_column_of_nodes_or_reasons_may_stand_anywhere(delimiter: str | None, place: int, tmp_path: Path) -> None:
    """``squeue -o '%R|%i|...'`` names it with brackets, which stand between no columns."""
    names, cells = (line.split("|") for line in row().splitlines())
    names.insert(place, "NODELIST(REASON)")
    cells.insert(place, "(Resources)")
    stands = " " if delimiter is None else delimiter
    queue = written(tmp_path, f"{stands.join(names)}\n{stands.join(cells)}\n")
    assert [(job.id, job.user, job.nodes, job.reason) for job in queue.jobs] == [("3", "root", 3, "Resources")]
    assert queue.left_out == {}


def test_no_limit_is_infinite(tmp_path: Path) -> None:
    assert math.isinf(written(tmp_path, row(TIME_LIMIT="UNLIMITED")).jobs[0].walltime)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "queue: begins with '', expected what this printed: squeue --all --json"),
        ("JOBID PARTITION\n3 batch\n", "line 2: no field 'state'; expected what this printed: squeue"),
        ("PARTITION\nbatch\n", "begins with 'PARTITION"),
        ('{"jobs": [', "is no whole JSON"),
        ('{"jobs": 3}', "has no list 'jobs'"),
        ('{"jobs": [{"job_id": 3}]}', "jobs[0]: no field 'state'"),
        (row(NODES="x"), "line 2: 'x' is no number of nodes or CPUs"),
        (row(SUBMIT_TIME="yesterday"), "line 2: yesterday; expected what this printed"),
        (row(JOBID="12_[1-x]"), "line 2: '12_[1-x]' is no job's id"),
        (row(JOBID="12_[1-999999999]"), "is no array of at most 100,000 tasks"),
        (row(STATE="")[:-1] + "|1|2\n", "line 2: 12 fields, expected 10 as in the first line"),
        ("JobId=3 JobName=x\n   JobState=PENDING\n", "no field 'nodes'"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        written(tmp_path, text)
    assert message in str(caught.value)


SCONTROL = """JobId=7 JobName=my run JobState=RUNNING NumCPUs=64
   UserId=ada(1000) GroupId=phys(100) MCS_label=N/A
   JobState=PENDING Reason=Priority Dependency=(null)
   RunTime=00:00:00 TimeLimit=02:00:00 TimeMin=N/A
   SubmitTime=2026-11-23T19:08:00 EligibleTime=Unknown
   StartTime=Unknown EndTime=Unknown Deadline=N/A
   Partition=batch AllocNode:Sid=login1:77
   NumNodes=2 NumCPUs=4 NumTasks=4 CPUs/Task=1 ReqB:S:C:T=0:0:*:*
   Command=/home/ada/run.sh NumCPUs=1 ArrayTaskId=3
   WorkDir=/home/ada/Partition=x
   Comment=ask Bob NumNodes=9
"""


@pytest.mark.parametrize("form", ["lines", "oneliner"])
def test_texts_that_people_write_are_no_fields(form: str, tmp_path: Path) -> None:
    text = SCONTROL if form == "lines" else " ".join(map(str.strip, SCONTROL.splitlines())) + "\n"
    (job,) = written(tmp_path, text).jobs
    assert (job.id, job.user, job.partition, job.nodes, job.cores) == ("7", "ada", "batch", 2, 4)
    assert math.isnan(job.start)


def test_a_few_jobs_that_cannot_be_read_are_left_out_and_named(tmp_path: Path) -> None:
    header, line = row().splitlines()
    queue = written(tmp_path, "\n".join([header, line, "4|root", line.replace("3|root", "5|root", 1)]) + "\n")
    assert [job.id for job in queue.jobs] == ["3", "5"]
    assert queue.left_out == {"that cannot be read (line 3: 2 fields, expected 10 as in the first line)": 1}
    many = [header, line, *(f"{number}|root" for number in range(20))]
    with pytest.raises(InputError, match=r"line 3: 2 fields"):
        written(tmp_path, "\n".join(many))


@pytest.mark.parametrize("delimiter", ["|", ";", ",", "\t", " ", "    "])
def test_what_stands_between_the_columns_and_above_them(delimiter: str, tmp_path: Path) -> None:
    text = row(REASON="None").replace("|", delimiter)
    queue = written(tmp_path, "Mon Nov 23 19:08:00 2026\n" + text)
    assert [(job.id, job.cores) for job in queue.jobs] == [("3", 3)]
    header, line = text.splitlines()
    assert [(job.id, job.user) for job in written(tmp_path, f"{header.lower()}\n{line}\n").jobs] == [("3", "root")]


def test_a_name_that_holds_what_stands_between_the_columns(tmp_path: Path) -> None:
    text = row(NAME="a|b|c", STATE="PENDING")
    header, line = text.splitlines()
    names, cells = header.split("|"), line.split("|")
    # The name stands before the state.
    order = [
        names.index("JOBID"),
        names.index("NAME"),
        *(at for at, name in enumerate(names) if name not in ("JOBID", "NAME")),
    ]
    values = dict(zip(names, [*cells[: len(names) - 1], "a|b|c"], strict=True))
    text = "|".join(names[at] for at in order) + "\n" + "|".join(values[names[at]] for at in order) + "\n"
    (job,) = written(tmp_path, text).jobs
    assert (job.id, job.nodes, job.cores, job.user) == ("3", 3, 3, "root")


def test_several_clusters(tmp_path: Path) -> None:
    text = "CLUSTER: alpha\n" + row(JOBID="3") + "CLUSTER: beta\n" + row(JOBID="4")
    with pytest.raises(InputError, match=r"is of several clusters \(alpha, beta\): choose one with --cluster NAME"):
        written(tmp_path, text)
    assert [job.id for job in read_queue(tmp_path / "queue", Clock(), "beta").jobs] == ["4"]
    jobs = json.loads((DATA / "squeue.json").read_text())["jobs"]
    named = [{**job, "cluster": "alpha" if at else "beta"} for at, job in enumerate(jobs)]
    (tmp_path / "queue").write_text(json.dumps({"jobs": named}))
    assert len(read_queue(tmp_path / "queue", Clock(), "alpha").jobs) == len(jobs) - 1
