"""Every rule of the audit finds the corruption it is there for, and only that one; a right run has no violation."""

import json
import re
import shutil

import pytest

from batdispatch.abilities.verify.audit.findings import Findings, Violation
from batdispatch.abilities.verify.audit.run import Auditor
from batdispatch.core.errors import InputError
from sites import hosts_of, platform_of

PLAIN = platform_of(hosts_of(4))
NODES = platform_of(
    "".join(f'<host id="h{i}" speed="1Gf"><prop id="capacity" value="core=4 gpu={i % 2}"/></host>' for i in range(4))
)


@pytest.fixture
def site(tmp_path):
    """Write a platform and a workload and return an auditor for them."""

    def make(jobs, platform=PLAIN, **options):
        (tmp_path / "p.xml").write_text(platform)
        listed = [{"id": name, "subtime": 0, "res": 1, "profile": "p"} | fields for name, fields in jobs.items()]
        profiles = {"p": {"type": "delay", "delay": 10}, "total": {"type": "parallel_homogeneous_total", "cpu": 1e9}}
        profiles["total"]["com"] = 0
        text = json.dumps({"nb_res": 4, "jobs": listed, "profiles": profiles})
        (tmp_path / "w.json").write_text(text)
        return Auditor(platform=tmp_path / "p.xml", workload=tmp_path / "w.json", **options)

    return make


#: kind of violation -> (job a's fields in the workload, in the jobs file, in the message)
CORRUPTIONS = {
    "early start": ({"subtime": 5}, {"submission": 5.0, "start": 3.0, "finish": 13.0}, "before its submission"),
    "submission": ({"subtime": 5}, {"submission": 5.5, "start": 6.0, "finish": 16.0}, "the workload says 5.000000"),
    "request": ({"res": 2}, {"units": 1}, "is 1, the workload says 2"),
    "walltime asked": ({"walltime": 60}, {"walltime": 50}, "is 50, the workload says 60"),
    "walltime exceeded": ({"walltime": 10.5}, {"walltime": 10.5, "finish": 11.0}, "its walltime is 10.5 s"),
    "walltime not reached": (
        {"walltime": 8},
        {"walltime": 8, "finish": 5.0, "state": "COMPLETED_WALLTIME_REACHED"},
        "after 5.000000 s",
    ),
    "run time": ({}, {"finish": 10.001}, "its profile takes 10.000000 s"),
    "cut short": (
        {"walltime": 20},
        {"walltime": 20, "finish": 20.0, "state": "COMPLETED_WALLTIME_REACHED"},
        "its profile takes 10.000000 s",
    ),
    "allocation size": ({"res": 2}, {"units": 2, "hosts": "0-2"}, "holds 3 units, asked for 2"),
    "host": ({}, {"hosts": "9"}, "the platform, which has 4 hosts"),
    "host twice": ({"res": 3}, {"units": 3, "hosts": "0-1 1"}, "names a host more than once"),
}


@pytest.mark.parametrize(
    ("hosts", "twice"), [("2 0-1", False), ("2 0-1 3", False), ("3 0-1 1", True), ("2-3 0-2", True)]
)
def test_a_host_set_may_be_written_in_any_order(site, write_jobs, hosts, twice):
    units = sum(int(part.split("-")[-1]) - int(part.split("-")[0]) + 1 for part in hosts.split())
    auditor = site({"a": {"res": units}, "b": {"subtime": 100}})
    folder = write_jobs(
        {"a": {"units": units, "hosts": hosts}, "b": {"submission": 100.0, "start": 100.0, "finish": 110.0}}
    )
    assert ("host twice" in auditor.run(folder).counts) == twice


@pytest.mark.parametrize("kind", CORRUPTIONS)
def test_finds_each_corruption_and_nothing_else(site, write_jobs, kind):
    asked, found, message = CORRUPTIONS[kind]
    # The job that is right stands elsewhere, later.
    auditor = site({"a": asked, "b": {"subtime": 100}})
    folder = write_jobs({"a": found, "b": {"submission": 100.0, "start": 100.0, "finish": 110.0, "hosts": "3"}})
    findings = auditor.run(folder)
    expected = {kind: 1}
    if kind == "walltime exceeded":
        expected["run time"] = 1
    assert findings.counts == expected
    violation = findings.kept[-1] if kind != "walltime exceeded" else findings.kept[0]
    assert violation.job == "a"
    assert message in str(violation)


def edit(folder, pattern, replacement):
    path = folder / "jobs.csv"
    text, count = re.subn(pattern, replacement, path.read_text(), count=1)
    assert count == 1
    path.write_text(text)


@pytest.mark.parametrize(
    ("kind", "pattern", "replacement"),
    [
        ("execution time", r"0\.000000,10\.000000,10\.000000", "0.000000,9.000000,10.000000"),
        ("waiting time", r"10\.000000,0\.000000,10\.000000", "10.000000,1.000000,10.000000"),
        ("turnaround time", r"10\.000000,0\.000000,10\.000000", "10.000000,0.000000,12.000000"),
        ("waiting time", r"10\.000000,0\.000000,10\.000000", "10.000000,,10.000000"),
        ("state", r"1,COMPLETED_SUCCESSFULLY", "0,COMPLETED_SUCCESSFULLY"),
        ("state", r"1,COMPLETED_SUCCESSFULLY", "1,COMPLETED_KILLED"),
    ],
)
def test_finds_rows_that_contradict_themselves(site, write_jobs, kind, pattern, replacement):
    auditor = site({"a": {}, "b": {}})
    folder = write_jobs({"a": {}, "b": {"hosts": "1"}})
    assert auditor.run(folder).total == 0
    edit(folder, pattern, replacement)
    assert auditor.run(folder).counts == {kind: 1}


def test_jobs_missing_unknown_and_twice(site, write_jobs):
    auditor = site({"a": {}, "b": {}})
    folder = write_jobs({"a": {}, "x": {"hosts": "1"}})
    lines = (folder / "jobs.csv").read_text().splitlines()
    (folder / "jobs.csv").write_text("\n".join([*lines, lines[1]]) + "\n")
    findings = auditor.run(folder)
    assert findings.counts == {"job twice": 1, "unknown job": 1, "missing job": 1, "capacity": 1}
    assert {v.kind: v.job for v in findings.kept} | {} == {
        "job twice": "a",
        "unknown job": "x",
        "missing job": "b",
        "capacity": "a",
    }


def test_jobs_registered_while_it_ran_are_no_violation(site, write_jobs):
    auditor = site({"a": {}})
    folder = write_jobs({"a": {}, "x": {"hosts": "1"}})
    (folder / "result.json").write_text('{"dynamic_jobs": true}')
    assert auditor.run(folder).total == 0


def test_rejected_jobs(site, write_jobs):
    auditor = site({"a": {}, "b": {}})
    folder = write_jobs({"a": {}, "b": {"state": "REJECTED"}})
    assert auditor.run(folder).total == 0
    edit(folder, r"REJECTED,,,,,,,", "REJECTED,5,,15,,,,2")
    assert auditor.run(folder).counts == {"rejected and run": 2}


def test_exclusive_hosts_are_not_shared(site, write_jobs):
    auditor = site({"a": {"res": 2}, "b": {"res": 2}})
    folder = write_jobs(
        {"a": {"hosts": "0-1", "units": 2}, "b": {"hosts": "1-2", "units": 2, "start": 4.0, "finish": 14.0}}
    )
    [violation] = auditor.run(folder).kept
    assert (violation.kind, violation.job, violation.host, violation.time) == ("capacity", "b", "h1", 4.0)
    assert "job a until 10.000000" in violation.message


def test_the_master_is_no_compute_host(site, write_jobs, tmp_path):
    site({"a": {}})
    folder = write_jobs({"a": {"hosts": "3"}})
    auditor = Auditor(platform=tmp_path / "p.xml", workload=tmp_path / "w.json", master="h0")
    [violation] = auditor.run(folder).kept
    assert violation.kind == "host"


def test_storage_hosts_run_no_jobs(site, write_jobs):
    disk = '<host id="disk" speed="1Gf"><prop id="role" value="storage"/></host>'
    auditor = site({"a": {}}, platform_of(f'<host id="h0" speed="1Gf"/>{disk}'))
    assert auditor.run(write_jobs({"a": {"hosts": "0"}})).total == 0
    [violation] = auditor.run(write_jobs({"a": {"hosts": "1"}})).kept
    assert (violation.kind, violation.host, violation.message) == ("host", "disk", "is no compute host")


def test_several_resources_on_a_node(site, write_jobs):
    jobs = {
        "a": {"res": 3, "demand": {"core": 1}},
        "b": {"res": 1, "demand": {"core": 2, "gpu": 1}},
        "whole": {"res": 1},
    }
    auditor = site(jobs, NODES)
    right = {
        "a": {"units": 3, "hosts": "0-1"},
        "b": {"units": 1, "hosts": "1"},
        "whole": {"units": 1, "hosts": "2"},
    }
    folder = write_jobs(right)
    (folder / "units.csv").write_text("job_id,allocated_resources,units\na,0-1,1 2\n")
    assert auditor.run(folder).total == 0
    # One unit more on host 1: 3 + 2 cores of 4.
    (folder / "units.csv").write_text("job_id,allocated_resources,units\na,0-1,1 3\n")
    findings = auditor.run(folder)
    assert findings.counts == {"allocation size": 1, "capacity": 1}
    assert "core in use 5, the host has 4" in findings.kept[-1].message
    assert findings.kept[-1].host == "h1"
    # Host 0 has no gpu; a whole node is not shared.
    write_jobs(right | {"b": {"units": 1, "hosts": "0"}, "whole": {"units": 1, "hosts": "1"}})
    (folder / "units.csv").write_text("job_id,allocated_resources,units\na,0-1,1 2\n")
    messages = sorted(v.message for v in auditor.run(folder).kept)
    assert messages == ["core in use 6, the host has 4", "gpu in use 1, the host has 0"]


def test_a_profile_that_divides_its_work_runs_on_any_number_of_hosts(site, write_jobs):
    auditor = site({"a": {"res": 1, "profile": "total"}})
    findings = auditor.run(write_jobs({"a": {"hosts": "0-3", "profile": "total"}}))
    assert findings.total == 0
    assert "1 jobs have profiles" in findings.skipped["run time"]


@pytest.mark.parametrize("algorithm", ["fcfs_fast", "easy_bf", "conservative_bf", "filler"])
@pytest.mark.parametrize("workload", ["steady", "crowded", "burst"])
def test_nothing_is_wrong_with_what_batsim_did(recordings, workload, algorithm):
    auditor = Auditor(
        platform=recordings / "platforms" / "flat128.xml",
        workload=recordings / "workloads" / f"{workload}.json",
        master="n0",
    )
    findings = auditor.run(recordings / "scheduling" / f"{workload}.{algorithm}")
    assert findings.kept == []
    assert len(findings.checked) > 15


@pytest.mark.parametrize("name", ["delay", "walltime", "kill", "reject", "composed", "events", "parallel"])
def test_nothing_is_wrong_with_batsims_special_cases(recordings, name):
    auditor = Auditor(
        platform=recordings / "platforms" / "four.xml", workload=recordings / "workloads" / f"{name}.json"
    )
    assert auditor.run(recordings / "batsim4" / name).kept == []


def test_the_inputs_must_be_those_of_the_run(site, write_jobs, tmp_path):
    auditor = site({"a": {}})
    folder = write_jobs({"a": {}})
    (folder / "result.json").write_text('{"platform": {"sha256": "12"}, "workload": {"sha256": "34"}}')
    assert auditor.run(folder).counts == {"platform file": 1, "workload file": 1}
    shutil.copy(tmp_path / "p.xml", folder / "p.xml")
    (folder / "result.json").write_text(json.dumps({"platform": {"path": "p.xml"}, "workload": {"path": "gone.json"}}))
    with pytest.raises(InputError, match=r"workload 'gone.json' is not there.*--workload"):
        Auditor().run(folder)
    (folder / "result.json").unlink()
    with pytest.raises(InputError, match=r"no result.json that names its platform; say --platform"):
        Auditor().run(folder)


def test_a_hopeless_file_does_not_fill_the_memory():
    findings = Findings(limit=3)
    for _ in range(10):
        findings.add(Violation("host", "is gone"))
    assert (len(findings.kept), findings.total) == (3, 10)
    assert str(findings.kept[0]) == "host: is gone"


def test_check_command(site, write_jobs, tmp_path, call):
    site({"a": {}, "b": {}})
    inputs = ["--platform", tmp_path / "p.xml", "--workload", tmp_path / "w.json"]
    folder = write_jobs({"a": {}, "b": {"hosts": "1"}}, "runs/good")
    status, out, _ = call("check", folder, *inputs)
    assert status == 0
    assert "no violation" in out
    write_jobs({"a": {}, "b": {"start": 1.0, "finish": 11.0}}, "runs/bad")
    status, out, _ = call("check", tmp_path / "runs", *inputs)
    assert status == 1
    assert f"{tmp_path / 'runs' / 'bad'}: capacity: job b, host h0, time 1.000000: is still held by job a" in out
    status, out, _ = call("check", tmp_path / "runs", "--json", *inputs)
    answer = json.loads(out)
    assert status == answer["violations"] == 1
    assert [run["violations"] for run in answer["runs"]] == [1, 0]
    assert answer["runs"][0]["found"][0]["host"] == "h0"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "nowhere: is not a folder"),
        (["runs"], "runs: holds no jobs.csv"),
        (["runs/one"], "runs/one: has no result.json that names its platform"),
        (["runs/one", "--platform", "no.xml", "--workload", "no.json"], "no.json"),
        (["runs/one", "--platform", "no.xml", "--workload", "w.json"], "no.xml"),
    ],
)
def test_check_refuses_what_it_cannot_read(write_jobs, tmp_path, call, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    (tmp_path / "w.json").write_text('{"jobs": [], "profiles": {}}')
    if "runs/one" in arguments:
        write_jobs({"a": {}}, "runs/one")
    status, out, err = call("check", *arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
