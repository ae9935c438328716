"""When slurmctld looked at its queue, as accounts tell it: hand-worked, and on two recordings of a real Slurm."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from batdispatch.abilities.sites.doors.slurm.looks import clocks_of, first_ahead
from batdispatch.core.jobs.request import Dependency
from batdispatch.inputs.workloads.log_columns import LogColumns
from batdispatch.inputs.workloads.logs import LogInfo


def jobs(
    *told: tuple[float, float, str], after: Sequence[Dependency] = (), **fields: object
) -> tuple[LogColumns, LogInfo]:
    """Return jobs and their log, by (came, started, partition); the first one has further fields and dependencies."""
    starts, ones = np.array([start for _, start, _ in told]), np.ones(len(told))
    found = LogColumns(
        ids=[str(number) for number in range(len(told))],
        submission=np.array([came for came, _, _ in told]),
        runtime=ones,
        start=starts,
        walltime=ones,
        units=ones,
        tables=[{"partition": each, **({} if number else fields)} for number, (_, _, each) in enumerate(told)],
        dependencies={"0": tuple(after)},
    )
    return found, LogInfo(starts=starts)


@pytest.mark.parametrize(
    ("told", "first"),
    [
        # The second job starts ahead of the first, which has waited for 20 s.
        ([(0, 50, "p"), (10, 20, "p")], 20),
        ([(0, 50, "p"), (10, 20, "p"), (11, 15, "p")], 15),
        # In their order, at once, and in different partitions: the main loop does that.
        ([(0, 5, "p"), (10, 20, "p")], math.nan),
        ([(0, 20, "p"), (10, 20, "p")], math.nan),
        ([(0, 50, "p"), (10, 20, "q")], math.nan),
        # The first one had just come: the main loop had not looked at it.
        ([(17, 50, "p"), (17, 20, "p")], math.nan),
        ([(16, 50, "p"), (17, 20, "p")], 20),
        # It is not known when the first one started.
        ([(0, math.nan, "p"), (10, 20, "p")], math.nan),
        ([], math.nan),
    ],
)
def test_the_first_job_that_ran_ahead(told: list[tuple[float, float, str]], first: float) -> None:
    assert first_ahead(*jobs(*told)) == pytest.approx(first, nan_ok=True)


def test_jobs_that_wait_for_something_else_are_passed_by_the_main_loop() -> None:
    told = ((0.0, 50.0, "p"), (10.0, 20.0, "p"))
    assert math.isnan(first_ahead(*jobs(*told, after=[Dependency("1")])))
    assert math.isnan(first_ahead(*jobs(*told, array={"id": "1", "index": 2})))
    assert math.isnan(first_ahead(*jobs(*told, partitions=["p", "q"])))
    rows, info = jobs(*told)
    info.held.add("0")
    assert math.isnan(first_ahead(rows, info))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        # A pass at 160.5 s, since accounts count whole seconds, is one of those that began at 10.5 s.
        ({"interval": "15"}, {"clock": "2309.5", "phase": "10.5"}),
        ({}, {"clock": "2309.5", "phase": "10.5"}),
        ({"interval": "7"}, {"clock": "2309.5", "phase": "6.5"}),
        ({"interval": "0"}, {"clock": "2309.5"}),
        ({"phase": "3"}, {"clock": "2309.5"}),
        ({"clock": "3", "phase": "4"}, {}),
    ],
)
def test_clock_and_phase(options: dict[str, str], expected: dict[str, str]) -> None:
    origin = 3600.0 * 490_000 + 2309.5
    rows, info = jobs((0, 400, "p"), (10, 160, "p"))
    found, how = clocks_of(options, origin, rows, info)
    assert found == expected
    why = {"clock": "from when jobs came; sure", "phase": "a job first ran ahead of another at 160 s; a guess"}
    assert how == ", ".join(f"{name}={text} ({why[name]})" for name, text in expected.items())
