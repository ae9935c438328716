"""What dispatchers add to the explanation of a wait: why each of their decisions left the job waiting."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import batdispatch
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.hindsight import plain
from batdispatch.explain.wait_causes import explain, find_recording
from batdispatch.explain.witness import witness_of
from batdispatch.inputs.platforms.generate import flat
from batdispatch.inputs.workloads.lublin import lublin
from batdispatch.inputs.workloads.writer import write_workload
from batdispatch.parts.ordering.guard import Guard
from batdispatch.results.runs import read_result
from sites import platform_of, simulated

Call = Callable[..., tuple[int, str, str]]
Asked = tuple[int, dict[str, Any]]
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
        platform = platform_of("\n".join(HOST.format(number=number) for number in range(4)))
        profiles = {"p": {"type": "delay", "delay": 10}}
        dispatcher = options.pop("dispatcher", "ipsched")
        simulated(tmp_path, dispatcher, platform, rows, profiles, options=options)
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


#: Two short jobs of half the machine are worth more than a long one of three quarters: 2 / 20 < 20 / 2 + 20 / 2.
PASSED_OVER: list[Asked] = [(24, {}), (16, {"walltime": 2}), (16, {"walltime": 2})]


def test_best_list_says_when_a_job_that_fits_is_to_start(explained: Callable[..., str]) -> None:
    out = explained(PASSED_OVER, 1, dispatcher="best-list")
    assert "started at 12 " in out
    assert "it fitted, but the plan starts it later (at 10)\n" in out
    assert "        planned to start at 12; w0!2 and w0!3 started instead; several of them hold what it needed\n" in out
    assert "it did not fit, and was not planned for (3 times, first at 1)\n        ahead is 0\n" in out


def test_best_list_names_the_planned_job_that_another_would_delay(explained: Callable[..., str]) -> None:
    """Job 2 wants all cores as soon as job 1 ends, at 13; job 3 fits beside job 1, and would run for 100 s."""
    jobs: list[Asked] = [
        (8, {"walltime": 3}),
        (32, {"walltime": 2, "subtime": 11}),
        (8, {"walltime": 100, "subtime": 12}),
    ]
    out = explained(jobs, 3, dispatcher="best-list", ahead=1)
    assert "started at 15 " in out
    said = out[out.index("the dispatcher on the") :]
    assert (
        "it fitted, but the plan starts it later (2 times, first at 12)\n        planned to start at 15; nothing "
        in said
    )
    assert "; w0!2, planned to start at 13, needs the core that it would still hold\n" in said
    page = (Path(__file__).parents[2] / "docs/explain-wait.md").read_text()
    assert f"```text\n{said}```" in page
    wide = explained(jobs, 2, dispatcher="best-list", ahead=1)
    assert "it did not fit, and was planned ahead (at 12)\n        planned to start at 13\n" in wide


def test_best_list_names_the_first_planned_job_in_the_way(explained: Callable[..., str]) -> None:
    jobs: list[Asked] = [
        (8, {"walltime": 3}),
        (32, {"walltime": 2, "subtime": 11}),
        (32, {"walltime": 3, "subtime": 11.5}),
        (8, {"walltime": 100, "subtime": 12}),
    ]
    out = explained(jobs, 4, dispatcher="best-list", ahead=2)
    assert "planned to start at 18; nothing started; w0!2, planned to start at 13, needs the core that" in out


def test_best_list_says_that_a_job_was_beyond_the_window(explained: Callable[..., str]) -> None:
    out = explained(PASSED_OVER, 1, dispatcher="best-list", window=2)
    assert "it was beyond the window (at 10)\n        it was number 3 of a window of 2 jobs\n" in out


def test_best_list_says_that_nothing_had_changed_since_its_last_plan(explained: Callable[..., str]) -> None:
    """Job 4 comes at 12.5, and does not fit."""
    jobs: list[Asked] = [
        (8, {"walltime": 3}),
        (32, {"walltime": 2, "subtime": 11}),
        (8, {"walltime": 100, "subtime": 12}),
        (32, {"walltime": 50, "subtime": 12.5}),
        # That no more jobs come is an event, too.
        (32, {"walltime": 50, "subtime": 12.75}),
    ]
    out = explained(jobs, 3, dispatcher="best-list", ahead=1)
    assert "no new plan was made, since neither room nor a job that fits had come (at 12.5)\n" in out
    assert "        the last plan was made at 12, and left it waiting\n" in out


def test_best_list_says_that_room_was_kept(explained: Callable[..., str]) -> None:
    """Job 2, a hundredth as long as job 1, would fit beside it if it asked for one core less."""
    out = explained([(16, {"walltime": 200}), (17, {"walltime": 2})], 1, dispatcher="best-list", reserve=0.5)
    assert "room was kept for shorter jobs (at 10)\n        reserve is 0.5\n" in out


def test_a_job_that_the_dispatcher_refuses_is_explained(explained: Callable[..., str]) -> None:
    """The two nodes that the job names do not follow each other."""
    jobs: list[Asked] = [(16, {"node_list": ["n0", "n2"], "nodes": 2})]
    out = explained(jobs, 1, dispatcher="best-list", placement="contiguous")
    assert "rejected at 1: placement contiguous finds no place for it even on the idle machine" in out


@pytest.mark.parametrize(
    ("dispatcher", "work", "proof"),
    [
        ("hcp19", 1, "the search saw all plans of its model"),
        ("pcp20", 1, "the search saw all plans of its model"),
        ("pcp19", 0.05, "the search stopped at its limit, so that a better plan may start it"),
    ],
)
def test_a_searched_plan_is_not_searched_again(
    explained: Callable[..., str], dispatcher: str, work: float, proof: str
) -> None:
    out = explained(PASSED_OVER, 1, dispatcher=dispatcher, work=work)
    assert "it fitted, but the plan let it wait (at 10)\n        w0!2 and w0!3 started instead; several of them" in out
    assert f"; {proof}\n" in out
    assert "planned to start" not in out


def test_the_fallback_of_a_search_is_made_again(explained: Callable[..., str]) -> None:
    """The paper counts 65 variables for job 0 alone, and 115 for the three others."""
    out = explained(PASSED_OVER, 1, dispatcher="pcp20", most_variables=100)
    assert "it fitted, but the plan starts it later (at 10)\n        planned to start at 12; w0!2 and w0!3 " in out


def test_the_window_after_a_search_that_found_nothing(explained: Callable[..., str]) -> None:
    """The model of the four jobs at 10 is too large, so that the next window, at 12, holds two jobs of three."""
    jobs: list[Asked] = [*PASSED_OVER, (32, {}), (32, {"subtime": 10.5})]
    out = explained(jobs, 5, dispatcher="pcp20", most_variables=1)
    assert "it was beyond the window (2 times, first at 12)\n        it was number 3 of a window of 2 jobs\n" in out


def late_and_new() -> list[Asked]:
    """A wide job that comes at 1, one that wants half at 2, and two small ones that come before room is free."""
    return [(32, {}), (16, {}), (8, {"subtime": 7}), (8, {"subtime": 8})]


LATE = {"dispatcher": "easy", "ordering": "guarded[ordering=smallest-area,floor=5,share=0]"}


def test_a_late_job_says_before_whom_it_goes_and_the_threshold(explained: Callable[..., str]) -> None:
    out = explained(late_and_new(), 1, **LATE)
    assert "the dispatcher when it started the job:\n    late: goes before the jobs that are not\n" in out
    assert "it has waited 9 s, more than the threshold of 5 s; goes before w0!3 and w0!4\n" in out
    page = (Path(__file__).parents[2] / "docs/explain-wait.md").read_text()
    assert f"```text\n{out[out.index('the dispatcher on the') :]}```" in page


def test_a_job_that_a_late_one_overtakes_names_it_and_the_threshold(explained: Callable[..., str]) -> None:
    out = explained(late_and_new(), 3, **LATE)
    said = "    waits behind the late job w0!1 (3 times, first at 7)\n"
    assert f"{said}        which has waited 6 s, more than the threshold of 5 s\n" in out
    answer = json.loads(explained(late_and_new(), 2, "--json", **LATE))
    assert [one["why"] for one in answer["verdicts"]] == [
        "waits behind the late job w0!1",
        "late: goes before the jobs that are not",
    ]
    assert answer["at_start"]["how"] == "it has waited 18 s, more than the threshold of 5 s"


def test_the_threshold_is_that_of_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The witness hears what the guard of the run heard, and is asked less often."""
    (tmp_path / "flat.xml").write_bytes(flat(16))
    write_workload(
        lublin(np.random.default_rng(3), jobs=150, hosts=16, load=1.2, walltimes="modal"), tmp_path / "w.json"
    )
    told: dict[float, set[str]] = {}
    patience = Guard.patience

    def watched(self: Guard, job: Job) -> float:
        found = patience(self, job)
        told.setdefault(self.ledger.now, set()).add(plain(found))
        return found

    monkeypatch.setattr(Guard, "patience", watched)
    run = batdispatch.run(
        tmp_path / "w.json", "easy[ordering=guarded[share=0.5,floor=600]]", platform=tmp_path / "flat.xml", out=tmp_path
    )
    monkeypatch.undo()
    seen = 0
    recording, result = find_recording(run.folder), read_result(run.folder)
    jobs = run.jobs.sort_values("waiting_time")["job_id"].iloc[-10:]
    for job in jobs:
        (found,) = explain(recording, [job], witness=witness_of(run.folder, result))
        for said in (*found.verdicts, *filter(None, [found.at_start])):
            assert any(f"more than the threshold of {threshold} s" in said.how for threshold in told[said.first])
            seen += 1
    assert seen > 10


def test_another_ordering_with_late_jobs_says_so_too_and_one_without_adds_nothing(
    explained: Callable[..., str],
) -> None:
    late_first = {"dispatcher": "filler", "ordering": "late-first[after=5]"}
    assert "more than the threshold of 5 s; goes before w0!3 and w0!4" in explained(late_and_new(), 1, **late_first)
    assert "the dispatcher" not in explained(late_and_new(), 1, dispatcher="easy", ordering="smallest-area")
