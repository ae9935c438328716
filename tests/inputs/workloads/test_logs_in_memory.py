"""What runs of a log are given without reading its workload's file: all that a reader of this file would find."""

import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import batdispatch
from batdispatch.core.errors import InputError
from batdispatch.inputs.log_options import LogOptions
from batdispatch.inputs.workloads import read_workload, workload_file, write_workload
from batdispatch.inputs.workloads.importers import import_log
from batdispatch.inputs.workloads.log_workload import LogWorkload
from batdispatch.inputs.workloads.workload_file import WorkloadFile
from logs import log_of, same, told
from small_log import write_log

#: Job, submit, wait, run, allocated, CPU, used memory, asked, limit, asked memory, status, user, group, executable,
#: queue, partition, preceding job, think time.
records = st.tuples(
    st.integers(1, 30),
    st.sampled_from([0, 3, 3.25, 7, 7.0000004, 900]),
    st.sampled_from([-1, 0, 60]),
    st.sampled_from([0, 1, 2.5, 600]),
    st.integers(1, 9),
    st.just(-1),
    st.sampled_from([-1, 2048]),
    st.sampled_from([-1, 4]),
    st.sampled_from([-1, 2, 600, 3600.5]),
    st.sampled_from([-1, 1024, 4096]),
    st.sampled_from([-1, 0, 1, 5]),
    *[st.sampled_from([-1, 0, 3, 11])] * 5,
    st.sampled_from([-1, 1, 2]),
    st.sampled_from([-1, 5, 30]),
)
ways = st.sampled_from(
    [
        LogOptions(),
        LogOptions(units="cores"),
        LogOptions(units="cores", memory="requested"),
        LogOptions(think_times=True, overrun="extend"),
        LogOptions(keep_clock=True),
    ]
)


@given(st.lists(records, min_size=1, max_size=8), ways)
def test_jobs_of_a_log_are_those_that_its_file_holds(listed: list[tuple[float, ...]], options: LogOptions) -> None:
    with tempfile.TemporaryDirectory() as name:
        log, path = Path(name) / "log.swf", Path(name) / "w.json"
        log.write_text("".join(" ".join(map(str, record)) + "\n" for record in listed))
        try:
            workload = import_log(log, options=options).workload
        except InputError:
            return
        file = WorkloadFile.written(path, write_workload(workload, path), workload)
        if file is None:
            # Times that are rounded can put jobs in another order, which is the reader's.
            times = [job.submission for job in read_workload(path).jobs]
            assert len(set(times)) < len(times)
            return
        same(pickle.loads(pickle.dumps(file)), WorkloadFile(path))
        same(file, WorkloadFile(path))


@pytest.mark.parametrize(
    "unusual",
    [
        {"id": "a,b"},
        {"id": ""},
        {"subtime": 2.0**37 + 1},
        {"walltime": 0.0},
        {"walltime": np.nan},
        {"res": 0},
        {"res": 2.0**31},
        {"user": 1.5},
        {"user": None},
        {"user": True},
        {"id": "0", "subtime": 2},
    ],
)
def test_what_a_reader_may_refuse_or_order_is_left_to_it(tmp_path: Path, unusual: dict[str, Any]) -> None:
    """The last case: at 2 s, job 1 comes before job 0 in the log, and behind it in Batsim's order."""
    path = tmp_path / "w.json"
    path.write_text("{}")
    usual = [{"id": "1", "subtime": 2, "user": 7}, {"id": "2", "subtime": 2, "user": "ann"}]

    def file(last: dict[str, Any]) -> WorkloadFile | None:
        return WorkloadFile.written(path, "", log_of(tmp_path / "log", [*usual, last], runtime=1.0))

    assert file({"id": "3", "subtime": 2.0**37}) is not None
    assert file({"id": "3", "subtime": 2.0**37, **unusual}) is None


def test_users_that_are_no_whole_numbers_are_left_to_the_reader(tmp_path: Path) -> None:
    (tmp_path / "w.json").write_text("{}")
    workload = log_of(tmp_path / "log", [{"id": "1"}, {"id": "2"}], runtime=1.0)
    for user, usual in ((np.nan, True), (4.0, True), (4.5, False)):
        workload.jobs.numbers["user"] = np.array([3.0, user])
        file = WorkloadFile.written(tmp_path / "w.json", "", workload)
        assert (file is not None) == usual


@pytest.mark.parametrize(("hosts", "usual"), [(0, False), (1, True), (10_000_000, True), (10_000_001, False)])
def test_a_machine_of_no_possible_size_is_left_to_the_reader(tmp_path: Path, hosts: int, usual: bool) -> None:
    (tmp_path / "w.json").write_text("{}")
    workload = log_of(tmp_path / "log", [{"id": "1"}], runtime=1.0)
    workload.nb_res = hosts
    assert (WorkloadFile.written(tmp_path / "w.json", "", workload) is not None) == usual


def test_jobs_that_compute_are_left_to_the_reader(tmp_path: Path) -> None:
    (tmp_path / "w.json").write_text("{}")
    workload = log_of(tmp_path / "log", [{"id": "1"}], runtime=1.0)
    workload.let_compute("1Gf")
    assert WorkloadFile.written(tmp_path / "w.json", "", workload) is None


def test_more_than_a_reader_takes_is_left_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, workload = tmp_path / "w.json", log_of(tmp_path / "log", [{"id": "1"}], runtime=1.0)
    path.write_text("{}")
    monkeypatch.setattr(workload_file, "MAX_WHOLE", 2)
    assert WorkloadFile.written(path, "", workload) is not None
    monkeypatch.setattr(workload_file, "MAX_WHOLE", 1)
    assert WorkloadFile.written(path, "", workload) is None


@pytest.mark.parametrize(
    ("jobs", "problem"),
    [
        ([{"id": "1", "parent": "9"}], "job '1': 'parent' names job '9', which is not in the workload"),
        ([{"id": "1", "dependencies": ["1"]}], "job '1': jobs wait for each other: 1 -> 1"),
    ],
)
def test_what_jobs_wait_for_is_refused_as_in_the_file(tmp_path: Path, jobs: list[dict[str, Any]], problem: str) -> None:
    path = tmp_path / "w.json"
    workload: LogWorkload = log_of(tmp_path / "log", jobs, runtime=1.0)
    digest = write_workload(workload, path)
    for file in (WorkloadFile.written(path, digest, workload), WorkloadFile(path)):
        assert file is not None
        with pytest.raises(InputError) as caught:
            file.workload()
        assert str(caught.value) == f"{path}, {problem}"


@pytest.mark.parametrize("compiled", ["never", "auto"])
def test_runs_of_a_log_do_not_read_its_workload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiled: str) -> None:
    """Neither a run nor a comparison does, nor its page, and their files are those of runs and pages that do."""
    write_log(tmp_path / "log.swf", 60)
    settings: dict[str, Any] = {"compiled": compiled, "record": compiled == "never"}
    with monkeypatch.context() as patch:
        patch.setattr(workload_file, "read_contents", None)
        batdispatch.run(tmp_path / "log.swf", "easy", out=tmp_path / "run", **settings)
        batdispatch.compare(tmp_path / "log.swf", "easy,fcfs", out=tmp_path / "both", report=True, **settings)
    inputs: dict[str, Any] = {
        "platform": tmp_path / "run/input/platform.xml",
        "workload": tmp_path / "run/input/log.json",
    }
    batdispatch.run(dispatcher="easy", out=tmp_path / "read", **inputs, **settings)
    expected = (tmp_path / "read/jobs.csv").read_bytes()
    assert (tmp_path / "run/jobs.csv").read_bytes() == expected
    assert (tmp_path / "both/easy/jobs.csv").read_bytes() == expected


def test_a_worker_is_handed_the_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its process has another copy of them, and reads no workload; a file that was read is read there again."""
    path, workload = tmp_path / "w.json", log_of(tmp_path / "log", [{"id": "1", "user": 3}], runtime=1.0)
    workload.jobs.nodes = {"1": "n[1-9]"}
    file = WorkloadFile.written(path, write_workload(workload, path), workload)
    handed = pickle.dumps(file)
    assert b"n[1-9]" not in handed
    with monkeypatch.context() as patch:
        patch.setattr(workload_file, "read_contents", None)
        assert [told(job) for job in pickle.loads(handed).workload().jobs] == list(map(told, workload.workload().jobs))
    read = pickle.loads(pickle.dumps(WorkloadFile(path)))
    assert list(map(told, read.workload().jobs)) == list(map(told, workload.workload().jobs))
