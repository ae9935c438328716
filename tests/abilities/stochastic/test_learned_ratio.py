"""Requests learned from ended runs: what is learned, from whom and when, and that the walltime stays the last word."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import doors
from batdispatch.abilities.stochastic.requests import make_sequence
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import Job, JobState
from batdispatch.core.jobs.request import Request
from batdispatch.core.machine.machine import Machine
from simulating import Result, Task, micro, simulate
from stochastic import KILLED, attempts_of, quick, reserved


def job(user: str, walltime: float) -> Job:
    return Job(id="w0!1", request=Request(units=1), walltime=walltime, user=user)


def test_a_user_is_known_by_the_last_runs() -> None:
    made = make_sequence("learned-ratio[runs=3,fewest=2,requests=hpc]")
    assert made.law_of(job("ann", 100)) is None, "nobody has run anything"
    for ran in (10, 20, 30, 40):
        made.learn(job("ann", 100), ran)
    law = made.law_of(job("ann", 1000))
    assert law is not None
    assert law.text == "empirical:200,300,400,1000"
    # Bob has one run of his own: all users count, of whom the last three ended.
    made.learn(job("bob", 10), 9)
    law = made.law_of(job("bob", 10))
    assert law is not None
    assert law.text == "empirical:3,4,9,10"
    made.learn(job("bob", 10), 5)
    law = made.law_of(job("bob", 10))
    assert law is not None
    assert law.text == "empirical:5,9,10"
    # Without a name nobody can be told apart.
    anonymous = made.law_of(job("", 10))
    assert anonymous is not None
    assert anonymous.text == "empirical:4,5,9,10"


def test_what_teaches_nothing() -> None:
    made = make_sequence("learned-ratio[fewest=1]")
    made.learn(job("ann", math.inf), 10)
    made.learn(job("ann", 10), 0)
    assert made.law_of(job("ann", 10)) is None
    made.learn(job("ann", 10), 15)
    law = made.law_of(job("ann", 10))
    assert law is not None
    assert law.text == "empirical:10,10", "a run is not longer than its walltime"
    assert made.law_of(job("ann", math.inf)) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("learned-ratio[requests=learned-ratio]", "names a sequence that learns itself"),
        ("learned-ratio[requests=walltime]", "names a sequence that learns itself"),
        ("learned-ratio[requests=topt]", "no request sequence is called 'topt'"),
        ("learned-ratio[runs=0]", "option runs='0' is not"),
    ],
)
def test_wrong_options(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_sequence(text)


def test_a_price_that_counts_what_is_used_asks_for_the_walltime_alone() -> None:
    made = make_sequence("learned-ratio[fewest=1,requests=toptimal[alpha=0,beta=1]]")
    made.learn(job("ann", 10), 1)
    law = made.law_of(job("ann", 50))
    assert law is not None
    assert made.ask(law) == (50,)


# ------------------------------------------------------------------ in a simulation


@st.composite
def logs(draw: st.DrawFn) -> list[Task]:
    """Jobs of two users with walltimes, which some of them outlive; no two events are at one moment."""
    tasks = []
    for n in range(draw(st.integers(5, 25))):
        walltime = draw(st.sampled_from([4.0, 10.0, 25.0]))
        runtime = round(walltime * draw(st.sampled_from([0.1, 0.1, 0.2, 0.5, 0.9, 1.3])) + n * 0.00317, 5)
        tasks.append(
            Task(str(n), round(n * 2.31 + n * n * 0.0123, 4), 1, runtime, walltime, user=draw(st.sampled_from("ab")))
        )
    return tasks


def run(tasks: list[Task], requests: str, inner: str = "easy", hosts: int = 2) -> Result:
    return simulate(Machine.flat(hosts), tasks, f"attempts[dispatcher={inner},requests={requests}]")


@quick
@given(tasks=logs(), inner=st.sampled_from(["fcfs", "easy", "conservative", "filler"]))
def test_each_job_ends_as_it_would_have_with_its_walltime(tasks: list[Task], inner: str) -> None:
    result = run(tasks, "learned-ratio[fewest=2]", inner)
    assert sorted(attempts_of(result)) == sorted(task.id for task in tasks)
    for task in tasks:
        *before, last = attempts_of(result)[task.id]
        assert all(row.state in KILLED and row.end - row.start < micro(task.lasts) for row in before)
        assert last.end - last.start == micro(task.lasts)
        assert (last.state is JobState.COMPLETED_SUCCESSFULLY) == (task.runtime < task.walltime)


@quick
@given(tasks=logs())
def test_only_runs_that_had_ended_are_learned_from(tasks: list[Task]) -> None:
    """The first limit, worked out anew from the output files."""
    result = run(tasks, "learned-ratio[fewest=2,runs=4,requests=toptimal]")
    rows = attempts_of(result)
    over = sorted((rows[task.id][-1].end, task) for task in tasks)
    tried = 0
    for task in tasks:
        naive = make_sequence("learned-ratio[fewest=2,runs=4,requests=toptimal]")
        for end, other in over:
            if end < micro(task.submission):
                naive.learn(job(other.user, other.walltime), other.lasts)
        law = naive.law_of(job(task.user, task.walltime))
        first, attempts = rows[task.id][0], len(rows[task.id])
        if law is None:
            assert attempts == 1
            continue
        limit = min(reserved(naive.ask(law)[0]), micro(task.walltime))
        assert first.end - first.start == min(limit, micro(task.runtime))
        tried += attempts > 1
    assert tried <= len(tasks)


def test_it_asks_for_less_once_it_has_learned() -> None:
    """A user who asks for ten times what the jobs take: after two runs, the third is given what the second took."""
    tasks = [Task(str(n), 30.0 * n, 1, 2.0 + n / 4, 20.0, user="a") for n in range(4)]
    lengths = [
        [(row.end - row.start) / 1e6 for row in rows]
        for rows in attempts_of(run(tasks, "learned-ratio[fewest=2,requests=toptimal]")).values()
    ]
    assert lengths == [[2.0], [2.25], [2.251, 2.5], [2.501, 2.75]]


def test_beyond_the_walltime_if_that_is_asked_for() -> None:
    tasks = [Task("0", 0.0, 1, 10.0, 4.0, user="a")]
    over = run(tasks, "learned-ratio")
    assert [(row.state, row.end) for row in over.rows.values()] == [(JobState.COMPLETED_WALLTIME_REACHED, 4_000_000)]
    for sequence, first in (
        ("walltime", 4.0),
        ("walltime[factor=2]", 4.0),
        ("learned-ratio[fewest=1,final=false]", 4.0),
    ):
        tasks = [Task("p", 0.0, 1, 4.0, 8.0, user="a"), Task("0", 5.0, 1, 10.0, 4.0, user="a")]
        (_, *rows) = run(tasks, sequence, hosts=1).rows.values()
        assert rows[-1].state is JobState.COMPLETED_SUCCESSFULLY
        assert rows[-1].end - rows[-1].start == 10_000_000
        assert any((row.end - row.start) / 1e6 == pytest.approx(first, abs=2e-3) for row in rows[:-1])


def test_no_job_is_warned_about_that_states_no_law() -> None:
    told = run([Task("0", 0.0, 1, 50.0, 4.0, user="a")], "walltime").session.report
    assert "warnings" not in told
    assert told["failed_attempts"] > 0


@pytest.mark.parametrize("door", ["zeromq4", "zeromq5"])
def test_the_same_over_the_wire(door: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = doors.make_sites(tmp_path / "sites")["hosts"]
    jobs = [
        {"id": str(n), "subtime": 7 * n, "res": 2, "walltime": 40, "profile": f"d{3 + n % 4}", "user": f"u{n % 2}"}
        for n in range(20)
    ]
    profiles = {f"d{length}": {"type": "delay", "delay": length} for length in range(3, 7)}
    site.workload.write_text(json.dumps({"nb_res": 8, "jobs": jobs, "profiles": profiles}))
    options = {"requests": "learned-ratio[fewest=2,requests=toptimal]"}
    monkeypatch.setitem(doors.SPECIAL, "stochastic-easy", doors.Special(options))
    expected = doors.in_process("stochastic-easy", site, tmp_path / "expected")
    assert len(expected.rows) > len(jobs), "no job was tried twice"
    assert doors.DOORS[door]("stochastic-easy", site, tmp_path / door) == expected
