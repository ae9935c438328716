"""The textbook's policies against naive twins, and by hand what no case of it has."""

from __future__ import annotations

import random

import pytest

import queue_twin
from batdispatch.abilities.verify.differ.textbook import RigidJob, Rules, simulate
from batdispatch.abilities.verify.differ.variants import rules_of

#: Submission, processors, requested time, run time, whole seconds.
Row = tuple[int, int, int, int]


def textbook(rows: list[Row], rules: Rules) -> list[float | None]:
    jobs = [
        RigidJob(str(number), come * 10**6, units, asked * 10**6, long * 10**6)
        for number, (come, units, asked, long) in enumerate(rows)
    ]
    starts = simulate(jobs, rules)
    assert isinstance(starts, list)
    return [None if start is None else start / 1e6 for start in starts]


def twin(rows: list[Row], hosts: int, policy: str) -> list[float | None]:
    """What the naive twin of the queue rules makes of rows, where every host is open to every job."""
    jobs = [
        {"id": str(number), "subtime": come, "res": units, "walltime": asked, "runtime": long}
        for number, (come, units, asked, long) in enumerate(rows)
    ]
    case = {"seed": 0, "hosts": hosts, "jobs": jobs, "partitions": [], "qos": [], "reservations": []}
    return [outcome.start for outcome in queue_twin.simulate(case, policy).values()]


def twin_of_conservative(rows: list[Row], hosts: int) -> list[float | None]:
    """Promises that never move: each job, in order, has the earliest start at which it fits all promises so far."""
    spans: list[tuple[int, int, int]] = []
    starts: list[float | None] = []
    for come, units, asked, long in rows:
        # Of what has ended by now, the real end is known.
        known = [(s, e if e <= come else s + rows[i][2], n) for i, (s, e, n) in enumerate(spans)]

        def fits(start: int, known: list[tuple[int, int, int]] = known, units: int = units, asked: int = asked) -> bool:
            used = (sum(n for s, e, n in known if s <= t < e) for t in range(start, start + asked))
            return all(each + units <= hosts for each in used)

        start = next(t for t in range(come, 10_000) if fits(t))
        spans.append((start, start + min(asked, long), units))
        starts.append(start)
    return starts


def some_rows(rng: random.Random, hosts: int) -> list[Row]:
    now, rows = 0, []
    for _ in range(rng.randint(4, 12)):
        now += rng.choice((0, 1, 1, 2, 5))
        asked = rng.randint(1, 15)
        rows.append((now, rng.randint(1, hosts), asked, rng.choice((asked, asked + 3, rng.randint(1, asked)))))
    return rows


@pytest.mark.parametrize("policy", ["fcfs", "filling", "easy", "easy-sjbf"])
def test_the_textbook_starts_jobs_when_the_twin_of_the_queue_rules_does(policy: str) -> None:
    rng = random.Random(41)
    for _ in range(400):
        hosts = rng.randint(3, 9)
        rows = some_rows(rng, hosts)
        expected = twin(rows, hosts, {"filling": "filler"}.get(policy, policy))
        assert textbook(rows, rules_of(policy, hosts)) == expected, rows


def test_conservative_promises_the_earliest_start_that_is_left() -> None:
    rng = random.Random(42)
    for _ in range(300):
        hosts = rng.randint(2, 6)
        rows = some_rows(rng, hosts)
        assert textbook(rows, rules_of("conservative-uncompressed", hosts)) == twin_of_conservative(rows, hosts), rows


def test_a_job_that_ends_by_the_shadow_time_takes_no_extra_nodes() -> None:
    # 8 processors. The first holds 3 until 10; the second needs 6, so its shadow time is 10 and 2 are extra then. At 2
    # five are free: the third (2, until 7) ends in time, and the fourth (2, until 32) takes the 2 extra ones.
    rows = [(0, 3, 10, 10), (1, 6, 5, 5), (2, 2, 5, 5), (2, 2, 30, 30)]
    assert textbook(rows, rules_of("easy", 8)) == [0, 10, 2, 2]
    # With one processor less to spare, the fourth would delay the second, and waits behind it: 10 + 5.
    assert textbook([rows[0], (1, 7, 5, 5), *rows[2:]], rules_of("easy", 8)) == [0, 10, 2, 15]


def test_jobs_that_run_beyond_what_they_asked_for_are_all_expected_to_end_now() -> None:
    # 6 processors. Two jobs of 2 were to end at 5 and at 7 and run until 100. The third needs 4: if both end now, 6 are
    # free and 2 extra, so that the fourth, which runs from 9 to 59, goes ahead. The third starts when both have ended.
    rows = [(0, 2, 5, 100), (0, 2, 7, 100), (8, 4, 10, 10), (9, 1, 50, 50)]
    assert textbook(rows, Rules("easy", 6, overrun="extend")) == [0, 0, 100, 9]


def test_conservative_expects_what_has_outlived_its_request_to_end_at_the_next_microsecond() -> None:
    # 4 processors. The first was to end at 5 and runs until 100. At 8 the second, which needs 3, is promised the next
    # microsecond, and the third, for which there is no room beside it, what begins 10 s later: there 2 are free still.
    rows = [(0, 2, 5, 100), (8, 3, 10, 10), (8, 2, 5, 5)]
    assert textbook(rows, Rules("conservative", 4, overrun="extend", plan="keep")) == [0, 100, 18.000001]


def test_a_promise_that_is_made_once_counts_from_when_the_job_is_first_in_line() -> None:
    # 4 processors, all taken. At 1 the head (3) is promised 10, when the first and the second were to end. At 4 the
    # first ends early, so that the head could start at 6: promised that, it would keep the last job (1, until 10)
    # from going ahead.
    rows = [(0, 2, 10, 4), (0, 1, 6, 6), (0, 1, 30, 30), (1, 3, 5, 5), (2, 1, 6, 6)]
    assert textbook(rows, Rules("easy", 4, reserved="once")) == [0, 0, 0, 10, 4]
    assert textbook(rows, Rules("easy", 4)) == [0, 0, 0, 6, 11]


def test_what_is_killed_at_its_walltime_really_ends_then() -> None:
    # 3 processors. The first would take 50 and is killed at 10, which a shadow time from real ends knows: the third,
    # until 22, would delay the second.
    rows = [(0, 2, 10, 50), (1, 3, 5, 5), (2, 1, 20, 20)]
    assert textbook(rows, Rules("easy", 3, shadow="runtime")) == [0, 10, 15]
    # Likewise a job behind the head that would take 50 and is killed after 8 s: by its real time it is over at 10.
    rows = [(0, 2, 10, 10), (1, 3, 5, 5), (2, 1, 8, 50)]
    assert textbook(rows, Rules("easy", 3, candidates="runtime")) == [0, 10, 2]


def test_names_that_are_no_numbers_come_behind_those_that_are() -> None:
    jobs = [RigidJob(name, 0, 1, 10**6, 10**6) for name in ("x", "10", "w!9")]
    assert simulate(jobs, Rules("fcfs", 1)) == [2 * 10**6, 10**6, 0]
