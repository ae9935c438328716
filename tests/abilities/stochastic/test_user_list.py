"""A list of requests that the user writes: its price and its runs by hand, what it refuses, and every way to run it."""

import json
import math
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import doors
import queue_cases
from batdispatch.abilities.stochastic.question import QUESTION
from batdispatch.abilities.stochastic.requests import make_sequence
from batdispatch.abilities.stochastic.requests.vocabulary import parse_law
from batdispatch.abilities.verify.audit.run import Auditor
from batdispatch.cli.questions import command_of
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import JobState
from batdispatch.core.machine.machine import Machine
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec
from simulating import Result, Task, micro, simulate
from stochastic import KILLED, attempts_of, quick

HOUR = 3600.0
SEQUENCE = "5h,40h,60h,98h"
LAYERS = (
    "attempts[dispatcher={},requests=list[2,5,9]]",
    "attempts[dispatcher={},requests=list[2,5,9,factor=3],speculate=true]",
    "powered[dispatcher=attempts[dispatcher={},requests=list[2,5,9]]]",
)


def ask(*arguments: str) -> dict[str, object]:
    done = CliRunner().invoke(command_of(QUESTION), (*arguments, "--json"), catch_exceptions=False)
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


@pytest.mark.parametrize("text", [SEQUENCE, f"list[{SEQUENCE}]", "300min,40h,60h,98h", "5,40,60,98"])
def test_a_job_of_33_hours_reserves_45(text: str) -> None:
    answer = ask("--law", "empirical:33", "--sequence", text)
    assert answer["requests"] == [5, 40, 60, 98]
    assert answer["expected_cost"] == 5 + 40
    assert answer["failures_per_job"] == 1
    # The user pays what was used: 5 h that failed, and 33 h.
    assert ask("--law", "empirical:33", "--sequence", text, "--alpha", "0", "--beta", "1")["expected_cost"] == 38


def test_the_unit_of_the_law_is_that_of_times_without_one() -> None:
    assert ask("--law", "empirical:33", "--unit", "min", "--sequence", "5,40")["expected_cost"] == 45
    assert ask("--law", "empirical:33", "--unit", "min", "--sequence", "1h")["requests"] == [60]
    assert ask("--law", "uniform:2,98", "--sequence", SEQUENCE, "--to", "min")["expected_cost"] == pytest.approx(
        60 * (5 + 40 * 93 / 96 + 60 * 58 / 96 + 98 * 38 / 96)
    )


def test_a_job_longer_than_the_list_asks_for_a_factor_more_each_time() -> None:
    answer = ask("--law", "empirical:200", "--sequence", SEQUENCE)
    assert answer["requests"] == [5, 40, 60, 98, 147, 220.5]
    assert ask("--law", "empirical:200", "--sequence", f"list[{SEQUENCE},factor=3]")["requests"] == [5, 40, 60, 98, 294]
    assert ask("--law", "empirical:200", "--sequence", SEQUENCE, "--least", "50")["requests"][:3] == [50, 60, 98]  # type: ignore[index]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "found no times, expected some such as list[5h,40h,60h,98h]"),
        ("list", "found no times"),
        ("list[]", "found no times"),
        ("5h,,6h", "found '', expected a time above 0 and up to 1e9 s"),
        ("0,5", "found '0', expected a time above 0"),
        ("-5,3", "found '-5', expected a time above 0"),
        ("5h,nan", "found 'nan', expected a time above 0"),
        ("5h,inf", "found 'inf', expected a time above 0"),
        ("1e12h", "found '1e12h', expected a time above 0"),
        ("5h,5h", "found '5h' after '5h', expected each time to be longer than the last"),
        ("60min,1h", "found '1h' after '60min', expected each time to be longer than the last"),
        ("5h,4h,6h", "found '4h' after '5h', expected each time"),
        ("5,40h", "found '5' without a unit beside times with one"),
        (",".join(map(str, range(1, 102))), "found 101 times, expected at most 100"),
        ("list[5,times=5]", "option times is given twice"),
        ("list[a=b]", "request sequence list has no option 'a'"),
        ("hpc[5]", "found '5' in 'hpc[5]', expected key=value"),
    ],
)
def test_what_is_no_list(text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        ask("--law", "empirical:33", "--sequence", text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def run(task: Task, dispatcher: str = "fcfs", sequence: str = SEQUENCE) -> list[tuple[float, JobState]]:
    """Seconds that each attempt of a job alone took, and how it ended."""
    result = simulate(Machine.flat(1), [task], f"attempts[dispatcher={dispatcher},requests=list[{sequence}]]")
    return [((row.end - row.start) / 1e6, row.state) for row in result.rows.values()]


@pytest.mark.parametrize("dispatcher", ["fcfs", "easy", "conservative", "filler"])
def test_a_job_of_33_hours_runs_5_and_then_33(dispatcher: str) -> None:
    task = Task("0", 0.0, 1, 33 * HOUR, extra={"runtime_law": f"uniform:{2 * HOUR},{98 * HOUR}"})
    (failed, _), (succeeded, state) = run(task, dispatcher)
    assert (failed, succeeded) == (pytest.approx(5 * HOUR, abs=2e-3), 33 * HOUR)
    assert state is JobState.COMPLETED_SUCCESSFULLY


def test_a_job_without_a_law_is_over_at_its_walltime() -> None:
    """30 h of walltime: 5 h, then the walltime, which neither 40 h nor a longer request follows."""
    walltime = [length for length, _ in run(Task("0", 0.0, 1, 33 * HOUR, 30 * HOUR))]
    assert walltime == [pytest.approx(5 * HOUR, abs=2e-3), 30 * HOUR]
    assert [length for length, _ in run(Task("0", 0.0, 1, 6 * HOUR, 4 * HOUR))] == [4 * HOUR]
    # No walltime and no law: the list is all that is known.
    assert [round(length / HOUR) for length, _ in run(Task("0", 0.0, 1, 120 * HOUR))] == [5, 40, 60, 98, 120]


def expected(task: Task, times: tuple[float, ...], factor: float) -> list[float]:
    """Lengths of the attempts of a job, worked out by the rule."""
    lengths: list[float] = []
    law = "runtime_law" in task.extra
    last = math.inf if law else task.walltime
    if not law and task.walltime <= times[0]:
        return [min(task.runtime, task.walltime)]
    time = times[0]
    while time < min(task.runtime, last) - 1e-9:
        lengths.append(time)
        time = times[len(lengths)] if len(lengths) < len(times) else time * factor
    return [*lengths, min(task.runtime, last)]


@st.composite
def lists(draw: st.DrawFn) -> tuple[list[Task], tuple[float, ...], float]:
    tasks = []
    for number in range(draw(st.integers(1, 8))):
        runtime = draw(st.integers(1, 60)) + 0.25
        law = draw(st.booleans())
        walltime = draw(st.sampled_from([math.inf, 3.0, 7.5, 25.0]))
        extra = {"runtime_law": "uniform:1,30"} if law else {}
        tasks.append(Task(str(number), number * 0.7, 1, runtime, math.inf if law else walltime, extra=extra))
    times = tuple(sorted(draw(st.sets(st.integers(1, 40), min_size=1, max_size=5))))
    return tasks, tuple(map(float, times)), draw(st.sampled_from([1.5, 2.0]))


@quick
@given(drawn=lists(), inner=st.sampled_from(["fcfs", "easy", "conservative", "filler", "best-list"]))
def test_attempts_last_as_the_list_says(drawn: tuple[list[Task], tuple[float, ...], float], inner: str) -> None:
    tasks, times, factor = drawn
    text = ",".join(f"{time:g}s" for time in times)
    result: Result = simulate(
        Machine.flat(2), tasks, f"attempts[dispatcher={inner},requests=list[{text},factor={factor}]]"
    )
    for task in tasks:
        rows = attempts_of(result)[task.id]
        lengths = [(row.end - row.start) / 1e6 for row in rows]
        assert lengths == pytest.approx(expected(task, times, factor), abs=2e-3)
        assert all(row.state in KILLED for row in rows[:-1])


@pytest.mark.parametrize("layer", LAYERS)
def test_check_finds_nothing_under_any_rule_of_a_queue(layer: str, tmp_path: Path) -> None:
    again = 0
    for seed in range(300, 330):
        case = queue_cases.generate(seed)
        if case["reservations"]:
            # No layer runs beside reservations of nodes.
            continue
        folder = tmp_path / str(seed)
        folder.mkdir()
        platform, workload = map(str, queue_cases.write(case, folder))
        inner = ("fcfs", "filler", "easy", "conservative")[seed % 4]
        execute(RunSpec(platform=platform, workload=workload, dispatcher=layer.format(inner)), folder / "run")
        assert [f"case {seed}: {violation}" for violation in Auditor().run(folder / "run").kept] == []
        again += (folder / "run" / "lineage.csv").exists()
    assert again, "no job was tried twice"


@pytest.mark.parametrize("door", ["zeromq4", "zeromq5"])
def test_the_same_over_the_wire(door: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = doors.make_sites(tmp_path / "sites")["hosts"]
    jobs = [
        {"id": str(n), "subtime": 7 * n, "res": 2, "walltime": 40, "profile": f"d{3 + n % 4}", "user": f"u{n % 2}"}
        for n in range(20)
    ]
    profiles = {f"d{length}": {"type": "delay", "delay": length} for length in range(3, 7)}
    site.workload.write_text(json.dumps({"nb_res": 8, "jobs": jobs, "profiles": profiles}))
    monkeypatch.setitem(doors.SPECIAL, "stochastic-easy", doors.Special({"requests": "list[4,5,6]"}))
    here = doors.in_process("stochastic-easy", site, tmp_path / "expected")
    assert len(here.rows) > len(jobs), "no job was tried twice"
    assert doors.DOORS[door]("stochastic-easy", site, tmp_path / door) == here


def test_the_law_of_a_job_that_states_one_does_not_change_the_list() -> None:
    made = make_sequence(f"list[{SEQUENCE}]")
    assert made.ask(parse_law("uniform:0,60")) == tuple(hours * HOUR for hours in (5, 40, 60, 98))
    assert micro(made.ask(parse_law("uniform:0,60"))[0]) == 18_000_000_000
