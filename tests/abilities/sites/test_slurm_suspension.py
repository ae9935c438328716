"""Slurm's suspension: who goes on when, by hand, and that no work is lost or done twice on random machines."""

import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import doors
from batdispatch.core.errors import InputError
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import JobState
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.events import Event, MachinesAvailable, MachinesUnavailable
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.core.machine.site import Partition, Qos, QueuesProperty, Window
from batdispatch.engines.records import EngineOptions
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.lineage import read_lineage
from checked import checked
from simulating import Result, Row, Task, simulate
from sites import delays, platform_of, simulated
from strategies import SLURM_LOOPS

AT_ONCE = {"tick": "0", "batch_delay": "0", "resolution": "0", "end_window": "0", "interval": "0"}
SUSPEND = {"preempt": "partition", "preempt_mode": "suspend"}
PARTITIONS = [Partition(name=name, hosts=["n[0-3]"], tier=tier) for tier, name in enumerate("abc", 1)]


def machine(
    *partitions: Partition, capacity: str = "", qos: tuple[Qos, ...] = (), windows: tuple[Window, ...] = ()
) -> Machine:
    told = QueuesProperty(partitions=list(partitions or PARTITIONS), qos=list(qos), reservations=list(windows))
    properties = {"queues": msgspec.json.encode(told).decode()} | ({"capacity": capacity} if capacity else {})
    return Machine([Host(id=number, name=f"n{number}", properties=properties) for number in range(4)])


def task(
    name: str,
    submission: float,
    units: int,
    runtime: float,
    tier: str = "a",
    walltime: float = 0.0,
    demand: dict[str, int] | None = None,
    **extra: Any,
) -> Task:
    extra["partition"] = tier
    return Task(name, submission, units, runtime, walltime or runtime + 20, demand, extra=extra)


def run(
    *tasks: Task,
    site: Machine | None = None,
    events: Sequence[Event] = (),
    engine: EngineOptions | None = None,
    **options: str,
) -> Result:
    told = {**AT_ONCE, **SUSPEND, **options}
    return simulate(site or machine(), tasks, "slurm-backfill", options=told, events=events, engine=engine)


def times(result: Result) -> dict[str, tuple[float, float]]:
    return {name: (row.start / 1e6, row.end / 1e6) for name, row in result.rows.items()}


def test_a_suspended_job_keeps_its_nodes_from_its_own_tier_and_goes_on_when_the_last_higher_job_has_left() -> None:
    """As recorded: c takes two of its nodes, e two others; d has none although two are idle all the time."""
    tasks = [task("a", 0, 4, 100), task("c", 10, 2, 30, "b"), task("d", 12, 1, 5), task("e", 20, 1, 30, "b")]
    result = run(*tasks)
    assert times(result) == {"a": (0, 10), "c": (10, 40), "e": (20, 50), "a~1": (50, 140), "d": (140, 145)}
    assert result.rows["a"].units == result.rows["a~1"].units


def test_time_in_suspension_counts_for_no_limit() -> None:
    result = run(task("a", 0, 4, 100, walltime=60), task("c", 10, 4, 500, "b"))
    assert times(result) == {"a": (0, 10), "c": (10, 510), "a~1": (510, 560)}
    assert result.rows["a~1"].state is JobState.COMPLETED_WALLTIME_REACHED


def test_a_job_that_follows_later_suspends_the_same_one_again() -> None:
    tasks = [task("a", 0, 2, 100), task("c", 10, 4, 20, "b"), task("e", 40, 4, 20, "b")]
    assert times(run(*tasks)) == {"a": (0, 10), "c": (10, 30), "a~1": (30, 40), "e": (40, 60), "a~2": (60, 140)}


#: node waits for n0, of which long has a core until 200 s, and keeps it from further jobs of the main loop. So only a
#: pass can start wide, which needs a core of n0.
BEHIND = [
    task("long", 0, 1, 200, "b", demand={"core": 1}),
    task("node", 1, 4, 10, "b", demand={"core": 1}, node_list=["n0"]),
]


def test_who_is_suspended_for_a_job_of_a_pass_makes_room_for_it_at_once() -> None:
    wide = task("wide", 3, 15, 50, "b", demand={"core": 1})
    tasks = [*BEHIND, task("a", 2, 3, 100), wide]
    found = times(run(*tasks, site=machine(capacity="core=4"), interval="30"))
    assert (found["a"], found["wide"], found["a~1"]) == ((2, 31), (31, 81), (81, 152))


def test_a_job_that_has_only_just_started_is_suspended_a_moment_later() -> None:
    """The main loop starts a, and the pass in the same moment wants its nodes: its rest would overlap it."""
    wide = task("wide", 2, 15, 50, "b", demand={"core": 1})
    rows = run(*BEHIND, task("a", 2, 3, 100), wide, site=machine(capacity="core=4")).rows
    assert rows["a"].end == rows["wide"].start == rows["a"].start + 1000
    assert rows["a~1"].start == rows["wide"].end


@pytest.mark.parametrize("acknowledged", [True, False])
def test_nodes_of_who_has_already_stopped_wait_for_the_others(acknowledged: bool) -> None:
    """Both are killed for c, and their ends are told one after the other."""
    engine = EngineOptions(dynamic_jobs=True, acknowledge_dynamic_jobs=acknowledged, split_simultaneous=True)
    tasks = [task("a", 0, 2, 50), task("b", 0, 2, 50), task("c", 10, 4, 50, "b")]
    expected = {"a": (0, 10), "b": (0, 10), "c": (10, 60), "a~1": (60, 100), "b~1": (60, 100)}
    assert times(run(*tasks, engine=engine)) == expected


@pytest.mark.parametrize("units", [2, 3])
def test_a_job_of_a_pass_has_no_nodes_of_who_is_suspended_in_its_own_tier(units: int) -> None:
    """n1 is idle, but middle keeps it. first, which needs all nodes, holds up the main loop."""
    tasks = [task("middle", 0, 2, 100, "b"), task("low", 0, 2, 100), task("high", 10, 1, 100, "c", node_list=["n0"])]
    tasks += [task("first", 12, 4, 10, "b"), task("short", 13, units, 5, "b")]
    rows = run(*tasks).rows
    assert ("low~1" in rows and rows["low"].end == 13_000_000) == (units == 2)
    assert units == 3 or (rows["short"].start == 13_000_000 and set(rows["short"].units) == {2, 3})
    assert units == 2 or rows["short"].start > rows["high"].end


def test_who_is_kept_back_by_a_reservation_goes_on_after_it() -> None:
    window = Window(name="w", start=50, end=200, hosts=["n0"], accounts=["course"])
    tasks = [task("a", 0, 2, 40, walltime=45), task("c", 10, 4, 20, "b"), task("d", 30, 4, 19, "b", walltime=20)]
    tasks += [task("e", 40, 3, 30, "b", node_list=["n1", "n2", "n3"])]
    found = times(run(*tasks, site=machine(windows=(window,))))
    assert (found["a"], found["a~1"]) == ((0, 10), (200, 230))


def test_a_suspended_job_keeps_its_nodes_from_lower_tiers_while_it_waits_for_one_that_is_away() -> None:
    tasks = [task("low", 0, 2, 50), task("middle", 10, 4, 50, "b"), task("high", 20, 2, 50, "c")]
    away = [MachinesUnavailable(30.0, Allocation.of([3])), MachinesAvailable(100.0, Allocation.of([3]))]
    found = times(run(*tasks, events=away))
    assert (found["high"], found["middle~1"], found["low~1"]) == ((20, 70), (100, 140), (140, 180))


def test_the_higher_tier_of_two_suspended_jobs_goes_on_first() -> None:
    tasks = [task("low", 0, 4, 50), task("middle", 10, 4, 50, "b"), task("high", 20, 4, 50, "c")]
    assert times(run(*tasks)) == {
        "low": (0, 10),
        "middle": (10, 20),
        "high": (20, 70),
        "middle~1": (70, 110),
        "low~1": (110, 150),
    }


def test_idle_nodes_and_those_of_the_lowest_tier_come_first() -> None:
    jobs = [task("low", 0, 1, 100), task("middle", 0, 1, 100, "b")]
    found = times(run(*jobs, task("high", 10, 2, 50, "c")))
    assert found == {"low": (0, 100), "middle": (0, 100), "high": (10, 60)}
    found = times(run(*jobs, task("high", 10, 3, 50, "c")))
    assert found == {"low": (0, 10), "middle": (0, 100), "high": (10, 60), "low~1": (60, 150)}


def test_jobs_behind_are_planned_around_what_suspended_ones_keep() -> None:
    """wide has nodes reserved from a's end as expected when it was suspended, and long would be in the way then."""
    tasks = [task("a", 0, 3, 100), task("c", 10, 2, 200, "b"), task("wide", 11, 4, 10), task("long", 12, 1, 400)]
    found = times(run(*tasks))
    assert found["wide"][0] < found["long"][0]
    short = task("short", 12, 1, 80, walltime=90)
    assert times(run(*tasks[:3], short))["short"] == (12, 92)


@pytest.mark.parametrize("capacity", ["core=4 memory=8", "core=4 gpu=1"])
def test_who_would_keep_memory_or_gpus_is_not_suspended(capacity: str) -> None:
    tasks = [task("a", 0, 4, 100), task("c", 10, 4, 20, "b")]
    assert times(run(*tasks, site=machine(capacity=capacity))) == {"a": (0, 100), "c": (100, 120)}
    assert "a~1" in times(run(*tasks, site=machine(capacity="core=4")))


def test_who_shares_nodes_is_not_suspended() -> None:
    site = machine(capacity="core=4")
    tasks = [task("a", 0, 16, 100, demand={"core": 1}), task("c", 10, 4, 20, "b")]
    assert times(run(*tasks, site=site)) == {"a": (0, 100), "c": (100, 120)}
    small = task("c", 10, 2, 20, "b", demand={"core": 1})
    assert times(run(task("a", 0, 4, 100), small, site=site)) == {"a": (0, 10), "c": (10, 30), "a~1": (30, 120)}


def test_whose_rest_nobody_knows_is_not_suspended(tmp_path: Path) -> None:
    site = files(tmp_path)
    jobs = [
        {"id": "a", "subtime": 0, "res": 4, "walltime": 90, "profile": "twice", "partition": "a"},
        {"id": "c", "subtime": 10, "res": 4, "walltime": 90, "profile": "d10", "partition": "b"},
    ]
    profiles = {"twice": {"type": "composed", "repeat": 2, "seq": ["d10"]}, **delays(10)}
    folder = simulated(tmp_path, "slurm-backfill", site.platform, jobs, profiles, options=AT_ONCE | SUSPEND)
    rows = doors.read_schedule(folder).rows
    assert {name: row[:2] for name, row in rows.items()} == {"w0!a": (0, 20), "w0!c": (20, 30)}


def test_a_partition_says_that_its_jobs_are_suspended() -> None:
    gentle = [msgspec.structs.replace(PARTITIONS[0], preempt_mode="suspend"), *PARTITIONS[1:]]
    tasks = [task("a", 0, 4, 50), task("b", 10, 4, 50, "b"), task("c", 20, 4, 50, "c")]
    found = times(run(*tasks, site=machine(*gentle), preempt_mode="cancel"))
    assert found == {"a": (0, 10), "b": (10, 20), "c": (20, 70), "a~1": (70, 110)}


def test_qualities_of_service_suspend_nobody() -> None:
    with pytest.raises(InputError, match="for partitions only"):
        create("slurm-backfill", {"preempt": "qos", "preempt_mode": "suspend"})
    low, high = Qos(name="low", default=True, preempt_mode="suspend"), Qos(name="high", preempts=["low"])
    site = machine(PARTITIONS[0], qos=(low, high))
    tasks = [task("a", 0, 4, 100), Task("c", 10, 4, 20, 40, extra={"partition": "a", "qos": "high"})]
    assert times(run(*tasks, site=site, preempt="qos", preempt_mode="cancel"))["c"] == (100, 120)


# ---------------------------------------------------------------------- on random machines

JOBS = st.lists(
    st.tuples(st.integers(0, 150), st.integers(1, 4), st.integers(1, 90), st.integers(0, 60), st.sampled_from("abc")),
    min_size=1,
    max_size=14,
)
OPTIONS = st.fixed_dictionaries(SLURM_LOOPS)


@given(
    jobs=JOBS,
    options=OPTIONS,
    capacity=st.sampled_from(["", "core=3"]),
    apart=st.booleans(),
    acknowledged=st.booleans(),
)
def test_no_work_is_lost_and_suspended_jobs_keep_their_nodes(
    jobs: list[tuple[int, int, int, int, str]], options: dict[str, str], capacity: str, apart: bool, acknowledged: bool
) -> None:
    engine = EngineOptions(dynamic_jobs=True, acknowledge_dynamic_jobs=acknowledged, split_simultaneous=apart)
    tasks = [
        Task(f"j{number}", float(came), units, float(length), float(length + slack), extra={"partition": name})
        for number, (came, units, length, slack, name) in enumerate(jobs)
    ]
    result = simulate(
        machine(capacity=capacity), tasks, "slurm-backfill", options={**SUSPEND, **options}, engine=engine
    )
    segments: dict[str, list[Row]] = defaultdict(list)
    for name, row in sorted(result.rows.items(), key=lambda one: one[1].start):
        segments[name.partition("~")[0]].append(row)
    tiers = {one.id: one.extra["partition"] for one in tasks}
    assert set(segments) == set(tiers)
    for one in tasks:
        *before, last = segments[one.id]
        assert all(row.state is JobState.COMPLETED_KILLED for row in before)
        assert last.state is not JobState.COMPLETED_KILLED
        assert not before or tiers[one.id] != "c"
        assert sum(row.end - row.start for row in segments[one.id]) == pytest.approx(1e6 * one.lasts, abs=50)
        assert all(set(row.units) == set(last.units) for row in before)
        for row, rest in zip(before, segments[one.id][1:], strict=False):
            others = [
                (other, tiers[name])
                for name, rows in segments.items()
                for other in rows
                if set(other.units) & set(row.units)
                and row.end - 1 < other.end
                and other.start < rest.start
                and other is not row
            ]
            # Only jobs of higher tiers use its nodes, and it goes on when the last of them has left; at once if the one
            # that it gave way to found other nodes in the same moment.
            assert all(tier > tiers[one.id] for _, tier in others)
            assert rest.start == pytest.approx(max((other.end for other, _ in others), default=row.end), abs=50)


def files(folder: Path) -> doors.Site:
    """Write a site of three tiers, and jobs of all of them."""
    told = json.dumps({"partitions": [msgspec.to_builtins(one) for one in PARTITIONS]})
    hosts = "".join(f'<host id="n{number}" speed="1Gf"/>' for number in range(4))
    platform = platform_of(f'<prop id="queues" value={quoteattr(told)}/><host id="master_host" speed="1Gf"/>{hosts}')
    lengths = [31.7, 7.3, 12.9, 3.1, 55.3, 18.7]
    jobs = [
        {
            "id": f"j{number}",
            "subtime": number * 6.1,
            "res": 1 + number * 7 % 4,
            "walltime": 60,
            "profile": f"d{lengths[number % 6]}",
            "partition": "aababcaab"[number % 9],
        }
        for number in range(24)
    ]
    site = doors.Site(folder / "platform.xml", folder / "workload.json")
    site.platform.write_text(platform)
    site.workload.write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": delays(*lengths)}))
    return site


def test_runs_can_be_made_again_and_have_one_job_for_all_segments(tmp_path: Path) -> None:
    site = files(tmp_path)
    workload = json.loads(site.workload.read_text())
    folder = simulated(
        tmp_path, "slurm-backfill", site.platform, workload["jobs"], workload["profiles"], options=SUSPEND
    )
    assert checked(folder, "always").kept == []
    columns = read_columns(folder / "jobs.csv")
    lineage = read_lineage(folder / "lineage.csv", columns)
    assert len(lineage.first) == 24
    said = json.loads((folder / "result.json").read_text())["report"]["suspensions"]
    assert said == len(columns) - 24 > 3
    # What a rest goes on from is all that was done before: nothing of a job is lost.
    ran = columns.finish_time - columns.starting_time
    assert lineage.saved == pytest.approx([ran[before].sum() for before in ancestors(lineage.parent)], abs=1e-4)


def ancestors(parents: Any) -> list[list[int]]:
    """Return the rows that each row continues, of which the first one continues nothing."""
    found: list[list[int]] = []
    for row in range(len(parents)):
        found.append([])
        while (row := parents[row]) >= 0:
            found[-1].append(row)
    return found


def test_both_protocols_make_the_same_schedule(tmp_path: Path) -> None:
    site, name = files(tmp_path), "slurm-backfill[preempt=partition,preempt_mode=suspend]"
    here = doors.in_process(name, site, tmp_path / "here")
    assert any("~1" in job for job in here.rows)
    for version in ("4", "5"):
        assert doors._over_a_socket(version)(name, site, tmp_path / version) == here
