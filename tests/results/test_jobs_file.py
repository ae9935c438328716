"""The jobs file as columns: beside a reader that goes field by field, and what only blocks of rows can get wrong."""

import csv
import io
import math
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import FINAL_STATES, JobState
from batdispatch.core.jobs.job_table import COLUMNS, JobTable
from batdispatch.results import cells, jobs_file
from batdispatch.results.cells import cells_of
from batdispatch.results.frame import frame_of
from batdispatch.results.jobs_file import read_columns
from compiling import needs_kernels

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


def as_rows(columns: JobTable) -> list[dict[str, object]]:
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


NUMBERS = st.one_of(
    st.floats(allow_nan=False).map(lambda value: f"{value:.6f}"),
    st.floats(0, 1e10).map(lambda value: f"{value:.6f}"),
    st.integers(-(10**17), 10**17).map(str),
    st.integers(0, 1000).map(str),
    st.floats(allow_nan=False).map(repr),
    st.sampled_from(["", "-0.000000", "-1.000000", "9007199253.999999", "9007199254.740993", "9007199254740993"]),
    st.sampled_from(["9" * 16, "1" * 17, ".500000", "-.500000", "-", "+1.000000", " 1.000000", "1.000000 ", "1e3"]),
    st.sampled_from(["1_0.000000", "1.0000001", "1.00000", "1.000:00", "1/.000000", "-1:", "a", "1..000000"]),
    st.sampled_from(["--1.000000", "\u0661.000000", "nan", "1-2.000000"]),
)


def as_float_reads(texts: Sequence[str]) -> NDArray[np.float64]:
    return np.array([float(text) if text else math.nan for text in texts])


@needs_kernels
@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=12))
def test_numbers_are_those_that_float_reads(rows: list[tuple[str, str]]) -> None:
    cells = cells_of("".join(f"{one},{other}\n" for one, other in rows).encode(), 2, [0, 1], [])
    assert cells is not None
    odd: list[str] = []

    def read(texts: Sequence[str]) -> NDArray[np.float64]:
        odd.extend(texts)
        return np.full(len(texts), 123.0)

    values = cells.numbers(read)
    for texts, numbers in zip(rows, values.tolist(), strict=True):
        for text, number in zip(texts, numbers, strict=True):
            if text in odd:
                assert number == 123.0
                assert not re.fullmatch(r"|-?\d{1,8}(\.\d{1,7})?", text, re.ASCII)
            else:
                # Also the sign of zero.
                assert repr(number) == repr(float(text) if text else math.nan)


FIELDS = st.lists(st.text('ab0-9, "\n\r\u00e9', max_size=4), min_size=7, max_size=7)


@needs_kernels
@given(st.lists(FIELDS, min_size=1, max_size=6))
def test_a_block_is_taken_apart_as_the_csv_module_does_or_not_at_all(rows: list[list[str]]) -> None:
    block = "".join(",".join(row) + "\n" for row in rows)
    cells = cells_of(block.encode(), 7, [], list(range(7)))
    if cells is not None:
        found = [cells.texts(column) for column in range(7)]
        assert [list(row) for row in zip(*found, strict=True)] == list(csv.reader(io.StringIO(block, newline="")))
        known: dict[str, str] = {}
        assert [cells.shared_texts(column, known).tolist() for column in range(7)] == found
    elif all(re.fullmatch(r'[ab0-9é-]*|"[ab0-9é,-]*"', field) for row in rows for field in row):
        raise AssertionError("this block is plain")


@pytest.mark.parametrize("size", [1, 100, 1000, 1 << 18])
@pytest.mark.parametrize("odd", [None, 0, 7, 19])
def test_a_file_is_read_alike_wherever_its_blocks_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, odd: int | None
) -> None:
    lines = [f"{row}{LINE[1:]}".replace(",p,", f",p{row % 7},") for row in range(20)]
    if odd is not None:
        lines[odd] = lines[odd].replace('""', '"said ""a, b"""')
    path = tmp_path / "jobs.csv"
    path.write_text("\n".join([HEADER, *lines]) + "\n")
    monkeypatch.setattr(jobs_file, "BYTES", size)
    assert as_rows(read_columns(path)) == field_by_field(path)
    wrong = lines[15].replace("2.0", "2.O")
    path.write_text("\n".join([HEADER, *lines[:15], wrong, *lines[16:]]) + "\n")
    with pytest.raises(InputError, match=r"line 17, job '15': execution_time: '2.O' is not a number"):
        read_columns(path)
    path.write_text("\n".join([HEADER, *lines[:19], '"' + lines[19]]) + "\n")
    with pytest.raises(InputError, match=r"line 21"):
        read_columns(path)


@needs_kernels
def test_rows_of_other_lengths_are_not_taken_for_each_other() -> None:
    assert cells_of(b"1,2\n3,4\n", 2, [0], [1]) is not None
    assert cells_of(b"1,2,3\n4\n", 2, [0], [1]) is None
    assert cells_of(b"1\n2,3,4\n", 2, [0], [1]) is None


def test_a_file_is_read_alike_without_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text(
        "\n".join([HEADER, *(f"{row}{LINE[1:]}".replace(",p,", f",p{row % 3},") for row in range(20))]) + "\n"
    )
    usual = as_rows(read_columns(path))
    monkeypatch.setattr(cells, "load", lambda: None)
    assert as_rows(read_columns(path)) == usual == field_by_field(path)
