"""Series from CSV files: what is read, and what is refused with file, line and what was expected."""

from pathlib import Path

import pytest

from batdispatch.abilities.power.doors.series import read_series
from batdispatch.abilities.power.machine.series import Series
from batdispatch.core.errors import InputError


def read(
    folder: Path, text: str, *, name: str = "s.csv", column: str = "", even: bool = True, origin: str = ""
) -> Series:
    (folder / name).write_text(text)
    return read_series([(str(folder / name) + column, even)], origin)[0]


def test_seconds_and_the_second_column_unless_another_one_is_named(tmp_path: Path) -> None:
    text = "time_s,carbon,water\n0,43.5,3.9\n900,40,3.8\n1800,41,3.7\n"
    assert read(tmp_path, text).values == (43.5, 40.0, 41.0)
    water = read(tmp_path, text, column=":water")
    assert (water.times, water.values) == ((0.0, 900.0, 1800.0), (3.9, 3.8, 3.7))


def test_dates_count_from_the_first_one_or_from_the_origin(tmp_path: Path) -> None:
    text = "date,price\n2026-03-01T00:00:00+01:00,5\n2026-03-01T01:00:00+01:00,6\n"
    assert read(tmp_path, text).times == (0.0, 3600.0)
    assert read(tmp_path, text, origin="2026-03-01T00:30:00+01:00").times == (-1800.0, 1800.0)


def test_the_first_value_holds_before_its_moment_and_the_last_one_for_ever(tmp_path: Path) -> None:
    found = read(tmp_path, "time,price\n900,5\n1800,6\n")
    assert [found.at(time) for time in (0.0, 900.0, 1800.0, 1e6)] == [5.0, 5.0, 6.0, 6.0]
    assert found.integral(0.0, 900.0) == 4500.0


def test_a_cap_may_have_steps_of_any_length(tmp_path: Path) -> None:
    assert read(tmp_path, "t,w\n0,5\n10,6\n500,7\n", even=False).times == (0.0, 10.0, 500.0)


@pytest.mark.parametrize(
    ("rows", "line", "found"),
    [
        ("0,5\n900,6\n2700,7", 4, "found 1800 s since the line before, expected 900 s as between the first two"),
        ("0,5\n900,\n1800,7", 3, "found '', expected a number of at least 0: the series has a hole"),
        ("0,5\n900\n1800,7", 3, "found '', expected a number of at least 0: the series has a hole"),
        ("0,5\n900,many\n1800,7", 3, "found 'many', expected a number of at least 0"),
        ("0,5\n900,-1", 3, "found '-1', expected a number of at least 0"),
        ("0,43,5", 2, "found 3 fields, expected 2 as in line 1"),
        ("0,nan", 2, "found 'nan', expected a number of at least 0"),
        ("0,1\n10,1e308", 3, r"found '1e308', expected a number of at least 0 and at most 1e\+15"),
        ("0,1\n1e300,1", 3, "found '1e300', expected seconds, or a date"),
        ('0,"1\n2"\n10,3', 2, r"found '1\\n2', expected a number of at least 0"),
        ("900,5\n0,6", 3, "found a moment 900 s before that of the line before, expected a later one"),
        ("0,5\n0,6", 3, "found the moment of the line before, expected a later one"),
        ("noon,5", 2, "found 'noon', expected seconds, or a date of ISO 8601"),
        (
            "2026-03-01T00:00+01:00,5\n2026-03-01T00:00+00:00,6",
            3,
            r"expected a date with the offset 1:00:00 from UTC as in line 2: convert all dates to one time zone",
        ),
        ("2026-03-01T00:00Z,5\n2026-03-01T01:00,6", 3, "expected a date with the offset 0:00:00 from UTC as in line 2"),
        ("2026-03-01,5\n3600,6", 3, "found '3600', expected a date without time zone as in line 2"),
    ],
)
def test_what_is_wrong_is_told_with_file_and_line(tmp_path: Path, rows: str, line: int, found: str) -> None:
    with pytest.raises(InputError, match=rf"s\.csv, line {line}: .*{found}"):
        read(tmp_path, f"time,value\n{rows}\n")


def test_the_whole_file_may_be_wrong(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"s\.csv, line 1: found 'time', expected at least two columns"):
        read(tmp_path, "time\n0\n")
    with pytest.raises(InputError, match=r"s\.csv, line 1: found 'time,a', expected a column 'b' behind the first one"):
        read(tmp_path, "time,a\n0,1\n", column=":b")
    with pytest.raises(InputError, match=r"s\.csv, line 1: found 2 columns 'a', expected one"):
        read(tmp_path, "time,a,b,a\n0,1,2,3\n")
    with pytest.raises(InputError, match=r"s\.csv: found no row below the names of the columns"):
        read(tmp_path, "time,a\n")
    with pytest.raises(InputError, match=r"none\.csv"):
        read_series([(str(tmp_path / "none.csv"), True)])
    (tmp_path / "bytes.csv").write_bytes(b"time,a\n\xff,1\n")
    with pytest.raises(InputError, match=r"bytes\.csv, byte 7: found invalid start byte, expected UTF-8"):
        read_series([(str(tmp_path / "bytes.csv"), True)])


def test_a_mark_of_byte_order_and_ends_of_windows_lines_are_no_part_of_a_series(tmp_path: Path) -> None:
    found = read(tmp_path, "\ufefftime,price\r\n0,5\r\n10,6\r\n")
    assert (found.times, found.values) == ((0.0, 10.0), (5.0, 6.0))
    with pytest.raises(InputError, match=r"s\.csv, line 1: found 'time,price', expected a column 'time' behind"):
        read(tmp_path, "\ufefftime,price\n0,5\n", column=":time")


def test_a_field_that_no_csv_has_is_told_with_the_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"s\.csv: found no CSV: field larger than"):
        read(tmp_path, "time,a\n0," + "9" * 200_000)


def test_series_in_other_time_zones_and_of_other_beginnings_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("t,v\n2026-03-01T00:00Z,5\n")
    (tmp_path / "b.csv").write_text("t,v\n2026-03-01T01:00+01:00,5\n")
    (tmp_path / "c.csv").write_text("t,v\n2026-03-02T00:00Z,5\n")
    files = {name: (str(tmp_path / f"{name}.csv"), False) for name in "abc"}
    with pytest.raises(InputError, match=r"b\.csv, line 2: .*expected a date with the offset 0:00:00 from UTC, as the"):
        read_series([files["a"], files["b"]])
    with pytest.raises(InputError, match=r"c\.csv, line 2: .*expected 2026-03-01T00:00:00\+00:00, with which another"):
        read_series([files["a"], files["c"]])
    assert [each.times for each in read_series([files["a"], files["c"]], "2026-03-01T00:00Z")] == [(0.0,), (86400.0,)]
    with pytest.raises(InputError, match=r"a\.csv, line 2: .*expected a date with the offset 1:00:00"):
        read_series([files["a"]], "2026-03-01T00:00+01:00")
    with pytest.raises(InputError, match=r"found origin='today', expected a date of ISO 8601"):
        read_series([files["a"]], "today")
    with pytest.raises(InputError, match=r"d\.csv, line 2: found '0', expected a date, since origin="):
        read(tmp_path, "t,v\n0,5\n", name="d.csv", origin="2026-03-01T00:00Z")
