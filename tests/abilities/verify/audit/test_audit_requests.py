"""Each rule of the audit about what a job asks for finds the run that breaks it, and no other rule does."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from batdispatch.abilities.verify.audit.findings import Findings
from batdispatch.abilities.verify.audit.run import Auditor
from sites import delays, hosts_of, platform_of, simulated

Audit = Callable[..., Findings]
Fields = Mapping[str, Any]


def platform(properties: str = "") -> str:
    disk = '<host id="disk" speed="1Gf"><prop id="role" value="storage"/></host>'
    return platform_of(hosts_of(6, properties) + disk)


NODES = platform('<prop id="capacity" value="core=4 gpu=2"/>')
LICENSED = platform('<prop id="licences" value="matlab=2"/>')


@pytest.fixture
def audited(tmp_path: Path, write_jobs: Callable[..., Path]) -> Audit:
    """Audit jobs that ran in some way: id -> (fields in the workload, fields in the jobs file)."""

    def check(
        jobs: Mapping[str, tuple[Fields, Fields]], machine: str | None = None, units: str = "", lineage: str = ""
    ) -> Findings:
        (tmp_path / "p.xml").write_text(machine or platform())
        listed = [{"id": name, "subtime": 0, "res": 1, "profile": "d"} | asked for name, (asked, _) in jobs.items()]
        workload = {"nb_res": 6, "jobs": listed, "profiles": {"d": {"type": "delay", "delay": 10}}}
        (tmp_path / "w.json").write_text(json.dumps(workload))
        folder = write_jobs({name: {"profile": "d", **ran} for name, (_, ran) in jobs.items()})
        if units:
            (folder / "units.csv").write_text(f"job_id,allocated_resources,units\n{units}\n")
        (folder / "lineage.csv").unlink(missing_ok=True)
        if lineage:
            (folder / "lineage.csv").write_text(f"job_id,workload_name,parent\n{lineage}\n")
        return Auditor(platform=tmp_path / "p.xml", workload=tmp_path / "w.json").run(folder)

    return check


def test_features_on_whole_hosts_without_queues(tmp_path: Path) -> None:
    """More hosts than have a feature are never there for a job, and those that have it are."""
    machine = platform().replace(
        '<host id="h1" speed="1Gf">', '<host id="h1" speed="1Gf"><prop id="features" value="x"/>'
    )
    job = {"subtime": 0, "profile": "d10", "constraint": "x"}
    jobs = [{"id": "a", "res": 2, **job}, {"id": "b", "res": 1, **job}]
    run = simulated(tmp_path, "easy", machine, jobs, delays(10))
    rows = (run / "jobs.csv").read_text()
    assert rows.count("REJECTED") == rows.count("SUCCESSFULLY") == 1
    assert not Auditor().run(run).total


def late(**fields: Any) -> dict[str, Any]:
    return {"start": 10.0, "finish": 20.0, **fields}


#: kind -> (what job a asks for, how it ran right, how it ran wrong, in the message).
PLACES: dict[str, tuple[Fields, Fields, Fields, str]] = {
    "node list": ({"node_list": ["h1", "h2"]}, {"hosts": "1"}, {"hosts": "0"}, "host h0, time 0.000000: is not in its"),
    "excluded node": ({"exclude_nodes": ["h0"]}, {"hosts": "1"}, {"hosts": "0"}, "host h0, time 0.000000: is excluded"),
    "contiguous": (
        {"res": 2, "contiguous": True},
        {"units": 2, "hosts": "1-2"},
        {"units": 2, "hosts": "1 3"},
        "asked for consecutive nodes",
    ),
}


@pytest.mark.parametrize("kind", PLACES)
def test_where_a_job_may_run(audited: Audit, kind: str) -> None:
    asked, right, wrong, message = PLACES[kind]
    assert audited({"a": (asked, right)}).kept == []
    findings = audited({"a": (asked, wrong)})
    assert findings.counts == {kind: 1}
    assert message in str(findings.kept[0])


@pytest.mark.parametrize(
    ("kind", "asked", "right", "wrong", "message"),
    [
        ("nodes", {"nodes": [2, 3]}, ("0-1", "2 2"), ("0", "4"), "holds 1 nodes, asked for 2 to 3"),
        ("nodes", {"nodes": 2}, ("0-1", "2 2"), ("0-2", "2 1 1"), "holds 3 nodes, asked for 2 to 2"),
        (
            "units per node",
            {"units_per_node": 2},
            ("0-1", "2 2"),
            ("0-1", "2 1"),
            "host h1, time 0.000000: has 1 units there, asked for 2 on each node",
        ),
    ],
)
def test_in_what_form(
    audited: Audit, kind: str, asked: Fields, right: tuple[str, str], wrong: tuple[str, str], message: str
) -> None:
    def run(hosts: str, units: str) -> Findings:
        # The number of units is right in both, so that one rule is broken at a time.
        count = sum(map(int, units.split()))
        job = ({"res": count, "demand": {"core": 1}, **asked}, {"units": count, "hosts": hosts})
        return audited({"a": job}, NODES, f"a,{hosts},{units}")

    assert run(*right).kept == []
    findings = run(*wrong)
    assert findings.counts == {kind: 1}
    assert message in str(findings.kept[0])


def test_what_is_taken_once_on_every_node(audited: Audit) -> None:
    # Two GPUs on each node, whatever number of cores lands there: nobody else's GPU fits beside them.
    asked = {"res": 4, "demand": {"core": 1}, "per_node": {"gpu": 2}}
    other = {"demand": {"core": 1, "gpu": 1}}
    right = {"a": (asked, {"units": 4, "hosts": "0-1"}), "b": (other, {"hosts": "2"})}
    assert audited(right, NODES, "a,0-1,2 2").kept == []
    findings = audited({**right, "b": (other, {"hosts": "1"})}, NODES, "a,0-1,2 2")
    assert findings.counts == {"capacity": 1}
    assert "gpu in use 3, the host has 2" in findings.kept[0].message


def test_whole_nodes_are_shared_with_nobody_and_carry_what_fits(audited: Audit) -> None:
    asked = {"res": 2, "demand": {"core": 1}, "whole_nodes": True}
    other = {"demand": {"core": 1}}
    ran = {"a": (asked, {"units": 2, "hosts": "0"}), "b": (other, {"hosts": "1"})}
    assert audited(ran, NODES, "a,0,2").kept == []
    findings = audited({**ran, "b": (other, {"hosts": "0"})}, NODES, "a,0,2")
    assert findings.counts == {"capacity": 1}
    many = ({**asked, "res": 5}, {"units": 5, "hosts": "0"})
    findings = audited({"a": many}, NODES, "a,0,5")
    assert findings.counts == {"capacity": 1}
    assert "5 units of it use 5 core, the host has 4" in findings.kept[0].message


def test_licences_over_time(audited: Audit) -> None:
    asked = {"licences": {"matlab": 2}}
    jobs = {"a": (asked, {"hosts": "0"}), "b": (asked, late(hosts="1"))}
    assert audited(jobs, LICENSED).kept == []
    findings = audited({**jobs, "b": (asked, late(hosts="1", start=9.0, finish=19.0))}, LICENSED)
    assert findings.counts == {"licences": 1}
    assert "matlab in use 4, the machine has 2" in str(findings.kept[0])
    findings = audited({"a": ({"licences": {"maple": 1}}, {})}, LICENSED)
    assert findings.counts == {"licences": 1}
    assert "holds 1 maple, of which the machine has none" in str(findings.kept[0])


def test_the_storage_host_that_a_job_is_pinned_to(audited: Audit) -> None:
    assert audited({"a": ({"io_node": "disk"}, {})}).kept == []
    assert audited({"a": ({"io_node": ["disk"]}, {})}).kept == []
    findings = audited({"a": ({"io_node": ["disk", "h1"]}, {})})
    assert findings.counts == {"I/O node": 1}
    assert "'h1', which is no storage host" in str(findings.kept[0])


def test_dependencies_must_have_succeeded(audited: Audit) -> None:
    asked = {"dependencies": ["a"]}
    assert audited({"a": ({}, {}), "b": (asked, late(hosts="1"))}).kept == []
    findings = audited({"a": ({}, {}), "b": (asked, {"hosts": "1", "start": 9.0, "finish": 19.0})})
    assert findings.counts == {"dependency": 1}
    assert "depends on job a, which succeeded only at 10.000000" in str(findings.kept[0])
    failed = {"state": "COMPLETED_KILLED"}
    findings = audited({"a": ({}, failed), "b": (asked, late(hosts="1"))})
    assert findings.counts == {"dependency": 1}
    assert "depends on job a, which never succeeded" in str(findings.kept[0])
    findings = audited({"b": ({"dependencies": ["w0!z"]}, {})})
    assert "depends on job w0!z, which is not in the jobs file" in str(findings.kept[0])


#: Job `a` runs from 0 to 10; dependency of `b` -> its earliest start, and what is said of an earlier one.
CONDITIONS: list[tuple[dict[str, Any], float, str]] = [
    ({"job": "a", "delay": 2.5}, 12.5, "succeeded only at 10.000000, and waits for another 2.5 s"),
    ({"job": "a", "kind": "afterany"}, 10.0, "ended only at 10.000000"),
    ({"job": "a", "kind": "after", "delay": 4}, 4.0, "started only at 0.000000, and waits for another 4 s"),
    ({"kind": "singleton"}, 10.0, "is to run alone of its name, and job a ended only at 10.000000"),
]


@pytest.mark.parametrize(("asked", "least", "said"), CONDITIONS)
def test_each_kind_of_dependency_has_its_moment(audited: Audit, asked: dict[str, Any], least: float, said: str) -> None:
    def start(at: float) -> Findings:
        ran = {"hosts": "1", "start": at, "finish": at + 10}
        return audited({"a": ({"name": "n"}, {}), "b": ({"name": "n", "dependencies": [asked]}, ran)})

    assert start(least).kept == []
    findings = start(least - 0.5)
    assert findings.counts == {"dependency": 1}
    assert said in str(findings.kept[0])


def test_who_waits_for_a_failure_does_not_start_after_a_success(audited: Audit) -> None:
    asked = {"dependencies": [{"job": "a", "kind": "afternotok"}]}
    findings = audited({"a": ({}, {}), "b": (asked, late(hosts="1"))})
    assert findings.counts == {"dependency": 1}
    assert "depends on the failure of job a, which succeeded" in str(findings.kept[0])
    assert audited({"a": ({}, {"state": "COMPLETED_KILLED"}), "b": (asked, late(hosts="1"))}).kept == []


QUEUES = platform().replace(
    'routing="Full">',
    """routing="Full"><prop id="queues" value='{"partitions": [{"name": "a", "hosts": ["h[0-2]"], "max_nodes": 1},
    {"name": "b", "hosts": ["h[2-5]"], "max_time": 9.5, "default": true}],
    "qos": [{"name": "q", "max_nodes": 3}]}'/>""",
)


@pytest.mark.parametrize(
    ("asked", "ran", "kind", "said"),
    [
        ({"partition": "a"}, {"hosts": "3"}, "partition", "host h3, time 0.000000: is not in its partition a"),
        ({"partition": "c"}, {"hosts": "0"}, "partition", "is in partition 'c', which the site does not have"),
        ({}, {"hosts": "0", "finish": 9.0}, "partition", "is not in its partition b"),
        ({"walltime": 50}, {"hosts": "3"}, "queue limit", "ran longer than the 9.5 s that its partition b allows"),
        ({"partition": "a", "res": 2}, {"hosts": "0-1"}, "queue limit", "holds 2 nodes, its partition a allows 1"),
    ],
)
def test_jobs_run_in_their_partitions_and_within_limits(
    audited: Audit, asked: Fields, ran: dict[str, Any], kind: str, said: str
) -> None:
    assert audited({"a": ({"partition": "a", "qos": "q"}, {"hosts": "2"})}, QUEUES).kept == []
    findings = audited({"a": (asked, ran)}, QUEUES)
    assert kind in findings.counts
    assert any(said in str(found) for found in findings.kept)


RESERVED = platform().replace(
    'routing="Full">',
    """routing="Full"><prop id="queues" value='{"reservations": [{"name": "r", "start": 5, "end": 30, "users": ["ada"],
    "hosts": ["h[0-1]"]}]}'/>""",
)


def told(asked: Fields, ran: dict[str, Any]) -> dict[str, Any]:
    """Return how a job ran with the walltime that it asked for."""
    return ran | ({"walltime": asked["walltime"]} if "walltime" in asked else {})


@pytest.mark.parametrize(
    ("asked", "ran", "said"),
    [
        (
            {"walltime": 20},
            {"hosts": "1-2"},
            "host h1, time 0.000000: may run until 20.000000, and",
        ),
        ({}, {"hosts": "0"}, "may run until inf"),
        ({"user": "eve"}, {"hosts": "0", "start": 29.0, "finish": 39.0}, "reservation r keeps this host from 5"),
        ({"user": "ada", "walltime": 20, "reservation": "r"}, {"hosts": "2", "start": 6.0, "finish": 16.0}, "its res"),
        ({"user": "ada", "walltime": 20, "reservation": "r"}, {"hosts": "0"}, "is to run within its reservation r"),
        (
            {"user": "ada", "walltime": 20, "reservation": "r"},
            {"hosts": "0", "start": 11.0, "finish": 21.0},
            "is to run within its reservation r, and does not",
        ),
    ],
)
def test_a_reservation_keeps_others_out_and_its_own_jobs_in(
    audited: Audit, asked: Fields, ran: dict[str, Any], said: str
) -> None:
    size = {"res": 2} if "-" in ran["hosts"] else {}
    findings = audited({"a": ({**asked, **size}, told(asked, ran))}, RESERVED)
    assert "reservation" in findings.counts
    assert any(said in str(found) for found in findings.kept)


@pytest.mark.parametrize(
    ("asked", "ran"),
    [
        ({"walltime": 20}, {"hosts": "2"}),
        ({"user": "ada"}, {"hosts": "0"}),
        ({"walltime": 12}, {"hosts": "0", "start": 30.0, "finish": 40.0}),
        ({"user": "ada", "walltime": 20, "reservation": "r"}, {"hosts": "0", "start": 9.5, "finish": 19.5}),
    ],
)
def test_who_keeps_out_of_a_reservation_or_is_let_in_is_right(
    audited: Audit, asked: Fields, ran: dict[str, Any]
) -> None:
    assert audited({"a": (asked, told(asked, ran))}, RESERVED).kept == []


def test_no_more_tasks_of_an_array_run_than_may(audited: Audit) -> None:
    def task(index: int, name: str = "x") -> dict[str, Any]:
        return {"array": {"id": name, "index": index, "limit": 2}}

    jobs = {"a": (task(0), {}), "b": (task(1), {"hosts": "1"})}
    assert audited({**jobs, "c": (task(2), late(hosts="2")), "d": (task(0, "y"), {"hosts": "3"})}).kept == []
    findings = audited({**jobs, "c": (task(2), {"hosts": "2", "start": 9.0, "finish": 19.0})})
    assert findings.counts == {"array": 1}
    assert "is task number 3 of array x that runs, of which 2 may" in str(findings.kept[0])


def test_a_dependency_is_on_the_logical_job(audited: Audit) -> None:
    killed = {"state": "COMPLETED_KILLED"}
    jobs = {"a": ({}, killed), "a~2": ({}, late()), "b": ({"dependencies": ["a"]}, late(hosts="1"))}
    findings = audited({**jobs, "b": (jobs["b"][0], {"hosts": "1", "start": 20.0, "finish": 30.0})}, lineage="a~2,w0,a")
    assert findings.kept == []
    findings = audited(jobs, lineage="a~2,w0,a")
    assert findings.counts == {"dependency": 1}
    assert "succeeded only at 20.000000" in str(findings.kept[0])
    # Without the record they are two jobs, of which the one that was depended on was killed.
    findings = audited({**jobs, "b": (jobs["b"][0], {"hosts": "1", "start": 20.0, "finish": 30.0})})
    assert "never succeeded" in str(findings.kept[0])


def test_a_segment_starts_after_the_one_that_it_continues(audited: Audit) -> None:
    killed = {"state": "COMPLETED_KILLED"}
    jobs = {"a": ({}, killed), "a~2": ({}, {"hosts": "1", "start": 8.0, "finish": 18.0})}
    assert audited(jobs).kept == []
    findings = audited(jobs, lineage="a~2,w0,a")
    assert findings.counts == {"lineage": 1}
    assert "job a~2, time 8.000000: continues job a, which ended only at 10.000000" in str(findings.kept[0])
    findings = audited({"a": ({}, {"state": "REJECTED"}), "a~2": ({}, {})}, lineage="a~2,w0,a")
    assert "continues job a, which was rejected" in str(findings.kept[0])


def test_a_segment_that_was_registered_takes_what_the_first_one_asks_for(
    audited: Audit, tmp_path: Path, write_jobs: Callable[..., Path]
) -> None:
    killed = {"state": "COMPLETED_KILLED"}
    asked = {"demand": {"core": 3}}
    beside = {"demand": {"core": 1}}
    audited({"a": (asked, killed), "b": (beside, late())}, NODES)
    folder = write_jobs(
        {name: {"profile": "d", **ran} for name, ran in {"a": killed, "a~2": late(), "b": late()}.items()}
    )
    (folder / "result.json").write_text('{"dynamic_jobs": true}')
    auditor = Auditor(platform=tmp_path / "p.xml", workload=tmp_path / "w.json")
    # A registered job of which nothing is known is taken to hold its node wholly.
    assert auditor.run(folder).counts == {"capacity": 1}
    (folder / "lineage.csv").write_text("job_id,workload_name,parent\na~2,w0,a\n")
    assert auditor.run(folder).kept == []
