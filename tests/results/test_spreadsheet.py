"""Texts that a spreadsheet would calculate are quoted where it is asked for, and numbers stay numbers."""

import csv
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from batdispatch.cli.main import cli
from batdispatch.core.errors import InputError
from batdispatch.results.spreadsheet import write_spreadsheet


def test_ids_that_are_formulas_are_quoted_and_nothing_else_changes(
    write_jobs: Callable[..., Path], tmp_path: Path
) -> None:
    ids = ["=1+1", "+2", "@x", "-3", "-a", "a=1"]
    run = write_jobs({name: {} for name in ids})
    done = CliRunner().invoke(cli, ["export", "spreadsheet", str(run), "-o", str(tmp_path / "x.csv")])
    assert done.exit_code == 0, done.output
    with (tmp_path / "x.csv").open(newline="") as new, (run / "jobs.csv").open(newline="") as old:
        written, read = list(csv.reader(new)), list(csv.reader(old))
    assert [row[0] for row in written[1:]] == ["'=1+1", "+2", "'@x", "-3", "'-a", "a=1"]
    assert [row[1:] for row in written] == [row[1:] for row in read]


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_bytes(b"\xff\xfd")
    with pytest.raises(InputError, match="is no table"):
        write_spreadsheet(tmp_path, tmp_path / "x.csv")
