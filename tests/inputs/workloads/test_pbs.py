"""Accounts of PBS Pro, OpenPBS and Torque, in the forms that their manuals show; sizes are worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from batdispatch import compare
from batdispatch.core.errors import InputError
from batdispatch.inputs.log_options import LogOptions
from batdispatch.inputs.workloads.importers import ImportResult, guess_format, read_log

#: 2026-03-02 08:00 UTC.
BEGIN = 1772438400
USUAL = {"user": "ada", "group": "phys", "jobname": "a", "queue": "batch"}
TORQUE = {"exec_host": "n1/0+n1/1+n2/0+n2/1", "Resource_List.nodes": "2:ppn=2", "Resource_List.ncpus": "1"}
PRO = {
    "exec_host": "n1/0*4+n2/0*4",
    "exec_vnode": "(n1:ncpus=4:mem=8388608kb:ngpus=1)+(n2:ncpus=4:mem=8388608kb:ngpus=1)",
    "Resource_List.select": "2:ncpus=4:mem=8gb:ngpus=1",
    "Resource_List.ncpus": "8",
    "Resource_List.ngpus": "2",
    "Resource_List.mem": "16gb",
    "Resource_List.nodect": "2",
}


def event(kind: str, job: str = "12.head", **fields: object) -> str:
    told = " ".join(f"{name}={value}" for name, value in fields.items())
    return f"03/02/2026 08:10:00;{kind};{job};{told}\n"


def ended(job: str = "12.head", *, at: int = 0, lasts: int = 3600, **fields: object) -> str:
    times = {"ctime": BEGIN + at, "qtime": BEGIN + at, "etime": BEGIN + at, "start": BEGIN + at + 60}
    limit = {"Resource_List.walltime": "02:00:00", "end": BEGIN + at + 60 + lasts}
    return event("E", job, **{**USUAL, **times, **limit, **fields})


def read(folder: Path, text: str, **options: Any) -> ImportResult:
    path = folder / "20260302"
    path.write_text(text)
    return read_log(path, options=LogOptions(**options))


def only(found: ImportResult) -> Any:
    (job,) = found.workload.jobs
    return job


@pytest.mark.parametrize(
    ("fields", "cores", "nodes"),
    [
        (TORQUE, 4, "n1,n2"),
        ({"exec_host": "n1/0-3+n2/0-3", "Resource_List.nodes": "2:ppn=4"}, 8, "n1,n2"),
        ({"exec_host": "n1/0,2-4", "Resource_List.nodes": "1:ppn=4"}, 4, "n1"),
        ({"exec_host": "n1/3", "Resource_List.nodes": "n1"}, 1, "n1"),
        ({"exec_host": "n1/0*4", "Resource_List.ncpus": "4"}, 4, "n1"),
        ({"exec_host": "n1/0*8+n2/1*2", "Resource_List.select": "1:ncpus=8+1:ncpus=2"}, 10, "n1,n2"),
        ({"exec_host": "n1/0", "exec_vnode": "(n1[0]:ncpus=8+n1[1]:ncpus=8)"}, 16, "n1"),
        ({"exec_host": "n1/0+n1/1", "Resource_List.procs": "2"}, 2, "n1"),
        ({"exec_host": "n1.site.org:15002/0*2"}, 2, "n1.site.org"),
        ({"Resource_List.nodes": "2:ppn=4+1:ppn=8:bigmem"}, 16, ""),
        ({"Resource_List.nodes": "n1:ppn=4+n2:ppn=4#shared"}, 8, ""),
    ],
)
def test_how_many_cores_a_job_has_and_where(tmp_path: Path, fields: dict[str, str], cores: int, nodes: str) -> None:
    found = read(tmp_path, ended(**fields))
    assert only(found).request.units == cores
    assert found.info.nodes == ({"12": nodes} if nodes else {})


def test_a_record_of_pbs_pro_is_read_whole(tmp_path: Path) -> None:
    found = read(tmp_path, event("Q", queue="batch") + event("S", **USUAL) + ended(**PRO, account='"a b"'))
    job = only(found)
    assert found.report.format == "pbs"
    assert (job.id, job.submission, job.walltime) == ("12", 0.0, 7200.0)
    assert {name: job.extra[name] for name in ("user", "group", "account", "queue", "name")} == {
        "user": "ada",
        "group": "phys",
        "account": "a b",
        "queue": "batch",
        "name": "a",
    }
    # 8 cores, 16 GiB, so 2 GiB with each core; a GPU on each of 2 nodes.
    assert job.extra["demand"] == {"core": 1, "memory": 2048}
    assert (job.extra["per_node"], job.extra["nodes"]) == ({"gpu": 1}, 2)
    assert found.workload.profiles[job.profile] == {"type": "delay", "delay": 3600}
    assert found.info.starts.tolist() == [60.0]
    assert found.workload.about["origin"]["time_origin"] == BEGIN


@pytest.mark.parametrize(
    ("text", "seconds"), [("7200", 7200), ("02:00:00", 7200), ("1:00:00:00", 86_400), ("90:30", 5430)]
)
def test_walltimes(tmp_path: Path, text: str, seconds: float) -> None:
    assert only(read(tmp_path, ended(**{**TORQUE, "Resource_List.walltime": text}))).walltime == seconds


@pytest.mark.parametrize(
    ("text", "mib"), [("4gb", 4096), ("4GB", 4096), ("4194304kb", 4096), ("1048577b", 2), ("1mw", 8), ("100", 1)]
)
def test_amounts_of_memory(tmp_path: Path, text: str, mib: int) -> None:
    job = only(read(tmp_path, ended(**{"Resource_List.mem": text, "exec_host": "n1/0"})))
    assert job.extra["demand"]["memory"] == mib


@pytest.mark.parametrize(("name", "job"), [("12[3].head", "12_3"), ("12-3.head", "12_3"), ("12.head.site.org", "12")])
def test_numbers_of_jobs(tmp_path: Path, name: str, job: str) -> None:
    found = only(read(tmp_path, ended(name, **TORQUE)))
    assert found.id == job
    assert found.extra.get("array") == ({"id": "12", "index": 3} if "_" in job else None)


def test_jobs_without_an_end_are_counted_with_the_reason(tmp_path: Path) -> None:
    text = (
        event("Q", "1.h", queue="batch")
        + event("Q", "2.h", queue="batch")
        + event("S", "2.h", **USUAL)
        + event("Q", "3.h")
        + event("D", "3.h", requestor="ada@head")
        + event("A", "4.h")
        + event("R", "5.h")
        + event("Q", "6.h")
        + ended("6.h", **TORQUE)
        + event("D", "6.h", requestor="late")
        + "03/02/2026 09:00:00;L;license;floating license hour:1 day:1\n"
    )
    found = read(tmp_path, text)
    assert only(found).id == "6"
    assert {reason: tally.examples for reason, tally in found.report.dropped.items()} == {
        "not started when the account was made": ["1"],
        "not ended when the account was made": ["2", "5"],
        "never started (deleted)": ["3"],
        "never started (the server gave them up)": ["4"],
    }
    assert found.report.records == found.report.kept + 5
    assert any("1 lines are of no job's life (1 L)" in note for note in found.report.notes)


def test_the_last_run_of_a_job_that_was_started_again_is_kept(tmp_path: Path) -> None:
    text = ended(lasts=10, **TORQUE) + event("R", **TORQUE) + ended(lasts=500, **TORQUE)
    found = read(tmp_path, text)
    assert only(found).profile == "d500"
    assert any("were started again" in what for what in found.report.changed)


def test_numbers_that_come_again_are_other_jobs(tmp_path: Path) -> None:
    found = read(tmp_path, ended(**TORQUE) + ended(at=9_000_000, **TORQUE))
    assert [job.id for job in found.workload.jobs] == ["12", "12~2"]


def test_dependencies(tmp_path: Path) -> None:
    text = ended("1.h", **TORQUE) + ended("2.h", at=5, depend="afterok:1.h@h,beforeany:3.h", **TORQUE)
    jobs = read(tmp_path, text).workload.jobs
    assert [job.extra.get("dependencies") for job in jobs] == [None, ["1"]]


def test_bad_lines_are_left_out_and_named(tmp_path: Path) -> None:
    wrong = [
        "rubbish\n",
        ended("x", **TORQUE),
        ended("8.h", **{**TORQUE, "start": "soon"}),
        ended("9.h", exec_host="n1"),
    ]
    found = read(tmp_path, "".join(ended(f"{number}.h", **TORQUE) for number in range(100, 120)) + "".join(wrong))
    assert (found.report.kept, found.report.records) == (20, 24)
    assert [tally.count for tally in found.report.dropped.values()] == [4]
    said = "\n".join(found.report.notes)
    for part in ("line 21: found 'rubbish'", "line 22: job 'x'", "line 23: start is 'soon'", "exec_host has 'n1'"):
        assert part in said
    with pytest.raises(InputError, match=r"line 21: found 'rubbish'"):
        read(tmp_path, (tmp_path / "20260302").read_text(), bad_records=3)


def test_fields_that_a_text_may_hold_do_not_count(tmp_path: Path) -> None:
    text = ended(**TORQUE).rstrip("\n") + " comment=start=1 Resource_List.walltime=9 by hand\n"
    assert only(read(tmp_path, text)).walltime == 7200


def test_the_machine_is_what_its_jobs_used(tmp_path: Path) -> None:
    found = read(tmp_path, ended(**PRO) + ended("13.h", at=1, **PRO))
    assert found.info.use.names == ["n1", "n2"]
    assert found.info.use.peak["core"].tolist() == [8, 8]


@pytest.mark.parametrize("fields", [TORQUE, PRO, {"exec_host": "n1/0", "Resource_List.mem": "1mb"}])
def test_a_comparison_runs_on_the_machine_of_the_accounts(tmp_path: Path, fields: dict[str, str]) -> None:
    path = tmp_path / "accounts"
    # Two at a time on each node; the third came as they ran.
    path.write_text("".join(ended(f"{number}.h", at=number, **fields) for number in (1, 2)))
    (figures,) = compare(path, "easy", out=tmp_path / "out").figures.values()
    assert figures["mean_waiting_time"] == 0
    assert figures["nb_jobs_success"] == 2


@pytest.mark.parametrize("kind", ["Q", "L", "E", "YC"])
def test_the_format_is_told_by_the_content(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "log.swf"
    path.write_text(event(kind))
    assert guess_format(path) == "pbs"
