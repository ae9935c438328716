"""Reservations that repeat, worked out with a calendar: 2 March 2026 is a Monday, and 0 s is its midnight."""

from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from batdispatch.abilities.sites.doors.slurm.site import draft_of_folder, read_folder
from batdispatch.inputs.sites import SiteDraft, fit_jobs
from batdispatch.inputs.workloads.moments import Clock
from batdispatch.inputs.workloads.node_use import use_of
from batdispatch.inputs.workloads.report import ImportReport
from logs import log_of

HOUR, DAY = 3600.0, 86_400.0
NEW_YORK = ZoneInfo("America/New_York")


def drafted(folder: Path, flags: str, begin: str, end: str, last: float, zone: ZoneInfo | None = None) -> SiteDraft:
    (folder / "slurm.conf").write_text("NodeName=n[1-2] CPUs=4\nPartitionName=p Nodes=ALL Default=YES\n")
    (folder / "resv.txt").write_text(
        f"ReservationName=r StartTime={begin} EndTime={end} Nodes=n1 NodeCnt=1 Flags={flags} Users=ada\n"
    )
    clock = Clock(zone)
    return draft_of_folder(read_folder(folder), use_of([]), clock, clock.read("2026-03-02T00:00:00"), last=last)


def windows(draft: SiteDraft) -> list[tuple[float, float]]:
    return [(one.start, one.end) for one in draft.queues.reservations]


def days_of(draft: SiteDraft) -> list[float]:
    return [start / DAY for start, _ in windows(draft)]


@pytest.mark.parametrize(
    ("flag", "days"),
    [
        ("DAILY", [0, 1, 2, 3, 4, 5, 6, 7, 8]),
        ("WEEKDAY", [0, 1, 2, 3, 4, 7, 8]),
        ("WEEKEND", [5, 6]),
        ("WEEKLY", [3]),
        ("SPEC_NODES,DAILY", [0, 1, 2, 3, 4, 5, 6, 7, 8]),
    ],
)
def test_days_on_which_a_reservation_is(tmp_path: Path, flag: str, days: list[int]) -> None:
    """From 12:00 to 13:00; scontrol tells that of Thursday the 12th; the last job comes at noon of Tuesday the 10th."""
    draft = drafted(tmp_path, flag, "2026-03-12T12:00:00", "2026-03-12T13:00:00", 8.5 * DAY)
    assert windows(draft) == [(day * DAY + 12 * HOUR, day * DAY + 13 * HOUR) for day in days]
    assert [one.name for one in draft.queues.reservations] == ["r", *(f"r~{n + 1}" for n in range(1, len(days)))]
    assert any(f"taken to begin {len(days)} times while jobs come" in said for said in draft.warnings)


def test_a_reservation_without_such_a_flag_is_once(tmp_path: Path) -> None:
    draft = drafted(tmp_path, "SPEC_NODES", "2026-03-12T12:00:00", "2026-03-12T13:00:00", 8.5 * DAY)
    assert windows(draft) == [(10.5 * DAY, 10.5 * DAY + HOUR)]
    (tmp_path / "second").mkdir()
    assert windows(drafted(tmp_path / "second", "", "2026-03-01T12:00:00", "2026-03-01T13:00:00", 8.5 * DAY)) == []


def test_each_hour(tmp_path: Path) -> None:
    """A quarter past each hour for ten minutes, told of yesterday; the last job comes at 03:15."""
    draft = drafted(tmp_path, "HOURLY", "2026-03-01T09:15:00", "2026-03-01T09:25:00", 3 * HOUR + 900)
    assert windows(draft) == [(n * HOUR + 900, n * HOUR + 1500) for n in range(4)]


def test_the_first_one_may_have_begun_before_the_first_job(tmp_path: Path) -> None:
    """From 23:00 to 01:00: that of Sunday is over at 1 h, and that which ends when jobs begin is none."""
    draft = drafted(tmp_path, "DAILY", "2026-03-05T23:00:00", "2026-03-06T01:00:00", DAY)
    assert windows(draft) == [(0.0, HOUR), (23 * HOUR, 25 * HOUR)]
    (tmp_path / "second").mkdir()
    whole = drafted(tmp_path / "second", "DAILY", "2026-03-05T23:00:00", "2026-03-06T00:00:00", DAY)
    assert windows(whole) == [(23 * HOUR, 24 * HOUR)]


def test_one_that_begins_when_the_last_job_comes_is_the_last(tmp_path: Path) -> None:
    at, before = tmp_path / "at", tmp_path / "before"
    for folder, last, count in ((at, 2 * DAY, 3), (before, 2 * DAY - 1, 2)):
        folder.mkdir()
        assert len(windows(drafted(folder, "DAILY", "2026-03-02T00:00:00", "2026-03-02T01:00:00", last))) == count


def test_a_reservation_that_comes_too_late_for_all_jobs(tmp_path: Path) -> None:
    draft = drafted(tmp_path, "WEEKEND", "2026-03-07T12:00:00", "2026-03-07T13:00:00", 3 * DAY)
    assert windows(draft) == [(5.5 * DAY, 5.5 * DAY + HOUR)]
    assert any("taken to begin never while jobs come" in said for said in draft.warnings)


def test_one_that_was_over_and_comes_again_too_late(tmp_path: Path) -> None:
    draft = drafted(tmp_path, "WEEKEND", "2026-03-01T12:00:00", "2026-03-01T13:00:00", 3 * DAY)
    assert windows(draft) == []


def test_repeats_have_a_limit(tmp_path: Path) -> None:
    draft = drafted(tmp_path, "HOURLY", "2026-03-02T00:00:00", "2026-03-02T00:10:00", 100 * DAY)
    assert len(windows(draft)) == 500
    assert windows(draft)[-1] == (499 * HOUR, 499 * HOUR + 600)
    assert any("from then on not simulated (at most 500 times)" in said for said in draft.warnings)


@pytest.mark.parametrize("told", ["2026-03-06", "2026-03-12"])
def test_reservations_keep_the_hour_of_the_clock(tmp_path: Path, told: str) -> None:
    """New York's clocks go from 02:00 to 03:00 on Sunday the 8th: from then on, noon is an hour earlier."""
    draft = drafted(tmp_path, "DAILY", f"{told}T12:00:00", f"{told}T13:00:00", 8 * DAY, NEW_YORK)
    noons = [datetime(2026, 3, 2 + day, 12, tzinfo=NEW_YORK).timestamp() for day in range(8)]
    midnight = datetime(2026, 3, 2, tzinfo=NEW_YORK).timestamp()
    assert [start for start, _ in windows(draft)] == [noon - midnight for noon in noons]
    assert [start for start, _ in windows(draft)][5:] == [5.5 * DAY, 6.5 * DAY - HOUR, 7.5 * DAY - HOUR]
    assert all(end - start == HOUR for start, end in windows(draft))


def test_the_first_one_is_found_across_a_change_of_clocks(tmp_path: Path) -> None:
    """From 23:30 to 00:30, told of a day after the change: the first one ends 30 min after the first job came."""
    draft = drafted(tmp_path, "DAILY", "2026-03-12T23:30:00", "2026-03-13T00:30:00", 0.0, NEW_YORK)
    assert windows(draft) == [(0.0, 1800.0)]


def test_hours_do_not_follow_the_clock(tmp_path: Path) -> None:
    """From 00:15 on Sunday the 8th: 02:15 is not on the clock, and there is one each 3600 s nevertheless."""
    draft = drafted(tmp_path, "HOURLY", "2026-03-08T00:15:00", "2026-03-08T00:25:00", 6 * DAY + 4 * HOUR, NEW_YORK)
    starts = [start for start, _ in windows(draft) if start >= 6 * DAY]
    assert starts == [6 * DAY + n * HOUR + 900 for n in range(4)]


def test_days_of_the_week_are_those_of_the_site(tmp_path: Path) -> None:
    """At 22:00 of a Friday in New York it is Saturday in Greenwich."""
    draft = drafted(tmp_path, "WEEKDAY", "2026-03-05T22:00:00", "2026-03-05T23:00:00", 5.99 * DAY, NEW_YORK)
    assert days_of(draft) == pytest.approx([day + 22 / 24 for day in range(5)])


def test_a_job_gets_the_first_one_that_it_can_still_run_in(tmp_path: Path) -> None:
    """Daily from 12:00 to 13:00. A job of 30 min that comes at 12:20 of the first day fits, one of 12:40 does not."""
    draft = drafted(tmp_path, "DAILY", "2026-03-02T12:00:00", "2026-03-02T13:00:00", 3 * DAY)
    times = {"before": 0.0, "fits": 12 * HOUR + 1200, "late": 12 * HOUR + 2400, "long": 14 * HOUR, "last": 9 * DAY}
    jobs = [
        {"id": name, "subtime": at, "res": 1, "walltime": 9000 if name == "long" else 1800}
        | {"reservation": "r", "partition": "p"}
        for name, at in times.items()
    ]
    log = log_of(tmp_path / "account.txt", jobs, runtime=600.0)
    fit_jobs(log.jobs, draft, ImportReport("account.txt", "sacct"), log.path)
    assert {job.id: job.extra["reservation"] for job in log.workload().jobs} == {
        "before": "r",
        "fits": "r",
        "late": "r~2",
        # One that is longer than all of them gets the next one, and one for which none is left keeps the name.
        "long": "r~2",
        "last": "r",
    }
