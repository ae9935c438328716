"""Attempts that end in a checkpoint: worked schedules, conservation of work, what the run's folder says, the wire."""

import csv
import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import doors
from batdispatch.abilities.stochastic.attempts import MARGIN
from batdispatch.abilities.stochastic.requests import make_sequence
from batdispatch.abilities.stochastic.requests.vocabulary import parse_law
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import JobState
from batdispatch.core.line import events as e
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.messages import Message
from batdispatch.core.line.session import Session
from batdispatch.core.machine.machine import Machine
from simulating import Result, Task, micro, simulate
from stochastic import KILLED, attempts_of, quick, reserved
from strategies import make_job

LAW = "empirical:10,10,10,100"
SEQUENCE = "checkpoints[checkpoint=2,restart=3]"


def job(name: str, runtime: float, law: str = LAW, units: int = 1, submission: float = 0.0) -> Task:
    return Task(name, submission, units, runtime, extra={"runtime_law": law})


def run(tasks: list[Task], sequence: str = SEQUENCE, inner: str = "easy", hosts: int = 4) -> Result:
    return simulate(Machine.flat(hosts), tasks, f"attempts[dispatcher={inner},requests={sequence}]")


def spans(result: Result) -> dict[str, tuple[float, float]]:
    return {row.id: (row.start / 1e6, row.end / 1e6) for row in result.rows.values()}


def test_the_next_attempt_continues() -> None:
    """10 or 100: 12 + 0.25 (3 + 90) = 35.25 with a checkpoint, 10 + 0.25 100 = 35 without; so C = R = 1 saves."""
    cheap = "checkpoints[checkpoint=1,restart=1]"
    assert spans(run([job("a", 60)], cheap)) == {
        "a": (0, 11 + MARGIN),
        # Reads for one second, then does the 50 that are left.
        "a~2": (11 + MARGIN, 11 + MARGIN + 1 + 50),
    }
    assert spans(run([job("a", 60)])) == {"a": (0, 10 + MARGIN), "a~2": (10 + MARGIN, 70 + MARGIN)}
    assert spans(run([job("a", 9)], cheap)) == {"a": (0, 9)}


def test_several_checkpoints_and_beyond_the_law() -> None:
    always = "checkpoints[when=always,checkpoint=1,restart=2,grid=3,alpha=1,gamma=0]"
    plan = make_sequence(always).plan(parse_law("empirical:10,20,40"))
    assert (plan.limits, plan.saves) == ((10, 20, 40), (True, True, False))
    found = spans(run([job("a", 55, "empirical:10,20,40")], always))
    lengths = [round(end - start, 3) for start, end in found.values()]
    # 10 + 1; 2 + 10 + 1; 2 + 20, which ends in none; then up to 1.5 times 40, from 20 on, which is 2 + 35.
    assert lengths == [11.001, 13.001, 22.001, 37]


def test_an_attempt_that_is_stopped_while_it_writes_has_saved_nothing() -> None:
    """Its user's walltime of 10.5 s ends it within the checkpoint that begins at 10 s; 10 s are known not to do."""
    task = job("a", 60)._replace(walltime=10.5)
    assert spans(run([task], "checkpoints[checkpoint=1,restart=1]")) == {"a": (0, 10.5), "a~2": (10.5, 70.5)}


@quick
@given(data=st.data())
def test_run_time_is_conserved(data: st.DataObject) -> None:
    """Whatever is tried, the last attempt does what no checkpoint saved, and a job that fits no limit is not lost."""
    law = data.draw(st.sampled_from([LAW, "empirical:1,2,3,5,9", "tnorm:0,20,8,4", "texp:0.5,12,3"]))
    when = data.draw(st.sampled_from(["best", "always", "never"]))
    cost, restart = data.draw(st.sampled_from([(0.0, 0.0), (0.5, 0.25), (3.0, 7.0)]))
    sequence = f"checkpoints[grid=7,checkpoint={cost},restart={restart},when={when}]"
    lengths = data.draw(st.lists(st.integers(1, 3000), min_size=1, max_size=8))
    tasks = [job(str(n), length / 100, law, 1 + n % 3, n * 1.7) for n, length in enumerate(lengths)]
    inner = data.draw(st.sampled_from(["fcfs", "easy", "conservative"]))
    speculate = data.draw(st.sampled_from(["true", "false"]))
    result = simulate(Machine.flat(4), tasks, f"attempts[dispatcher={inner},requests={sequence},speculate={speculate}]")
    resumed = result.session.dispatcher.resumed()
    assert when != "never" or not resumed
    for task in tasks:
        *before, last = attempts_of(result)[task.id]
        assert last.state is JobState.COMPLETED_SUCCESSFULLY
        assert all(row.state in KILLED for row in before)
        how = resumed.get(f"w0!{last.id}")
        done = micro(how.saved) - micro(how.restart) if how else 0
        assert last.end - last.start + done == pytest.approx(micro(task.runtime), abs=2)
        kept = 0.0
        for row, after in zip(before, [*before, last][1:], strict=True):
            saved = resumed[f"w0!{after.id}"].saved if f"w0!{after.id}" in resumed else 0.0
            assert saved >= kept
            if saved > kept:
                read = resumed[f"w0!{row.id}"].restart if f"w0!{row.id}" in resumed else 0.0
                assert row.end - row.start == reserved(read + saved - kept + cost)
            assert saved <= task.runtime
            kept = saved


def test_learned_laws_have_checkpoints_too_and_the_walltime_stays_the_end() -> None:
    history = [Task(str(n), 20.0 * n, 1, 9.0 + n / 10, 100.0, user="u") for n in range(5)]
    inner = "requests=checkpoints[checkpoint=1,restart=1]"
    for runtime, end in ((50.0, 50.0), (99.9, 99.9), (150.0, 100.0)):
        result = run([*history, Task("x", 200.0, 1, runtime, 100.0, user="u")], f"learned-ratio[{inner}]")
        rows = attempts_of(result)["x"]
        assert len(rows) > 1
        saved = result.session.dispatcher.resumed()[f"w0!{rows[-1].id}"].saved
        assert (rows[-1].end - rows[-1].start) / 1e6 == pytest.approx(end - saved + 1)
        assert (rows[-1].state is JobState.COMPLETED_SUCCESSFULLY) == (runtime < 100)


def test_a_profile_without_a_rest_is_refused() -> None:
    for profiles, reason in (
        ({"w0": {"d": {"type": "parallel_homogeneous", "cpu": 1, "com": 1}}}, "is parallel_homogeneous"),
        ({}, "is unknown, since the simulator does not forward it"),
    ):
        session = Session(create("stochastic-easy", {"requests": "checkpoints[checkpoint=1,restart=1]"}))
        config = {"dynamic-jobs-enabled": True}
        begins = e.SimulationBegins(0.0, Machine.flat(2), config, {}, profiles)
        submitted = msgspec.structs.replace(make_job("w0!a", 1, runtime_law=LAW), profile="d")
        with pytest.raises(InputError, match=f"job w0!a: its attempts are to end in checkpoints.*{reason}"):
            session.handle(Message(0.0, [begins, e.JobSubmitted(0.0, submitted)]))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> doors.Site:
    site = doors.make_sites(tmp_path_factory.mktemp("sites"))["hosts"]
    lengths = [60, 9, 10.5, 30, 100]
    jobs = [
        {"id": str(n), "subtime": 3 * n, "res": 3, "profile": f"d{length}", "runtime_law": LAW}
        for n, length in enumerate(lengths)
    ]
    profiles = {f"d{length}": {"type": "delay", "delay": length} for length in lengths}
    site.workload.write_text(json.dumps({"nb_res": 8, "jobs": jobs, "profiles": profiles}))
    return site


@pytest.fixture
def options(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"requests": "checkpoints[checkpoint=1,restart=1]"}
    monkeypatch.setitem(doors.SPECIAL, "stochastic-easy", doors.Special(told))


@pytest.mark.usefixtures("options")
def test_what_the_folder_of_a_run_says(site: doors.Site, tmp_path: Path) -> None:
    doors.in_process("stochastic-easy", site, tmp_path / "run")
    with (tmp_path / "run" / "lineage.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [(row["job_id"], row["parent"], row["saved"], row["restart"]) for row in rows] == [
        (f"{name}~2", name, "10.000000", "1.000000") for name in ("0", "3", "4")
    ]
    told = json.loads((tmp_path / "run" / "result.json").read_bytes())
    assert told["report"]["checkpoints"] == 3
    attempts = told["attempts"]
    # All run times count once, wherever they were done; the rest is one second to write and one to read, and margins.
    assert attempts["useful_work"] == pytest.approx(3 * (60 + 9 + 10.5 + 30 + 100))
    assert attempts["saved_work"] == pytest.approx(3 * 3 * 10)
    assert attempts["checkpoint_work"] == pytest.approx(3 * 3 * (1 + 1 + MARGIN))
    assert attempts["wasted_work"] == pytest.approx(attempts["checkpoint_work"])
    assert attempts["jobs_succeeded"] == attempts["jobs"] == 5


@pytest.mark.usefixtures("options")
@pytest.mark.parametrize("door", ["zeromq4", "zeromq5"])
def test_the_same_over_the_wire(door: str, site: doors.Site, tmp_path: Path) -> None:
    expected = doors.in_process("stochastic-easy", site, tmp_path / "here")
    assert sum("~" in name for name in expected.rows) == 3
    assert doors.DOORS[door]("stochastic-easy", site, tmp_path / door) == expected
