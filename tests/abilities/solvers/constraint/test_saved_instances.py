"""Instances saved from runs and solved again, through the command line."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from instances import beyond, random_instance

from batdispatch.abilities.solvers.constraint.instance import Instance
from batdispatch.abilities.solvers.doors.files import encode, read_instances
from batdispatch.cli.main import cli
from batdispatch.core.errors import InputError
from sites import platform_of


def read_back(made: list[Instance], file: Path) -> None:
    file.write_bytes(b"\n".join(map(encode, made)) + b"\n")
    for (_, found), expected in zip(read_instances(file), made, strict=True):
        assert encode(found) == encode(expected)
        assert found.bound == expected.bound
        assert (found.durations == expected.durations).all()
        assert found.node_wise_variables() == expected.node_wise_variables()
        assert [job.request for job in found.jobs] == [job.request for job in expected.jobs]


def test_an_instance_reads_back_as_it_was(tmp_path: Path) -> None:
    made = [random_instance(np.random.default_rng(seed), nodes=4, whole=seed % 2 == 0) for seed in range(20)]
    read_back(made, tmp_path / "i.jsonl")


@given(made=beyond())
def test_requests_of_all_kinds_read_back(made: Instance, tmp_path_factory: pytest.TempPathFactory) -> None:
    read_back([made], tmp_path_factory.mktemp("i") / "i.jsonl")


RUNNING = {"id": "x", "remaining": 5, "res": 1, "hosts": "0", "asks": {"demand": {"core": 1}}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda saved: saved["jobs"][0].update(asks={"demand": {"tpu": 1}}), "needs resource 'tpu'"),
        (lambda saved: saved["jobs"][0].update(asks={"demand": {"core": "x"}}), "expected a whole number"),
        (lambda saved: saved["jobs"][0].update(duration=0), "duration"),
        (lambda saved: saved["jobs"][0].update(res=10**6), "the whole machine has room for"),
        (lambda saved: saved.update(jobs=[]), "holds no queued job"),
        (lambda saved: saved.update(hosts=[]), "0 hosts, expected 1 to 1,000,000"),
        (lambda saved: saved.update(hosts=[{"count": 10**6}] * 3), "3,000,000 hosts, expected 1 to 1,000,000"),
        (lambda saved: saved.update(away="99"), "host 99 is away, which the machine does not have"),
        (lambda saved: saved.update(names=["a"] * sum(row["count"] for row in saved["hosts"])), "names 'a' twice"),
        (lambda saved: saved.update(extra=1), "unknown field"),
        (lambda saved: saved["hosts"][0].update(capacity="core="), "is not name=amount"),
        (lambda saved: saved["running"].append({**RUNNING, "hosts": "99"}), "host 99 is outside the platform"),
        (
            lambda saved: saved["running"].append({**RUNNING, "asks": {"demand": {"core": 99}}}),
            "the job needs 99 there",
        ),
        (lambda saved: saved["running"].append({**RUNNING, "res": 2}), "has 2 units, 1 run"),
    ],
)
def test_wrong_instances_are_refused_with_the_line(tmp_path: Path, change: object, message: str) -> None:
    saved = json.loads(encode(random_instance(np.random.default_rng(5))))
    change(saved)  # type: ignore[operator]
    file = tmp_path / "i.jsonl"
    file.write_text("\n" + json.dumps(saved) + "\n")
    with pytest.raises(InputError, match=message) as caught:
        list(read_instances(file))
    assert "line 2" in str(caught.value)


def test_instances_expect_what_the_run_expected(tmp_path: Path) -> None:
    """Also of jobs without a walltime."""
    (tmp_path / "p.xml").write_text(platform_of('<host id="n0" speed="1f"/>'))
    jobs = [{"id": str(n), "subtime": 0, "res": 1, "profile": "d"} for n in range(3)]
    profiles = {"d": {"type": "delay", "delay": 3}}
    (tmp_path / "w.json").write_text(json.dumps({"nb_res": 1, "jobs": jobs, "profiles": profiles}))
    arguments = ["--platform", str(tmp_path / "p.xml"), "--workload", str(tmp_path / "w.json")]
    chosen = ["--dispatcher", "best-list", "--set", "default_walltime=40", "--out", str(tmp_path / "r")]
    done = CliRunner().invoke(cli, ["run", *arguments, *chosen])
    assert done.exit_code == 0, done.output
    file = tmp_path / "i.jsonl"
    saved = CliRunner().invoke(cli, ["instance", "save", str(tmp_path / "r"), "-o", str(file)])
    assert saved.exit_code == 0, saved.output
    assert {int(d) for _, found in read_instances(file) for d in found.durations} == {40}


def test_save_and_solve_from_a_run(tmp_path: Path) -> None:
    hosts = "\n".join(
        f'<host id="n{n}" speed="1f"><prop id="capacity" value="core=4 gpu={n % 2}"/></host>' for n in range(3)
    )
    (tmp_path / "p.xml").write_text(platform_of(hosts))
    demands = [{"core": 2}, {"core": 1, "gpu": 1}, {"core": 3}]
    jobs = [
        {
            "id": str(n),
            "subtime": n // 3 * 2,
            "res": 1 if n % 3 == 1 else 1 + n % 2,
            "walltime": 30,
            "profile": f"d{n % 7}",
            "demand": demands[n % 3],
        }
        for n in range(30)
    ]
    profiles = {f"d{n}": {"type": "delay", "delay": 3 + 4 * n} for n in range(7)}
    (tmp_path / "w.json").write_text(json.dumps({"nb_res": 3, "jobs": jobs, "profiles": profiles}))
    run = CliRunner().invoke
    arguments = ["--platform", str(tmp_path / "p.xml"), "--workload", str(tmp_path / "w.json")]
    done = run(cli, ["run", *arguments, "--dispatcher", "best-list", "--out", str(tmp_path / "r")])
    assert done.exit_code == 0, done.output
    notes = [json.loads(line) for line in (tmp_path / "r" / "solver.jsonl").read_text().splitlines()]
    assert sum(note["started"] for note in notes) == 30
    replayed = run(cli, ["replay", str(tmp_path / "r" / "decisions.jsonl"), "--dispatcher", "best-list"])
    assert replayed.exit_code == 0, replayed.output
    file = tmp_path / "i.jsonl"
    saved = run(cli, ["instance", "save", str(tmp_path / "r"), "-o", str(file), "--most", "5"])
    assert saved.exit_code == 0, saved.output
    assert len(list(read_instances(file))) == 5
    solved = run(cli, ["instance", "solve", str(file), "--json", "--models", "best-list,positions,counts,node-wise"])
    assert solved.exit_code == 0, solved.output
    facts = [json.loads(line) for line in solved.output.splitlines()]
    assert len(facts) == 20
    for line in {fact["line"] for fact in facts}:
        proved = {fact["delay"] for fact in facts if fact["line"] == line and fact["status"] == "OPTIMAL"}
        assert len(proved) == 1
    table = run(cli, ["instance", "solve", str(file), "--models", "pooled,search-rule"])
    assert "search-rule" in table.output
    wrong = run(cli, ["instance", "solve", str(file), "--models", "pcp21"])
    assert isinstance(wrong.exception, InputError)
