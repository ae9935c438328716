"""Slurm's accounts in all forms that sites have: the same two jobs, whatever stands around their fields."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.sites.doors.sacct_lines import Columns
from batdispatch.core.errors import InputError
from batdispatch.inputs.log_options import LogOptions
from batdispatch.inputs.workloads.importers import ImportResult, guess_format, is_workload, read_log

BASE = {
    "JobID": "7",
    "User": "ada",
    "Partition": "batch",
    "Submit": "2026-03-02T08:00:00",
    "Start": "2026-03-02T08:01:00",
    "End": "2026-03-02T09:01:00",
    "ElapsedRaw": "3600",
    "TimelimitRaw": "120",
    "State": "COMPLETED",
    "NNodes": "2",
    "ReqTRES": "billing=8,cpu=8,mem=8G,node=2",
    "AllocTRES": "billing=8,cpu=8,mem=8G,node=2",
    "NodeList": "n[01,03]",
}
ROWS = [BASE, {**BASE, "JobID": "8", "NodeList": "n[01-02]"}]
#: What is read of these: id, user, cores, walltime, nodes.
JOBS = [("7", "ada", 8, 7200.0, "n[01,03]"), ("8", "ada", 8, 7200.0, "n[01-02]")]
#: 2026-03-02 08:00 UTC.
BEGIN = 1772438400


def table(rows: list[dict[str, str]], delimiter: str = "|", *, header: bool = True, end: str = "") -> str:
    lines = [list(rows[0])] if header else []
    return "".join(delimiter.join(line) + end + "\n" for line in [*lines, *(list(row.values()) for row in rows)])


def read(folder: Path, text: str | bytes, name: str = "accounts.txt", **options: Any) -> ImportResult:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_log(path, options=LogOptions(**options))


def told(found: ImportResult) -> list[tuple[str, str, int, float, str]]:
    nodes = found.info.nodes
    return [(job.id, job.user, job.request.units, job.walltime, nodes[job.id]) for job in found.workload.jobs]


def quoted(delimiter: str, quoting: Any) -> str:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, quoting=quoting)
    writer.writerows([list(BASE), *(list(row.values()) for row in ROWS)])
    return text.getvalue()


@pytest.mark.parametrize(
    "text",
    [
        *[table(ROWS), table(ROWS, end="|"), table(ROWS, "\t"), table(ROWS, ";"), table(ROWS, ","), table(ROWS, "^|^")],
        *[table(ROWS, " | "), table(ROWS, "\x1f"), table([dict(reversed(row.items())) for row in ROWS])],
        *[quoted(",", csv.QUOTE_ALL), quoted(",", csv.QUOTE_MINIMAL), quoted(";", csv.QUOTE_ALL)],
        *[quoted("\t", csv.QUOTE_ALL), quoted("|", csv.QUOTE_ALL)],
        "sacct: warning: something\n\n" + table(ROWS),
        table(ROWS).replace("\n", "\r\n"),
        table(ROWS[:1]) + table(ROWS[1:]),
    ],
)
@pytest.mark.parametrize("name", ["accounts.txt", "accounts.csv", "accounts", "accounts.swf"])
def test_what_stands_between_the_fields_and_how_the_file_is_called(tmp_path: Path, text: str, name: str) -> None:
    found = read(tmp_path, text, name)
    assert found.report.format == "sacct"
    assert told(found) == JOBS


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    rows = [{**row, "JobName": "Größe"} for row in ROWS]
    assert told(read(tmp_path, table(rows).encode(encoding))) == JOBS


@pytest.mark.parametrize("delimiter", ["|", "\t", ";", ","])
@pytest.mark.parametrize("end", ["", "|"])
def test_accounts_without_a_header(tmp_path: Path, delimiter: str, end: str) -> None:
    text = table(ROWS, delimiter, header=False, end=end and delimiter)
    with pytest.raises(InputError, match=r"looks like what sacct --noheader prints: name its columns .*--header"):
        read(tmp_path, text)
    names = ",".join(name.lower() for name in BASE).replace("nodelist", "NodeList%40")
    assert told(read(tmp_path, text, header=names)) == JOBS
    assert told(read(tmp_path, text, header="|".join(BASE))) == JOBS


def test_accounts_without_a_header_whose_times_are_numbers(tmp_path: Path) -> None:
    rows = [{**row, "Submit": str(BEGIN), "Start": str(BEGIN + 60), "End": str(BEGIN + 3660)} for row in ROWS]
    with pytest.raises(InputError, match="looks like what sacct --noheader prints"):
        read(tmp_path, table(rows, header=False))


def test_a_header_that_names_too_few_columns(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no column Submit"):
        read(tmp_path, table(ROWS, header=False), header="JobID,User")
    with pytest.raises(InputError, match=r"option --header: .*expected names of columns with JobID"):
        read(tmp_path, table(ROWS, header=False), header="User,Submit")


# ---------------------------------------------------------------------- texts


FREE = {"JobName": "a", "SubmitLine": "sbatch run.sh", "Comment": "", "WorkDir": "/home/ada", "AdminComment": ""}


@given(
    name=st.text("ab|", max_size=5),
    line=st.sampled_from(["sbatch run.sh", "sbatch --wrap=x|y|z", "srun a|b", ""]),
    comment=st.text("c|,", max_size=5),
    many=st.integers(0, 60),
)
def test_texts_that_hold_the_delimiter_change_no_other_field(name: str, line: str, comment: str, many: int) -> None:
    row = {**BASE, "JobName": name, "Account": "phys", "SubmitLine": line, "ExitCode": "0:0"}
    row |= {"Comment": comment + "|" * many, "WorkDir": "/home/ada", "QOS": "normal"}
    columns = Columns("|".join(row), "accounts", "line 1")
    fields = columns.fields("|".join(row.values()))
    assert fields is not None
    if fields:
        kept = {key: text for key, text in zip(row, fields, strict=True) if key in BASE}
        assert kept == BASE


def test_all_columns_with_bars_in_texts(tmp_path: Path) -> None:
    row = {"Account": "phys", "AdminComment": "a|b", "AllocCPUS": "8", **BASE, "Comment": "x|", "Constraints": "ib"}
    row |= {"JobName": "my|job", "StdErr": "/tmp/%j|err", "SubmitLine": "sbatch -C ib a|b", "WorkDir": "/home/a|b"}
    found = read(tmp_path, table([row, {**row, "JobID": "8", "NodeList": "n[01-02]"}]))
    assert told(found) == JOBS
    assert found.workload.jobs[0].extra["constraint"] == "ib"


@pytest.mark.parametrize(
    ("line", "constraint"),
    [
        ("sbatch -C skylake|cascade run.sh", "skylake|cascade"),
        ("sbatch run.sh", "skylake|cascade"),
        ("sbatch --constraint=a run.sh|x", "a"),
        ("sbatch -C a&b run.sh", "a&b"),
    ],
)
def test_constraints_behind_a_submit_line(tmp_path: Path, line: str, constraint: str) -> None:
    found = read(tmp_path, table([{**BASE, "SubmitLine": line, "Constraints": constraint}]))
    assert found.workload.jobs[0].extra["constraint"] == constraint


# ---------------------------------------------------------------------- bad records


def with_bad(good: int, bad: list[str]) -> str:
    rows = [{**BASE, "JobID": str(100 + number)} for number in range(good)]
    return table(rows) + "".join(f"{line}\n" for line in bad) + "|".join({**BASE, "JobID": "99"}.values()) + "\n"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("|".join({**BASE, "Submit": "yesterday"}.values()), "line 5: Submit is 'yesterday'"),
        ("|".join({**BASE, "AllocTRES": "cpu=many"}.values()), "line 5: AllocTRES is 'cpu=many'"),
        ("|".join({**BASE, "JobID": "seven"}.values()), "line 5: JobID is 'seven'"),
        ("|".join([*BASE.values(), "more"]), "line 5: more fields than the 13 of the header"),
        ("7|ada|batch|2026-03-0", "line 5: found 4 fields, expected the 13 of the header"),
    ],
)
def test_one_bad_record_is_left_out_and_named(tmp_path: Path, line: str, told: str) -> None:
    found = read(tmp_path, with_bad(3, [line]))
    assert [job.id for job in found.workload.jobs] == ["99", "100", "101", "102"]
    assert found.report.dropped["that cannot be read (--bad-records)"].count == 1
    assert found.report.records == 5
    assert any(note.startswith(f"left out: {told}") for note in found.report.notes)
    assert "dropped: 1 that cannot be read (--bad-records) (jobs line 5)" in found.report.as_text()
    with pytest.raises(InputError, match=r"line 5: "):
        read(tmp_path, with_bad(3, [line]), bad_records=0)


def test_many_bad_records_mean_that_the_log_is_another_one(tmp_path: Path) -> None:
    line = "|".join({**BASE, "Submit": "yesterday"}.values())
    assert read(tmp_path, with_bad(20, [line] * 10)).report.kept == 21
    with pytest.raises(InputError, match=r"line 22: Submit is 'yesterday'.*; with 11 such records the log is refused"):
        read(tmp_path, with_bad(20, [line] * 11))
    assert read(tmp_path, with_bad(20, [line] * 11), bad_records=11).report.kept == 21
    # 5 of a thousand.
    assert read(tmp_path, with_bad(2985, [line] * 14)).report.kept == 2986
    with pytest.raises(InputError, match="with 15 such records"):
        read(tmp_path, with_bad(2983, [line] * 15))


def test_a_file_of_bad_records_alone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"line 2: Submit is 'x'"):
        read(tmp_path, table([{**BASE, "Submit": "x"}]), bad_records=5)


def test_the_end_of_a_file_that_was_cut(tmp_path: Path) -> None:
    found = read(tmp_path, table(ROWS) + "9|ada|batch|2026-03-02T08:0")
    assert told(found) == JOBS
    assert "left out: line 4: found 4 fields, expected the 13 of the header" in found.report.notes


# ---------------------------------------------------------------------- old records, clusters


@pytest.mark.parametrize(
    ("changes", "kept"),
    [
        ({}, True),
        ({"State": "TIMEOUT", "ElapsedRaw": "7200"}, True),
        ({"State": "CANCELLED by 12", "ElapsedRaw": "60"}, True),
        ({"State": "CANCELLED by 12", "ElapsedRaw": "0", "NodeList": "None assigned"}, False),
        ({"State": "CANCELLED by 12", "ElapsedRaw": "0", "NodeList": ""}, False),
        ({"State": "FAILED", "ElapsedRaw": "0"}, True),
    ],
)
def test_records_before_sums_of_resources(tmp_path: Path, changes: dict[str, str], kept: bool) -> None:
    old = {**BASE, "ReqTRES": "", "AllocTRES": "", "NCPUS": "8", "ReqCPUS": "8", **changes}
    other = {**BASE, "JobID": "8", "NCPUS": "8", "ReqCPUS": "8"}
    found = read(tmp_path, table([old, other]))
    assert [(job.id, job.request.units) for job in found.workload.jobs] == ([("7", 8)] if kept else []) + [("8", 8)]


def test_accounts_of_several_clusters(tmp_path: Path) -> None:
    rows = [{**BASE, "Cluster": name, "JobID": number} for name in ("alpha", "beta") for number in ("7", "8")]
    with pytest.raises(InputError, match=r"jobs of several clusters, alpha \(2 records\), beta \(2 records\): choose"):
        read(tmp_path, table(rows))
    found = read(tmp_path, table(rows), cluster="beta")
    assert [job.id for job in found.workload.jobs] == ["7", "8"]
    assert found.report.dropped["of other clusters (--cluster)"].count == 2
    with pytest.raises(InputError, match=r"option --cluster: .*alpha"):
        read(tmp_path, table(rows), cluster="gamma")
    assert told(read(tmp_path, table(ROWS), cluster="alpha")) == JOBS


# ---------------------------------------------------------------------- JSON


def set_number(number: int) -> dict[str, object]:
    return {"set": True, "infinite": False, "number": number}


def of_database(job: int, version: str, nodes: str) -> dict[str, Any]:
    new = version == "new"
    times = {"submission": BEGIN, "eligible": BEGIN, "start": BEGIN + 60, "end": BEGIN + 3660, "elapsed": 3600}
    amounts = [("cpu", "", 8), ("mem", "", 8192), ("node", "", 2), ("gres", "gpu", 2), ("license", "matlab", 1)]
    tres = [{"type": kind, "name": name, "id": at, "count": count} for at, (kind, name, count) in enumerate(amounts)]
    return {
        "job_id": job,
        "user": "ada",
        "association": {"account": "phys", "cluster": "alpha", "partition": "", "user": "ada"},
        "array": {"job_id": 0, "task_id": set_number(0) | {"set": False} if new else None, "task": ""},
        "het": {"job_id": 0, "job_offset": {"set": False, "infinite": False, "number": 0} if new else None},
        "partition": "batch",
        "name": "a|b",
        "qos": "normal",
        "time": times | {"limit": set_number(120) if new else 120, "suspended": 0},
        "state": {"current": ["COMPLETED"] if new else "COMPLETED", "reason": "None"},
        "required": {"CPUs": 8},
        "allocation_nodes": 2,
        "tres": {"requested": tres, "allocated": [*tres, {"type": "energy", "name": "", "id": 9, "count": -1}]},
        "nodes": nodes,
        "steps": [{"step": {"id": {"job_id": 141, "step_id": "batch"}}}],
    }


def of_controller(job: int, version: str, nodes: str) -> dict[str, Any]:
    def number(value: int) -> Any:
        return set_number(value) if version == "new" else value

    return {
        "job_id": job,
        "cluster": "alpha",
        "user_name": "ada",
        "account": "phys",
        "partition": "batch",
        "name": "a|b",
        "qos": "normal",
        "job_state": ["COMPLETED"] if version == "new" else "COMPLETED",
        "submit_time": number(BEGIN),
        "eligible_time": number(BEGIN),
        "start_time": number(BEGIN + 60),
        "end_time": number(BEGIN + 3660),
        "time_limit": number(120),
        "node_count": number(2),
        "cpus": number(8),
        "array_job_id": number(0),
        "array_task_id": set_number(0) | {"set": False} if version == "new" else None,
        "tres_req_str": "cpu=8,mem=8G,node=2,gres/gpu=2,license/matlab=1",
        "tres_alloc_str": "cpu=8,mem=8G,node=2,gres/gpu=2,license/matlab=1",
        "nodes": nodes,
    }


@pytest.mark.parametrize("form", [of_database, of_controller])
@pytest.mark.parametrize("version", ["old", "new"])
@pytest.mark.parametrize("name", ["accounts.json", "accounts.txt"])
def test_json(tmp_path: Path, form: Any, version: str, name: str) -> None:
    jobs = [form(7, version, "n[01,03]"), form(8, version, "n[01-02]")]
    found = read(tmp_path, json.dumps({"meta": {"Slurm": {}}, "jobs": jobs, "errors": []}, indent=1), name)
    assert not is_workload(tmp_path / name)
    assert told(found) == JOBS
    job = found.workload.jobs[0]
    assert {field: job.extra[field] for field in ("account", "qos", "name", "licences", "per_node", "nodes")} == {
        "account": "phys",
        "qos": "normal",
        "name": "a|b",
        "licences": {"matlab": 1},
        "per_node": {"gpu": 1},
        "nodes": 2,
    }
    assert job.extra["demand"] == {"core": 1, "memory": 1024}
    assert found.info.starts.tolist() == [60, 60]


def test_jobs_of_json_that_are_arrays_open_or_wrong(tmp_path: Path) -> None:
    base = of_database(9, "new", "n1")
    jobs: list[Any] = [
        base | {"job_id": 10, "array": {"job_id": 9, "task_id": set_number(3), "task": ""}},
        base | {"job_id": 9, "array": {"job_id": 9, "task_id": {"set": False, "number": 0}, "task": "4-9"}},
        base | {"job_id": 11, "het": {"job_id": 11, "job_offset": set_number(0)}},
        base | {"job_id": 12, "state": {"current": ["PENDING"]}, "tres": {}, "nodes": "None assigned"},
        base | {"job_id": 13, "time": base["time"] | {"limit": {"set": False, "infinite": True, "number": 0}}},
        {"time": {}},
        3,
    ]
    found = read(tmp_path, json.dumps({"jobs": jobs, "meta": {"slurm": {}}}), "a.json")
    assert sorted(job.id for job in found.workload.jobs) == ["11", "13", "9_3"]
    assert {reason: tally.count for reason, tally in found.report.dropped.items()} == {
        "tasks of arrays that never started, a record for all of them": 1,
        "not started when the account was made (PENDING)": 1,
        "that cannot be read (--bad-records)": 2,
    }
    assert found.report.records == 7
    with pytest.raises(InputError, match="is no JSON with a list of jobs"):
        read(tmp_path, '{"meta": {"slurm": {}}, "jobs": [', "a.json")


def test_a_workload_of_batsim_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    for text in ('{"nb_res": 1, "jobs": [], "profiles": {}}', '{"jobs": [{"id": "1", "subtime": 0, "job_id": 1}]}'):
        path.write_text(text)
        assert is_workload(path)


# ---------------------------------------------------------------------- jobcomp

JOBCOMP = (
    "JobId={id} UserId=ada(1000) GroupId=phys(100) Name={name} JobState=COMPLETED Partition=batch TimeLimit=120 "
    "StartTime=2026-03-02T08:01:00 EndTime=2026-03-02T09:01:00 NodeList={nodes} NodeCnt=2 ProcCnt=8 WorkDir=/home/a "
    "b ReservationName= Tres=cpu=8,mem=8G,node=2,billing=8 Account=phys QOS=normal WcKey= Cluster=alpha "
    "SubmitTime=2026-03-02T08:00:00 EligibleTime=2026-03-02T08:00:00 DerivedExitCode=0:0 ExitCode=0:0 \n"
)


def test_text_files_of_jobcomp(tmp_path: Path) -> None:
    name = "my JobState=FAILED Partition=x"
    text = JOBCOMP.format(id=7, name=name, nodes="n[01,03]") + JOBCOMP.format(id=8, name="b", nodes="n[01-02]")
    found = read(tmp_path, text + "JobId=9 UserId=ada\n")
    assert told(found) == JOBS
    first = found.workload.jobs[0]
    assert (first.extra["name"], first.extra["account"], first.extra["qos"]) == (name, "phys", "normal")
    assert first.extra["demand"] == {"core": 1, "memory": 1024}
    assert any("left out: line 3: found 'JobId=9" in note for note in found.report.notes)


# ---------------------------------------------------------------------- strangers


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            '"JOB_FINISH" "10.1" 1772442000 101 1000 33816578 4 1772438400 0 0 1772438460 "ada" "normal" "" "" ""\n',
            "LSF",
        ),
        ("# Version: 8.1\nall.q:n1:phys:ada:job:12:sge:0:1772438400:1772438460:1772442060:0:0:3600" + ":0" * 32, "SGE"),
        ('03/02/2026 08:10:00;E;331424;Exit_status=0 args="" queue=default resources_used.location=R00\n', "Cobalt"),
        ("7     ada  2026-03-02T08:00:00  COMPLETED   4 \n", "parsable2"),
        ("       JobID    JobName      State \n------------ ---------- ---------- \n7 a COMPLETED\n", "parsable2"),
    ],
)
@pytest.mark.parametrize("file", ["log", "log.csv"])
def test_accounts_that_are_not_read_get_a_name(tmp_path: Path, text: str, name: str, file: str) -> None:
    path = tmp_path / file
    path.write_text(text)
    with pytest.raises(InputError, match=name):
        guess_format(path)
