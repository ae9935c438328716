"""Slurm's accounts in all the forms that versions and sites write; test_sacct_session.py has those of a real Slurm."""

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.abilities.sites.doors.slurm_texts import read_state
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.request import Dependency
from batdispatch.inputs.log_options import LogOptions
from batdispatch.inputs.workloads import Workload
from batdispatch.inputs.workloads.importers import guess_format, read_log
from batdispatch.inputs.workloads.logs import Selection
from batdispatch.inputs.workloads.report import ImportReport
from batdispatch.inputs.workloads.selection import parse_selection

BASE = {
    "JobID": "7",
    "User": "ada",
    "Submit": "2026-01-05T08:00:00",
    "Eligible": "2026-01-05T08:00:00",
    "Start": "2026-01-05T08:01:00",
    "End": "2026-01-05T09:01:00",
    "ElapsedRaw": "3600",
    "Timelimit": "02:00:00",
    "State": "COMPLETED",
    "NNodes": "1",
    "ReqCPUS": "4",
    "AllocCPUS": "4",
    "NodeList": "n1",
}


def text_of(*records: dict[str, str], without: tuple[str, ...] = (), delimiter: str = "|", more: str = "") -> str:
    names = [name for name in {name: 0 for record in (BASE, *records) for name in record} if name not in without]
    rows = [names, *([{**BASE, **record}.get(name, "") for name in names] for record in records)]
    return "".join(delimiter.join(row) + "\n" for row in rows) + more


def imported(tmp_path: Path, *records: dict[str, str], **settings_: Any) -> tuple[Workload, ImportReport]:
    without = settings_.pop("without", ())
    path = tmp_path / "account.txt"
    path.write_text(text_of(*records, without=without))
    read = read_log(path, options=LogOptions(**settings_))
    return read.workload, read.report


def dropped(report: ImportReport) -> dict[str, int]:
    return {reason: tally.count for reason, tally in report.dropped.items()}


def refusal(tmp_path: Path, content: str | bytes, **settings_: Any) -> str:
    settings_.setdefault("bad_records", 0)
    path = tmp_path / "account.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as raised:
        read_log(path, kind="sacct", options=LogOptions(**settings_))
    return str(raised.value)


def test_a_job(tmp_path: Path) -> None:
    workload, report = imported(tmp_path, {"Partition": "long", "QOS": "high", "Account": "lab", "JobName": "cfd"})
    (job,) = workload.jobs
    assert (job.id, job.units, job.walltime, job.profile, job.user) == ("7", 4, 7200.0, "d3600", "ada")
    assert job.extra == {
        "user": "ada", "account": "lab", "partition": "long", "queue": "long", "qos": "high", "name": "cfd",
        "demand": {"core": 1},
    }  # fmt: skip
    assert (report.records, report.kept, workload.nb_res) == (1, 1, 1)
    assert workload.about["origin"]["time_origin"] == 1767600000


@pytest.mark.parametrize(
    ("limit", "walltime"),
    [
        ("UNLIMITED", math.inf),
        ("Partition_Limit", math.inf),
        ("", math.inf),
        ("1-02:00:00", 93600.0),
        ("00:30:00", 1800.0),
        ("30:00", 1800.0),
    ],
)
def test_time_limits(tmp_path: Path, limit: str, walltime: float) -> None:
    workload, report = imported(tmp_path, {"Timelimit": limit, "ElapsedRaw": "60"})
    assert workload.jobs[0].walltime == walltime
    assert ("without a time limit of their own: no walltime" in report.changed) == (limit in ("Partition_Limit", ""))


def test_raw_time_limits_are_minutes(tmp_path: Path) -> None:
    workload, _ = imported(tmp_path, {"TimelimitRaw": "90"})
    assert workload.jobs[0].walltime == 5400.0


@pytest.mark.parametrize(
    ("elapsed", "seconds"),
    [("00:00:05", 5), ("1-00:00:00", 86400), ("00:01:05.250", 65.25), ("10:05", 605)],
)
def test_run_times_as_texts(tmp_path: Path, elapsed: str, seconds: float) -> None:
    workload, _ = imported(tmp_path, {"Elapsed": elapsed}, without=("ElapsedRaw",))
    assert workload.profiles[workload.jobs[0].profile]["delay"] == seconds


def test_run_time_from_start_and_end(tmp_path: Path) -> None:
    workload, _ = imported(tmp_path, {}, without=("ElapsedRaw",))
    assert workload.jobs[0].profile == "d3600"


@pytest.mark.parametrize(
    ("fields", "memory"),
    [
        ({"ReqMem": "4G"}, 1024),
        ({"ReqMem": "2Gc"}, 2048),
        ({"ReqMem": "6Gn", "NNodes": "2"}, 3072),
        ({"ReqMem": "1000Mc"}, 1000),
        ({"ReqMem": "1T"}, 2**18),
        ({"ReqMem": "2097152K"}, 512),
        ({"ReqMem": "0n"}, None),
        ({"ReqTRES": "billing=4,cpu=4,mem=10G,node=1", "ReqMem": "1Gn"}, 2560),
        ({"ReqTRES": "cpu=4,mem=62.50G,node=1"}, 16000),
    ],
)
def test_memory_is_shared_out_to_the_cores(tmp_path: Path, fields: dict[str, str], memory: int | None) -> None:
    workload, _ = imported(tmp_path, fields)
    assert dict(workload.jobs[0].request.per_unit or ()).get("memory") == memory
    workload, _ = imported(tmp_path, fields, memory="none")
    assert dict(workload.jobs[0].request.per_unit or ()) == {"core": 1}


@pytest.mark.parametrize(
    ("tres", "units", "per_unit", "per_node", "nodes"),
    [
        ("cpu=8,node=2,gres/gpu=4", 8, {"core": 1}, {"gpu": 2}, (2, 2)),
        ("cpu=8,node=1,gres/gpu=3,gres/gpu:a100=3", 8, {"core": 1}, {"gpu": 3, "gpu_a100": 3}, (1, 1)),
        (
            "cpu=8,node=2,gres/gpu:a100=2,gres/gpu:h100=2",
            8,
            {"core": 1},
            {"gpu": 2, "gpu_a100": 1, "gpu_h100": 1},
            (2, 2),
        ),
        ("cpu=8,node=2,gres/gpu=3", 3, {"core": 3, "gpu": 1}, {}, None),
        ("cpu=8,node=4", 8, {"core": 1}, {}, (4, 4)),
        ("cpu=8,node=1", 8, {"core": 1}, {}, None),
    ],
)
def test_gres(
    tmp_path: Path, tres: str, units: int, per_unit: dict[str, int], per_node: dict[str, int], nodes: Any
) -> None:
    workload, _ = imported(tmp_path, {"ReqTRES": tres, "AllocTRES": tres})
    request = workload.jobs[0].request
    got = dict(request.per_unit or ()), dict(request.per_node)
    assert (request.units, *got, request.nodes) == (units, per_unit, per_node, nodes)


def test_gres_of_old_versions_are_of_each_node(tmp_path: Path) -> None:
    workload, _ = imported(tmp_path, {"ReqGRES": "gpu:2", "NNodes": "2", "NodeList": "n[1-2]"})
    assert (dict(workload.jobs[0].request.per_node), workload.jobs[0].request.nodes) == ({"gpu": 2}, (2, 2))


def test_size(tmp_path: Path) -> None:
    fields = {"ReqTRES": "cpu=1,mem=1G,node=1", "AllocTRES": "cpu=16,mem=32G,node=1", "ReqCPUS": "1", "AllocCPUS": "16"}
    allocated, report = imported(tmp_path, fields)
    requested, other = imported(tmp_path, fields, size="requested")
    assert [(job.units, job.request.per_unit) for job in (requested.jobs[0], allocated.jobs[0])] == [
        (1, (("core", 1), ("memory", 1024))),
        (16, (("core", 1), ("memory", 2048))),
    ]
    assert report.changed["with requested and allocated cores that differ: allocated taken (--size)"].count == 1
    assert other.changed["with requested and allocated cores that differ: requested taken (--size)"].count == 1


def test_a_job_of_whole_nodes_is_as_large_as_it_asked(tmp_path: Path) -> None:
    fields = {"ReqTRES": "cpu=2,node=2", "AllocTRES": "cpu=32,node=2", "SubmitLine": "sbatch --exclusive -N 2 a"}
    workload, report = imported(tmp_path, fields)
    assert (workload.jobs[0].units, workload.jobs[0].request.whole_nodes) == (2, True)
    assert not any("differ" in text for text in report.changed)


def test_jobs_of_one_second_keep_the_order_of_their_numbers(tmp_path: Path) -> None:
    """Batsim takes jobs of one moment in the order of their names as texts, and accounts begin with any line."""
    ids = ["10", "9", "11_10", "11_2", "8"]
    later = {"JobID": "12", "Submit": "2026-03-02T08:00:05"}
    workload, _ = imported(tmp_path, later, *({"JobID": one, "Submit": "2026-03-02T08:00:00"} for one in ids))
    assert [(job.id, job.submission) for job in workload.jobs] == [
        *((one, place * 1e-6) for place, one in enumerate(["8", "9", "10", "11_2", "11_10"])),
        ("12", 5.0),
    ]


def test_jobs_of_one_second_whose_names_are_in_order_come_together(tmp_path: Path) -> None:
    workload, _ = imported(tmp_path, *({"JobID": one, "Submit": "2026-03-02T08:00:00"} for one in ("12", "11")))
    assert [(job.id, job.submission) for job in workload.jobs] == [("11", 0.0), ("12", 0.0)]


def test_whole_hosts_are_the_nodes_of_a_job(tmp_path: Path) -> None:
    workload, _ = imported(tmp_path, {"NNodes": "3", "NodeList": "n[1-3]"}, units="hosts")
    assert (workload.jobs[0].units, workload.jobs[0].request.per_unit, workload.nb_res) == (3, None, 3)
    workload, _ = imported(tmp_path, {}, units="hosts", processors_per_host=3, without=("NNodes", "NodeList"))
    assert workload.jobs[0].units == 2


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"State": "PENDING", "Start": "Unknown", "End": "Unknown"}, "not started when the account was made (PENDING)"),
        ({"State": "RUNNING", "End": "Unknown"}, "not ended when the account was made (RUNNING)"),
        ({"State": "CANCELLED by 1000", "Start": "None"}, "never started (CANCELLED)"),
        ({"State": "CANCELLED", "NodeList": "None assigned", "ElapsedRaw": "0"}, "never started (CANCELLED)"),
        ({"State": "CANCELLED+", "AllocTRES": "", "ElapsedRaw": "0"}, "never started (CANCELLED)"),
        ({"State": "REVOKED"}, "revoked: a copy of the job ran on another cluster"),
        ({"Submit": "Unknown", "AllocTRES": "cpu=4"}, "without a submit time"),
        ({"JobID": "7_[3-9%2]"}, "tasks of arrays that never started, a record for all of them"),
    ],
)
def test_records_that_are_left_out(tmp_path: Path, fields: dict[str, str], reason: str) -> None:
    other = {"JobID": "1", "AllocTRES": "cpu=1"}
    workload, report = imported(tmp_path, other, fields)
    assert [job.id for job in workload.jobs] == ["1"]
    assert dropped(report) == {reason: 1}
    assert (report.records, report.kept) == (2, 1)


@pytest.mark.parametrize(
    "state", ["FAILED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "CANCELLED by 0", "DEADLINE", "NEW"]
)
def test_whatever_ran_is_a_job(tmp_path: Path, state: str) -> None:
    workload, report = imported(tmp_path, {"State": state})
    assert report.kept == 1
    assert ("with the state NEW, which we do not know: taken as run" in report.changed) == (state == "NEW")
    assert workload.jobs[0].profile == "d3600"


def test_who_was_given_no_node_never_started(tmp_path: Path) -> None:
    """Slurm's start of a job that was cancelled while it waited is when it was cancelled."""
    waited = {"State": "CANCELLED", "NodeList": "None assigned", "ElapsedRaw": "3"}
    _, report = imported(tmp_path, {"JobID": "1"}, waited)
    assert dropped(report) == {"never started (CANCELLED)": 1}


@pytest.mark.parametrize(
    ("line", "whole"),
    [
        ("sbatch -N1 --exclusive job.sh", True),
        ("sbatch --exclusive", True),
        ("sbatch --exclusive=user job.sh", False),
        ("sbatch -N1 --wrap=run --exclusive", False),
    ],
)
def test_nodes_shared_with_nobody(tmp_path: Path, line: str, whole: bool) -> None:
    workload, _ = imported(tmp_path, {"SubmitLine": line})
    assert workload.jobs[0].request.whole_nodes == whole


def test_a_requeued_job_is_one_job(tmp_path: Path) -> None:
    first = {"State": "PREEMPTED", "ElapsedRaw": "100", "End": "2026-01-05T08:02:40"}
    second = {"State": "NODE_FAIL", "Submit": "2026-01-05T08:02:40", "Start": "2026-01-05T09:00:00", "ElapsedRaw": "50"}
    last = {"Submit": "2026-01-05T09:00:50", "Start": "2026-01-05T10:00:00", "ElapsedRaw": "700"}
    workload, report = imported(tmp_path, last, first, {"JobID": "8", "Submit": "2026-01-05T08:00:30"}, second)
    assert [(job.id, job.submission, job.profile) for job in workload.jobs] == [("7", 0, "d700"), ("8", 30, "d3600")]
    assert list(dropped(report).values()) == [2]


REQUEUED = (
    {"State": "PREEMPTED", "ElapsedRaw": "100", "End": "2026-01-05T08:02:40"},
    {"State": "NODE_FAIL", "Submit": "2026-01-05T08:02:40", "Start": "2026-01-05T09:00:00", "ElapsedRaw": "50"},
    {"Submit": "2026-01-05T09:00:50", "Start": "2026-01-05T10:00:00", "ElapsedRaw": "700"},
)


def test_all_runs_of_a_requeued_job_continue_one_another(tmp_path: Path) -> None:
    waiting = {"JobID": "8", "Submit": "2026-01-05T11:00:30", "SubmitLine": "sbatch -d afterok:7 x"}
    workload, report = imported(tmp_path, REQUEUED[2], REQUEUED[0], waiting, REQUEUED[1], requeues="all")
    assert [(job.id, job.submission, job.profile, job.parent) for job in workload.jobs] == [
        ("7", 0, "d100", ""),
        ("7~2", 0, "d50", "7"),
        ("7~3", 0, "d700", "7~2"),
        ("8", 10830, "d3600", ""),
    ]
    first, second, third, last = (job.request.dependencies for job in workload.jobs)
    assert first == second == third == ()
    assert last == (Dependency("7~3", "afterok"),)
    assert not report.dropped
    said = "are later runs of requeued jobs: each continues the one before once it is eligible after that"
    assert report.changed[said].count == 2


def test_a_requeued_run_is_held_as_long_as_the_account_says(tmp_path: Path) -> None:
    """Runs of 100 s that begin at 0: the second is eligible 121 s after that, the third at once."""
    second = {**REQUEUED[1], "Eligible": "2026-01-05T08:04:41"}
    third = {**REQUEUED[2], "Eligible": "2026-01-05T09:00:50"}
    first = {**REQUEUED[0], "Start": "2026-01-05T08:01:00"}
    workload, _ = imported(tmp_path, first, second, third, requeues="all")
    assert [job.request.dependencies for job in workload.jobs] == [(), (Dependency("7", "after", 221.0),), ()]


def test_a_later_run_stands_alone_where_the_earlier_one_is_dropped(tmp_path: Path) -> None:
    first = {**REQUEUED[0], "ElapsedRaw": "0", "End": REQUEUED[0]["End"]}
    workload, report = imported(tmp_path, first, *REQUEUED[1:], requeues="all", zero_runtime="drop")
    assert [(job.id, job.parent, job.extra.get("parent")) for job in workload.jobs] == [
        ("7~2", "", None),
        ("7~3", "7~2", "7~2"),
    ]
    assert dropped(report) == {"ran for 0 s": 1}


@pytest.mark.parametrize("requeues", ["last", "all"])
def test_a_resized_job_and_one_queued_again_before_it_started_are_one_job(tmp_path: Path, requeues: str) -> None:
    small = {"State": "RESIZING", "ElapsedRaw": "100"}
    large = {"Submit": "2026-01-05T08:02:40", "Start": "2026-01-05T08:02:40", "ElapsedRaw": "50"}
    waiting = {"JobID": "8", "State": "REQUEUED", "Start": "Unknown", "ElapsedRaw": "0", "NodeList": "None assigned"}
    again = {"JobID": "8", "Submit": "2026-01-05T08:02:40", "Start": "2026-01-05T08:02:40"}
    workload, report = imported(tmp_path, small, large, waiting, again, requeues=requeues)
    assert [(job.id, job.parent) for job in workload.jobs] == [("7", ""), ("8", "")]
    assert list(dropped(report).values()) == [2]


def test_a_job_whose_earlier_runs_are_not_told(tmp_path: Path) -> None:
    _, report = imported(tmp_path, {"Restarts": "2"}, {"JobID": "8", "Restarts": "0"})
    assert report.changed["were requeued, and their earlier runs are not told (sacct --duplicates)"].count == 1


def test_a_number_that_comes_again_is_another_job(tmp_path: Path) -> None:
    again = {"Submit": "2028-01-05T08:00:00", "Start": "2028-01-05T08:00:00"}
    for state in ("COMPLETED", "NODE_FAIL"):
        workload, report = imported(tmp_path, again, {"State": state})
        assert [job.id for job in workload.jobs] == ["7", "7~2"]
        assert not report.dropped


def test_accounts_that_overlap(tmp_path: Path) -> None:
    path = tmp_path / "account.txt"
    january = text_of({}, {"JobID": "8", "State": "RUNNING", "End": "Unknown", "ElapsedRaw": "60"})
    # The next month's has another order of columns, and the end of the job.
    february = text_of({}, {"JobID": "8", "ElapsedRaw": "1000"})
    rows = [line.split("|") for line in february.splitlines()]
    path.write_text(january + "".join("|".join([row[0], *reversed(row[1:])]) + "\n" for row in rows))
    read = read_log(path)
    assert [(job.id, job.profile) for job in read.workload.jobs] == [("7", "d3600"), ("8", "d1000")]
    assert dropped(read.report) == {"records of a job that is told again, as where accounts overlap": 2}


@pytest.mark.parametrize(
    ("columns", "licences"),
    [
        ({"ReqTRES": "cpu=4,license/matlab=2,license/ansys@lab=1,node=1"}, {"ansys@lab": 1, "matlab": 2}),
        ({"AllocTRES": "cpu=4,license/matlab=2,node=1"}, {"matlab": 2}),
        ({"Licenses": "matlab:2,ansys"}, {"ansys": 1, "matlab": 2}),
        ({"Licenses": "matlab=3"}, {"matlab": 3}),
        ({"Licenses": "(null)"}, None),
        ({"ReqTRES": "cpu=4,node=1"}, None),
    ],
)
@pytest.mark.parametrize("units", ["hosts", "cores"])
def test_licences(tmp_path: Path, columns: dict[str, str], licences: dict[str, int] | None, units: str) -> None:
    workload, _ = imported(tmp_path, columns, units=units)
    (job,) = workload.jobs
    assert job.extra.get("licences") == licences
    assert dict(job.request.licences) == (licences or {})


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("OUT_OF_ME+", "OUT_OF_MEMORY"),
        ("CANCELLED+", "CANCELLED"),
        ("CANCELLED by 1001", "CANCELLED"),
        ("node_fail", "NODE_FAIL"),
        ("REQUEUE_H+", "REQUEUE_HOLD"),
        ("REQUEUED", "REQUEUED"),
        ("NEW_STATE+", "NEW_STATE"),
    ],
)
def test_states_that_sacct_shortens(text: str, state: str) -> None:
    assert read_state(text) == state


def test_a_byte_order_mark_is_no_part_of_the_header(tmp_path: Path) -> None:
    path = tmp_path / "account.txt"
    path.write_text("\ufeff" + text_of({}))
    assert guess_format(path) == "sacct"
    assert len(read_log(path).workload.jobs) == 1


def test_wrong_licences_are_refused(tmp_path: Path) -> None:
    assert "expected licences such as matlab:2" in refusal(tmp_path, text_of({"Licenses": "matlab:two or"}))
    assert "ReqTRES is 'license/a b=1'" in refusal(tmp_path, text_of({"ReqTRES": "license/a b=1"}))


def test_components_are_one_job(tmp_path: Path) -> None:
    parts = [
        {"JobID": "9+0", "ReqTRES": "cpu=4,mem=4G,node=1", "AllocTRES": "cpu=4,mem=4G,node=1", "ElapsedRaw": "90"},
        {"JobID": "9+1", "NNodes": "2", "ElapsedRaw": "100"}
        | dict.fromkeys(("ReqTRES", "AllocTRES"), "cpu=2,mem=8G,node=2,gres/gpu=3"),
    ]
    workload, report = imported(tmp_path, *parts)
    (job,) = workload.jobs
    assert (job.id, job.units, job.profile) == ("9", 6, "d100")
    assert (dict(job.request.per_unit or ()), dict(job.request.per_node), job.request.nodes) == (
        {"core": 1, "memory": 2048},
        {"gpu": 1},
        (3, 3),
    )
    assert list(dropped(report).values()) == [1]


LINE = "sbatch --dependency=afterok:1:2_1 --wrap=x"


@pytest.mark.parametrize(
    ("line", "dependencies"),
    [
        ("sbatch --dependency=afterok:1 job.sh", ["1"]),
        ("sbatch -d afterok:1:2_1 job.sh", ["1", "2_1"]),
        ("sbatch --dependency afterok:1,afterok:2_2 job.sh", ["1", "2_2"]),
        ("sbatch --dependency=afterok:2+30 job.sh", ["2_1", "2_2"]),
        ("sbatch --dependency=afterany:1 job.sh", [{"job": "1", "kind": "afterany"}]),
        ("sbatch --dependency=afterany:3 job.sh", [{"job": "3", "kind": "afterany"}]),
        (
            "sbatch -d after:1+5:3,afterok:1",
            [{"job": "1", "kind": "after", "delay": 300}, {"job": "3", "kind": "after"}, "1"],
        ),
        ("sbatch --dependency=afternotok:3 job.sh", None),
        ("sbatch --dependency=afterok:1?afterok:2 job.sh", None),
        ("sbatch --dependency=singleton job.sh", None),
        ("sbatch --dependency=afterok:3 job.sh", None),
        ("sbatch --dependency=afterok:5 job.sh", None),
        ("sbatch --wrap=run -d afterok:1", None),
    ],
)
def test_dependencies(tmp_path: Path, line: str, dependencies: list[str] | None) -> None:
    others = [{"JobID": "1"}, {"JobID": "2_1"}, {"JobID": "2_2"}, {"JobID": "3", "State": "FAILED"}]
    workload, _ = imported(tmp_path, {"JobID": "4", "SubmitLine": line}, *others)
    assert {job.id: job.extra.get("dependencies") for job in workload.jobs}["4"] == dependencies


def test_a_singleton_needs_a_name_that_is_told(tmp_path: Path) -> None:
    job = {"JobID": "4", "SubmitLine": "sbatch --dependency=singleton job.sh"}
    workload, report = imported(tmp_path, job)
    assert "dependencies" not in workload.jobs[0].extra
    assert any("singletons of a name that is not told" in reason for reason in report.changed)
    workload, _ = imported(tmp_path, job | {"JobName": "train"})
    assert workload.jobs[0].extra["dependencies"] == [{"kind": "singleton"}]


def test_tasks_say_which_array_they_are_of_and_how_many_may_run(tmp_path: Path) -> None:
    line = {"SubmitLine": "sbatch --array=0-9%3 --wrap='x -a 1-2%7'"}
    other = {"SubmitLine": "sbatch -a 1,3:2 job.sh"}
    workload, _ = imported(
        tmp_path, {"JobID": "2_0"} | line, {"JobID": "2_9"} | line, {"JobID": "3_1"} | other, {"JobID": "5"} | line
    )
    assert {job.id: job.extra.get("array") for job in workload.jobs} == {
        "2_0": {"id": "2", "index": 0, "limit": 3},
        "2_9": {"id": "2", "index": 9, "limit": 3},
        "3_1": {"id": "3", "index": 1},
        "5": None,
    }


def test_the_task_of_the_same_number(tmp_path: Path) -> None:
    line = {"SubmitLine": "sbatch --dependency=aftercorr:2 job.sh"}
    workload, _ = imported(
        tmp_path, *({"JobID": f"2_{i}"} for i in (1, 2)), *({"JobID": f"4_{i}"} | line for i in (1, 2))
    )
    wanted = {job.id: job.extra.get("dependencies") for job in workload.jobs}
    assert wanted == {"2_1": None, "2_2": None, "4_1": ["2_1"], "4_2": ["2_2"]}


@pytest.mark.parametrize(("overrun", "kept"), [("kill", None), ("extend", ["1"])])
def test_nobody_waits_for_a_job_that_will_be_killed(tmp_path: Path, overrun: str, kept: Any) -> None:
    line = {"JobID": "4", "SubmitLine": "sbatch --dependency=afterok:1 job.sh"}
    workload, _ = imported(tmp_path, {"JobID": "1", "Timelimit": "00:30:00"}, line, overrun=overrun)
    assert workload.jobs[1].extra.get("dependencies") == kept


def test_submission(tmp_path: Path) -> None:
    fields = {"Eligible": "2026-01-05T08:00:45"}
    for submission, expected in (("submit", [0, 0]), ("eligible", [0, 45])):
        workload, report = imported(tmp_path, {"JobID": "1"}, fields, submission=submission)
        assert [job.submission for job in workload.jobs] == expected
        assert [tally.count for what, tally in report.changed.items() if "eligible" in what] == [1]


@pytest.mark.parametrize(
    "texts",
    [
        ("2026-03-29T01:30:00", "2026-03-29T03:30:00"),
        ("2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z"),
        ("2026-03-29 01:30:00+01:00", "2026-03-29 03:30:00+0200"),
        ("1774744200", "1774747800"),
        ("2026-03-29T01:30:00.000", "2026-03-29T03:30"),
    ],
)
def test_clock_changes(tmp_path: Path, texts: tuple[str, str]) -> None:
    """An hour passes over the change to summer time, however the times are written."""
    jobs = [{"JobID": str(number), "Submit": text} for number, text in enumerate(texts)]
    workload, _ = imported(tmp_path, *jobs, without=("Eligible",), time_zone="Europe/Berlin")
    assert [job.submission for job in workload.jobs] == [0, 3600]


def test_hours_that_are_repeated_or_skipped(tmp_path: Path) -> None:
    moments = ["2026-10-25T02:30:00", "2026-10-25T02:30:00", "2026-03-29T02:30:00"]
    jobs = [{"JobID": str(number), "Submit": moment} for number, moment in enumerate(moments)]
    _, report = imported(tmp_path, *jobs, without=("Eligible",), time_zone="Europe/Berlin")
    assert report.notes == [
        "2 times lie in an hour that the clock repeats: taken as the first of the two",
        "1 times lie in an hour that the clock skips: is the time zone right?",
    ]


def test_dates_select(tmp_path: Path) -> None:
    path = tmp_path / "account.txt"
    path.write_text(text_of({"JobID": "1"}, {"JobID": "2", "Submit": "2026-02-01T00:00:00"}))
    for zone, options in (("", LogOptions()), ("Asia/Kolkata", LogOptions(time_zone="Asia/Kolkata"))):
        selection = parse_selection(["from=2026-02-01", "to=2026-02-01T00:01"], zone=zone)
        assert [job.id for job in read_log(path, selection=selection, options=options).workload.jobs] == ["2"]
    swf = tmp_path / "log.swf"
    swf.write_text("1 0 0 10 1 -1 -1 1 20 -1 1 1 1 1 1 -1 -1 -1\n")
    with pytest.raises(InputError, match="no dates"):
        read_log(swf, selection=Selection(dated=True))


@pytest.mark.parametrize("delimiter", ["|", ";", ",", "^%"])
def test_delimiters(tmp_path: Path, delimiter: str) -> None:
    path = tmp_path / "account"
    path.write_text(text_of({"ReqTRES": "cpu=4" if delimiter == "," else "cpu=4,mem=4G"}, delimiter=delimiter))
    assert guess_format(path) == "sacct"
    assert read_log(path).workload.jobs[0].units == 4


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("a|b", "sbatch -J a|b"),
        ("|", "sbatch |"),
        ("a|||b", "sbatch"),
        ("a\nb", "sbatch -J a\nb"),
        ("plain", "x\ny|z\nw"),
    ],
)
def test_texts_may_hold_anything(tmp_path: Path, name: str, line: str) -> None:
    records = (
        {"JobID": "1", "JobName": name, "SubmitLine": line},
        {"JobID": "2", "JobName": "next", "SubmitLine": "x"},
    )
    workload, report = imported(tmp_path, *records)
    assert [(job.id, job.extra["name"]) for job in workload.jobs][1] == ("2", "next")
    assert [(job.units, job.profile) for job in workload.jobs] == [(4, "d3600")] * 2
    assert "1 records hold the delimiter or a line end in a text" in report.notes


def test_lines_that_end_in_a_delimiter(tmp_path: Path) -> None:
    """A first part of a record that has as many fields as the header, since its name holds the delimiter."""
    text = text_of({"JobName": "a|b", "SubmitLine": "x\ny"}, {"JobID": "8", "JobName": "c", "SubmitLine": "z"})
    path = tmp_path / "account.txt"
    path.write_text("".join(f"{row}|\n" for row in text[:-1].replace("x\ny", "x\ty").split("\n")).replace("\t", "\n"))
    read = read_log(path)
    assert [(job.id, job.extra["name"]) for job in read.workload.jobs] == [("7", "a|b"), ("8", "c")]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("JobID|User\n7|ada\n", "no column Submit"),
        (text_of({"ElapsedRaw": "1e9"}), "line 2: ElapsedRaw is '1e9', expected seconds"),
        (text_of({"Submit": "10:15"}), "line 2: Submit is '10:15', expected a time such as"),
        (text_of({"Submit": "2026-13-05T08:00:00"}), "Submit is '2026-13-05T08:00:00'"),
        (text_of({"Timelimit": "soon"}), "Timelimit is 'soon'"),
        (text_of({"ReqCPUS": "many"}), "ReqCPUS is 'many', expected a whole number"),
        (text_of({"ReqCPUS": "9" * 15}), "ReqCPUS is"),
        (text_of({"ReqTRES": "cpu"}), "ReqTRES is 'cpu', expected amounts"),
        (text_of({"ReqMem": "lots"}), "ReqMem is 'lots'"),
        (text_of({"JobID": "seven"}), "JobID is 'seven', expected a job such as 123"),
        (text_of({}, more="8|ada|2026\n"), "line 3: found 3 fields, expected the 13 of the header"),
        (text_of({"JobID": "7|8"}), "line 2: more fields than the 13 of the header"),
        ("", "is empty"),
        ("7|ada|COMPLETED\n", "expected names of columns with JobID"),
        ("       JobID    JobName\n------------ ----------\n", "export with: sacct"),
    ],
)
def test_refusals(tmp_path: Path, content: str, told: str) -> None:
    assert told in refusal(tmp_path, content)


def test_the_refused_options(tmp_path: Path) -> None:
    assert "--time-zone: 'Mars/Base'" in refusal(tmp_path, text_of({}), time_zone="Mars/Base")
    assert "--time-zone: '../etc'" in refusal(tmp_path, text_of({}), time_zone="../etc")
    assert "--memory" in refusal(tmp_path, text_of({}), memory="used")
    assert "--processors-per-host" in refusal(tmp_path, text_of({}), processors_per_host=4)


RECORDS = st.lists(
    st.fixed_dictionaries(
        {
            "JobID": st.sampled_from(
                [
                    "1",
                    "1.batch",
                    "1.extern",
                    "1.0",
                    "2",
                    "2.batch",
                    "3_1",
                    "3_1.0",
                    "3_[2-4]",
                    "4+0",
                    "4+1",
                    "4+0.0",
                    "5",
                ]
            ),
            "State": st.sampled_from(
                ["COMPLETED", "FAILED", "REQUEUED", "PENDING", "RUNNING", "CANCELLED by 5", "TIMEOUT"]
            ),
            "Submit": st.sampled_from([f"2026-01-0{day}T08:00:00" for day in range(1, 6)] + ["Unknown"]),
            "Start": st.sampled_from([f"2026-01-0{day}T09:00:00" for day in range(1, 6)] + ["Unknown"]),
            "JobName": st.sampled_from(["a", "a|b", "a\nb", "|", ""]),
        }
    ),
    max_size=12,
)


@settings(max_examples=100)
@given(RECORDS)
def test_nothing_is_lost(tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, str]]) -> None:
    """Lines are records or steps, records are kept or dropped with a reason, and ids differ."""
    path = tmp_path_factory.mktemp("sacct") / "account.txt"
    path.write_text(text_of({"JobID": "9"}, *records))
    read = read_log(path)
    report = read.report
    steps = sum("." in record["JobID"] for record in records)
    assert report.records == 1 + len(records) - steps
    assert report.records == report.kept + sum(tally.count for tally in report.dropped.values())
    assert len({job.id for job in read.workload.jobs}) == len(read.workload.jobs) == report.kept
    assert any(f"{steps} lines are steps" in note for note in report.notes) == bool(steps)


def test_a_host_has_no_less_than_its_share_of_what_does_not_divide_by_the_hosts(tmp_path: Path) -> None:
    path = tmp_path / "account.txt"
    path.write_text(text_of({"NNodes": "2", "ReqCPUS": "7", "AllocCPUS": "7", "NodeList": "n[1-2]"}))
    # Of 7 cores on 2 hosts, one host gives at least 4.
    assert read_log(path).info.capacity["core"] == 4
