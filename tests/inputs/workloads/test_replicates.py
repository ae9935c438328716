"""Replicates of a log: slices of it, and its users drawn anew."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.cli.generate import command as generate
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.fields import read_request
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Dependency
from batdispatch.inputs.workloads import Workload, read_workload
from batdispatch.inputs.workloads.resampling import WEEK, resample
from batdispatch.inputs.workloads.slices import even_gap, most_slices, take_slice
from batdispatch.inputs.workloads.writer import write_workload

DAY = 86_400.0


def log(*jobs: tuple[str, float], **fields: dict[str, Any]) -> Workload:
    """Jobs of (user, submission); more fields of some, by id."""
    made = []
    for index, (user, submission) in enumerate(jobs):
        extra = {"user": user, **fields.get(f"j{index}", {})} if user else fields.get(f"j{index}", {})
        made.append(
            Job(
                id=f"j{index}",
                request=read_request(1 + index % 3, extra),
                submission=submission,
                walltime=60.0 + index,
                profile=f"p{index % 4}",
                user=user,
                parent=extra.get("parent", ""),
                extra=extra,
            )
        )
    profiles = {f"p{number}": {"type": "delay", "delay": 10.0 + number} for number in range(4)}
    found = Workload(path=Path("log.json"), name="log", nb_res=8, jobs=made, profiles=profiles)
    found.sort()
    return found


def test_slices_are_successive_jobs_that_begin_at_0() -> None:
    whole = log(*(("ada", 100.0 + 10 * index) for index in range(10)))
    found = [take_slice(whole, number=number, jobs=3) for number in range(3)]
    assert [[job.id for job in one.jobs] for one in found] == [[f"j{3 * n + k}" for k in range(3)] for n in range(3)]
    assert [job.submission for job in found[2].jobs] == [0.0, 10.0, 20.0]
    assert set(found[0].profiles) == {"p0", "p1", "p2"}
    assert whole.jobs[3].submission == 130.0
    apart = take_slice(whole, number=1, jobs=3, gap=4)
    assert [job.id for job in apart.jobs] == ["j7", "j8", "j9"]


def test_a_slice_that_ends_after_the_last_job_is_refused() -> None:
    whole = log(*(("ada", float(index)) for index in range(10)))
    with pytest.raises(InputError, match=r"has 10 jobs, which make 3 slices of 3 jobs with 0 between them: .*number 3"):
        take_slice(whole, number=3, jobs=3)
    for wrong in ({"number": -1, "jobs": 3}, {"number": 0, "jobs": 0}, {"number": 0, "jobs": 1, "gap": -1}):
        with pytest.raises(InputError, match="expected a whole number from"):
            take_slice(whole, **wrong)


@given(st.integers(1, 200), st.integers(1, 20), st.integers(1, 10))
def test_an_even_gap_is_the_largest_with_which_all_slices_fit(total: int, jobs: int, count: int) -> None:
    if count * jobs > total:
        return
    gap = even_gap(total, jobs=jobs, count=count)
    assert most_slices(total, jobs=jobs, gap=gap) >= count
    if count > 1:
        assert most_slices(total, jobs=jobs, gap=gap + 1) < count


def test_a_job_no_longer_waits_for_jobs_of_another_slice() -> None:
    whole = log(
        *(("ada", float(index)) for index in range(6)),
        j3={"dependencies": ["j1"]},
        j5={
            "dependencies": ["j1", {"job": "j4", "kind": "afterany", "delay": 5.0}, {"kind": "singleton"}],
            "name": "nightly",
        },
        j4={"parent": "j2"},
    )
    found = take_slice(whole, number=1, jobs=3)
    assert [job.request.dependencies for job in found.jobs] == [
        (),
        (),
        (Dependency("j4", "afterany", 5.0), Dependency(kind="singleton")),
    ]
    assert [job.parent for job in found.jobs] == ["", "", ""]
    assert [sorted(job.extra) for job in found.jobs] == [["user"], ["user"], ["dependencies", "name", "user"]]
    kept = take_slice(whole, number=0, jobs=6)
    assert [(job.id, job.parent, job.request) for job in kept.jobs] == [
        (job.id, job.parent, job.request) for job in whole.jobs
    ]


def users_log(seed: int, *, weeks: int, long: int, others: int) -> Workload:
    """Users who submit all the time, and others who come once."""
    rng = np.random.default_rng(seed)
    jobs = []
    for user in range(long):
        jobs += [(f"long{user}", week * WEEK + float(rng.integers(int(WEEK)))) for week in range(weeks) for _ in "ab"]
    for user in range(others):
        begin = int(rng.integers(weeks)) * WEEK
        jobs += [(f"guest{user}", begin + float(rng.integers(int(WEEK)))) for _ in range(3)]
    return log(("long0", 0.0), *sorted(jobs, key=lambda job: job[1]))


@settings(max_examples=25)
@given(st.integers(0, 1000), st.integers(1, 30), st.integers(0, 1000))
def test_all_is_moved_by_whole_weeks_and_nobody_is_made_up(seed: int, weeks: int, drawn: int) -> None:
    whole = users_log(seed, weeks=20, long=3, others=40)
    found, facts = resample(np.random.default_rng(drawn), whole, weeks=weeks)
    assert facts.long_users == 3
    assert facts.other_users == round(40 * weeks / 20)
    known = {job.id: job for job in whole.jobs}
    moved = {(job.submission - known[job.id.split(".")[0]].submission) % WEEK for job in found.jobs}
    # All by whole weeks, but for the one first job that is submitted at 0.
    assert max(moved) - min(moved) == pytest.approx(0, abs=1e-3) or WEEK - max(moved) + min(moved) < 1e-3
    assert len({job.id for job in found.jobs}) == len(found.jobs)
    times = [(job.submission, job.id) for job in found.jobs]
    assert times == sorted(times)
    assert times[-1][0] < weeks * WEEK
    for job in found.jobs:
        was = known[job.id.split(".")[0]]
        assert (job.request, job.walltime, job.profile) == (was.request, was.walltime, was.profile)
        assert job.user.rpartition(".")[0] == was.user == job.extra["user"].rpartition(".")[0]


def test_users_for_long_go_through_their_own_weeks_in_order_and_begin_again() -> None:
    # One user, whose weeks have 1, 2, ..., 14 jobs.
    jobs = [("ada", week * WEEK + DAY + second) for week in range(14) for second in range(week + 1)]
    found, facts = resample(np.random.default_rng(3), log(*jobs), weeks=30)
    assert facts == (1, 0, 0)
    began = found.jobs[0].submission
    counts = Counter(int((job.submission - began) // WEEK) for job in found.jobs)
    first = counts[0]
    assert [counts[week] for week in range(30)] == [(first - 1 + week) % 14 + 1 for week in range(30)]
    begins = {len(resample(np.random.default_rng(seed), log(*jobs), weeks=1)[0].jobs) for seed in range(20)}
    assert len(begins) > 5


def test_others_come_for_their_whole_stay() -> None:
    jobs = [("ada", 0.0), ("ada", 8 * DAY), ("bob", 3 * DAY)]
    found, facts = resample(np.random.default_rng(3), log(*jobs), weeks=20)
    assert facts.long_users == 0
    # Two in two weeks.
    assert facts.other_users == 20
    stays: dict[str, list[Job]] = {}
    for job in found.jobs:
        stays.setdefault(job.user, []).append(job)
    assert len(stays) == 20
    apart = [theirs[1].submission - theirs[0].submission for theirs in stays.values() if len(theirs) == 2]
    # Eight days, or for who comes in the last week, round the end of the twenty weeks.
    assert set(apart) == {8 * DAY, 20 * WEEK - 8 * DAY}
    for user, theirs in stays.items():
        if user.startswith("bob"):
            assert len(theirs) == 1
        else:
            assert [job.id.split(".")[0] for job in theirs] in (["j0", "j1"], ["j1", "j0"])


def test_the_expected_load_is_that_of_the_log() -> None:
    whole = users_log(1, weeks=24, long=4, others=60)
    counts = [len(resample(np.random.default_rng(seed), whole, weeks=24)[0].jobs) for seed in range(40)]
    assert np.mean(counts) == pytest.approx(len(whole.jobs), rel=0.03)


def test_users_who_were_there_for_longer_are_drawn_more_often() -> None:
    # Weeks of one job each for 39 weeks, and of nine jobs each for 13: 3/4 and 1/4 of the draws, and 156 jobs in all.
    jobs = [("ada", week * WEEK) for week in range(39)]
    jobs += [("bob", week * WEEK + 1.0 + second) for week in range(13) for second in range(9)]
    whole = log(*sorted(jobs, key=lambda job: job[1]))
    drawn = [resample(np.random.default_rng(seed), whole, weeks=39)[0] for seed in range(300)]
    assert np.mean([len(one.jobs) for one in drawn]) == pytest.approx(156, rel=0.15)


def test_links_stay_within_a_copy() -> None:
    whole = log(("ada", 0.0), ("ada", 10.0), ("ada", 8 * DAY), j1={"dependencies": ["j0"]}, j2={"dependencies": ["j0"]})
    found, _ = resample(np.random.default_rng(0), whole, weeks=6)
    ids = {job.id for job in found.jobs}
    for job in found.jobs:
        was, _, copy = job.id.partition(".")
        assert {one.job for one in job.request.dependencies} <= ids
        assert job.request.dependencies == ((Dependency(f"j0.{copy}"),) if was == "j1" else ())


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(InputError, match="names no user of any job"):
        resample(np.random.default_rng(0), log(("", 0.0), ("", 5.0)))
    for option in ("weeks", "long"):
        with pytest.raises(InputError, match="expected 1 to 10,000") as told:
            resample(np.random.default_rng(0), log(("ada", 0.0)), **{option: 0})
        assert f"option --{option}" in str(told.value)
    with pytest.raises(InputError, match="nothing was drawn from 1 users for 1 weeks"):
        resample(np.random.default_rng(0), log(("ada", 0.0), ("", 9 * WEEK)), weeks=1)


def test_the_commands_write_workloads_that_can_be_read(tmp_path: Path) -> None:
    whole = users_log(1, weeks=15, long=2, others=10)
    write_workload(whole, tmp_path / "log.json")

    def run(*words: str) -> dict[str, Any]:
        done = CliRunner().invoke(generate, [*words, "--json"], standalone_mode=False)
        assert done.exception is None, done.exception
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    options = ["--from", str(tmp_path / "log.json"), "-o"]
    told = run("slice", *options, str(tmp_path / "slice.json"), "--jobs", "10", "--number", "2", "--gap", "5")
    assert told["jobs"] == 10
    made = read_workload(tmp_path / "slice.json")
    assert [job.id for job in made.jobs] == [job.id for job in whole.jobs[30:40]]
    assert made.about["origin"]["model"] == "slice"
    again = [run("resample", *options, str(tmp_path / f"{n}.json"), "--weeks", "3", "--seed", "7") for n in "ab"]
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert again[0]["long_users"] == 2
    assert again[0]["nameless"] == 0
    other = run("resample", *options, str(tmp_path / "c.json"), "--weeks", "3", "--seed", "8")
    assert other["sha256"] != again[0]["sha256"]
    users = {job.user.rpartition(".")[0] for job in read_workload(tmp_path / "a.json").jobs}
    assert users <= {job.user for job in whole.jobs}


def test_a_copy_changes_nothing_of_the_log() -> None:
    whole = users_log(2, weeks=14, long=1, others=3)
    before = msgspec.json.encode([[job.id, job.submission, job.user, job.extra] for job in whole.jobs])
    resample(np.random.default_rng(0), whole)
    take_slice(whole, number=0, jobs=4)
    assert msgspec.json.encode([[job.id, job.submission, job.user, job.extra] for job in whole.jobs]) == before
