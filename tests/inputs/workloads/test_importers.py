"""Logs to workloads: what each importer keeps, drops and alters, and that it counts it."""

import gzip
import io
import lzma
import math
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.errors import InputError
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.inputs.log_options import LogOptions
from batdispatch.inputs.workloads import Workload, read_workload, write_workload
from batdispatch.inputs.workloads.importers import guess_format, read_log
from batdispatch.inputs.workloads.logs import Selection
from batdispatch.inputs.workloads.report import ImportReport

HEADER = "; Computer: Test\n; MaxNodes: 10\n; MaxProcs: 40\n; UnixStartTime: 1000\n"


def record(**changes: Any) -> str:
    """An SWF line: job 1, submitted at 100, ran 60 s on 4 processors, asked for 4 and 90 s, completed."""
    fields: dict[str, Any] = {"job": 1, "submit": 100, "wait": 5, "run": 60, "procs": 4, "cpu": -1, "mem": -1, "req": 4}
    fields |= {"limit": 90, "reqmem": -1, "status": 1, "user": 3, "group": 2, "exe": 7, "queue": 1}
    fields |= {"part": -1, "prev": -1, "think": -1}
    return " ".join(str(value) for value in (fields | changes).values()) + "\n"


def swf(tmp_path: Path, *lines: str, **options: Any) -> tuple[Workload, ImportReport]:
    path = tmp_path / "log.swf"
    path.write_text(HEADER + "".join(lines))
    return read_log(path, options=LogOptions(**options))[:2]


def counts(tallies: dict[str, Any]) -> dict[str, int]:
    return {reason: tally.count for reason, tally in tallies.items()}


def test_swf_fields(tmp_path: Path) -> None:
    workload, report = swf(tmp_path, record())
    (job,) = workload.jobs
    assert (job.id, job.submission, job.units, job.walltime, job.profile, job.user) == ("1", 0.0, 4, 90.0, "d60", "3")
    assert workload.profiles == {"d60": {"type": "delay", "delay": 60}}
    assert job.extra == {"user": 3, "group": 2, "executable": 7, "queue": 1}
    assert workload.nb_res == 40
    origin = workload.about["origin"]
    assert (origin["time_origin"], origin["UnixStartTime"], origin["Computer"]) == (100, 1000, "Test")
    assert (report.records, report.kept, report.dropped, report.changed) == (1, 1, {}, {})


NEVER = "never started (0 s and no processors, or cancelled)"
ONE_SECOND = "ran for 0 s: taken as 1 s, since a delay must be above 0"


@pytest.mark.parametrize(
    ("changes", "dropped", "changed", "kept"),
    [
        ({"run": -1, "procs": -1}, "never started", None, None),
        ({"run": -1}, "without a run time", None, None),
        ({"run": 0, "procs": -1}, NEVER, None, None),
        ({"run": 0, "status": 5}, NEVER, None, None),
        ({"run": 0, "procs": 0}, NEVER, None, None),
        ({"submit": -1}, "without a submit time", None, None),
        ({"status": 2}, None, None, (4, 90.0, "d60")),
        ({"status": 4}, None, None, (4, 90.0, "d60")),
        ({"run": 0}, None, ONE_SECOND, (4, 90.0, "d1")),
        ({"run": 0, "status": 0}, None, ONE_SECOND, (4, 90.0, "d1")),
        ({"run": 30, "status": 5}, None, None, (4, 90.0, "d30")),
        ({"run": 30, "status": 0}, None, None, (4, 90.0, "d30")),
        ({"status": 17}, None, "with a status outside the format: taken as run", (4, 90.0, "d60")),
        ({"limit": -1}, None, None, (4, math.inf, "d60")),
        ({"limit": 0}, None, None, (4, math.inf, "d60")),
        ({"req": -1}, None, "without requested processors: allocated taken", (4, 90.0, "d60")),
        ({"procs": -1, "req": 6}, None, None, (6, 90.0, "d60")),
        (
            {"procs": 8},
            None,
            "with requested and allocated processors that differ: requested taken",
            (4, 90.0, "d60"),
        ),
        ({"procs": -1, "req": -1}, None, "ran on an unknown number of processors: taken as 1", (1, 90.0, "d60")),
        ({"run": 91}, None, "ran longer than their walltime: they will be killed at it", (4, 90.0, "d91")),
        ({"run": 90}, None, "ran exactly as long as their walltime: they count as killed at it", (4, 90.0, "d90")),
        ({"run": 60.5}, None, None, (4, 90.0, "d60.5")),
        (
            {"req": 41, "procs": 41},
            None,
            "larger than the machine of 40 that the log states",
            (41, 90.0, "d60"),
        ),
    ],
)
def test_swf_semantics(
    changes: dict[str, Any],
    dropped: str | None,
    changed: str | None,
    kept: tuple[int, float, str] | None,
    tmp_path: Path,
) -> None:
    # A second, sound job keeps the log from being empty.
    workload, report = swf(tmp_path, record(**changes), record(job=2))
    assert counts(report.dropped) == ({dropped: 1} if dropped else {})
    assert counts(report.changed) == ({changed: 1} if changed else {})
    found = [(job.units, job.walltime, job.profile) for job in workload.jobs if job.id == "1"]
    assert found == ([kept] if kept else [])


@pytest.mark.parametrize(
    ("options", "changes", "units", "walltime", "demand", "nb_res"),
    [
        ({"size": "allocated"}, {"procs": 8}, 8, 90.0, None, 40),
        ({"size": "allocated"}, {"procs": -1}, 4, 90.0, None, 40),
        ({"processors_per_host": 4}, {}, 1, 90.0, None, 10),
        ({"processors_per_host": 3}, {}, 2, 90.0, None, 14),
        ({"overrun": "extend"}, {"run": 100}, 4, 101.0, None, 40),
        ({"overrun": "extend"}, {"run": 100.5}, 4, 101.0, None, 40),
        ({"units": "cores"}, {}, 4, 90.0, {"core": 1}, 10),
        ({"units": "cores", "memory": "requested"}, {"reqmem": 2049}, 4, 90.0, {"core": 1, "memory": 3}, 10),
        ({"units": "cores", "memory": "requested"}, {"mem": 1024}, 4, 90.0, {"core": 1, "memory": 1}, 10),
        ({"units": "cores", "memory": "used"}, {}, 4, 90.0, {"core": 1}, 10),
    ],
)
def test_swf_options(
    options: dict[str, Any],
    changes: dict[str, Any],
    units: int,
    walltime: float,
    demand: dict[str, int] | None,
    nb_res: int,
    tmp_path: Path,
) -> None:
    workload, _ = swf(tmp_path, record(**changes), **options)
    (job,) = workload.jobs
    assert (job.units, job.walltime, job.request.demand, workload.nb_res) == (units, walltime, demand, nb_res)
    write_workload(workload, tmp_path / "w.json")
    (again,) = read_workload(tmp_path / "w.json").jobs
    assert (again.units, again.walltime, again.request.demand, again.user) == (units, walltime, demand, "3")


def test_zero_runtimes_can_be_dropped(tmp_path: Path) -> None:
    workload, report = swf(tmp_path, record(run=0), record(job=2), zero_runtime="drop")
    assert [job.id for job in workload.jobs] == ["2"]
    assert counts(report.dropped) == {"ran for 0 s": 1}


def test_submissions_out_of_order_and_the_clock(tmp_path: Path) -> None:
    lines = [record(job=3, submit=50), record(job=2, submit=20), record(job=10, submit=20)]
    workload, _ = swf(tmp_path, *lines)
    assert [(job.id, job.submission) for job in workload.jobs] == [("10", 0.0), ("2", 0.0), ("3", 30.0)]
    workload, _ = swf(tmp_path, *lines, keep_clock=True)
    assert [job.submission for job in workload.jobs] == [20.0, 20.0, 50.0]


@pytest.mark.parametrize(
    ("selection", "ids"),
    [
        (Selection(first=2), ["1", "2"]),
        (Selection(start=110, end=130), ["2", "3"]),
        (Selection(users=frozenset({"5"})), ["2", "4"]),
        (Selection(first=1, start=115), ["3"]),
    ],
)
def test_selection(selection: Selection, ids: list[str], tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    path.write_text("".join(record(job=i + 1, submit=100 + 10 * i, user=3 + 2 * (i % 2)) for i in range(4)))
    workload, report, _ = read_log(path, selection=selection)
    assert [job.id for job in workload.jobs] == ids
    assert workload.jobs[0].submission == 0
    assert report.records == report.kept + sum(tally.count for tally in report.dropped.values())


@given(
    records=st.lists(
        st.fixed_dictionaries(
            {
                "submit": st.integers(-1, 50),
                "run": st.integers(-1, 5),
                "procs": st.integers(-1, 3),
                "req": st.integers(-1, 3),
                "limit": st.integers(-1, 5),
                "status": st.integers(-1, 6),
            }
        ),
        max_size=10,
    ),
    overrun=st.sampled_from(["kill", "extend"]),
    zero=st.sampled_from(["keep", "drop"]),
)
def test_every_record_is_accounted_for(
    records: list[dict[str, int]], overrun: str, zero: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    lines = [record(job=i + 1, **fields) for i, fields in enumerate(records)] + [record(job=0)]
    options: dict[str, Any] = {"overrun": overrun, "zero_runtime": zero}
    folder = tmp_path_factory.mktemp("swf")
    workload, report = swf(folder, *lines, **options)
    assert report.records == len(lines)
    assert report.records == len(workload.jobs) + sum(tally.count for tally in report.dropped.values())
    assert all(job.units >= 1 and job.walltime > 0 for job in workload.jobs)
    write_workload(workload, folder / "w.json")
    assert [job.id for job in read_workload(folder / "w.json").jobs] == [job.id for job in workload.jobs]
    if overrun == "extend":
        assert all(job.walltime >= workload.profiles[job.profile]["delay"] for job in workload.jobs)


@pytest.mark.parametrize("pack", [lzma.compress, gzip.compress])
def test_compressed_logs(pack: Any, tmp_path: Path) -> None:
    path = tmp_path / "log.swf.xz"
    path.write_bytes(pack((HEADER + record()).encode()))
    workload, *_ = read_log(path)
    assert len(workload.jobs) == 1
    assert workload.name == "log"


# ---------------------------------------------------------------- KIT

KIT = "1;100;100;14400.0;14400.0;0.0;0.0;0.0;14400.0\n2;3;4;-1;50.5;0.0;37.0;37.0;87.5\n"


def test_kit(tmp_path: Path) -> None:
    path = tmp_path / "K.rst"
    path.write_text(KIT)
    workload, report, _ = read_log(path)
    assert [(j.id, j.units, j.walltime, j.request.demand, j.submission) for j in workload.jobs] == [
        ("1", 100, 14400.0, {"core": 1}, 0.0),
        ("2", 3, math.inf, {"core": 1}, 37.0),
    ]
    assert workload.profiles["d50.5"] == {"type": "delay", "delay": 50.5}
    assert workload.nb_res == 100
    assert any("does not say" in note for note in report.notes)
    (tmp_path / "K_node.con").write_text("MaxNodes=1173\nMaxProcs=24048\n")
    assert read_log(path)[0].nb_res == 1173
    hosts, *_ = read_log(path, options=LogOptions(units="hosts", processors_per_host=20))
    assert [(job.units, job.request.demand) for job in hosts.jobs] == [(5, None), (1, None)]
    assert hosts.nb_res == math.ceil(24048 / 20)


def test_kit_of_unknown_processors_and_times(tmp_path: Path) -> None:
    path = tmp_path / "K.rst"
    path.write_text(
        f"# a remark\n; another\n\n{KIT}3.0;0;2;10;10;0;90;90;100\n4;0;-1;10;-2;0;90;90;100\n5;1;1;10;10;0;-3;90;100\n"
    )
    workload, report, _ = read_log(path)
    assert [(job.id, job.units) for job in workload.jobs] == [("1", 100), ("2", 3), ("3", 2)]
    assert counts(report.changed) == {"ran exactly as long as their walltime: they count as killed at it": 2}
    assert counts(report.dropped) == {"without a run time": 1, "without a submission time": 1}
    allocated, *_ = read_log(path, options=LogOptions(size="allocated"))
    assert [job.units for job in allocated.jobs] == [100, 4, 2]


def test_kit_of_fractions_of_processors_counts_whole_ones(tmp_path: Path) -> None:
    path = tmp_path / "K.rst"
    path.write_text("1;1.5;0.2;10;10;0;0;0;10\n2;-1;0.2;10;10;0;0;0;10\n")
    assert [job.units for job in read_log(path)[0].jobs] == [2, 1]


def test_a_start_before_the_submission_is_unknown_in_a_log_of_kit(tmp_path: Path) -> None:
    path = tmp_path / "K.rst"
    path.write_text("1;1;1;10;10;0;50;50;60\n2;1;1;10;10;0;60;40;50\n")
    assert np.isnan(read_log(path).info.starts).tolist() == [False, True]


# ---------------------------------------------------------------- Eurora


def eurora_line(
    job: int = 1, used: str = "3;8;1;0;2049#4;8;1;0;2048#", nodes: int = 2, wall: str = "04:00", **changes: str
) -> str:
    submit = changes.get("submit", "2014-03-31 11:09:04")
    user = changes.get("user", "yyy")
    return (
        f"{job};xxx;{user};parallel;{submit}__{used}__2014-03-31 16:00:00;2014-03-31 16:30:05;"
        f"{nodes};16;4;{wall};NA;NA;COMPLETED;1\n"
    )


def test_eurora_units_and_demands(tmp_path: Path) -> None:
    path = tmp_path / "a.log_crypt"
    path.write_text(eurora_line() + eurora_line(job=2, user="bob", used="9;1;0;0;1024#9;1;0;0;1024#", nodes=1))
    workload, report, _ = read_log(path)
    first, second = workload.jobs
    # Memory counts KB in the log, MiB in a demand, rounded up; the larger of the entries is taken.
    assert (first.units, first.request.demand, first.walltime) == (2, {"core": 8, "gpu": 1, "memory": 3}, 14400.0)
    assert workload.profiles[first.profile]["delay"] == 1805
    assert first.extra["queue"] == "parallel"
    assert "user" not in first.extra
    assert (second.units, second.request.demand, second.user) == (1, {"core": 1, "memory": 1}, "bob")
    assert counts(report.changed) == {
        "used nodes differently: the largest amount of each resource taken": 1,
        "used another number of nodes than requested: the request taken": 1,
    }
    hosts, *_ = read_log(path, options=LogOptions(units="hosts"))
    assert [job.request.demand for job in hosts.jobs] == [None, None]


@pytest.mark.parametrize(
    ("text", "seconds"), [("00:30", 1800), ("1-02:03", 93780), ("01:02:03", 3723), ("2-00:00:01", 172801)]
)
def test_eurora_walltimes(text: str, seconds: float, tmp_path: Path) -> None:
    path = tmp_path / "a.log_crypt"
    path.write_text(eurora_line(wall=text))
    assert read_log(path)[0].jobs[0].walltime == seconds


def archive(path: Path, members: dict[str, str]) -> Path:
    with tarfile.open(path, "w:xz") as tar:
        for name, text in members.items():
            data = text.encode()
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
        link = tarfile.TarInfo("evil.log_crypt")
        link.type = tarfile.SYMTYPE
        link.linkname = "/etc/passwd"
        tar.addfile(link)
    return path


def test_eurora_archive_and_folder_hold_each_job_once(tmp_path: Path) -> None:
    members = {
        "data/1/a.log_crypt": eurora_line(1) + eurora_line(2),
        "../../2/b.log_crypt": eurora_line(2) + eurora_line(3) + eurora_line(1, wall="05:00"),
        "data/README": "not a log",
    }
    tar = archive(tmp_path / "logs.tar.xz", members)
    for index, (name, text) in enumerate(members.items()):
        file = tmp_path / "folder" / f"{index}{Path(name).name}"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    for source in (tar, tmp_path / "folder"):
        workload, report, _ = read_log(source)
        assert sorted(job.id for job in workload.jobs) == ["1", "2", "3"]
        assert report.records == 4
        assert counts(report.dropped) == {"other accounts of a job already read": 1}
        assert "1 lines repeat a job of another file" in report.notes
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "logs.tar.xz"]


# ---------------------------------------------------------------- the machine


def machine(**capacities: str) -> Machine:
    return Machine(
        [Host(id=i, name=name, properties={"capacity": text}) for i, (name, text) in enumerate(capacities.items())]
    )


def test_jobs_that_never_fit_are_dropped_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "a.log_crypt"
    lines = [
        eurora_line(1, used="1;8;0;0;1024#", nodes=1),
        eurora_line(2, used="1;8;0;0;9999999#", nodes=1),
        eurora_line(3, used="1;1;0;1;1024#", nodes=1),
        eurora_line(4, used="1;16;0;0;1024#", nodes=3),
        eurora_line(5, used="1;8;0;0;1024#", nodes=4),
    ]
    path.write_text("".join(lines))
    workload, report, _ = read_log(path, machine=machine(a="core=16 gpu=2 memory=512", b="core=16 memory=512"))
    assert [job.id for job in workload.jobs] == ["1", "5"]
    assert workload.nb_res == 2
    assert counts(report.dropped) == {
        "need a unit of core=8 memory=9766, which no host of the platform offers": 1,
        "need a unit of core=1 memory=1 mic=1, which no host of the platform offers": 1,
        "larger than the platform": 1,
    }


def test_whole_hosts_on_a_flat_machine(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    path.write_text(record(req=5) + record(job=2, req=6))
    workload, report, _ = read_log(path, machine=Machine.flat(5))
    assert [job.id for job in workload.jobs] == ["1"]
    assert counts(report.dropped) == {"larger than the platform": 1}


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("x.swf.gz", "", "swf"),
        ("x.rst", "", "kit"),
        ("x.log_crypt", "", "eurora"),
        ("x", record(), "swf"),
        ("x", "; UnixStartTime: 3\n", "swf"),
        ("x", KIT, "kit"),
        ("x", eurora_line(), "eurora"),
    ],
)
def test_the_format_is_guessed(name: str, content: str, kind: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    assert guess_format(tmp_path / name) == kind


def test_numbers_that_come_again_are_other_jobs(tmp_path: Path) -> None:
    lines = [record(job=7), record(job=3, submit=110), *(record(job=7, submit=120 + i) for i in range(2))]
    workload, report = swf(tmp_path, *lines)
    assert [job.id for job in workload.jobs] == ["7", "3", "7~2", "7~3"]
    assert counts(report.changed) == {"with the number of an earlier job: named with ~2 and so on": 2}


def test_parts_of_a_job_without_a_summary_line_are_put_together(tmp_path: Path) -> None:
    parts = [record(job=2, submit=100 + i, run=run, status=2) for i, run in enumerate([10, -1])]
    workload, report = swf(tmp_path, *parts, record(job=2, submit=300, run=30, status=3), record(job=5, status=2))
    assert [(job.id, job.submission, job.profile) for job in workload.jobs] == [("2", 0, "d40"), ("5", 0, "d60")]
    assert list(counts(report.dropped).values()) == [2]
    assert report.records == report.kept + 2


@pytest.mark.parametrize(
    ("header", "size"),
    [
        ("MaxProcs: 1,152", 1152),
        ("MaxProcs: 1'152", 1152),
        ("MaxProcs: 1 152 (of 12 racks)", 1152),
        ("MaxProcs: 144 (8 CPUs each)", 144),
        ("MaxProcs: 144 nodes", 144),
        ("MaxProcs:64", 64),
        ("maxprocs: 64", 64),
        ("MaxProcs = 64", 64),
    ],
)
def test_headers_with_more_than_a_number(tmp_path: Path, header: str, size: int) -> None:
    path = tmp_path / "log.swf"
    path.write_text(f"; {header}\n{record()}\n")
    found = read_log(path)
    assert found.workload.nb_res == size
    text = header.partition(":")[2].strip()
    said = [note for note in found.report.notes if "header" in note and "taken" in note]
    assert said == ([] if text.strip("0123456789,'") == "" else [f"the header MaxProcs is {text!r}, {size:,} taken"])


def test_a_header_that_is_no_number_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log.swf"
    path.write_text(f"; MaxProcs: unknown\n; MaxNodes: -1\n{record()}\n")
    found = read_log(path)
    assert "the header MaxProcs is 'unknown', which is no number: left out" in found.report.notes
    assert not any("MaxNodes" in note for note in found.report.notes)


def test_bad_lines_are_left_out_and_named(tmp_path: Path) -> None:
    workload, report = swf(tmp_path, *(record(job=i) for i in range(1, 6)), "1 2 3\n", record(job=9, run="soon"))
    assert [job.id for job in workload.jobs] == ["1", "2", "3", "4", "5"]
    assert counts(report.dropped) == {"that cannot be read (--bad-records)": 2}
    assert [note for note in report.notes if "left out" in note] == [
        f"left out: line {len(HEADER.splitlines()) + 6}: found 3 fields, expected the 18 of the format",
        f"left out: line {len(HEADER.splitlines()) + 7}: field 4 is 'soon', expected a number",
    ]
    with pytest.raises(InputError, match=r"found 3 fields.*; with 2 such records the log is refused"):
        swf(tmp_path, *(record(job=i) for i in range(1, 6)), "1 2 3\n", record(job=9, run="soon"), bad_records=1)


def test_report_text_names_examples(tmp_path: Path) -> None:
    numbers = range(7)
    _, report = swf(tmp_path, *(record(job=i, status=3) for i in numbers), *(record(job=i) for i in numbers))
    text = report.as_text()
    assert "14 records, 7 jobs kept" in text
    assert "dropped: 7 partial executions" in text
    assert "(jobs 0, 1, 2, 3, 4, ...)" in text
    assert report.as_dict()["dropped"]["partial executions: the job has a summary line"]["count"] == 7


def test_think_times_become_dependencies_when_asked(tmp_path: Path) -> None:
    lines = [
        record(job=1),
        record(job=2, submit=200, prev=1, think=30),
        record(job=3, submit=300, prev=2),
        record(job=4, submit=400, prev=9, think=5),
        record(job=5, submit=500, prev=6),
        record(job=6, submit=600),
    ]
    plain, _ = swf(tmp_path, *lines)
    assert all("dependencies" not in job.extra for job in plain.jobs)
    workload, report = swf(tmp_path, *lines, think_times=True)
    assert {job.id: job.extra.get("dependencies") for job in workload.jobs} == {
        "1": None,
        "2": [{"job": "1", "kind": "afterany", "delay": 30.0}],
        "3": [{"job": "2", "kind": "afterany"}],
        "4": None,
        "5": None,
        "6": None,
    }
    assert counts(report.changed) == {
        "name a preceding job that comes later: without it": 2,
    }
