"""What dispatchers add to the explanation of a wait: why each of their decisions left the job waiting."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from batdispatch.results.explain.witness import witness_of
from batdispatch.results.runs import read_result
from batdispatch.runs.run import RunSpec, execute

Call = Callable[..., tuple[int, str, str]]
Asked = tuple[int, dict[str, Any]]
PLATFORM = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="main" routing="Full">
    <host id="master_host" speed="1Gf"/>
    {hosts}
  </zone>
</platform>
"""
HOST = '<host id="n{number}" speed="1Gf"><prop id="capacity" value="core=8 gpu=2"/></host>'


@pytest.fixture
def explained(tmp_path: Path, call: Call) -> Callable[..., str]:
    """Run jobs (units, further fields) on four nodes and explain the wait of one, in words.

    Job 0 holds all nodes until 10; the others come at 1, 2, ... and are numbered from 1 on.
    """

    def explain(jobs: list[Asked], job: int, *words: str, **options: Any) -> str:
        rows = [
            {"id": str(n), "subtime": n, "res": units, "walltime": 20, "profile": "p", "demand": {"core": 1}, **more}
            for n, (units, more) in enumerate([(32, {"nice": 0}), *jobs])
        ]
        workload = {"nb_res": 4, "jobs": rows, "profiles": {"p": {"type": "delay", "delay": 10}}}
        (tmp_path / "w.json").write_text(json.dumps(workload))
        hosts = "\n    ".join(HOST.format(number=number) for number in range(4))
        (tmp_path / "p.xml").write_text(PLATFORM.format(hosts=hosts))
        dispatcher = options.pop("dispatcher", "ipsched")
        spec = RunSpec(
            platform=str(tmp_path / "p.xml"),
            workload=str(tmp_path / "w.json"),
            dispatcher=dispatcher,
            options=options,
        )
        execute(spec, tmp_path / "run")
        status, out, err = call("explain-wait", tmp_path / "run", job, *words)
        assert (status, err) == (0, "")
        return str(out)

    return explain


def example(*priorities: int) -> list[Asked]:
    """The slides' three jobs, on four nodes."""
    gpu = {"per_node": {"gpu": 2}, "nodes": 2}
    asked: list[Asked] = [(16, {}), (8, gpu), (8, gpu)]
    return [(units, {**more, "nice": -priority}) for (units, more), priority in zip(asked, priorities, strict=True)]


def test_ipsched_says_why_j3_of_the_slides_waits(explained: Callable[..., str]) -> None:
    """With 100, 10 and 4, J1 on two nodes is worth more than J3 beside a J1 on four: 82.5 > 60.5."""
    out = explained(example(100, 10, 4), 3, priorities="multifactor")
    assert "it fitted, but the jobs that started were worth more together (at 10)" in out
    assert "w0!1 and w0!2 started, with priorities of 110 in all; its own is 4; " in out
    assert "without w0!1 or w0!2 it would have fitted; no plan is worth more" in out
    page = (Path(__file__).parents[2] / "docs/explain-wait.md").read_text()
    assert f"```text\n{out[out.index('the dispatcher on the') :]}```" in page


def test_j3_of_the_slides_does_not_wait_for_others_when_it_is_worth_as_much(explained: Callable[..., str]) -> None:
    out = explained(example(1, 1, 1), 3, priorities="multifactor")
    assert "started at 10 " in out
    assert "it fitted" not in out


def test_each_decision_has_its_reason(explained: Callable[..., str]) -> None:
    """At first a period passes, then the job does not fit, and then the two others are worth more."""
    jobs: list[Asked] = [(24, {}), (16, {}), (16, {})]
    answer = json.loads(explained(jobs, 1, "--json"))
    said = [(one["why"], one["first"], one["last"], one["decisions"]) for one in answer["verdicts"]]
    assert said == [
        ("no decision yet, since decisions are 4 s apart", 1, 3, 3),
        ("it did not fit, even with no other job of the window", 4, 4, 1),
        ("it fitted, but the jobs that started were worth more together", 10, 10, 1),
    ]
    assert "w0!2 and w0!3 started, with " in answer["verdicts"][2]["how"]
    assert "; several of them hold what it needed; no plan is worth more" in answer["verdicts"][2]["how"]
    out = explained(jobs, 1)
    assert "the dispatcher on the 5 times it left the job waiting:" in out
    assert " 4 s apart (3 times, first at 1)\n        the last one was at 0\n" in out


def test_ipsched_says_that_a_job_was_beyond_the_window(explained: Callable[..., str]) -> None:
    out = explained([(24, {}), (8, {})], 2, window=1)
    assert "it was beyond the window (2 times, first at 4)\n        it was number 2 of a window of 1 job\n" in out


def test_without_a_solver_the_jobs_before_it_took_the_room(explained: Callable[..., str]) -> None:
    out = explained([(24, {}), (16, {}), (16, {})], 2, work=0)
    assert "jobs that were tried before it took the room, and no solver was asked (at 10)" in out
    assert "% more at most" in out


def test_consecutive_nodes_that_the_first_plan_did_not_find(explained: Callable[..., str]) -> None:
    jobs: list[Asked] = [(8, {"node_list": [name], "nodes": 1}) for name in ("n1", "n3")]
    out = explained([*jobs, (16, {"nodes": 2, "contiguous": True})], 3)
    assert "the first plan had no consecutive nodes for it" in out


@pytest.mark.parametrize("variant", [2, 3])
def test_aucsched_says_that_bids_lost(explained: Callable[..., str], variant: int) -> None:
    out = explained([(24, {}), (16, {})], 2, dispatcher="aucsched", variant=variant)
    assert "it fitted, but the jobs that started were worth more together (at 10)" in out
    assert "it made " in out
    assert " won none; w0!1 started, with a priority of " in out


def test_aucsched_says_that_the_bids_were_used_up(explained: Callable[..., str]) -> None:
    out = explained([(24, {}), (16, {})], 2, dispatcher="aucsched", bids=1)
    assert "it fitted, but those before it had used up all bids (at 10)" in out


def test_a_file_named_in_an_option_is_not_run(explained: Callable[..., str], tmp_path: Path) -> None:
    explained([(24, {}), (16, {})], 2)
    result = read_result(tmp_path / "run")
    assert witness_of(tmp_path / "run", result) is not None
    result.options["priorities"] = "somewhere.py:Mine"
    assert witness_of(tmp_path / "run", result) is None
    result.options["priorities"] = "unheard-of"
    assert witness_of(tmp_path / "run", result) is None


@pytest.mark.parametrize("text", ["{", "[1]", '{"status": "OPTIMAL"}', "\xff"])
def test_notes_that_cannot_be_read_are_left_alone(explained: Callable[..., str], tmp_path: Path, text: str) -> None:
    explained([(24, {})], 1)
    result = read_result(tmp_path / "run")
    (tmp_path / "run" / "solver.jsonl").write_bytes(text.encode("latin-1"))
    assert witness_of(tmp_path / "run", result) is None
