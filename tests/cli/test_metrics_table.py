"""The table of metrics on the terminal: it fits, whatever the number of runs and the length of their names."""

import io
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.table import Column, Table

from batdispatch.cli.metrics_table import LEGEND, SHOWN_METRICS, metrics_table
from batdispatch.results.metrics.compute import describe
from batdispatch.results.metrics.rows import metric_row

ONE = dict.fromkeys(SHOWN_METRICS, 1234.5)
LONG = "attempts,dispatcher=easy_ordering=sjf_,requests=toptimal_grid=200_,speculate=true"


def words(text: str, start: str) -> list[str]:
    """Return the values of a row."""
    (line,) = [line for line in text.splitlines() if line.startswith(start)]
    return line.removeprefix(start).split()


def test_few_runs_are_columns() -> None:
    text = metrics_table({"fcfs": ONE, "easy": ONE | {"utilisation": 0.5}}, width=80)
    assert text.splitlines()[0].split() == ["fcfs", "easy"]
    assert words(text, "utilisation (%)") == ["123,450*", "50"]


def test_the_best_is_that_of_the_metrics_direction_and_ties_share_it() -> None:
    waits = {"a": 7200.0, "b": 3600.0, "c": 3600.0}
    runs = {
        name: {"mean_waiting_time": wait, "utilisation": wait / 10_000, "makespan": 500.0, "mean_queue_length": None}
        for name, wait in waits.items()
    }
    text = metrics_table(runs, width=80)
    # A short wait is good, and so is a high utilisation; where all are equal, nobody is the best.
    assert words(text, "mean wait (h)") == ["2", "1*", "1*"]
    assert words(text, "utilisation (%)") == ["72*", "36", "36"]
    assert words(text, "makespan (min)") == ["8.33"] * 3
    assert text.splitlines()[-1] == LEGEND
    narrow = metrics_table({f"{name}{'x' * 30}": metrics for name, metrics in runs.items()}, width=60)
    assert narrow.count("*") == 4
    assert narrow.splitlines()[-1] == LEGEND


def test_one_run_is_the_best_of_nothing() -> None:
    text = metrics_table({"fcfs": ONE}, width=80)
    assert "*" not in text
    assert all(line == line.rstrip() for line in text.splitlines())


def test_short_times_have_a_unit_of_their_own() -> None:
    runs = {"fcfs": {"decisions_seconds_p99": 2.8e-5}, "easy": {"decisions_seconds_p99": 2.5e-4}}
    assert words(metrics_table(runs, width=80), "99 % decision (µs)") == ["28*", "250"]


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("count", [1, 3, 24])
def test_many_runs_are_rows_of_tables_that_fit(width: int, count: int) -> None:
    runs = {f"easy,ordering=sjf,number={index}": ONE | {"makespan": 86400 * (index + 2.5)} for index in range(count)}
    text = metrics_table(runs, width=width)
    assert max(map(len, text.splitlines())) <= width
    if count == 24:
        tables = text.split("\n\n")
        assert all("".join(table.split()).count("number=") == 24 for table in tables)
    assert f"{count + 1.5}" in text


def test_a_table_that_needs_no_folding_has_the_columns_of_the_library() -> None:
    # All are equal, so that none is marked.
    runs = {"fcfs": ONE, "easy,ordering=sjf": ONE}
    lines = metrics_table(runs, width=80).splitlines()
    table = Table(
        "", *(Column(label, justify="right") for label in runs), box=None, pad_edge=False, padding=(0, 2, 0, 0)
    )
    for line in lines[1:]:
        table.add_row(*re.split(r"  +", line))
    there = Console(width=80, color_system=None, file=io.StringIO(), highlight=False)
    there.print(table)
    assert [line.rstrip() for line in there.file.getvalue().splitlines()] == lines


@given(
    names=st.lists(st.sampled_from(["fcfs", "easy", LONG, "[bold]", "x" * 200]), min_size=1, max_size=12, unique=True),
    width=st.integers(40, 200),
)
def test_every_table_fits_and_has_every_value(names: list[str], width: int) -> None:
    values = {
        name: {metric: 100 + 7 * row + column for column, metric in enumerate(SHOWN_METRICS)}
        for row, name in enumerate(names)
    }
    text = metrics_table(values, width=width)
    assert max(map(len, text.splitlines())) <= width
    found = Counter(re.findall(r"[\d.,]+", text))
    for metric in SHOWN_METRICS:
        known = describe(metric)
        assert known is not None
        for cell in metric_row(known, [metrics[metric] for metrics in values.values()]).cells:
            assert found[cell.text.partition("\N{NO-BREAK SPACE}")[0]]


def test_brackets_of_a_name_are_no_markup() -> None:
    assert "easy[ordering=sjf]" in metrics_table({"easy[ordering=sjf]": ONE}, width=80)
    assert "[bold]" in metrics_table({"[bold]": ONE, "x" * 200: ONE}, width=80)
