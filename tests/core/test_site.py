"""What a site says of its queues: who is in which, on what hosts, and who is refused."""

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from batdispatch.abilities.sites.doors.queues import read_queues, with_queues
from batdispatch.core.errors import InputError
from batdispatch.core.hosts.names import expand
from batdispatch.core.jobs.job import JobState
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.inputs.platforms import read_platform
from simulating import Result, Task, micro, simulate
from strategies import make_job

BATCH = {"name": "batch", "hosts": ["n[0-3]"], "default": True, "priority": 4}
DEBUG = {"name": "debug", "hosts": ["n[3-5]"], "max_time": 100.0, "max_nodes": 2, "priority": 8}


def machine(*partitions: dict[str, Any], qos: list[dict[str, Any]] | None = None, capacity: str = "") -> Machine:
    told = json.dumps({"partitions": list(partitions), "qos": qos or []})
    common = {"capacity": capacity} if capacity else {}
    hosts = [Host(id=i, name=f"n{i}", properties=common | ({"queues": told} if not i else {})) for i in range(6)]
    return Machine(hosts)


def named(name: str, **more: Any) -> dict[str, Any]:
    return {"partition": name, **more}


def ran(result: Result) -> dict[str, tuple[float, str]]:
    return {row.id: (row.start / 1e6, row.hosts) for row in result.rows.values() if row.state is not JobState.REJECTED}


@pytest.mark.parametrize("dispatcher", ["fcfs", "filler", "easy", "easy[reservation=hosts]", "conservative"])
def test_a_job_gets_hosts_of_its_partition_only(dispatcher: str) -> None:
    result = simulate(
        machine(BATCH, DEBUG),
        [
            Task("1", 0.0, 4, 10.0, 20.0),
            Task("2", 0.0, 2, 10.0, 20.0, extra=named("debug")),
            Task("3", 0.0, 2, 10.0, 20.0, extra=named("debug")),
        ],
        dispatcher,
    )
    assert ran(result) == {"1": (0.0, "0-3"), "2": (0.0, "4-5"), "3": (10.0, "3-4")}


def reason(site: Machine, task: Task) -> str:
    ledger = simulate(site, [task], "fcfs").ledger
    return ledger.rejections[0][1] if ledger.rejections else ""


REFUSED: list[tuple[Task, str]] = [
    (Task("j", 0.0, 1, 1.0, extra=named("gone")), "asks for partition gone, the site has batch, debug"),
    (Task("j", 0.0, 1, 1.0, extra=named("debug")), "asks for no walltime, partition debug allows 100 s"),
    (Task("j", 0.0, 1, 1.0, 200.0, extra=named("debug")), "asks for 200 s, partition debug allows 100 s"),
    (Task("j", 0.0, 3, 1.0, 10.0, extra=named("debug")), "asks for 3 nodes, partition debug allows 2"),
    (Task("j", 0.0, 5, 1.0), "asks for 5 hosts, the part of the machine that is open to it has room for 4"),
    (Task("j", 0.0, 1, 1.0, extra={"qos": "best"}), "asks for QOS best, the site has small"),
    (Task("j", 0.0, 3, 1.0, extra={"qos": "small"}), "asks for 3 nodes, QOS small allows 2"),
]


@pytest.mark.parametrize(("task", "said"), REFUSED, ids=[said for _, said in REFUSED])
def test_who_is_refused_hears_why(task: Task, said: str) -> None:
    small = {"name": "small", "max_nodes": 2}
    assert reason(machine(BATCH, DEBUG, qos=[small] if "qos" in task.extra else []), task) == said


def test_who_names_no_partition_needs_a_default_or_a_single_one() -> None:
    task = Task("j", 0.0, 1, 1.0, 10.0)
    assert reason(machine(DEBUG, BATCH | {"default": False}), task) == (
        "names no partition and there is no default, the site has batch, debug"
    )
    assert reason(machine(DEBUG), task) == ""


def test_a_limit_of_nodes_hides_no_contradiction() -> None:
    site = machine(DEBUG | {"default": True}, BATCH | {"default": False}, capacity="core=2")
    for nodes in ([3, 5], [2, 5]):
        task = Task("j", 0.0, 1, 5.0, 10.0, extra={"nodes": nodes})
        assert reason(site, task).endswith("nodes, its 1 units take 1")


def test_fields_mean_nothing_where_the_site_says_nothing() -> None:
    strange = named("gone", qos="best")
    assert reason(Machine.flat(2), Task("j", 0.0, 1, 1.0, extra=strange)) == ""
    assert reason(machine(qos=[{"name": "high"}]), Task("j", 0.0, 1, 1.0, extra=named("gone"))) == ""


def test_a_limit_of_nodes_holds_where_the_job_chooses_how_many_it_uses() -> None:
    site = machine(DEBUG | {"default": True}, BATCH | {"default": False}, capacity="core=2")
    task = Task("j", 0.0, 4, 5.0, 10.0, {"core": 1})
    # Core by core it would fit three nodes when another job has a core of each.
    others = [Task(f"i{i}", 0.0, 1, 9.0, 10.0, {"core": 1}, extra={"node_list": [f"n{i}"]}) for i in (3, 4, 5)]
    result = simulate(site, [*others, task], "filler")
    assert ran(result)["j"][0] == 9.0
    assert len(result.rows["j"].units) == 2


def test_a_partition_is_a_property_of_hosts_or_of_the_file() -> None:
    hosts = [
        Host(id=0, name="a", properties={"partition": "x, y"}),
        Host(id=1, name="b", properties={"partition": "y"}),
        Host(id=2, name="io", properties={"partition": "x"}, storage=True),
    ]
    site = Machine(hosts).site
    assert site is not None
    assert site.hosts == {"x": 0b1, "y": 0b11}
    assert site.fitted(make_job(partition="x")).request.allowed == 0b1
    whole = make_job(partition="y")
    assert site.fitted(whole) is whole, "all hosts are no restriction"
    assert Machine.flat(3).site is None


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"partitions": [BATCH, BATCH]}, "partition 'batch' is there twice"),
    ({"partitions": [BATCH | {"hosts": ["n9"]}]}, "partition 'batch' has host 'n9', which is not there"),
    ({"partitions": [BATCH | {"hosts": ["n[1-"]}]}, "'n[1-' is no list of hosts"),
    ({"partitions": [BATCH | {"hosts": ["n[3-1]"]}]}, "found '3-1' in brackets"),
    ({"partitions": [BATCH | {"hosts": []}]}, "partition 'batch' has no host"),
    ({"partitions": [{"name": "x y", "hosts": ["n1"]}]}, "expected a name without spaces and commas"),
    ({"partitions": [BATCH | {"max_time": 0.0}]}, "max_time is 0, expected seconds above 0"),
    ({"partitions": [BATCH | {"max_nodes": 0}]}, "max_nodes is 0, expected at least 1"),
    ({"partitions": [BATCH | {"priority": -1}]}, "priority is -1"),
    ({"partitions": [BATCH, DEBUG | {"default": True}]}, "'batch' and 'debug' are both the default"),
    ({"qos": [{"name": "a", "hosts": ["n1"]}]}, "unknown field `hosts`"),
    ({"queue": []}, "unknown field `queue`"),
]


@pytest.mark.parametrize(("told", "said"), WRONG, ids=[said for _, said in WRONG])
def test_a_wrong_site_is_refused(told: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refusal:
        Machine([Host(id=i, name=f"n{i}", properties={"queues": json.dumps(told)}) for i in range(6)])
    assert said in str(refusal.value)


def test_hosts_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(InputError, match="hosts a and b state different queues"):
        Machine([Host(id=i, name=name, properties={"queues": "{}" + " " * i}) for i, name in enumerate("ab")])


HUGE = ["n[0-9999999]", "n[0-99999][0-99999]", "n[0-999999]", "[0-9]" * 30, "n[0-99999999999999]"]


@pytest.mark.parametrize("text", HUGE)
def test_brackets_beyond_the_hosts_that_are_there_are_refused_in_little_memory(text: str) -> None:
    hosts = [
        Host(id=i, name=f"n{i}", properties={"queues": json.dumps({"partitions": [BATCH | {"hosts": [text]}]})})
        for i in range(6)
    ]
    tracemalloc.start()
    try:
        with pytest.raises(
            InputError, match=r"too many hosts, expected at most 1,000,000|'n6', which is not there|no li"
        ):
            Machine(hosts)
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_texts_together_stand_for_no_more_hosts_than_a_machine_may_have() -> None:
    assert sum(1 for _ in expand("n[0-9]", "m[0-9]", "n[0-9]")) == 30
    with pytest.raises(InputError, match=r"'m\[0-999999\]' stands for too many hosts"):
        list(expand("n1", "m[0-999999]"))


def test_names_of_hosts_in_short() -> None:
    assert list(expand("n[08-11,2]x")) == ["n08x", "n09x", "n10x", "n11x", "n2x"]
    assert list(expand("r[1-2]n[0,3]")) == ["r1n0", "r1n3", "r2n0", "r2n3"]
    assert list(expand("login")) == ["login"]


# ---------------------------------------------------------------------- the file

TOML = """
[partitions.batch]
hosts = "n[0-1]"
default = true
max_time = "1-00:00:00"

[qos.high]
priority = 100
"""
XML = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="z" routing="Full">
    <host id="master_host" speed="1Gf"/>
    <host id="n0" speed="1Gf"/><host id="n1" speed="1Gf"/><host id="n2" speed="1Gf"/>
  </zone>
</platform>
"""


def test_a_file_of_queues_goes_into_a_platform(tmp_path: Path) -> None:
    (tmp_path / "p.xml").write_text(XML)
    (tmp_path / "q.toml").write_text(TOML)
    made = tmp_path / "site.xml"
    made.write_bytes(with_queues(tmp_path / "p.xml", tmp_path / "q.toml"))
    machine = read_platform(made).machine
    assert machine.site is not None
    assert machine.site.hosts == {"batch": 0b11}
    assert machine.site.partitions["batch"].max_time == 86_400
    assert sum("queues" in host.properties for host in machine.hosts) == 1, "one host tells it for all"
    again = tmp_path / "again.xml"
    (tmp_path / "q.toml").write_text(TOML.replace("high", "low"))
    again.write_bytes(with_queues(made, tmp_path / "q.toml"))
    site = read_platform(again).machine.site
    assert site is not None
    assert list(site.qos) == ["low"], "what was there is replaced"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[partitions.long]\nmax_time = 60", "partition 'long' has no host"),
        ("[partitions.long]\nhosts = ['zz1']", "partition 'long' has host 'zz1', which is not there"),
    ],
)
def test_queues_that_do_not_fit_the_platform_are_refused_before_anything_is_written(
    tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "p.xml").write_text(XML)
    (tmp_path / "q.toml").write_text(text)
    with pytest.raises(InputError) as refusal:
        with_queues(tmp_path / "p.xml", tmp_path / "q.toml")
    assert str(refusal.value) == f"{tmp_path / 'q.toml'}: does not fit {tmp_path / 'p.xml'}: {said}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[partitions", "is no TOML"),
        ("[partition.batch]", "did you mean 'partitions'"),
        ("partitions = 3", "expected tables such as [partitions.NAME]"),
        ("[partitions.x]\nmax_time = 'soon'", "partitions.x: max_time is 'soon', expected seconds, or a time"),
        ("[qos.x]\npriority = 'high'", "Expected `int`, got `str`"),
        ("[qos.x]\nhost = 'a'", "unknown field `host`"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "q.toml"
    path.write_text(text)
    with pytest.raises(InputError) as refusal:
        read_queues(path)
    assert said in str(refusal.value)
    assert "q.toml" in str(refusal.value)


# ---------------------------------------------------------------------- priorities


def test_multifactor_weighs_partition_and_quality_of_service() -> None:
    both = {"hosts": ["n[0-3]"]}
    told = machine(
        {"name": "a", "priority": 4, **both},
        {"name": "b", "priority": 8, **both},
        qos=[{"name": "high", "priority": 10}, {"name": "low", "priority": 5}],
    )
    site = told.site
    assert site is not None
    assert (site.partition_factor(make_job(partition="a")), site.partition_factor(make_job(partition="b"))) == (
        0.5,
        1.0,
    )
    assert (site.qos_factor(make_job(qos="low")), site.qos_factor(make_job())) == (0.5, 0.0)
    tasks = [
        Task("busy", 0.0, 4, 5.0, extra=named("a")),
        Task("1", 1.0, 4, 10.0, extra=named("a")),
        Task("2", 2.0, 4, 10.0, extra=named("b")),
        Task("3", 3.0, 4, 10.0, extra=named("a", qos="high")),
        Task("4", 4.0, 4, 10.0, extra=named("b", qos="low")),
    ]

    def order(weights: str) -> list[str]:
        starts = simulate(told, tasks, f"fcfs[ordering=multifactor[{weights}]]").starts()
        return sorted(starts, key=starts.__getitem__)[1:]

    assert order("age=1") == ["1", "2", "3", "4"]
    assert order("partition=1000") == ["2", "4", "1", "3"]
    assert order("qos=1000") == ["3", "4", "1", "2"]
    assert order("qos=1000,partition=2000") == ["4", "2", "3", "1"]


@pytest.mark.parametrize(
    ("layer", "extra"),
    [
        ("attempts[dispatcher=fcfs]", {"runtime_law": "uniform:5,30"}),
        ("resizing[dispatcher=fcfs]", {"sizes": {"least": 1, "most": 4, "kind": "malleable", "steps": 4}}),
    ],
)
def test_layers_keep_within_the_limits_of_a_partition(layer: str, extra: dict[str, Any]) -> None:
    site = machine({"name": "batch", "hosts": ["n[0-3]"], "max_time": 12.0, "max_nodes": 2})
    result = simulate(site, [Task("j", 0.0, 1, 20.0, 12.0, extra=extra)], layer)
    assert result.ledger.rejections == []
    for row in result.rows.values():
        assert row.end - row.start <= micro(12.0)
        assert len(row.units) <= 2
