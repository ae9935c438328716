"""Workloads as columns: beside the reader that makes an object per job, with the same refusals."""

import json
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.errors import InputError
from batdispatch.inputs.workloads import read_workload, reader, workload_file
from batdispatch.inputs.workloads.columns import JobColumns, NotPlain, columns_of
from batdispatch.inputs.workloads.text_columns import read_columns
from batdispatch.inputs.workloads.workload_file import WorkloadFile
from batdispatch.native import library

PROFILES: dict[str, Any] = {
    "d1": {"type": "delay", "delay": 1.5},
    "d9": {"type": "delay", "delay": 9, "ret": 3},
    "p": {"type": "parallel", "cpu": [1, 1], "com": [0, 0, 0, 0]},
}
JOB: dict[str, Any] = {"subtime": 1, "res": 2, "walltime": 10, "profile": "d1"}

jobs = st.fixed_dictionaries(
    {
        "subtime": st.sampled_from([0, 0.5, 1, 1.0, 7]),
        "res": st.integers(1, 9),
        "profile": st.sampled_from(["d1", "d9"]),
    },
    optional={
        "walltime": st.sampled_from([-1, -1.0, 1, 2.5]),
        "user": st.sampled_from(["ann", "bob", "", 7]),
        "group": st.sampled_from([1, "g:h", -0.5e-3, None, True, 10**20]),
    },
)


def written(folder: Path, listed: list[dict[str, Any]]) -> Path:
    path = folder / "w.json"
    path.write_text(json.dumps({"nb_res": 9, "jobs": listed, "profiles": PROFILES, "origin": "here"}))
    return path


def in_columns(path: Path) -> JobColumns | NotPlain:
    return WorkloadFile(path).columns()


def read_in_c(path: Path) -> JobColumns | None:
    """The columns that C makes of a file; None where it leaves it to Python."""
    return reader.read_contents(path).columns()


def facts(columns: JobColumns) -> list[Any]:
    """All that columns say, job by job."""
    names = [columns.profiles[each] for each in columns.profile]
    users = [columns.users[each] for each in columns.user]
    arrays = (columns.submission, columns.units, columns.walltime, columns.runtime, columns.code[columns.profile])
    return list(zip(columns.ids.tolist(), names, users, *(array.tolist() for array in arrays), strict=True))


@given(st.lists(st.tuples(st.integers(0, 99), jobs), max_size=9, unique_by=lambda pair: pair[0]), st.integers(1, 4))
def test_columns_say_what_the_jobs_say(listed: list[tuple[int, dict[str, Any]]], block: int) -> None:
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "BLOCK", block)
        path = written(Path(name), [{"id": str(number), **fields} for number, fields in listed])
        file, ordinary = WorkloadFile(path), read_workload(path)
        plain, in_c = file.columns(), read_in_c(path)
        # For the first of the two, the file is read again.
        for again in (file, WorkloadFile(path)):
            for field in ("path", "name", "digest", "nb_res", "batsim", "profiles", "about"):
                assert getattr(again.workload(), field) == getattr(ordinary, field)
            assert [job.id for job in again.workload().jobs] == [job.id for job in ordinary.jobs]
    assert isinstance(plain, JobColumns)
    delays = {name: (float(each.get("delay", 0)), each.get("ret", 0)) for name, each in PROFILES.items()}
    expected = [
        (job.id, job.profile, job.user, job.submission, job.units, job.walltime, *delays[job.profile])
        for job in ordinary.jobs
    ]
    assert facts(plain) == expected
    assert library.load() is None or not listed or (in_c is not None and facts(in_c) == expected)
    assert len(plain) == file.count == len(ordinary.jobs)
    derived = columns_of(ordinary)
    assert isinstance(derived, JobColumns)
    assert facts(derived) == expected
    # What only somebody else reads stays with the jobs.
    own = {"subtime", "res", "walltime", "profile"}
    extra = {str(number): {key: fields[key] for key in fields if key not in own} for number, fields in listed}
    assert {job.id: job.extra for job in ordinary.jobs} == extra


@pytest.mark.parametrize(
    ("unusual", "reason"),
    [
        ({"profile": "p"}, "job 'x' has a profile of type 'parallel', not 'delay'"),
        ({"demand": {"core": 1}}, "job 'x' asks for more than a number of whole hosts"),
        ({"contiguous": True}, "job 'x' asks for more than a number of whole hosts"),
        ({"parent": "0"}, "job 'x' continues another one"),
    ],
)
@pytest.mark.parametrize("place", [0, 3, 7])
def test_a_job_that_columns_cannot_hold_makes_a_usual_workload(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unusual: dict[str, Any], reason: str, place: int
) -> None:
    monkeypatch.setattr(reader, "BLOCK", 3)
    listed = [{"id": str(number), **JOB} for number in range(7)]
    listed.insert(place, {"id": "x", **JOB, **unusual})
    file = WorkloadFile(written(tmp_path, listed))
    assert file.columns() == NotPlain(reason)
    assert [job.id for job in file.workload().jobs] == [job.id for job in read_workload(file.path).jobs]


WRONG: list[dict[str, Any]] = [
    {"id": "5"},
    {"id": ""},
    {"id": "a,b"},
    {"id": "a\nb"},
    {"id": "a" * 257},
    {"id": None},
    {"subtime": -1},
    {"subtime": 2**37 + 1},
    {"subtime": True},
    {"res": 0},
    {"res": 10**30},
    {"res": 1.0},
    {"walltime": 0},
    {"walltime": -2},
    {"walltime": None},
    {"walltime": True},
    {"profile": "z"},
    {"profile": ["d1"]},
    {"profile": "p", "res": 3},
    {"user": None},
    {"user": 1.5},
    {"parent": "nobody"},
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
@pytest.mark.parametrize("place", [0, 6, 7])
def test_a_wrong_job_is_refused_in_the_same_words_wherever_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: dict[str, Any], place: int
) -> None:
    listed = [{"id": str(number), **JOB} for number in range(7)]
    listed.insert(place, {"id": "x", **JOB, **wrong})
    path = written(tmp_path, listed)
    # With this each job has a look of its own.
    with monkeypatch.context() as patch:
        patch.setattr(reader, "read_block", lambda *arguments: None)
        with pytest.raises(InputError) as careful:
            read_workload(path)
    for block in (3, 4096):
        monkeypatch.setattr(reader, "BLOCK", block)
        for read in (read_workload, in_columns):
            with pytest.raises(InputError) as refused:
                read(path)
            assert str(refused.value) == str(careful.value)


@pytest.mark.parametrize("usual", [True, False])
def test_a_job_that_comes_at_minus_zero_comes_at_zero(tmp_path: Path, usual: bool) -> None:
    jobs = [{"id": "1", **JOB, "subtime": -0.0, **({} if usual else {"contiguous": True})}]
    assert str(read_workload(written(tmp_path, jobs)).jobs[0].submission) == "0.0"


def test_a_file_is_not_read_again_for_fields_that_no_job_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, read = WorkloadFile(written(tmp_path, [{"id": "1", **JOB}])), list[Path]()

    def read_again(path: Path) -> reader.Contents:
        read.append(path)
        return reader.read_contents(path)

    monkeypatch.setattr(workload_file, "read_contents", read_again)
    for fields in ((), ("nice",), ("account", "nice"), ("nice",), ("account",)):
        file.columns(fields)
    # Twice, since each field was asked for after the text had been forgotten.
    assert len(read) == 2


def test_a_field_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, [{"id": "1", **JOB, "group": 1}])
    path.write_text(path.read_text().replace('"group": 1', '"group": 1, "group": 2'))
    for read in (read_workload, in_columns):
        with pytest.raises(InputError, match="job number 1: 'group' is there twice"):
            read(path)


@pytest.mark.parametrize(
    "text",
    [
        '{"id":"1","subtime":01,"res":1,"profile":"d1"}',
        '{"id":"1","subtime":-0.0,"res":1,"profile":"d1"}',
        '{"id":"1","subtime":1.,"res":1,"profile":"d1"}',
        '{"id":"1","subtime":+1,"res":1,"profile":"d1"}',
        '{"id":"1","subtime":.5,"res":1,"profile":"d1"}',
        '{"id":"1","subtime":1e,"res":1,"profile":"d1"}',
        '{"id":"1","subtime":NaN,"res":1,"profile":"d1"}',
        '{"id":"1","subtime":1e400,"res":1,"profile":"d1"}',
        '{"id":"1","subtime":1,"res":1,"profile":"d1","walltime":1e400}',
        '{"id":"1","subtime":1,"res":1,"profile":"d1","group":1e400}',
        '{"id":"1","subtime":1,"res":1e0,"profile":"d1"}',
        '{"id":"1","subtime":1,"res":99999999999999999999999999,"profile":"d1"}',
        '{"id":"1","subtime":1,"res":2147483648,"profile":"d1"}',
        '{"id":"\\u0031","subtime":1,"res":1,"profile":"d1"}',
        '{"id":"é","subtime":1,"res":1,"profile":"d1"}',
        '{"id":"1","subtime":1,"res":1,"profile":"d1","user":-1}',
        '{"id":"1","subtime":1,"res":1,"profile":"d1","group":{"a":1}}',
        '{"id":"1","subtime":1,"res":1,"profile":"d1","group":truth}',
        '{"id":"1","subtime":1,"res":1,"profile":"d1","contiguous":false}',
        '{"id":"1","subtime":1,"res":1,"profile":"d1","res":1}',
        '{"id":"1","subtime":1,"res":1,"profile":"d1","a":1,"a":2}',
        '{"id":"1","subtime":1,"res":1,"profile":"d1"},',
        '{"id":"1","subtime":1,"res":1,"profile":"d1"} {}',
        '{"id":"1","subtime":1,"res":1,"profile":"d1"}\f',
        '{"id":"1" "subtime":1,"res":1,"profile":"d1"}',
        '{"id":"1","subtime":1,"res":1}',
        "[]",
        "",
    ],
)
@pytest.mark.parametrize("jobs", ["[{usual},{text}]", "[{text},{usual}]"])
def test_what_is_unusual_or_wrong_is_left_to_python(jobs: str, text: str) -> None:
    usual = '{"id":"0","subtime":1,"res":1,"profile":"d1"}'
    together = msgspec.Raw(jobs.replace("{usual}", usual).replace("{text}", text).encode())
    if library.load() is None:
        pytest.skip("needs the library")
    assert read_columns(msgspec.Raw(f"[{usual}]".encode()), PROFILES, frozenset()) is not None
    assert read_columns(together, PROFILES, frozenset()) is None


@pytest.mark.skipif(library.load() is None, reason="needs the library")
@given(
    st.one_of(st.floats(0, 2.0**36), st.decimals(0, 10**9, places=9).map(float)), st.sampled_from(["r", ".17g", "e"])
)
def test_numbers_are_those_that_python_reads(number: float, form: str) -> None:
    text = repr(number) if form == "r" else format(number, form)
    job = f'[ {{"walltime" : {text} ,"res":3,"id":"x","subtime":{text},"profile":"d9"}}\n]'
    found = read_columns(msgspec.Raw(job.encode()), PROFILES, frozenset())
    if float(text) > 0:
        assert found is not None
        assert found.submission.tolist() == found.walltime.tolist() == [float(text)]


def test_runtimes_are_those_of_the_jobs_profiles(tmp_path: Path) -> None:
    found = in_columns(written(tmp_path, [{"id": "1", **JOB}, {"id": "0", **JOB, "profile": "d9"}]))
    assert isinstance(found, JobColumns)
    assert found.ids.tolist() == ["0", "1"]
    assert found.runtime.tolist() == [9.0, 1.5]
    assert found.runtime.dtype == np.float64


def test_a_field_twice_in_one_job_does_not_stand_for_one_that_another_lacks(tmp_path: Path) -> None:
    """One job has it once, one twice, one not at all: three in three."""
    path = written(tmp_path, [{"id": "1", **JOB, "group": 1}, {"id": "2", **JOB, "group": 2}, {"id": "3", **JOB}])
    path.write_text(path.read_text().replace('"group": 2', '"group": 2, "group": 2'))
    for read in (read_workload, in_columns):
        with pytest.raises(InputError, match="job number 2: 'group' is there twice"):
            read(path)


@pytest.mark.parametrize(("name", "value"), [("contiguous", True), ("demand", {}), ("parent", "0"), ("res", None)])
def test_what_all_jobs_say_or_lack_is_noticed(tmp_path: Path, name: str, value: Any) -> None:
    listed = [{"id": str(number), **JOB, name: value} for number in range(1, 4)]
    if value is None:
        for fields in listed:
            del fields[name]
    path = written(tmp_path, listed if name != "parent" else [{"id": "0", **JOB}, *listed])
    if value is None:
        with pytest.raises(InputError, match="job '1': 'res' is missing"):
            in_columns(path)
    else:
        assert isinstance(in_columns(path), NotPlain)


@pytest.mark.parametrize("count", [1, 100])
def test_objects_of_many_kinds_and_many_fields_are_read(tmp_path: Path, count: int) -> None:
    wide = {f"f{number}": number for number in range(count)}
    listed = [{"id": str(number), **JOB, **wide, f"own{number}": 0} for number in range(5)]
    found = in_columns(written(tmp_path, listed))
    assert isinstance(found, JobColumns)
    assert len(found) == 5


@pytest.mark.parametrize(
    "profiles",
    [
        '{"d1": {"type": "delay", "delay": 0}}',
        '{"d1": {"type": "delay", "delay": -1.5}}',
        '{"d1": {"type": "delay", "delay": true}}',
        '{"d1": {"type": "delay", "delay": null}}',
        '{"d1": {"type": "delay", "delay": "1"}}',
        '{"d1": {"type": "delay", "delay": 1e400}}',
        '{"d1": {"type": "delay", "later": 1}}',
        '{"d1": {"type": "Delay", "delay": 1}}',
        '{"d1": {"type": ["delay"], "delay": 1}}',
        '{"d1": {"delay": 1, "ret": 1}}',
        '{"d1": {"type": "delay", "delay": 1}, "d,2": {"type": "delay", "delay": 1}}',
        '{"d1": {"type": "delay", "delay": 1}, "": {"type": "delay", "delay": 1}}',
        '{"d1": {"type": "delay", "delay": 1}, "d1": {"type": "delay", "delay": 1}}',
        '{"d1": {"type": "delay", "delay": 1, "delay": 2}}',
        '{"d1": {"type": "delay", "delay": 1}, "d2": {"type": "delay"}}',
        '{"d1": {"type": "delay", "delay": 1}, "d2": {"type": "no", "delay": 1}}',
    ],
)
def test_a_wrong_delay_is_refused_in_the_same_words_among_delays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, profiles: str
) -> None:
    path = tmp_path / "w.json"
    path.write_text(f'{{"jobs": [{json.dumps({"id": "1", **JOB})}], "profiles": {profiles}}}')
    with monkeypatch.context() as patch:
        patch.setattr(reader, "_are_mere_delays", lambda *arguments: False)
        with pytest.raises(InputError) as careful:
            read_workload(path)
    for read in (read_workload, in_columns):
        with pytest.raises(InputError) as refused:
            read(path)
        assert str(refused.value) == str(careful.value)


def test_delays_need_no_look_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "check_profile", None)
    path = tmp_path / "w.json"
    profiles = {"d1": {"type": "delay", "delay": 3}, "d2": {"delay": 0.25, "type": "delay"}}
    path.write_text(json.dumps({"jobs": [{"id": "1", **JOB}], "profiles": profiles}))
    assert read_workload(path).profiles == profiles
    assert [type(each["delay"]) for each in read_workload(path).profiles.values()] == [int, float]
