"""Jobs that choose among parts of the machine: of several partitions, and of nodes that all have the same feature."""

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from batdispatch.abilities.sites.doors.slurm_texts import read_constraint
from batdispatch.core.capacity.granularity import space_of
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.core.machine.features import ways
from batdispatch.core.machine.machine import Host, Machine
from sites import delays, hosts_of, platform_of, simulated

DISPATCHERS = [
    "fcfs", "filler", "easy", "easy[placement=best-fit]", "conservative", "slurm-backfill[tick=0,interval=0]"
]  # fmt: skip
ALL = 0b1111_1111


def queues(**partitions: dict[str, Any]) -> str:
    told = {"partitions": [{"name": name, **fields} for name, fields in partitions.items()]}
    return json.dumps(told).replace('"', "&quot;")


def machine(features: dict[int, str], **partitions: dict[str, Any]) -> str:
    """Return a platform of four hosts with features, and partitions if there are any."""
    hosts = []
    for number in range(4):
        said = f'<prop id="queues" value="{queues(**partitions)}"/>' if partitions and not number else ""
        said += f'<prop id="features" value="{features[number]}"/>' if number in features else ""
        hosts.append(f'<host id="h{number}" speed="1Gf">{said}</host>')
    return platform_of("\n".join(hosts))


def job(name: str, nodes: int, length: int, **fields: Any) -> dict[str, Any]:
    return {"id": name, "subtime": int(name), "res": nodes, "walltime": length, "profile": f"d{length}", **fields}


def runs(folder: Path, dispatcher: str, platform: str, jobs: list[dict[str, Any]]) -> dict[str, tuple[float, str]]:
    """Return when each job starts, in whole seconds, and where."""
    place = simulated(folder, dispatcher, platform, jobs, delays(10, 100, 1000))
    with (place / "jobs.csv").open(newline="") as file:
        rows = {row["job_id"]: row for row in csv.DictReader(file)}
    return {name: (float(row["starting_time"] or -1) // 1, row["allocated_resources"]) for name, row in rows.items()}


RACKS = {0: "r1 ib", 1: "r1 ib", 2: "r2 ib", 3: "r2"}


@pytest.mark.parametrize("dispatcher", DISPATCHERS)
@pytest.mark.parametrize(
    ("constraint", "start", "hosts"),
    [
        # One host of each rack is busy until 100 and 1000 s: only without brackets, two hosts suffice at once.
        ("r1|r2", 3.0, {"1 3"}),
        ("[r1|r2]", 100.0, {"0-1"}),
        ("[r2|r1]", 100.0, {"0-1"}),
        ("[r2]", 1001.0, {"2-3"}),
        ("[r1|r2]&ib", 100.0, {"0-1"}),
        ("[(r1|r2)&ib]", 1001.0, {"0-1", "1-2", "0 2"}),
        ("[r3|r2]", 1001.0, {"2-3"}),
    ],
)
def test_all_hosts_have_the_same_of_the_features_in_brackets(
    tmp_path: Path, dispatcher: str, constraint: str, start: float, hosts: set[str]
) -> None:
    first, second = job("0", 1, 100, constraint="r1"), job("1", 1, 1000, constraint="r2")
    if constraint == "[(r1|r2)&ib]":
        start = 100.0
    jobs = [first, second, job("3", 2, 10, constraint=constraint)]
    found = runs(tmp_path, dispatcher, machine(RACKS), jobs)
    assert found["3"][0] == start
    assert found["3"][1] in hosts


LEFT, RIGHT = {"hosts": ["h[0-1]"]}, {"hosts": ["h[2-3]"]}


@pytest.mark.parametrize("dispatcher", DISPATCHERS)
@pytest.mark.parametrize("field", ["partition", "partitions"])
def test_a_job_of_several_partitions_runs_in_the_first_with_room_for_all_of_it(
    tmp_path: Path, dispatcher: str, field: str
) -> None:
    """h0 is busy until 100 s and h2 until 1000 s: h1 and h3 are idle, and lie in two partitions."""
    jobs = [
        job("0", 1, 100, partition="left"),
        job("1", 1, 1000, partition="right"),
        job("2", 2, 10, **{field: "right,left"}),
    ]
    found = runs(tmp_path, dispatcher, machine({}, left=LEFT, right=RIGHT), jobs)
    assert found["2"] == (100.0, "0-1")


@pytest.mark.parametrize("dispatcher", ["easy", "slurm-backfill[tick=0,interval=0]"])
def test_limits_and_names_of_partitions_count_each_for_itself(tmp_path: Path, dispatcher: str) -> None:
    """The left one allows 50 s and one node; a job that none takes is rejected, as is one of partitions unknown."""
    left = LEFT | {"max_time": 50, "max_nodes": 1}
    jobs = [
        job("0", 1, 100, partition="left,right"),
        job("1", 2, 10, partition="left,right"),
        job("2", 1, 10, partition="left,right"),
        job("3", 2, 1000, partition="left,gone"),
        job("4", 1, 10, partition="gone,away"),
        job("5", 1, 10, partition="gone,left"),
    ]
    found = runs(tmp_path, dispatcher, machine({}, left=left, right=RIGHT), jobs)
    assert found["0"] == (0.0, "2")
    assert found["1"] == (100.0, "2-3")
    assert found["2"][1] == "0"
    assert [found[name][0] for name in ("3", "4")] == [-1, -1]
    assert found["5"][1] in ("0", "1")


def test_slurm_tries_partitions_of_higher_tiers_first(tmp_path: Path) -> None:
    """Job c goes before b, which came earlier, in the higher tier; d runs ahead of b on a host of the lower one."""
    fast = {"hosts": ["h[0-1]"], "tier": 5}
    jobs = [
        {**job("0", 4, 100, partition="slow"), "id": "a"},
        {**job("1", 4, 100, partition="slow"), "id": "b"},
        {**job("2", 2, 10, partition="slow,fast"), "id": "c"},
        {**job("3", 1, 10, partition="slow,fast"), "id": "d"},
    ]
    platform = machine({}, slow={"hosts": ["h[0-3]"], "default": True}, fast=fast)
    found = runs(tmp_path, "slurm-backfill[tick=0,interval=0]", platform, jobs)
    assert {name: start for name, (start, _) in found.items()} == {"a": 0, "c": 100, "d": 100, "b": 110}


def test_a_dispatcher_that_knows_no_choices_is_left_the_largest_part(tmp_path: Path) -> None:
    """`pcp20` puts jobs on hosts of its model: of partitions of one and of three hosts, it has those three."""
    platform = machine({}, left={"hosts": ["h0"]}, right={"hosts": ["h[1-3]"]})
    jobs = [job("0", 1, 100, partition="right"), job("1", 2, 10, partition="left,right")]
    found = runs(tmp_path, "pcp20[work=0.1]", platform, jobs)
    assert found["1"][1] in ("1-2", "2-3", "1 3")


@pytest.mark.parametrize("dispatcher", ["pcp20[work=0.1]", "easy"])
def test_the_part_that_is_left_is_one_in_which_the_job_can_run(tmp_path: Path, dispatcher: str) -> None:
    """Three hosts have room for one of the four units each, h3 for all of them."""
    memory = [f'<prop id="capacity" value="core=4 memory={4 if number == 3 else 1}"/>' for number in range(4)]
    told = f'<prop id="queues" value="{queues(many={"hosts": ["h[0-2]"]}, fat={"hosts": ["h3"]})}"/>'
    hosts = [f'<host id="h{each}" speed="1Gf">{memory[each]}{"" if each else told}</host>' for each in range(4)]
    jobs = [job("0", 4, 10, partition="many,fat", demand={"core": 1, "memory": 1})]
    assert runs(tmp_path, dispatcher, platform_of("\n".join(hosts)), jobs)["0"] == (0.0, "3")


def test_the_wait_of_a_job_in_a_smaller_part_is_explained(tmp_path: Path, call: Callable[..., Any]) -> None:
    """Job 2 waits for both partitions and starts in the one of one host, not in that of three."""
    platform = machine({}, left={"hosts": ["h0"]}, right={"hosts": ["h[1-3]"]})
    jobs = [
        job("0", 3, 1000, partition="right"),
        job("1", 1, 100, partition="left"),
        job("2", 1, 10, partition="left,right"),
    ]
    assert runs(tmp_path, "easy", platform, jobs)["2"] == (101.0, "0")
    status, out, err = call("explain-wait", tmp_path / "run", "2")
    assert (status, err) == (0, "")
    assert "waited 99 s" in out


@pytest.mark.parametrize("demand", [None, {"core": 1}])
def test_room_in_one_part_is_what_counts(demand: dict[str, int] | None) -> None:
    properties = {} if demand is None else {"capacity": "core=2"}
    space = space_of(Machine([Host(id=number, name=f"h{number}", properties=properties) for number in range(8)]))
    per_unit = None if demand is None else (("core", 1),)
    units = 3 if demand is None else 5
    parts = (0b0111, 0b0111_0000)
    asks = Job(id="j", request=Request(units=units, per_unit=per_unit, allowed=0b0111_0111, choices=parts))
    assert not asks.request.plain
    for there, fits in ((0b0011_0011, False), (0b0111_0001, True), (0b1111, True), (0b1000_1011, False)):
        assert space.fits(space.only(space.whole(), there), asks) is fits
    for hosts, wrong in ((0b0111, False), (0b0111_0000, False), (0b0011_0001, True)):
        told = Allocation.of([one for one in range(8) if hosts >> one & 1], None if demand is None else [2, 2, 1])
        assert bool(space.mismatch(asks, told)) is wrong


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a", [0b0000_1111]),
        ("[a|b]", [0b0000_1111, 0b0011_1100]),
        ("[a|c]", [0b0000_1111]),
        ("[c|a]&b", [0b0000_1100]),
        ("[a|b]&[c|d]", [0b0000_0001, 0b0011_0000]),
        ("b&[a&c|(a|b)&d]", [0b0011_0000]),
        ("[a", []),
        ("[a|]", []),
        ("[nothing|none]", []),
    ],
)
def test_parts_with_features(text: str, found: list[int]) -> None:
    """Parts that are empty or lie in others are no choices."""
    having = {"a": 0b0000_1111, "b": 0b0011_1100, "c": 0b0000_0001, "d": 0b0111_0000}
    assert list(ways(text, having, ALL)) == found


def test_of_more_ways_than_there_may_be_the_first_ones_count() -> None:
    """Host n has a<n>, even hosts have b and odd ones c: of 2 x 100 ways, those of the first 32 a come first."""
    having = {f"a{number}": 1 << number for number in range(100)} | {"b": int("01" * 50, 2), "c": int("10" * 50, 2)}
    text = "|".join(f"a{number}" for number in range(100))
    assert ways(f"[{text}]&[b|c]", having, 2**100 - 1) == tuple(1 << number for number in range(32))
    assert ways(f"[b|c]&[{text}]", having, 2**100 - 1) == tuple(1 << number for number in range(0, 64, 2))


@pytest.mark.parametrize(
    ("text", "nodes", "read_as", "note"),
    [
        ("[a|b]", 2, "[a|b]", ""),
        ("'a&b'", 2, "a&b", ""),
        ("a*4", 4, "a", ""),
        ("(a|b)*2&ib", 2, "(a|b)&ib", ""),
        ("a*4", 10, "", "some of their nodes"),
        ("a*4&ib", 10, "ib", "some of their nodes"),
        ("a*2&b*1", 3, "(a|b)", "numbers of nodes"),
        ("[a*2&b*1]", 3, "(a|b)", "numbers of nodes"),
        ("[(a&c)*2&b*1]&ib", 3, "((a&c)|b)&ib", "numbers of nodes"),
    ],
)
def test_numbers_of_nodes_with_features(text: str, nodes: int, read_as: str, note: str) -> None:
    found, said = read_constraint(text, nodes)
    assert found == read_as
    assert (note in said) is bool(note or not said)


def test_hosts_without_a_site_know_no_choice(tmp_path: Path) -> None:
    """On a machine that says nothing of partitions or features, their names mean nothing."""
    jobs = [job("0", 1, 10, partition="a,b"), job("1", 1, 10, constraint="[x|y]")]
    assert [start for start, _ in runs(tmp_path, "easy", platform_of(hosts_of(2)), jobs).values()] == [0.0, 1.0]


@pytest.mark.parametrize("fields", [{"partition": "a,b"}, {"partitions": ["a", "b"]}])
def test_names_of_partitions_mean_nothing_where_hosts_have_features_alone(
    tmp_path: Path, fields: dict[str, Any]
) -> None:
    jobs = [job("0", 4, 10, **fields), job("1", 2, 10, constraint="r2", **fields)]
    assert runs(tmp_path, "easy", machine(RACKS), jobs) == {"0": (0.0, "0-3"), "1": (10.0, "2-3")}


def test_an_empty_list_of_partitions_is_none_and_one_that_is_no_list_is_refused(
    tmp_path: Path, call: Callable[..., Any]
) -> None:
    """Job 4 lists one partition beside that in which it ran once; the audit knows that the list counts."""
    told: list[dict[str, Any]] = [
        {"partitions": []},
        {"partitions": None, "partition": "right"},
        {"partitions": 5},
        {"partitions": ["away"]},
        {"partitions": ["right"], "partition": "left"},
    ]
    jobs = [job(str(number), 2, 10, **fields) for number, fields in enumerate(told)]
    found = runs(tmp_path, "easy", machine({}, left=LEFT | {"default": True}, right=RIGHT), jobs)
    assert found == {"0": (0, "0-1"), "1": (1, "2-3"), "2": (-1, ""), "3": (-1, ""), "4": (11, "2-3")}
    said = (tmp_path / "run" / "result.json").read_text()
    assert "names its partitions 5, expected a list of names" in said
    assert "asks for partition away, the site has left, right" in said
    status, out, _ = call("check", tmp_path / "run")
    assert (status, "no violation" in out) == (0, True)


@pytest.mark.parametrize(
    ("allowed", "choices", "walltime", "longest"),
    [
        # Four hosts of `short`, two of `long`, one of these in `mid` as well: 60 s, any time, 90 s.
        (0b00_1111, (), 55, 60),
        (0b11_0000, (), 55, math.inf),
        (0b01_0000, (), 55, math.inf),
        (0b11_1111, (), 55, 60),
        (0b11_0000, (), 70, math.inf),
        (0b11_1111, (), 70, 90),
        (0b11_1111, (0b00_1111, 0b11_0000), 55, 60),
        (0b10_0000, (), 55, math.inf),
        (0b10_1000, (), 55, 60),
    ],
)
def test_a_walltime_may_grow_as_far_as_on_any_of_the_hosts_asked_for(
    allowed: int, choices: tuple[int, ...], walltime: float, longest: float
) -> None:
    told = {
        "partitions": [
            {"name": "short", "hosts": ["h[0-3]"], "max_time": 60},
            {"name": "mid", "hosts": ["h4"], "max_time": 90},
            {"name": "long", "hosts": ["h[4-5]"]},
        ]
    }
    site = Machine([Host(id=each, name=f"h{each}", properties={"queues": json.dumps(told)}) for each in range(6)]).site
    assert site is not None
    asks = Request(units=2, allowed=None if allowed == 0b11_1111 else allowed, choices=choices)
    job = Job(id="j", walltime=walltime, request=asks, extra={"partition": "short,mid,long"})
    assert (site.longest_there(job), site.longest(job)) == (longest, math.inf)


@pytest.mark.parametrize(("partition", "slow"), [("short", False), ("short,long", False), ("long", True)])
def test_no_job_is_slowed_down_beyond_the_limit_of_the_partition_that_it_is_left(
    tmp_path: Path, partition: str, slow: bool
) -> None:
    """The cap leaves power for two busy hosts at full speed; at half of it, 55 s become 110 s: `short` allows 60."""
    said = queues(short={"hosts": ["h[0-2]"], "max_time": 60}, long={"hosts": ["h[3-4]"]})
    power = '<prop id="wattage_per_state" value="10:10:100, 10:10:40"/>'
    first, others = f'{power}<prop id="queues" value="{said}"/>', hosts_of(5, power).replace("1Gf", "2Gf,1Gf")
    hosts = others.replace(power, first, 1)
    work = {"c": {"type": "parallel_homogeneous", "cpu": 80e9, "com": 0}}
    jobs = [
        {"id": name, "subtime": number, "res": 2, "walltime": 55, "profile": "c", "partition": named}
        for number, (name, named) in enumerate([("0", "short"), ("1", partition)], 1)
    ]
    place = simulated(tmp_path, "powered[cap=300,states=lower]", platform_of(hosts), jobs, work)
    with (place / "jobs.csv").open(newline="") as file:
        found = {row["job_id"]: (row["starting_time"], row["requested_time"]) for row in csv.DictReader(file)}
    end = found["1~2"] if slow else found["1"]
    assert end == (("2.000000", "110.000000") if slow else ("41.000000", "55.000000"))


@pytest.mark.parametrize("dispatcher", ["dmr", "resizing[dispatcher=easy]"])
def test_a_malleable_job_that_begins_on_one_host_grows_within_one_partition(tmp_path: Path, dispatcher: str) -> None:
    """It prefers four hosts, of which `left` has one and `right` three."""
    platform = machine({}, left={"hosts": ["h0"]}, right={"hosts": ["h[1-3]"]})
    sizes = {"least": 1, "most": 4, "kind": "malleable", "steps": 100, "period": 1, "preferred": 4}
    found = runs(tmp_path, dispatcher, platform, [job("0", 1, 100, partition="left,right", sizes=sizes)])
    assert found["0"][1] in ("1", "2", "3")
    assert set(found) == {"0", "0~2"}
    assert found["0~2"][1] in ("1-2", "2-3", "1 3")
