"""The jobs file as columns: beside a reader that goes field by field, and what only blocks of rows can get wrong."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from batdispatch.core.errors import InputError
from batdispatch.core.job import JobState
from batdispatch.results import jobs_file
from batdispatch.results.columns import COLUMNS, FINAL_STATES, RunColumns
from batdispatch.results.frame import frame_of
from batdispatch.results.jobs_file import read_columns

HEADER = ",".join(COLUMNS)
LINE = 'a,w0,p,0.0,1,-1,1,COMPLETED_SUCCESSFULLY,1.0,2.0,3.0,1.0,3.0,1.5,0,-1,""'


def field_by_field(path: Path) -> list[dict[str, object]]:
    """Batsim 4's jobs file, read the slow way."""
    found = []
    for row in csv.DictReader(path.open(newline="")):
        values: dict[str, object] = {}
        for name, text in row.items():
            try:
                values[name] = float(text)
            except ValueError:
                values[name] = text
        for name in ("job_id", "workload_name", "profile", "allocated_resources", "metadata"):
            values[name] = row[name]
        values["requested_time"] = math.inf if float(row["requested_time"]) < 0 else float(row["requested_time"])
        values["success"] = row["success"] == "1"
        found.append(values)
    return found


def as_rows(columns: RunColumns) -> list[dict[str, object]]:
    listed = [getattr(columns, name).tolist() for name in COLUMNS]
    rows = [dict(zip(COLUMNS, values, strict=True)) for values in zip(*listed, strict=True)]
    for row in rows:
        row["final_state"] = FINAL_STATES[row["final_state"]].value  # type: ignore[index]
        for name, value in row.items():
            if isinstance(value, float) and math.isnan(value):
                row[name] = ""
    return rows


@pytest.mark.parametrize("block", [1, 2, 3, 256])
def test_columns_hold_what_the_fields_say(recordings: Path, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(jobs_file, "BLOCK", block)
    paths = [path for path in sorted(recordings.glob("batsim4/*/jobs.csv")) if path.read_text()]
    assert len(paths) > 15
    for path in paths:
        assert as_rows(read_columns(path)) == field_by_field(path), path


@pytest.mark.parametrize("block", [1, 2, 3, 4])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4])
def test_every_row_is_read_wherever_a_block_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, count: int
) -> None:
    monkeypatch.setattr(jobs_file, "BLOCK", block)
    path = tmp_path / "jobs.csv"
    for gap in ("\n", "\n\n", "\n \n", "\r\n", "\r"):
        path.write_bytes(gap.join([HEADER, *(f"{i}{LINE[1:]}" for i in range(count))]).encode())
        assert read_columns(path).job_id.tolist() == [str(i) for i in range(count)]
        path.write_bytes(path.read_bytes() + gap.encode())
        assert read_columns(path).job_id.tolist() == [str(i) for i in range(count)]
        if count:
            path.write_bytes(path.read_bytes() + f"z{LINE[1:-1]}".encode())
            with pytest.raises(InputError, match="ends inside a quoted field"):
                read_columns(path)


def test_a_job_may_have_hosts_in_ever_so_many_pieces(tmp_path: Path) -> None:
    hosts = " ".join(str(2 * host) for host in range(60_000))
    path = tmp_path / "jobs.csv"
    path.write_text(f"{HEADER}\n{LINE.replace(',0,-1,', f',{hosts},-1,')}\n")
    limit = csv.field_size_limit()
    assert read_columns(path).hosts.sizes.tolist() == [60_000]
    assert csv.field_size_limit() == limit


def test_a_file_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text(f"{HEADER}\n{LINE}\n")
    monkeypatch.setattr(jobs_file, "MAX_BYTES", path.stat().st_size)
    assert len(read_columns(path)) == 1
    monkeypatch.setattr(jobs_file, "MAX_BYTES", path.stat().st_size - 1)
    with pytest.raises(InputError, match="larger than"):
        read_columns(path)


def test_rows_are_taken_and_states_are_asked_for(recordings: Path) -> None:
    columns = read_columns(recordings / "batsim4" / "reject" / "jobs.csv")
    rejected = columns.ended(JobState.REJECTED)
    assert rejected.any()
    assert rejected.tolist() == (~columns.ran).tolist()
    assert columns.take(np.ones(len(columns), dtype=bool)) is columns
    ran = columns.take(columns.ran)
    assert as_rows(ran) == [row for row in as_rows(columns) if row["final_state"] != "REJECTED"]
    assert as_rows(columns.take(np.array([1, 0]))) == [as_rows(columns)[1], as_rows(columns)[0]]


def test_a_malformed_allocation_names_its_job(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text(f"{HEADER}\n{LINE}\nb{LINE[1:].replace(',0,-1,', ',7-3,-1,')}\n")
    columns = read_columns(path)
    with pytest.raises(InputError, match=r"jobs file, job 'b': .*7-3"):
        _ = columns.hosts


def test_a_frame_has_the_columns_with_pandas_types(recordings: Path) -> None:
    columns = read_columns(recordings / "batsim4" / "reject" / "jobs.csv")
    frame = frame_of(columns)
    assert tuple(frame.columns) == COLUMNS
    assert frame["final_state"].tolist() == [FINAL_STATES[state].value for state in columns.final_state]
    assert frame["final_state"].cat.categories.tolist() == [state.value for state in FINAL_STATES]
    for name in COLUMNS:
        if name != "final_state":
            assert np.array_equal(frame[name].to_numpy(), getattr(columns, name), equal_nan=frame[name].dtype == float)
