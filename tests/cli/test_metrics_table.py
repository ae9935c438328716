"""The table of metrics on the terminal: it fits, whatever the number of runs and the length of their names."""

from __future__ import annotations

import io
import re

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.table import Column, Table

from batdispatch.cli.metrics_table import SHOWN, metrics_table

ONE = dict.fromkeys(SHOWN, 1234.5)
LONG = "attempts,dispatcher=easy_ordering=sjf_,requests=toptimal_grid=200_,speculate=true"


def test_few_runs_are_columns() -> None:
    lines = metrics_table({"fcfs": ONE, "easy": ONE | {"utilisation": 0.5}}, width=80).splitlines()
    assert lines[0].split() == ["fcfs", "easy"]
    assert next(line for line in lines if line.startswith("utilisation")).split() == ["utilisation", "1,234.5", "0.5"]


def test_many_runs_are_rows_of_tables_that_fit() -> None:
    runs = {f"easy,ordering=sjf,number={index}": ONE | {"makespan": index + 0.5} for index in range(24)}
    text = metrics_table(runs, width=80)
    assert max(map(len, text.splitlines())) <= 80
    tables = text.split("\n\n")
    assert all(table.count("\neasy,") == 24 for table in tables)
    assert [line.split() for line in tables[-1].splitlines() if line.startswith("easy,")]
    assert "23.5" in text


def test_a_table_that_needs_no_folding_has_the_columns_of_the_library() -> None:
    runs = {"fcfs": ONE, "easy,ordering=sjf": ONE | {"utilisation": 0.25, "mean_waiting_time": 1e6}}
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
        name: {metric: 1000.5 + 7 * row + column for column, metric in enumerate(SHOWN)}
        for row, name in enumerate(names)
    }
    text = metrics_table(values, width=width)
    assert max(map(len, text.splitlines())) <= width
    for metrics in values.values():
        for value in metrics.values():
            assert f"{value:,.1f}" in text


def test_brackets_of_a_name_are_no_markup() -> None:
    assert "easy[ordering=sjf]" in metrics_table({"easy[ordering=sjf]": ONE}, width=80)
    assert "[bold]" in metrics_table({"[bold]": ONE, "x" * 200: ONE}, width=80)
