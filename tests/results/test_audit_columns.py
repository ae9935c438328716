"""The columns that the audit keeps in place of objects: what is asked of them is what the objects would say."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.events import SimulationBegins
from batdispatch.core.job import Job, JobState
from batdispatch.core.machine import Machine
from batdispatch.core.request import Dependency, Request
from batdispatch.results.audit.beginning import compare_profiles, hear_beginning
from batdispatch.results.audit.jobs import JobTable, join
from batdispatch.results.audit.names import NameIndex
from batdispatch.results.audit.over import Over
from batdispatch.results.audit.rows import RowOf
from batdispatch.results.lineage import Lineage, unjoined
from batdispatch.results.run_files import RECORDING
from batdispatch.runs.run import RunSpec, execute

names = st.text("ab1!", min_size=1, max_size=4)
workloads = st.text("w0!", max_size=3)
extras = st.dictionaries(st.text("xyé", max_size=3), st.none() | st.integers(-(2**60), 2**60) | st.text(max_size=20))
JOBS = st.builds(
    Job,
    id=st.text("ab1", min_size=1, max_size=20),
    request=st.builds(Request, units=st.integers(1, 4), dependencies=st.sampled_from([(), (Dependency("a"),)])),
    submission=st.floats(0, 1e9),
    walltime=st.floats(1, 1e9) | st.just(float("inf")),
    profile=st.sampled_from(["p", "q"]),
    user=st.sampled_from(["", "ann"]),
    parent=st.sampled_from(["", "a"]),
    extra=extras,
)


@given(st.lists(JOBS, max_size=6))
def test_a_job_is_what_it_was_before_it_became_columns(jobs: list[Job]) -> None:
    table = JobTable(iter(jobs))
    jobs = sorted(jobs, key=lambda job: (job.submission, job.id))
    assert [msgspec.structs.asdict(job) for job in table] == [msgspec.structs.asdict(job) for job in jobs]
    assert len(table) == len(jobs)
    with pytest.raises(IndexError):
        table[len(jobs)]


@given(st.lists(JOBS, max_size=6, unique_by=lambda job: job.id), st.lists(st.text("ab1", max_size=2), max_size=8))
def test_rows_have_the_jobs_of_their_names(jobs: list[Job], rows: list[str]) -> None:
    registered = {
        row: Job(id="r", request=Request(units=9, dependencies=(Dependency("x"),))) for row in range(0, len(rows), 3)
    }
    by_id = {job.id: job for job in jobs}
    table = JobTable(jobs)
    found = join(table, [("w", name) for name in rows], unjoined(len(rows))).jobs
    registered = {row: job for row, job in registered.items() if rows[row] not in by_id}
    found = found.with_registered(registered)
    expected = [by_id.get(name, registered.get(row)) for row, name in enumerate(rows)]
    assert [job and job.id for job in found] == [job and job.id for job in expected]
    assert found.known.tolist() == [job is not None for job in expected]
    own = np.full(len(rows), -1.0)
    for column in ("units", "submission", "walltime"):
        assert found.column(column, own).tolist() == [-1.0 if job is None else getattr(job, column) for job in expected]
    assert found.profiles() == [job and job.profile for job in expected]
    asking = [row for row, job in enumerate(expected) if job is not None and job.request.dependencies]
    assert found.rows_that(lambda request: request.dependencies) == asking
    assert found.continuing() == [row for row, job in enumerate(expected) if job is not None and job.parent]
    users = join(table, [("w", name) for name in rows], unjoined(len(rows))).asking.users()
    assert users.tolist() == [by_id[name].user if name in by_id else "" for name in rows]


def test_a_further_attempt_asks_for_what_the_first_one_asks_for() -> None:
    table = JobTable([Job(id="w!a", request=Request(units=2), user="ann"), Job(id="b", request=Request(units=3))])
    lineage = Lineage(np.array([-1, 0, -1]), np.array([0, 0, 2]), np.array([0, 1, 0]), np.zeros(3), np.zeros(3))
    facts = join(table, [("w", "a"), ("w", "a#1"), ("w", "c")], lineage)
    assert facts.jobs[1] is None
    assert [job and job.units for job in facts.asking] == [2, 2, None]
    assert facts.asking.users().tolist() == ["ann", "ann", ""]


@given(st.lists(st.tuples(workloads, names), max_size=8), st.lists(names, max_size=4))
def test_a_row_is_found_by_the_full_name_of_its_job(rows: list[tuple[str, str]], others: list[str]) -> None:
    full = [f"{workload}!{name.removeprefix(f'{workload}!')}" for workload, name in rows]
    row_of = RowOf([workload for workload, _ in rows], [name for _, name in rows])
    assert [row_of.name(row) for row in range(len(rows))] == full
    for name in [*full, *others]:
        assert row_of.get(name) == (full.index(name) if name in full else None)


def test_what_is_over_is_known_by_name_whether_or_not_the_jobs_file_has_it() -> None:
    over = Over(RowOf(["w", "w"], ["a", "b"]), 2)
    assert "w!a" not in over
    assert over.get("w!a") is None
    over["w!b"] = JobState.COMPLETED_FAILED
    over["w!x"] = JobState.REJECTED
    over["w!b"] = JobState.COMPLETED_SUCCESSFULLY
    assert dict(over) == {"w!b": JobState.COMPLETED_SUCCESSFULLY, "w!x": JobState.REJECTED}
    assert len(over) == 2
    with pytest.raises(KeyError):
        over["w!a"]


def test_the_machine_is_compared_where_it_is_told_and_not_kept(tmp_path: Path) -> None:
    (tmp_path / "p.xml").write_text(
        '<?xml version="1.0"?><platform version="4.1"><zone id="z" routing="Full">'
        '<host id="n0" speed="1f"/><host id="n1" speed="1f"/></zone></platform>'
    )
    (tmp_path / "w.json").write_text(
        '{"nb_res":2,"jobs":[{"id":"1","subtime":0,"res":1,"profile":"d"}],"profiles":{"d":{"type":"delay","delay":1}}}'
    )
    spec = RunSpec(platform=str(tmp_path / "p.xml"), workload=str(tmp_path / "w.json"), dispatcher="fcfs")
    execute(spec, tmp_path / "run")
    recording = tmp_path / "run" / RECORDING
    same, other = Machine.flat(2), Machine.flat(3)
    heard = hear_beginning(recording, same, {})
    assert heard is not None
    assert (heard.line, heard.machine_problem, heard.profile_problem) == (1, "", "")
    (begins,) = heard.message.events
    assert isinstance(begins, SimulationBegins)
    assert begins.machine is same
    assert begins.profiles == {}
    assert [exchange.line for exchange in heard.rest][:2] == [3, 5]
    differs = hear_beginning(recording, other, {})
    assert differs is not None
    assert "3 compute hosts, Batsim says 2" in differs.machine_problem
    lines = recording.read_text().splitlines(keepends=True)
    recording.write_text("".join(lines[2:]))
    assert hear_beginning(recording, same, {}) is None
    recording.write_text("{")
    assert hear_beginning(recording, same, {}) is None
    assert hear_beginning(tmp_path / "none", same, {}) is None


class _Clumsy(str):
    """A text that has the hash of many others."""

    __slots__ = ()

    def __hash__(self) -> int:
        return len(self)


@given(st.lists(names, max_size=12), st.lists(names, max_size=4))
def test_names_are_found_whatever_their_hashes(known: list[str], others: list[str]) -> None:
    texts = [_Clumsy(name) for name in known]
    index = NameIndex(texts, texts.__getitem__)
    for name in [*known, *others]:
        assert index.get(_Clumsy(name)) == (known.index(name) if name in known else None)
    assert sorted(index.repeated()) == [at for at, name in enumerate(known) if name in known[:at]]


def test_the_profiles_are_compared_where_they_are_told_and_not_kept(tmp_path: Path) -> None:
    told = {"w0": {"d": {"type": "delay", "delay": 1}, "other": {"type": "delay", "delay": 2}}}
    begins = SimulationBegins(0.0, Machine.flat(1), {}, {}, told)
    assert compare_profiles(begins, {"d": {"type": "delay", "delay": 1.0}}) == ""
    assert "profile 'd' is told as" in compare_profiles(begins, {"d": {"type": "delay", "delay": 3}})
    assert "profile 'gone' is told as None" in compare_profiles(begins, {"gone": {"type": "delay", "delay": 3}})
