"""The experiment with jobs that communicate: what its tables say, and that jobs under convex do not slow each other."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from batdispatch.core.job import Job
from batdispatch.core.request import Request
from batdispatch.inputs.workloads.communicating import Traffic
from batdispatch.parts.placement.making import make_placement
from experiments import experiment, pictures_agree, sections
from with_simgrid import needs_simgrid


@pytest.fixture(scope="module")
def modules() -> Iterator[dict[str, ModuleType]]:
    """The files of the experiment."""
    with experiment("interference", "grid", "show", "run") as found:
        yield found


def measured(show: ModuleType, stretches: list[float], wait: float = 100.0, utilisation: float = 0.8) -> Any:
    """A run in which jobs were slowed down so much; the rest does not matter."""
    return show.Measured(
        stretches=np.array(stretches),
        runtime=1.5,
        utilisation=utilisation,
        useful=0.6,
        wait=wait,
        turnaround=500.0,
        slowdown=2.0,
        makespan=9000.0,
        gamma=1.25,
        rho=math.nan,
        locality=1.5,
        shared=0.25,
    )


def test_a_promise_that_one_job_breaks_stands_out(modules: dict[str, ModuleType]) -> None:
    show = modules["show"]
    base = [measured(show, [1.0, 3.0], wait=200.0), measured(show, [1.0, 2.0], wait=300.0)]
    kept, broken = measured(show, [1.0, 1.02], wait=50.0), measured(show, [1.0, 1.021], wait=50.0)
    lines = show.summary(
        {
            "kept": {"first fit": base, "convex": [kept, kept]},
            "broken": {"first fit": base, "convex": [kept, broken]},
            "without": {"first fit": base},
        }
    ).splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert [row[:5] for row in cells] == [
        ["kept", "1.020", "yes", "1.750 ± 3.177", "3.00"],
        ["broken", "1.021", "**no**", "1.750 ± 3.177", "3.00"],
    ]
    assert cells[0][7] == "250 → 50 ± 0"


def test_stretches_and_prices_are_told_for_each_workload_and_row(modules: dict[str, ModuleType]) -> None:
    show = modules["show"]
    found = {"messages": {"first fit": [measured(show, [1.0, 3.0])], "convex": [measured(show, [1.0, 1.0], wait=25.0)]}}
    first, other = show.stretch_table(found).splitlines()[2:]
    assert first == "| messages | first fit | 2.000 | 2.90 | 3.00 | 50.0 | 25.0 |"
    assert other == "| messages | convex | 1.000 | 1.00 | 1.00 | 0.0 | 25.0 |"
    first, other = show.price_table(found).splitlines()[2:]
    assert first == "| messages | first fit | 0.800 | 0.600 | 1.50 | 100 |  |  |  | 2.00 |"
    assert other == "| messages | convex | 0.800 | 0.600 | 1.50 | 25 | -75 % | +0 % | +0 % | 2.00 |"
    assert show.shape_table(found).splitlines()[2] == "| messages | first fit | 1.25 |  | 1.50 |"


def test_the_least_run_time_is_that_of_what_is_slowest(modules: dict[str, ModuleType]) -> None:
    least = modules["run"].least_runtime

    def job(*disks: str) -> Job:
        request = Request(units=4, io_nodes=disks)
        extra = {"nominal_runtime": 200}
        return Job(id="a", request=request, submission=0.0, walltime=1e4, profile="p", extra=extra)

    assert least(job(), Traffic()) == 200
    assert least(job(), Traffic(intensity=0.1)) == 100
    assert least(job("io0"), Traffic(intensity=0.1, io_load=0.2)) == 140


def test_every_placement_exists_and_local_ones_run_where_jobs_write(modules: dict[str, ModuleType]) -> None:
    grid = modules["grid"]
    for placement in grid.PLACEMENTS.values():
        make_placement(placement)
    assert set(grid.rows("messages and I/O")) == set(grid.PLACEMENTS)
    assert set(grid.rows("messages")) == set(grid.PLACEMENTS) - set(grid.FOR_IO)


def test_the_page_holds_every_section_and_picture() -> None:
    inside = sections("interference")
    assert inside.keys() == {"summary", "stretch", "price", "shape"}
    assert all(text.count("\n|") > 3 for text in inside.values())
    assert pictures_agree("interference")


def check(found: dict[str, dict[str, list[Any]]]) -> None:
    """Under convex no job is slowed down where none writes, and a link between routers is never shared."""
    for kind, by_row in found.items():
        for row in ("convex", "convex (routers)", "convex + local"):
            for run in by_row.get(row, ()):
                assert run.shared == 0, (kind, row)
                if kind != "messages and I/O":
                    assert run.stretches.max() <= 1.02, (kind, row)
    for run in found["messages"]["first fit"]:
        assert run.stretches.mean() > 1.2


@needs_simgrid
def test_jobs_under_convex_run_as_fast_as_alone(modules: dict[str, ModuleType], tmp_path: Path) -> None:
    found = modules["run"].measure(1, 40, ["first fit", "convex"], tmp_path)
    assert found.keys() == modules["grid"].WORKLOADS.keys()
    check(found)


@needs_simgrid
@pytest.mark.slow
def test_all_placements_on_whole_workloads(modules: dict[str, ModuleType], tmp_path: Path) -> None:
    found = modules["run"].measure(2, 300, list(modules["grid"].PLACEMENTS), tmp_path)
    check(found)
    writing = found["messages and I/O"]
    for one, other in zip(writing["convex + local"], writing["convex"], strict=True):
        assert one.rho < other.rho
