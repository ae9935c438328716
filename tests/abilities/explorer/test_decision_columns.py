"""How runs decided, as a page is told of it, against sums made one decision at a time."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.explorer import decision_columns
from batdispatch.results.decisions import TIMES, write_decision_times
from batdispatch.results.runs import read_runs

STATUSES = {"OPTIMAL": 0, "FEASIBLE": 1, "UNKNOWN": 2}


def whole(seconds: np.ndarray) -> np.ndarray:
    return np.rint((seconds - 100) * 1000).astype(np.int64)


def test_each_decision_of_a_short_run_is_told(write_jobs: Callable[..., Path]) -> None:
    folder = write_jobs({"a": {}})
    write_decision_times([99.0, 100.0, 102.5], [0.001, 0.0, 2.0], folder / TIMES)
    lines = [{"now": 100, "status": "OPTIMAL", "gap": 0}, {"now": 104, "status": "FEASIBLE", "gap": 0.125}]
    lines += [{"now": 105, "status": "UNKNOWN", "gap": None}, {"now": 106, "status": "GREEDY", "gap": None}]
    (folder / "solver.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    [run] = read_runs([folder])
    assert {name: values.tolist() for name, values in decision_columns.decision_columns(run, whole, 1)} == {
        # Nothing is before the page's begin; moments are told as differences.
        "decided_at": [0, 0, 2500],
        "decided_count": [1, 1, 1],
        "decided_sum": [1000, 0, 2_000_000],
        "decided_most": [1000, 0, 2_000_000],
        "plan_at": [0, 4000, 1000, 1000],
        "plan_proven": [1, 0, 0, 0],
        "plan_found": [0, 1, 0, 1],
        "plan_none": [0, 0, 1, 0],
        "plan_gaps": [1, 1, 0, 0],
        "plan_sum": [0, 1250, 0, 0],
        "plan_most": [0, 1250, 0, 0],
    }


def test_a_run_that_says_nothing_has_no_columns(write_jobs: Callable[..., Path]) -> None:
    [run] = read_runs([write_jobs({"a": {}})])
    assert list(decision_columns.decision_columns(run, whole, 1)) == []


def test_a_page_of_many_runs_holds_fewer_rows_of_each(write_jobs: Callable[..., Path]) -> None:
    folder = write_jobs({"a": {}})
    write_decision_times([100.0 + second for second in range(5000)], [0.001] * 5000, folder / TIMES)
    [run] = read_runs([folder])
    rows = [len(dict(decision_columns.decision_columns(run, whole, runs))["decided_at"]) for runs in (1, 24)]
    assert rows[0] <= decision_columns.MOST_OF_A_RUN
    assert rows[1] * 24 <= decision_columns.MOST_OF_A_PAGE


decisions = st.lists(
    st.tuples(st.integers(0, 50), st.integers(0, 99), st.sampled_from(sorted(STATUSES)), st.integers(0, 9)), min_size=1
)


@given(drawn=decisions, most=st.integers(1, 12))
def test_neighbours_that_are_put_together_keep_their_sums_and_the_slowest(
    drawn: list[tuple[int, int, str, int]], most: int
) -> None:
    drawn = sorted(drawn, key=lambda one: one[0])

    at = np.array([one[0] for one in drawn])
    seconds = np.array([one[1] / 1e6 for one in drawn])
    times = dict(decision_columns.time_columns(decision_columns.DecisionTimes(at.astype(float), seconds), at, most))
    status = np.array([STATUSES[one[2]] for one in drawn])
    # Where there is no plan, there is no gap, whatever a file says.
    gap = np.array([np.nan if one[2] == "UNKNOWN" and one[3] % 2 else one[3] / 1e4 for one in drawn])
    plans = dict(decision_columns.plan_columns(decision_columns.Plans(at.astype(float), status, gap), at, most))
    assert len(times["decided_at"]) <= most
    size = -(-len(drawn) // most)
    groups = [drawn[start : start + size] for start in range(0, len(drawn), size)]
    for group, when, count, total, slowest in zip(
        groups,
        np.cumsum(times["decided_at"]),
        times["decided_count"],
        times["decided_sum"],
        times["decided_most"],
        strict=True,
    ):
        assert (count, total, slowest) == (len(group), sum(one[1] for one in group), max(one[1] for one in group))
        assert when in [one[0] for one in group if one[1] == slowest]
    for place, group in enumerate(groups):
        for name, word in (("plan_proven", "OPTIMAL"), ("plan_found", "FEASIBLE"), ("plan_none", "UNKNOWN")):
            assert plans[name][place] == sum(one[2] == word for one in group)
        gaps = [one[3] for one in group if one[2] != "UNKNOWN"]
        assert plans["plan_gaps"][place] == len(gaps)
        assert plans["plan_sum"][place] == sum(gaps)
        assert plans["plan_most"][place] == max(gaps, default=0)
