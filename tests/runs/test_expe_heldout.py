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


def over_easy(**ratios: tuple[float, float]) -> pd.DataFrame:
    """Runs on two logs: slowdown and longest wait of each dispatcher over easy's, these on a and twice as long on b."""
    easy = [run("easy", log, 0, 10.0, 10.0, 10.0, 100.0) for log in "ab"]
    others = [
        run(name, log, 0, 10 * slowdown, 5.0, 10.0, 100 * longest * factor)
        for name, (slowdown, longest) in ratios.items()
        for log, factor in (("a", 1), ("b", 2))
    ]
    return pd.DataFrame([*easy, *others])


def test_the_frontier_has_whom_nobody_beats_in_slowdown_and_in_the_longest_wait_of_the_worst_log() -> None:
    rows = over_easy(slow=(0.9, 0.6), starves=(0.2, 9.0), beaten=(0.5, 2.0), fair=(0.4, 1.0))
    *lines, last = show.frontier_table(rows).splitlines()[2:]
    assert [line.split("`")[1] for line in lines] == ["starves", "fair"]
    assert last == f"| `slow` | 0.90 / 0.50 / 1.00 / {0.6 * 2**0.5:.2f} | 1.20 |"


def test_the_fields_table_has_three_figures_on_each_log_and_over_all() -> None:
    head, _, line = show.field_table(over_easy(x=(0.4, 2.0))).splitlines()
    assert head == "| slowdown / mean wait / longest wait | a | b | geometric mean |"
    assert line == "| `x` | 0.40 / 0.50 / 2.00 | 0.40 / 0.50 / 4.00 | 0.40 / 0.50 / 2.83 |"
