"""A job that an incomplete search never places: the run ends with a sentence that names job, placement and way out."""

from pathlib import Path

import pytest

from batdispatch.abilities.topology.generate.fabrics import dragonfly
from batdispatch.core.errors import DeadlockError
from sites import simulated

#: 81 routers are too many for all sets to be tried. A chassis of 9 holds its own routes, and no set of 80 does.
WIDTHS = {"nine": 9, "eighty": 80}


def run(folder: Path, dispatcher: str) -> dict[str, str]:
    jobs = [{"id": name, "subtime": 0, "res": width, "profile": "p"} for name, width in WIDTHS.items()]
    platform = dragonfly([3, 1], [3, 1], [9, 1], 1)
    run = simulated(folder, dispatcher, platform, jobs, {"p": {"type": "delay", "delay": 5}})
    rows = (run / "jobs.csv").read_text().splitlines()
    return {row.split(",")[0]: row for row in rows[1:]}


@pytest.mark.parametrize("dispatcher", ["fcfs", "easy", "conservative", "best-list"])
def test_a_run_that_waits_for_a_place_which_is_never_found_ends_with_a_sentence(
    tmp_path: Path, dispatcher: str
) -> None:
    with pytest.raises(DeadlockError) as failure:
        run(tmp_path, f"{dispatcher}[placement=convex[rule=routers]]")
    said = str(failure.value)
    assert "nothing is left to happen" in said
    assert "Placement convex[rule=routers] found no place for job w0!eighty even on the idle machine" in said
    assert "fallback" in said


def test_the_way_out_that_the_sentence_names_is_one(tmp_path: Path) -> None:
    rows = run(tmp_path, "fcfs[placement=convex[rule=routers,fallback=60]]")
    assert "COMPLETED_SUCCESSFULLY" in rows["eighty"]
