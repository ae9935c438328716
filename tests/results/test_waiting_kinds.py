"""Why a job waits for which there is room somewhere: the placement, its own nodes, the form it asks for, other jobs."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from batdispatch.core.line.dispatcher import create
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.explain.records import Explanation
from batdispatch.explain.run_parts import placement_of
from batdispatch.explain.wait_causes import explain
from batdispatch.explain.words import in_words, sentence
from batdispatch.report.losses import begin_losses
from batdispatch.results.runs import Result, read_runs
from recording import record
from simulating import Task, exact, simulate
from sites import simulated

ROOT = Path(__file__).parents[2]
Call = Callable[..., tuple[int, str, str]]


#: On four hosts: hosts 1 and 3 are free from 5 to 10.
COMB = [exact("A", 0, 1, 10), exact("B", 0, 1, 5), exact("C", 0, 1, 10), exact("D", 0, 1, 5)]


def wait_of(
    folder: Path,
    tasks: Sequence[Task],
    job: str,
    dispatcher: str = "fcfs",
    *,
    machine: Machine | None = None,
    placement: str = "",
) -> Explanation:
    result = simulate(machine or Machine.flat(4), tasks, create(dispatcher))
    (found,) = explain(record(result, folder / "decisions.jsonl"), [job], placement=placement)
    return found


def spans(found: Explanation) -> list[tuple[str, float, float]]:
    return [(phase.kind, phase.start, phase.end) for phase in found.phases]


def words(found: Explanation) -> str:
    return "\n".join(in_words(found, limit=9))


# --- placements that may find no place -------------------------------------------------------------------------------


def test_a_placement_that_finds_no_place(tmp_path: Path) -> None:
    tasks = [*COMB, exact("E", 6, 2, 3)]
    found = wait_of(tmp_path, tasks, "E", "fcfs[placement=contiguous]", placement="contiguous")
    assert spans(found) == [("placement", 6, 10)]
    (phase,) = found.phases
    assert (phase.by, phase.room) == (["contiguous"], (2, 2))
    text = words(found)
    assert "there was room for 2 units, but no contiguous room: placement contiguous found no place" in text
    assert "    2 hosts free, 2 asked for" in text
    assert "w0!A" in text, "those in the way are named"
    assert "no contiguous room" in sentence(found)
    assert "Held most by w0!A (1 host), w0!C (1 host)." in sentence(found)
    # Unless it is known how jobs were placed, all that can be said is that there was room.
    found = wait_of(tmp_path, tasks, "E", "fcfs[placement=contiguous]")
    assert spans(found) == [("room", 6, 10)]


def test_the_room_may_become_contiguous_while_another_is_first(tmp_path: Path) -> None:
    # F wants all hosts, and E behind it two: from 10 on there is a range for E, which would not delay F.
    tasks = [exact("A", 0, 1, 10), exact("B", 0, 1, 5), exact("C", 0, 1, 20), exact("D", 0, 1, 5)]
    tasks += [exact("F", 6, 4, 5), exact("E", 7, 2, 3)]
    found = wait_of(tmp_path, tasks, "E", "fcfs[placement=contiguous]", placement="contiguous")
    assert spans(found)[:2] == [("placement", 7, 10), ("room", 10, 20)]


def test_a_placement_that_always_finds_a_place_changes_nothing(tmp_path: Path) -> None:
    found = wait_of(tmp_path, [*COMB, exact("E", 6, 3, 3)], "E", placement="best-fit")
    assert spans(found) == [("short", 6, 10)]


@pytest.mark.parametrize(
    ("dispatcher", "options", "expected"),
    [
        ("easy", {"placement": "contiguous"}, "contiguous"),
        ("easy", {"placement": "first-fit"}, ""),
        ("easy", {}, ""),
        ("easy[placement=contiguous]", {}, "contiguous"),
        ("attempts", {"dispatcher": "easy[ordering=sjf,placement=contiguous]", "rate": 0.5}, "contiguous"),
        ("outer", {"inner": "attempts[dispatcher=easy[placement=contiguous]]"}, "contiguous"),
        # The option of the run goes before what stands deeper.
        ("easy", {"placement": "contiguous", "other": "easy[placement=first-fit]"}, "contiguous"),
        # Nothing is imported for the sake of a file that says so, and nothing is made of what cannot be read.
        ("easy", {"placement": "somewhere/evil.py:Placement"}, ""),
        ("easy", {"placement": "batdispatch.abilities.topology.placement.contiguous:Contiguous"}, ""),
        ("easy", {"placement": "gone"}, ""),
        ("easy", {"placement": "contiguous[gone=1]"}, ""),
        ("easy", {"placement": 7}, ""),
        ("easy[placement", {}, ""),
        ("x", {"inner": "a[b=" * 200 + "c" + "]" * 200}, ""),
    ],
)
def test_where_the_option_stands(dispatcher: str, options: dict[str, Any], expected: str) -> None:
    assert placement_of(Result(dispatcher=dispatcher, options=options)) == expected


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Path]:
    def make(name: str, dispatcher: str, options: dict[str, str] | None = None) -> Path:
        lengths = {"A": 1000, "B": 500, "C": 1000, "D": 500, "E": 300}
        jobs = [
            {"id": job, "subtime": 600 * (job == "E"), "res": 2 + 2 * (job == "E"), "walltime": 9999, "profile": job}
            for job in lengths
        ]
        profiles = {job: {"type": "delay", "delay": length} for job, length in lengths.items()}
        flat = ROOT / "platforms" / "flat8.xml"
        return simulated(tmp_path, dispatcher, flat, jobs, profiles, out=name, options=options or {})

    return make


@pytest.mark.parametrize(
    ("dispatcher", "options"),
    [("easy", {"placement": "contiguous"}), ("attempts", {"dispatcher": "easy[placement=contiguous]"})],
)
def test_the_command_and_the_report_ask_the_placement_of_the_run(
    run: Callable[..., Path], call: Call, dispatcher: str, options: dict[str, str]
) -> None:
    folder = run("contiguous", dispatcher, options)
    status, out, _ = call("explain-wait", folder, "E")
    assert status == 0
    assert "there was room for 4 units, but no contiguous room: placement contiguous found no place" in out
    best, (loser,), _ = begin_losses(read_runs([folder, run("free", "easy")]))()
    assert (best, loser.label) == ("free", "contiguous")
    (loss,) = loser.losses
    assert "placement contiguous found no place" in loss.why


# --- what a request says beyond amounts ------------------------------------------------------------------------------


def test_room_elsewhere_than_on_its_nodes(tmp_path: Path) -> None:
    # Hosts 1 and 3 are free; E may use 0 and 1 only. Named: who holds them, not who holds host 2.
    found = wait_of(tmp_path, [*COMB, exact("E", 6, 2, 3, node_list=["n0", "n1"])], "E")
    assert spans(found) == [("elsewhere", 6, 10)]
    assert found.phases[0].room == (1, 1)
    assert [holder.job for holder in found.phases[0].holders] == ["w0!A"]
    text = words(found)
    assert "room elsewhere, but not on the nodes that it may use" in text
    assert "room for 1 of its 2 units on those nodes" in text
    found = wait_of(tmp_path, [*COMB, exact("E", 6, 2, 3, exclude_nodes=["n3"])], "E")
    assert spans(found) == [("elsewhere", 6, 10)]


@pytest.mark.parametrize(
    ("machine", "tasks", "headline"),
    [
        (Machine.flat(4), [*COMB, exact("E", 6, 2, 3, contiguous=True)], "room for it, but not on consecutive nodes"),
        (
            Machine.flat(2, "core=4"),
            [exact("A", 0, 4, 10, demand={"core": 1}), exact("E", 6, 2, 3, demand={"core": 1}, nodes=2)],
            "room for it, but not on 2 nodes",
        ),
        (
            Machine.flat(2, "core=4"),
            [
                exact("A", 0, 3, 10, demand={"core": 1}),
                exact("B", 0, 3, 10, demand={"core": 1}, exclude_nodes=["n0"]),
                exact("E", 6, 2, 3, demand={"core": 1}, units_per_node=2),
            ],
            "room for it, but not on nodes with 2 of its units each",
        ),
    ],
)
def test_room_in_another_form(tmp_path: Path, machine: Machine, tasks: list[Task], headline: str) -> None:
    found = wait_of(tmp_path, tasks, "E", machine=machine)
    assert spans(found) == [("form", 6, 10)]
    assert headline in words(found)


def test_what_is_taken_once_on_every_node_is_short(tmp_path: Path) -> None:
    demand = {"core": 1}
    tasks = [
        exact("A", 0, 1, 10, demand=demand, per_node={"gpu": 2}),
        exact("E", 6, 1, 3, demand=demand, per_node={"gpu": 1}),
    ]
    found = wait_of(tmp_path, tasks, "E", machine=Machine.flat(1, "core=4 gpu=2"))
    (phase,) = found.phases
    assert (phase.kind, phase.short, found.asked) == ("short", ["gpu"], {"core": 1, "gpu": 1})
    assert [(holder.job, holder.amounts) for holder in phase.holders] == [("w0!A", {"core": 1, "gpu": 2})]


def test_whole_nodes_with_units(tmp_path: Path) -> None:
    tasks = [
        exact("A", 0, 1, 10, demand={"core": 1}),
        exact("E", 6, 8, 3, demand={"core": 1}, whole_nodes=True),
    ]
    found = wait_of(tmp_path, tasks, "E", machine=Machine.flat(2, "core=4"))
    (phase,) = found.phases
    assert (phase.kind, phase.short, phase.room, found.asked) == ("short", ["node"], (4, 4), {"node": 2})


def licensed(capacity: str = "") -> Machine:
    properties = {"licences": "matlab=2"} | ({"capacity": capacity} if capacity else {})
    return Machine([Host(id=i, name=f"n{i}", properties=properties) for i in range(4)])


@pytest.mark.parametrize("capacity", ["", "core=2"])
def test_licences_that_are_short(tmp_path: Path, capacity: str) -> None:
    demand = {"core": 2} if capacity else None
    tasks = [
        exact("A", 0, 1, 10, demand=demand, licences={"matlab": 1}),
        exact("B", 0, 2, 8, demand=demand),
        exact("E", 6, 1, 3, demand=demand, licences={"matlab": 2}),
    ]
    found = wait_of(tmp_path, tasks, "E", machine=licensed(capacity))
    (phase,) = found.phases
    assert (phase.kind, phase.short, phase.by) == ("short", ["matlab"], ["matlab"])
    assert found.capacity["matlab"] == 2
    assert phase.free["matlab"].mean == 1
    assert phase.away["matlab"] == 0
    assert phase.holders[0].job == "w0!A", "who holds the licence comes first"
    text = words(found)
    assert "short of licence matlab\n    1 matlab free, 2 asked for" in text
    assert "w0!A  1 matlab" in text


# --- jobs that depend on others --------------------------------------------------------------------------------------


def good(name: str, submission: float, units: int, runtime: float) -> Task:
    """A task that succeeds: it asks for a second more than it takes."""
    return Task(name, float(submission), units, float(runtime), runtime + 1.0)


def test_a_job_that_waits_for_others(tmp_path: Path) -> None:
    tasks = [
        good("A", 0, 2, 10),
        good("B", 0, 2, 4),
        exact("F", 5, 2, 7),
        exact("E", 1, 1, 3, dependencies=["A", "w0!B"]),
    ]
    found = wait_of(tmp_path, tasks, "E")
    assert spans(found) == [("blocked", 1, 4), ("blocked", 4, 10)]
    assert [phase.by for phase in found.phases] == [["w0!A", "w0!B"], ["w0!A"]]
    assert (found.until, found.outcome) == (10, "started")
    assert not found.overtakers, "what starts while it may not is not before it in line"
    text = words(found)
    assert "waits for jobs w0!A, w0!B" in text
    assert "waits for job w0!A" in text
    assert "waits for job w0!A" in sentence(found)


def test_a_job_that_waits_for_others_and_then_for_room(tmp_path: Path) -> None:
    tasks = [good("A", 0, 1, 4), good("B", 0, 3, 10), exact("E", 1, 2, 3, dependencies=["A"])]
    found = wait_of(tmp_path, tasks, "E")
    assert spans(found) == [("blocked", 1, 4), ("short", 4, 10)]


def test_a_job_whose_dependency_failed(tmp_path: Path) -> None:
    tasks = [Task("A", 0.0, 1, 9.0, 4.0), exact("E", 1, 1, 3, dependencies=["A"])]
    found = wait_of(tmp_path, tasks, "E")
    assert (found.outcome, found.until, spans(found)) == ("rejected", 4, [("blocked", 1, 4)])
    assert "depends on job w0!A, which ended COMPLETED_WALLTIME_REACHED" in words(found)


def test_a_recording_that_ends_while_a_job_waits_for_another(tmp_path: Path) -> None:
    tasks = [good("A", 0, 1, 9), good("B", 0, 1, 4), exact("E", 1, 1, 3, dependencies=["A"])]
    path = record(simulate(Machine.flat(4), tasks, "fcfs"), tmp_path / "decisions.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    cut = next(index for index, line in enumerate(lines) if b"JOB_COMPLETED" in line and b"w0!A" in line)
    path.write_bytes(b"".join(lines[:cut]))
    (found,) = explain(path.rename(f"{path}.partial"), ["E"])
    assert (found.outcome, spans(found)) == ("waiting", [("blocked", 1, 4)])


def test_while_deciding_takes_time(tmp_path: Path) -> None:
    tasks = [good("A", 0, 1, 9), exact("E", 1, 1, 3, dependencies=["A"])]
    result = simulate(Machine.flat(4), tasks, "fcfs", decision_time=0.5)
    (found,) = explain(record(result, tmp_path / "decisions.jsonl"), ["E"])
    assert [phase.kind for phase in found.phases] == ["blocked", "deciding"]
    assert (found.submission, found.until) == (1, found.phases[-1].end)
