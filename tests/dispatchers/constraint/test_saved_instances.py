"""Instances saved from runs and solved again, through the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from instances import check, random_instance

from batdispatch.cli.main import cli
from batdispatch.core.errors import InputError
from batdispatch.dispatchers.constraint import models
from batdispatch.dispatchers.constraint.greedy import Planner, search
from batdispatch.dispatchers.constraint.saved import encode, read
from batdispatch.dispatchers.constraint.solver import improve

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="z" routing="Full">
{hosts}
</zone></platform>
"""


def test_an_instance_reads_back_as_it_was(tmp_path: Path) -> None:
    made = [random_instance(np.random.default_rng(seed), nodes=4) for seed in range(20)]
    file = tmp_path / "i.jsonl"
    file.write_bytes(b"\n".join(map(encode, made)) + b"\n")
    for (_, found), expected in zip(read(file), made, strict=True):
        assert encode(found) == encode(expected)
        assert found.bound() == expected.bound()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda saved: saved.update(resources=["core"]), "has not as many as there are resources"),
        (lambda saved: saved["jobs"][0].update(duration=0), "duration"),
        (lambda saved: saved["jobs"][0].update(units=10**6), "does not fit the idle machine"),
        (lambda saved: saved["jobs"][0].update(request=[-1, 0, 0]), "asks for -1 of some resources only"),
        (lambda saved: saved.update(jobs=[]), "expected at least one of each"),
        (lambda saved: saved.update(extra=1), "unknown field"),
        (
            lambda saved: saved["running"].append({"id": "x", "remaining": 5, "holds": {"99": [1, 0, 0]}}),
            "runs on a node outside",
        ),
        (
            lambda saved: saved["running"].append({"id": "x", "remaining": 5, "holds": {"0": [99, 0, 0]}}),
            "carries more than it has",
        ),
    ],
)
def test_wrong_instances_are_refused_with_the_line(tmp_path: Path, change: object, message: str) -> None:
    saved = json.loads(encode(random_instance(np.random.default_rng(5))))
    change(saved)  # type: ignore[operator]
    file = tmp_path / "i.jsonl"
    file.write_text("\n" + json.dumps(saved) + "\n")
    with pytest.raises(InputError, match=message) as caught:
        list(read(file))
    assert "line 2" in str(caught.value)


def test_large_resources_have_the_same_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a map of positions would be too long, bounds of each node's positions say the same."""
    for seed in range(12):
        found = random_instance(np.random.default_rng(seed))
        costs = []
        for most in (models.MOST_POSITIONS, 0):
            monkeypatch.setattr(models, "MOST_POSITIONS", most)
            first, plan = search(Planner(found), 0)
            outcome = improve("positions", found, plan, first=first.cost, work=60.0, wall=600.0, seed=0, hint=False)
            check(found, outcome.plan)
            costs.append(outcome.plan.cost)
        assert costs[0] == costs[1]


def test_save_and_solve_from_a_run(tmp_path: Path) -> None:
    hosts = "\n".join(
        f'<host id="n{n}" speed="1f"><prop id="capacity" value="core=4 gpu={n % 2}"/></host>' for n in range(3)
    )
    (tmp_path / "p.xml").write_text(PLATFORM.format(hosts=hosts))
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
    done = run(cli, ["run", *arguments, "--dispatcher", "pcp20", "--out", str(tmp_path / "r")])
    assert done.exit_code == 0, done.output
    notes = [json.loads(line) for line in (tmp_path / "r" / "solver.jsonl").read_text().splitlines()]
    assert sum(note["started"] for note in notes) == 30
    replayed = run(cli, ["replay", str(tmp_path / "r" / "decisions.jsonl"), "--dispatcher", "pcp20"])
    assert replayed.exit_code == 0, replayed.output
    file = tmp_path / "i.jsonl"
    saved = run(cli, ["instance", "save", str(tmp_path / "r"), "-o", str(file), "--most", "5"])
    assert saved.exit_code == 0, saved.output
    assert len(list(read(file))) == 5
    solved = run(cli, ["instance", "solve", str(file), "--json", "--models", "pcp20,pcp20-paper,pcp20-counts,pcp19"])
    assert solved.exit_code == 0, solved.output
    facts = [json.loads(line) for line in solved.output.splitlines()]
    assert len(facts) == 20
    for line in {fact["line"] for fact in facts}:
        proved = {fact["delay"] for fact in facts if fact["line"] == line and fact["status"] == "OPTIMAL"}
        assert len(proved) == 1
    table = run(cli, ["instance", "solve", str(file), "--models", "hcp19,search-rule"])
    assert "search-rule" in table.output
    wrong = run(cli, ["instance", "solve", str(file), "--models", "pcp21"])
    assert isinstance(wrong.exception, InputError)
