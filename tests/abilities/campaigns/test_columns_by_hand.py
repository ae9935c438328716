"""What a row of a campaign's results has of a run, and what stands with the times that a clock measured."""

from types import SimpleNamespace
from typing import Any

from batdispatch.abilities.campaigns.campaign.table import outcome


def test_what_a_clock_measured_stands_with_the_times_and_not_with_the_results() -> None:
    report = {"solver": {"solve_seconds": 1.5, "build_seconds": 0.5, "variables": 7}, "cpu_seconds": 3.0, "plans": 2}
    part = SimpleNamespace(metrics={"mean_waiting_time": 4.0, "decisions_seconds_total": 9.0})
    whole: Any = SimpleNamespace(
        workload=SimpleNamespace(parts=[part, None]),
        metrics={"mean_waiting_time": 5.0, "decisions_seconds_total": 9.0},
        attempts={"failures_per_job": 0.5},
        report=report,
        rejected=[("a", "why"), ("b", "why")],
        fallbacks=3,
        performance={"simulation_seconds": 8.0},
    )
    row, times = outcome(whole, 0)
    assert row == {
        "mean_waiting_time": 4.0,
        "attempts.failures_per_job": 0.5,
        "report.solver.variables": 7,
        "report.plans": 2,
        "rejected": 2,
        "fallbacks": 3,
    }
    assert times == {
        "report.solver.solve_seconds": 1.5,
        "report.solver.build_seconds": 0.5,
        "report.cpu_seconds": 3.0,
        "decisions_seconds_total": 9.0,
        "simulation_seconds": 8.0,
    }
    # A row that is no part of its run has the metrics of the whole.
    assert outcome(whole, 1)[0]["mean_waiting_time"] == 5.0
