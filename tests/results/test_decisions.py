"""How a run decided, decision by decision: what is written is what happened, and wrong files are refused in words."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.explorer.decision_columns import decision_columns
from batdispatch.abilities.solvers.doors.plans_section import solved_plans
from batdispatch.core.errors import InputError
from batdispatch.inputs.files import read_all
from batdispatch.report.page import render
from batdispatch.results.decisions import (
    INCUMBENT,
    NONE,
    PROVEN,
    plans_of,
    read_decision_times,
    read_solved_plans,
    write_decision_times,
)
from batdispatch.results.runs import read_runs
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec

RECORDINGS = Path(__file__).parents[1] / "conformance" / "recordings"
PLATFORM, WORKLOAD = str(RECORDINGS / "platforms" / "four.xml"), str(RECORDINGS / "workloads" / "delay.json")


def test_a_recorded_run_says_when_it_decided_and_how_long_that_took(tmp_path: Path) -> None:
    result = execute(RunSpec(platform=PLATFORM, workload=WORKLOAD, dispatcher="easy"), tmp_path / "easy")
    found = read_decision_times(tmp_path / "easy")
    assert found is not None
    assert len(found.time) == result["decisions"]["count"]
    assert found.seconds.sum() == pytest.approx(result["decisions"]["seconds_total"], abs=1e-9 * len(found.time))
    frames = [json.loads(line) for line in (tmp_path / "easy" / "decisions.jsonl").read_text().splitlines()]
    asked = [json.loads(frame["raw"]) for frame in frames if frame["dir"] == "batsim->sched"]
    # The last message says that the simulation has ended, and nothing is decided then.
    assert found.time.tolist() == [message["now"] for message in asked[:-1]]


def test_a_run_that_is_not_recorded_says_nothing(tmp_path: Path) -> None:
    execute(RunSpec(platform=PLATFORM, workload=WORKLOAD, dispatcher="easy", record=False), tmp_path)
    assert read_decision_times(tmp_path) is None
    assert not (tmp_path / "decision_times.csv").exists()


@given(decided=st.lists(st.tuples(st.integers(0, 10**12), st.integers(0, 10**12))))
def test_what_is_read_is_what_was_written(
    decided: list[tuple[int, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    decided.sort()
    times, seconds = [time / 1e6 for time, _ in decided], [took / 1e9 for _, took in decided]
    folder = tmp_path_factory.mktemp("run")
    write_decision_times(times, seconds, folder / "decision_times.csv")
    found = read_decision_times(folder)
    assert (found is None) == (not decided)
    if found is not None:
        assert found.time.tolist() == pytest.approx(times, rel=1e-12)
        assert found.seconds.tolist() == pytest.approx(seconds, rel=1e-12)


def test_a_packed_file_is_read_too(tmp_path: Path) -> None:
    (tmp_path / "decision_times.csv.gz").write_bytes(gzip.compress(b"time,seconds\n1.5,0.25\n"))
    found = read_decision_times(tmp_path)
    assert found is not None
    assert (found.time.tolist(), found.seconds.tolist()) == ([1.5], [0.25])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("seconds,time\n", "line 1"),
        ("time,seconds\n1,2,3\n", "two numbers"),
        ("time,seconds\n1\n", "two numbers"),
        ("time,seconds\n1,x\n", "two numbers"),
        ("time,seconds\n1,nan\n", "finite"),
        ("time,seconds\n2,1\n1,1\n", "ascending"),
        ("time,seconds\n2,-1\n", "negative"),
    ],
)
def test_wrong_decision_times_are_refused(content: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "decision_times.csv").write_text(content)
    with pytest.raises(InputError, match=said):
        read_decision_times(tmp_path)


def test_what_solvers_achieved(tmp_path: Path) -> None:
    lines = [
        {"now": 0, "status": "OPTIMAL", "gap": 0.0, "cost": 1.0},
        {"now": 1.5, "status": "BOUND", "gap": 0.0},
        {"now": 2, "status": "FEASIBLE", "gap": 0.25},
        {"now": 2, "status": "GREEDY", "gap": None},
        {"now": 3, "status": "UNKNOWN", "gap": None},
    ]
    (tmp_path / "solver.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    read = read_solved_plans(tmp_path)
    assert read is not None
    found = plans_of(read)
    assert found.time.tolist() == [0, 1.5, 2, 2, 3]
    assert found.status.tolist() == [PROVEN, PROVEN, INCUMBENT, INCUMBENT, NONE]
    np.testing.assert_array_equal(found.gap, [0, 0, 0.25, np.nan, np.nan])


@pytest.mark.parametrize(
    ("content", "said"), [("{}\n", "line 1"), ("[", "line 1"), ('{"now": 2}\n{"now": 1}\n', "order of time")]
)
def test_wrong_plans_are_refused(content: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "solver.jsonl").write_text(content)
    with pytest.raises(InputError, match=said):
        read_solved_plans(tmp_path)


def test_a_run_that_plans_says_what_its_solver_achieved(tmp_path: Path) -> None:
    execute(RunSpec(platform=PLATFORM, workload=WORKLOAD, dispatcher="best-list"), tmp_path)
    found = read_solved_plans(tmp_path)
    assert found is not None
    assert len(found) == len(read_all(tmp_path / "solver.jsonl")[0].splitlines()) > 0


def test_the_page_shows_the_plans_that_one_would_look_at_first(tmp_path: Path) -> None:
    for name in ("best-list", "easy"):
        execute(RunSpec(platform=PLATFORM, workload=WORKLOAD, dispatcher=name), tmp_path / name)
    runs = read_runs([tmp_path / "best-list", tmp_path / "easy"])
    proven = [{"now": now, "status": "OPTIMAL", "jobs": 2, "gap": 0.0, "solve_seconds": 0.5} for now in range(20)]
    found = [
        {"now": 20 + now, "status": "FEASIBLE", "jobs": 4, "gap": now / 10, "improvement": 0.5} for now in range(5)
    ]
    none = [{"now": 30, "status": "UNKNOWN"}]
    lines = "".join(json.dumps(line) + "\n" for line in proven + found + none)
    (tmp_path / "best-list/solver.jsonl").write_text(lines)
    (solved,) = solved_plans(runs)
    assert solved.lead.startswith("26 plans: 20 proven the best, 5 found, 1 none found. The largest gap is 40 %.")
    assert [moment for moment, _ in solved.rows] == [
        "30 s",
        "24 s",
        "23 s",
        "22 s",
        "21 s",
        *(f"{n} s" for n in range(5)),
    ]
    assert solved.rows[1][1] == ["found", "4", "n/a", "n/a", "40 %", "50 %", "n/a", "n/a"]
    assert render(runs).count("What the solver did") == 1
    assert "What the solver did" not in render(runs[1:])
    # The curves on the page are drawn from what was read for the table.
    (tmp_path / "best-list/solver.jsonl").unlink()
    columns = dict(decision_columns(runs[0], lambda times: np.rint(times).astype(np.int64), runs=2))
    assert columns["plan_proven"].sum() == 20
