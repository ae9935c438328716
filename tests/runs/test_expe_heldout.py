"""The comparison on whole logs: its tables are right by hand, and its quick version makes them."""

from pathlib import Path

import pandas as pd
import pytest

from expe.common.running import sections_of
from expe.heldout import show
from experiments import small


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    return small("heldout", tmp_path_factory.mktemp("heldout"), ("jobs: 300", "jobs: 40"))


def test_tables_have_a_line_for_each_dispatcher_but_easy(rows: pd.DataFrame, tmp_path: Path) -> None:
    made = sections_of(show, rows)
    assert made.keys() == {"held-out"}
    head, _, *lines = made["held-out"].splitlines()
    assert head.split("|")[2:-1] == [" generated ", " geometric mean "]
    names = [line.split("|")[1].strip(" `") for line in lines]
    assert "easy" not in names
    assert {show.OURS, "filler[ordering=sjf]", "easy[ordering=unicef]"} <= set(names)
    show.picture(tmp_path / "ratios.svg", rows)
    assert (tmp_path / "ratios.svg").stat().st_size > 5000


def run(dispatcher: str, workload: str, seed: int, *figures: float) -> dict[str, object]:
    return {
        "dispatcher": dispatcher,
        "workload": workload,
        "workload.seed": seed,
        **dict(zip(show.METRICS, figures, strict=True)),
    }


def test_draws_of_a_workload_count_as_one_log_and_each_is_divided_by_easy_on_the_same_jobs() -> None:
    rows = pd.DataFrame(
        [
            run("easy", "a", 0, 2.0, 10.0, 4.0, 100.0),
            run("easy", "a", 1, 8.0, 10.0, 4.0, 100.0),
            run("easy", "b", 0, 1.0, 10.0, 4.0, 100.0),
            run("x", "a", 0, 1.0, 5.0, 4.0, 1000.0),
            run("x", "a", 1, 1.0, 5.0, 4.0, 1000.0),
            run("x", "b", 0, 1.0, 20.0, 4.0, 4000.0),
        ]
    )
    *_, line = show.ratios_table(rows).splitlines()
    cells = [cell.strip() for cell in line.split("|")[1:-1]]
    assert cells == ["`x`", "0.25 / 0.50 / 1.00 / 10.0", "1.00 / 2.00 / 1.00 / 40.0", "0.50 / 1.00 / 1.00 / 20.0"]
