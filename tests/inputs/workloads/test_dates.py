"""The dates behind a workload's clock, and the zone's changes of clocks."""

import json
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

import batdispatch as bd
from batdispatch.inputs.workloads.dates import LogDates, dates_of
from batdispatch.inputs.workloads.importers import read_log

HEADER = "; UnixStartTime: 843480031\n; TimeZoneString: Europe/Stockholm\n; MaxProcs: 4\n"
#: A job that is submitted 69 s after the log began.
LINE = "1 69 0 10 2 -1 -1 2 20 -1 1 1 1 -1 -1 -1 -1 -1\n"
BEGIN = datetime(1996, 9, 23, 12, 0, 31, tzinfo=UTC).timestamp()
KTH = {"UnixStartTime": 843480031, "time_origin": 69}


def test_offsets_change_when_clocks_do() -> None:
    dates = LogDates(begin=BEGIN, zone="Europe/Stockholm")
    offsets = dates.offsets(0.0, 400 * 86_400.0)
    assert [offset for _, offset in offsets] == [7200.0, 3600.0, 7200.0, 3600.0]
    moments = [datetime.fromtimestamp(BEGIN + at, UTC) for at, _ in offsets[1:]]
    # European clocks change at 01:00 UTC on the last Sundays of March and October.
    assert [str(moment)[:16] for moment in moments] == ["1996-10-27 01:00", "1997-03-30 01:00", "1997-10-26 01:00"]


@pytest.mark.parametrize("zone", ["UTC", "America/Chicago", "Australia/Lord_Howe", "Asia/Kolkata"])
def test_offsets_hold_up_to_the_next(zone: str) -> None:
    last = 800 * 86_400.0
    offsets = LogDates(begin=BEGIN, zone=zone).offsets(0.0, last)
    for (begin, offset), (end, _) in pairwise([*offsets, (last, 0.0)]):
        for at in (begin, (begin + end) / 2, end - 1):
            local = datetime.fromtimestamp(BEGIN + at, ZoneInfo(zone)).utcoffset()
            assert local is not None
            assert local.total_seconds() == offset


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        (
            {"UnixStartTime": 843480031, "TimeZoneString": "Europe/Stockholm", "time_origin": 69},
            (843480100, "Europe/Stockholm"),
        ),
        ({"UnixStartTime": 0, "time_origin": 1.7e9}, (1.7e9, "UTC")),
        (KTH | {"TimeZoneString": "Sweden"}, (843480100, "UTC")),
        ({"UnixStartTime": 0, "time_origin": 599}, None),
        ({"UnixStartTime": "yesterday", "time_origin": 0}, None),
        ({"UnixStartTime": 843480031}, None),
        ("a log", None),
    ],
)
def test_dates_are_what_the_log_says(origin: object, expected: tuple[float, str] | None) -> None:
    dates = dates_of({"origin": origin})
    assert (None if dates is None else (dates.begin, dates.zone)) == expected


def test_part_of_a_workload_keeps_its_dates(tmp_path: Path) -> None:
    log = tmp_path / "log.swf"
    log.write_text(HEADER + LINE + LINE.replace("1 69", "2 169", 1))
    whole = read_log(log).workload
    dates = dates_of(whole.part(1, 2).about)
    assert dates is not None
    assert dates.begin == 843480200


def test_result_says_the_dates(tmp_path: Path) -> None:
    log = tmp_path / "log.swf"
    log.write_text(HEADER + LINE)
    bd.compare(log, ["fcfs"], out=tmp_path / "out", report=False)
    result = json.loads((tmp_path / "out" / "fcfs" / "result.json").read_text())
    assert result["workload"]["dates"] == {"begin": 843480100.0, "zone": "Europe/Stockholm"}
