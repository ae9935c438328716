import csv
import math
import statistics
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job_table import COLUMNS
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.metrics.compute import METRICS, compute, describe, metrics
from batdispatch.results.metrics.sample import sample_of
from columns import columns_of

#: Multiples of 1/8 s are exact, so that comparisons with brute force need no tolerance for ties.
times = st.integers(0, 800).map(lambda eighths: eighths / 8)
jobs = st.lists(
    st.tuples(times, times, times, st.integers(0, 5), st.integers(1, 6), st.sampled_from(["", "ann", "bob", "cy"])),
    min_size=1,
    max_size=25,
)


def frame_of(rows, rejected=0):
    frame = pd.DataFrame(
        {
            "job_id": [str(i) for i in range(len(rows))],
            "submission_time": [r for r, *_ in rows],
            "starting_time": [r + w for r, w, *_ in rows],
            "finish_time": [r + w + p for r, w, p, *_ in rows],
            "requested_number_of_resources": [n for *_, n, _ in rows],
            "allocated_resources": [f"{h}-{h + n - 1}" for *_, h, n, _ in rows],
            "final_state": ["COMPLETED_SUCCESSFULLY"] * len(rows),
        }
    )
    refused = {"job_id": "r", "submission_time": 0.0, "requested_number_of_resources": 1, "allocated_resources": ""}
    if rejected:
        more = pd.DataFrame([refused | {"final_state": "REJECTED"}] * rejected)
        frame = pd.concat([frame, more], ignore_index=True) if rows else more
    return frame.reindex(columns=list(COLUMNS))


def columns_of_rows(*args, **options):
    return columns_of(frame_of(*args, **options))


@given(jobs, st.integers(0, 2))
def test_every_metric_against_brute_force(rows, rejected):
    users = np.array([user for *_, user in rows] + [""] * rejected, dtype=object)
    values = compute(sample_of(columns_of_rows(rows, rejected), hosts=11, users=users))
    waits = [w for _, w, *_ in rows]
    turnarounds = [w + p for _, w, p, *_ in rows]
    bounded = [max(1.0, (w + p) / max(p, 10.0)) for _, w, p, *_ in rows]
    slowdowns = [(w + p) / p for _, w, p, *_ in rows if p]
    begin = min([r for r, *_ in rows] + [0.0] * bool(rejected))
    window = max(r + w + p for r, w, p, *_ in rows) - begin
    expected = {
        "mean_waiting_time": statistics.fmean(waits),
        "median_waiting_time": statistics.median(waits),
        "max_waiting_time": max(waits),
        "std_waiting_time": statistics.pstdev(waits),
        "mean_turnaround_time": statistics.fmean(turnarounds),
        "median_turnaround_time": statistics.median(turnarounds),
        "max_turnaround_time": max(turnarounds),
        "mean_slowdown": statistics.fmean(slowdowns) if slowdowns else None,
        "max_slowdown": max(slowdowns, default=None),
        "mean_bounded_slowdown": statistics.fmean(bounded),
        "max_bounded_slowdown": max(bounded),
        "mean_per_processor_slowdown": statistics.fmean(
            max(1.0, (w + p) / (n * max(p, 10.0))) for _, w, p, _, n, _ in rows
        ),
        "makespan": window,
        "utilisation": sum(p * n for _, _, p, _, n, _ in rows) / (11 * window) if window else None,
        "throughput": 3600 * len(rows) / window if window else None,
        "mean_queue_length": sum(waits) / window if window else None,
        "max_queue_length": max(sum(r <= t < r + w for r, w, *_ in rows) for t, *_ in rows),
        "nb_jobs": len(rows) + rejected,
        "nb_jobs_success": len(rows),
        "nb_jobs_rejected": rejected,
    }
    for name, value in expected.items():
        assert values[name] == (None if value is None else pytest.approx(value, rel=1e-9, abs=1e-9)), name
    ordered = sorted(waits)
    place = 0.95 * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    assert values["p95_waiting_time"] == pytest.approx(ordered[low] + (place - low) * (ordered[high] - ordered[low]))
    by_user = {}
    for (*_, user), slowdown in zip(rows, bounded, strict=True):
        if user:
            by_user.setdefault(user, []).append(slowdown)
    means = [statistics.fmean(found) for found in by_user.values()]
    if means:
        jain = sum(means) ** 2 / (len(means) * sum(x * x for x in means))
        assert values["user_fairness"] == pytest.approx(jain)
        assert values["user_spread"] == pytest.approx(max(means) / statistics.median(means))
        assert values["nb_users"] == len(means)
    else:
        assert values["user_fairness"] is values["user_spread"] is values["nb_users"] is None


def test_the_same_numbers_as_batsim(recordings):
    compared = 0
    for path in sorted(recordings.glob("*/*/schedule.csv")):
        with path.open() as file:
            theirs = next(csv.DictReader(file))
        if theirs["nb_jobs_finished"] == "0" or theirs["nb_jobs_rejected"] != "0":
            continue
        columns = read_columns(path.parent / "jobs.csv")
        ours = compute(sample_of(columns, hosts=int(theirs["nb_computing_machines"])))
        for name in (
            "mean_waiting_time",
            "max_waiting_time",
            "mean_turnaround_time",
            "max_turnaround_time",
            "mean_slowdown",
            "max_slowdown",
        ):
            assert ours[name] == pytest.approx(float(theirs[name]), rel=2e-5, abs=2e-6), (path, name)
        assert ours["makespan"] + columns.submission_time.min() == pytest.approx(float(theirs["makespan"]), abs=2e-6)
        assert ours["nb_jobs_success"] == int(theirs["nb_jobs_success"])
        assert ours["nb_jobs_killed"] + ours["nb_jobs_failed"] == int(theirs["nb_jobs_killed"])
        busy = ours["utilisation"] * int(theirs["nb_computing_machines"]) * ours["makespan"]
        # Batsim does not count hosts that went away under a job as computing; an I/O job computes besides the job.
        if path.parent.name not in ("io_job", "events"):
            assert busy == pytest.approx(float(theirs["time_computing"]), rel=1e-6, abs=1e-5), path
        compared += 1
    assert compared > 20


def test_threshold_of_the_bounded_slowdown():
    columns = columns_of_rows([(0.0, 90.0, 10.0, 0, 1, "")])
    assert compute(sample_of(columns, threshold=100.0))["mean_bounded_slowdown"] == 1.0
    assert compute(sample_of(columns, threshold=10.0))["mean_bounded_slowdown"] == 10.0


@pytest.mark.parametrize(
    ("hosts", "pieces"),
    [("0-3", 1), ("5", 1), ("0 2-3 7", 3), ("0-3 4", 1), ("4 0-3", 1), ("7 0-1 3", 3), ("0-1,3,4", 2)],
)
def test_fragmentation_is_the_number_of_runs_of_hosts(hosts, pieces):
    frame = frame_of([(0.0, 0.0, 1.0, 0, 1, "")] * 3, rejected=1)
    frame.loc[1, "allocated_resources"] = hosts
    frame.loc[2, "allocated_resources"] = "8-9"
    assert compute(sample_of(columns_of(frame)))["fragmentation"] == pytest.approx((1 + pieces + 1) / 3)


def test_each_resource_has_its_utilisation():
    columns = columns_of_rows([(0.0, 0.0, 10.0, 0, 1, ""), (0.0, 10.0, 10.0, 0, 1, "")])
    amounts = {"core": np.array([4.0, 2.0]), "gpu": np.array([0.0, 1.0])}
    values = compute(sample_of(columns, hosts=2, totals={"core": 8, "gpu": 1, "mic": 2}, amounts=amounts))
    assert values["utilisation_core"] == pytest.approx((40 + 20) / (8 * 20))
    assert values["utilisation_gpu"] == pytest.approx(10 / 20)
    assert values["utilisation_mic"] is None
    assert values["utilisation"] is None


def test_nothing_ran():
    values = compute(sample_of(columns_of_rows([], rejected=2), hosts=4))
    assert values["nb_jobs_rejected"] == 2
    assert values["throughput"] is values["mean_waiting_time"] is values["max_queue_length"] is None
    assert values["fragmentation"] is None


def test_decision_times_come_from_the_run():
    values = compute(
        sample_of(columns_of_rows([(0.0, 0.0, 1.0, 0, 1, "")]), decisions={"count": 3, "seconds_p99": 0.5})
    )
    assert values["decisions_count"] == 3
    assert values["decisions_seconds_p99"] == 0.5
    assert values["decisions_seconds_max"] is None


def test_a_malformed_allocation_names_the_job():
    frame = frame_of([(0.0, 0.0, 1.0, 0, 1, "")] * 3)
    frame.loc[1, "allocated_resources"] = "7-3"
    with pytest.raises(InputError, match=r"job '1'.*7-3"):
        compute(sample_of(columns_of(frame)))


@pytest.mark.parametrize("name", [*metrics(), "utilisation_gpu"])
def test_every_metric_is_described(name):
    metric = describe(name)
    assert metric.summary.endswith(".")
    assert metric.formula.endswith((".", ")"))
    assert metric.better in ("lower", "higher", "")
    assert metric.label
    assert metric.group


def test_an_unknown_metric_has_no_description():
    assert describe("beauty") is None


def test_values_do_not_depend_on_the_order_of_the_file(recordings: Path):
    path = recordings / "scheduling" / "burst.easy_bf" / "jobs.csv"
    columns = read_columns(path)
    shuffled = columns.take(np.random.default_rng(1).permutation(len(columns)))
    one, other = compute(sample_of(columns, hosts=128)), compute(sample_of(shuffled, hosts=128))
    for name, value in one.items():
        assert other[name] == (value if value is None else pytest.approx(value, rel=1e-12)), name


@pytest.mark.parametrize(
    ("stretches", "most"),
    [
        # Who starts at 10 waits no more when the next one comes.
        ([(0, 10), (10, 20)], 1),
        ([(0, 10), (9, 20)], 2),
        ([(0, 10), (10, 20), (5, 15)], 2),
        # Who waits for no time waits never.
        ([(5, 5), (5, 5)], 0),
    ],
)
def test_who_starts_leaves_the_queue_before_who_comes_at_the_moment(
    stretches: list[tuple[int, int]], most: int
) -> None:
    begin, end = np.array(stretches, dtype=float).T
    sample: Any = SimpleNamespace(waits=(begin, end), start=end)
    assert METRICS["max_queue_length"].compute(sample) == most
