"""Workload files: what is read, in which order, and that writing and reading again changes nothing."""

import gzip
import json
import lzma
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.inputs.workloads import Workload, read_workload, write_workload

RECORDED = Path(__file__).parents[2] / "conformance" / "recordings" / "workloads"
SHIPPED = Path(__file__).parents[3] / "workloads"


def write(path: Path, jobs: list[dict[str, Any]], **more: Any) -> Path:
    path.write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": {"d": {"type": "delay", "delay": 5}}} | more))
    return path


def facts(workload: Workload) -> list[tuple[Any, ...]]:
    return [(j.id, j.units, j.submission, j.walltime, j.profile, j.user, j.request, j.extra) for j in workload.jobs]


def test_fields_of_a_job(tmp_path: Path) -> None:
    path = write(
        tmp_path / "w.json",
        [{"id": 7, "subtime": 1.5, "res": 2, "profile": "d", "user": 12, "demand": {"core": 2, "gpu": 0}, "x": [None]}],
    )
    workload = read_workload(path)
    (job,) = workload.jobs
    assert (job.id, job.submission, job.units, job.walltime, job.profile) == ("7", 1.5, 2, math.inf, "d")
    assert job.user == "12"
    assert job.request.demand == {"core": 2, "gpu": 0}
    assert job.extra == {"user": 12, "demand": {"core": 2, "gpu": 0}, "x": [None]}
    assert (workload.nb_res, workload.name, workload.path) == (4, "w", path)
    assert len(workload.digest) == 64


def test_a_walltime_of_minus_one_is_none(tmp_path: Path) -> None:
    base = {"subtime": 0, "res": 1, "profile": "d"}
    path = write(tmp_path / "w.json", [base | {"id": 1, "walltime": -1}, base | {"id": 2, "walltime": -1.0}])
    assert [job.walltime for job in read_workload(path).jobs] == [math.inf, math.inf]


def test_jobs_come_in_batsims_order(tmp_path: Path) -> None:
    base = {"res": 1, "profile": "d"}
    times = [(10, 3.0), (9, 3.0), (2, 3.0), (1, 8.0), (5, 0.5)]
    path = write(tmp_path / "w.json", [base | {"id": i, "subtime": t} for i, t in times])
    assert [job.id for job in read_workload(path).jobs] == ["5", "10", "2", "9", "1"]


def test_a_file_without_nb_res_and_with_more_fields(tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    path.write_text('\ufeff{"description": "x", "jobs": [], "profiles": {}}', encoding="utf-8")
    workload = read_workload(path)
    assert workload.nb_res is None
    assert workload.about == {"description": "x"}


def test_repeated_profiles_and_requests_are_one_object(tmp_path: Path) -> None:
    base = {"subtime": 0, "res": 1, "profile": "d", "demand": {"core": 1}}
    first, second = read_workload(write(tmp_path / "w.json", [base | {"id": 1}, base | {"id": 2}])).jobs
    assert first.profile is second.profile
    assert first.request is second.request


@pytest.mark.parametrize("file", sorted(RECORDED.glob("*.json")) + sorted(SHIPPED.glob("*.json")), ids=lambda f: f.stem)
def test_recorded_and_shipped_workloads_survive_a_round_trip(file: Path, tmp_path: Path) -> None:
    workload = read_workload(file)
    assert len(workload.jobs) == len(json.loads(file.read_text())["jobs"])
    for ending in (".json", ".json.xz", ".json.gz"):
        copy = tmp_path / f"copy{ending}"
        digest = write_workload(workload, copy)
        again = read_workload(copy)
        assert again.digest == digest
        assert facts(again) == facts(workload)
        assert again.profiles == workload.profiles
        assert again.nb_res == workload.nb_res
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.json", "copy.json.gz", "copy.json.xz"]


def test_compressed_or_not_is_told_by_content(tmp_path: Path) -> None:
    plain = write(tmp_path / "w.json", []).read_bytes()
    (tmp_path / "x.json").write_bytes(lzma.compress(plain))
    (tmp_path / "g.json").write_bytes(gzip.compress(plain))
    assert read_workload(tmp_path / "x.json").nb_res == read_workload(tmp_path / "g.json").nb_res == 4


names = st.text(st.characters(codec="utf-8", categories=["L", "N"]), min_size=1, max_size=8)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=5,
)
own_fields = names.map(lambda name: "x" + name)


@given(
    jobs=st.lists(
        st.tuples(
            names,
            st.floats(0, 1e9),
            st.integers(1, 1000),
            st.floats(1e-3, 1e9) | st.just(math.inf),
            st.dictionaries(own_fields, json_values, max_size=2),
        ),
        max_size=8,
        unique_by=lambda fields: fields[0],
    )
)
def test_any_workload_survives_a_round_trip(jobs: list[Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("round")
    workload = Workload(
        path=folder,
        name="x",
        nb_res=3,
        profiles={"d": {"type": "delay", "delay": 0.1}},
        jobs=[
            Job(id=i, submission=s, request=Request(units=u), walltime=w, profile="d", extra=e)
            for i, s, u, w, e in jobs
        ],
    )
    workload.sort()
    digest = write_workload(workload, folder / "a.json")
    again = read_workload(folder / "a.json")
    assert facts(again) == facts(workload)
    assert write_workload(again, folder / "b.json") == digest


def test_nb_res_unknown_is_written_as_the_largest_job(tmp_path: Path) -> None:
    workload = Workload(
        path=tmp_path,
        name="x",
        jobs=[Job(id="1", request=Request(units=9), profile="d")],
        profiles={"d": {"type": "delay", "delay": 1}},
    )
    write_workload(workload, tmp_path / "w.json")
    assert read_workload(tmp_path / "w.json").nb_res == 9


def test_a_failed_write_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    path.write_text("before")
    broken = Workload(
        path=tmp_path, name="x", jobs=[Job(id="1", request=Request(units=1), extra={"x": object()})], profiles={}
    )
    with pytest.raises(TypeError):
        write_workload(broken, path)
    assert path.read_text() == "before"
    assert [entry.name for entry in tmp_path.iterdir()] == ["w.json"]


@pytest.mark.parametrize(("target", "part"), [(".", "is a folder"), ("nowhere/w.json", "no folder")])
def test_a_place_that_cannot_be_written(target: str, part: str, tmp_path: Path) -> None:
    empty = Workload(path=tmp_path, name="x", jobs=[], profiles={})
    with pytest.raises(InputError, match=part):
        write_workload(empty, tmp_path / target)
    assert list(tmp_path.iterdir()) == []


def test_progress_ends_at_the_number_of_jobs(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    path = write(tmp_path / "w.json", [{"id": i, "subtime": 0, "res": 1, "profile": "d"} for i in range(3)])
    read_workload(path, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (3, 3)
