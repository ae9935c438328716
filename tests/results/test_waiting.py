"""Waits whose reasons were worked out by hand."""

from pathlib import Path

import pytest

from batdispatch.core.errors import InputError
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.line import events as e
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.records import EngineOptions
from batdispatch.explain.records import Explanation, Line
from batdispatch.explain.run_parts import predictions_of
from batdispatch.explain.wait_causes import explain
from batdispatch.explain.words import in_words, sentence
from batdispatch.results.runs import Result
from recording import record
from simulating import Task, exact, simulate

#: Four hosts. A holds two until 10; B wants three then; C wants all when B is done; D is narrow and long.
MUALEM_FEITELSON = [exact("A", 0, 2, 10), exact("B", 1, 3, 5), exact("C", 2, 4, 5), exact("D", 3, 1, 20)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "decisions.jsonl"


def wait_of(path: Path, tasks: list[Task], dispatcher: str, job: str, machine: Machine | None = None) -> Explanation:
    result = simulate(machine or Machine.flat(4), tasks, dispatcher)
    (found,) = explain(record(result, path), [job])
    return found


def spans(found: Explanation) -> list[tuple[str, float, float]]:
    return [(phase.kind, phase.start, phase.end) for phase in found.phases]


def test_fcfs_head_of_line_blocking(path: Path) -> None:
    # D fits beside A all along, but B, and after it C, stand before it in line.
    found = wait_of(path, MUALEM_FEITELSON, "fcfs", "D")
    assert (found.submission, found.until, found.ahead) == (3, 20, 2)
    assert spans(found) == [("room", 3, 10), ("room", 10, 15), ("short", 15, 20)]
    behind_b, behind_c, short = found.phases
    # A ends at 10 and leaves four hosts: D beside B would have held up nobody.
    assert behind_b.line == Line(ahead=2, first="w0!B", asked={"host": 3}, due=10, delays=False, start=10)
    # C needs every host at 15, on which D would still be.
    assert behind_c.line == Line(ahead=1, first="w0!C", asked={"host": 4}, due=15, delays=True, start=15)
    assert short.short == ["host"]
    assert [(holder.job, holder.amounts, holder.end) for holder in short.holders] == [("w0!C", {"host": 4}, 20)]
    assert not found.overtakers
    # At 10 there were four hosts, of which B took three: one was left. At 15 C took them all.
    assert [(chance.time, chance.started) for chance in found.chances] == [(15, ["w0!C"])]
    text = "\n".join(in_words(found, limit=9))
    assert "room for it, but it would have delayed the first in line\n    1 hosts free, 1 asked for" in text
    assert "first of 1 in line before it: w0!C (4 hosts), due by 15 by the walltimes, started at 15" in text


def test_easy_keeps_room_for_the_first_in_line(path: Path) -> None:
    # B needs every host at 10, and C would run until 10.5.
    tasks = [exact("A", 0, 2, 10), exact("B", 1, 4, 5), exact("C", 3, 2, 7.5), exact("D", 4, 2, 6)]
    found = wait_of(path, tasks, "easy", "C")
    assert spans(found) == [("room", 3, 4), ("short", 4, 15)]
    assert found.phases[0].line == Line(ahead=1, first="w0!B", asked={"host": 4}, due=10, delays=True, start=10)
    # D ends when B starts: it was let through in the room that C did not get.
    (overtaker,) = found.overtakers
    assert (overtaker.job, overtaker.start, overtaker.preferred) == ("w0!D", 4, True)
    assert [(holder.job, holder.seconds) for holder in found.phases[1].holders] == [
        ("w0!B", 5),
        ("w0!A", 6),
        ("w0!D", 6),
    ]
    assert "1 later job overtook it, while there was room for it." in sentence(found)


def test_the_first_in_line_is_overtaken_by_what_fits_where_it_does_not(path: Path) -> None:
    found = wait_of(path, MUALEM_FEITELSON, "easy", "C")
    assert spans(found) == [("short", 2, 23)]
    (phase,) = found.phases
    assert (phase.free["host"].least, phase.free["host"].most) == (0, 3)
    # Two hosts are free until 3, one until 10, none until 15, then three: (2 + 7 + 0 + 3 * 8) / 21.
    assert phase.free["host"].mean == pytest.approx(33 / 21)
    (overtaker,) = found.overtakers
    assert (overtaker.job, overtaker.preferred) == ("w0!D", False)


def test_a_resource_of_shared_nodes(path: Path) -> None:
    # Two nodes of four cores and a GPU: both GPUs are taken, in turns, while cores are free throughout.
    tasks = [
        exact("G1", 0, 1, 10, {"core": 1, "gpu": 1}),
        exact("G2", 0, 1, 4, {"core": 1, "gpu": 1}),
        exact("G3", 1, 2, 5, {"core": 1, "gpu": 1}),
    ]
    found = wait_of(path, tasks, "easy", "G3", Machine.flat(2, "core=4 gpu=1"))
    (phase,) = found.phases
    assert (phase.kind, phase.short, phase.room) == ("short", ["gpu"], (0, 1))
    assert found.asked == {"core": 2, "gpu": 2}
    assert (phase.free["gpu"].least, phase.free["gpu"].most) == (0, 1)
    assert phase.free["core"].mean == pytest.approx((3 * 6 + 6 * 7) / 9)
    assert [(holder.job, holder.amounts) for holder in phase.holders] == [
        ("w0!G1", {"core": 1, "gpu": 1}),
        ("w0!G2", {"core": 1, "gpu": 1}),
    ]
    assert "short of gpu\n    0 to 1 gpu free (0.7 on average), 2 asked for" in "\n".join(in_words(found, limit=1))


def test_a_resource_in_pieces_too_small(path: Path) -> None:
    # Each of two nodes has two of its four cores free: four in all, but not together.
    tasks = [exact("A", 0, 2, 10, {"core": 2}), exact("B", 1, 1, 5, {"core": 4})]
    tasks[0] = exact("A", 0, 2, 10, {"core": 1, "mem": 3})
    tasks[1] = exact("B", 1, 1, 5, {"core": 1, "mem": 2})
    found = wait_of(path, tasks, "fcfs", "B", Machine.flat(2, "core=4 mem=4"))
    (phase,) = found.phases
    assert (phase.kind, phase.short, phase.free["mem"].most) == ("scattered", ["mem"], 2)
    assert "mem free, but in pieces\n    2 mem free, 2 asked for; room for 0 of its 1 unit" in "\n".join(
        in_words(found, limit=1)
    )


def test_enough_of_everything_on_different_nodes(path: Path) -> None:
    # A leaves cores on one node and memory on the other.
    tasks = [
        exact("A", 0, 1, 10, {"core": 3, "mem": 1}),
        exact("B", 0, 1, 10, {"core": 2, "mem": 3}),
        exact("C", 1, 1, 5, {"core": 2, "mem": 2}),
    ]
    found = wait_of(path, tasks, "fcfs", "C", Machine.flat(2, "core=4 mem=4"))
    (phase,) = found.phases
    assert (phase.kind, phase.short) == ("scattered", [])
    assert "enough of everything free, but not on the same nodes" in "\n".join(in_words(found, limit=1))


def test_whole_nodes_of_shared_machines(path: Path) -> None:
    tasks = [exact("A", 0, 1, 10, {"core": 1}), exact("B", 1, 2, 5)]
    found = wait_of(path, tasks, "fcfs", "B", Machine.flat(2, "core=4"))
    (phase,) = found.phases
    assert (phase.kind, phase.short, phase.room, found.asked) == ("short", ["node"], (1, 1), {"node": 2})
    assert "short of idle nodes\n    room for 1 of its 2 units" in "\n".join(in_words(found, limit=1))


def test_a_job_that_can_never_run(path: Path) -> None:
    found = wait_of(path, [exact("A", 5, 9, 10)], "easy", "A")
    assert (found.outcome, found.phases, found.wait) == ("rejected", [], 0)
    assert found.reason == "asks for 9 hosts, the whole machine has room for 4"
    assert "rejected at 5: asks for 9 hosts" in "\n".join(in_words(found, limit=1))


def test_a_job_killed_at_its_walltime(path: Path) -> None:
    tasks = [exact("A", 0, 4, 10), Task("B", 0.0, 4, 30.0, 20.0)]
    found = wait_of(path, tasks, "fcfs", "B")
    assert (found.end, found.state) == (30, "COMPLETED_WALLTIME_REACHED")
    assert "ended at 30 (COMPLETED_WALLTIME_REACHED)" in "\n".join(in_words(found, limit=1))


class Refuses(Dispatcher):
    """Rejects what has waited for ten seconds."""

    def decide(self, ledger: Ledger) -> None:
        for job in list(ledger.queue.values()):
            if ledger.now >= job.submission + 10:
                ledger.reject(job, "too late")
            elif (place := ledger.place(job)) is not None:
                ledger.start(job, place)


def test_a_job_that_was_rejected_after_a_wait(path: Path) -> None:
    result = simulate(Machine.flat(4), [exact("A", 0, 3, 12), exact("B", 1, 2, 5)], Refuses())
    (found,) = explain(record(result, path), ["B"])
    assert (found.outcome, found.until) == ("rejected", 12)
    assert spans(found) == [("short", 1, 12)]


def test_hosts_that_are_away(path: Path) -> None:
    away = [e.MachinesUnavailable(1.0, Allocation.of([1, 2])), e.MachinesAvailable(8.0, Allocation.of([1, 2]))]
    result = simulate(Machine.flat(4), [exact("A", 0, 2, 4), exact("B", 2, 3, 5)], "fcfs", events=away)
    (found,) = explain(record(result, path), ["B"])
    (phase,) = found.phases
    # A holds host 1 as well until 4, so that only one of the hosts away was held by nobody until then.
    assert (phase.start, phase.end, phase.away["host"]) == (2, 8, pytest.approx((1 * 2 + 2 * 4) / 6))
    assert "1.7 hosts away" in "\n".join(in_words(found, limit=1))


def test_a_recording_that_ends_while_the_job_waits(path: Path) -> None:
    result = simulate(Machine.flat(4), MUALEM_FEITELSON, "fcfs")
    record(result, path)
    lines = path.read_bytes().splitlines(keepends=True)
    cut = next(index for index, line in enumerate(lines) if b"EXECUTE_JOB" in line and b"w0!B" in line)
    path.write_bytes(b"".join(lines[:cut]))
    with pytest.raises(InputError, match="ends before the simulation does"):
        explain(path, ["D"])
    (found,) = explain(path.rename(f"{path}.partial"), ["D"])
    assert (found.outcome, found.until) == ("waiting", 10)
    assert spans(found) == [("room", 3, 10)]
    assert found.phases[0].line is not None
    assert found.phases[0].line.start is None
    assert "was not started before the recording ends at 10" in "\n".join(in_words(found, limit=1))


def test_further_attempts_wait_for_themselves(path: Path) -> None:
    law = {"runtime_law": "texp:0,100,20"}
    tasks = [Task("1", 0.0, 2, 30.0, extra=law), Task("2", 1.0, 2, 100.0, 200.0)]
    result = simulate(Machine.flat(2), tasks, "stochastic-easy", options={"requests": "factor", "rate": 0.5})
    record(result, path)
    (first,) = explain(path, ["1"])
    assert "w0!1~2" in first.attempts
    (second,) = explain(path, ["w0!1~2"])
    assert second.registered
    assert "w0!1" in second.attempts
    row = result.rows["1~2"]
    assert (second.until, second.end) == (row.start / 1e6, row.end / 1e6)
    assert second.submission == result.rows["1"].end / 1e6


@pytest.mark.parametrize("acknowledged", [False, True])
def test_registered_jobs_are_told_apart(path: Path, acknowledged: bool) -> None:
    law = {"runtime_law": "texp:0,100,20"}
    tasks = [Task("1", 0.0, 2, 30.0, extra=law), Task("2", 1.0, 2, 100.0, 200.0)]
    options = EngineOptions(dynamic_jobs=True, acknowledge_dynamic_jobs=acknowledged)
    result = simulate(Machine.flat(2), tasks, "stochastic-easy", options={"requests": "factor"}, engine=options)
    found = {x.job: x for x in explain(record(result, path), ["1", "2", "1~2"])}
    assert {job: x.registered for job, x in found.items()} == {"w0!1": False, "w0!2": False, "w0!1~2": True}


def test_an_allocation_in_many_pieces_is_shortened(path: Path) -> None:
    # Single hosts stay busy until 9 in every second place; the wide job starts at 5 on the eleven between them.
    short = [exact(f"s{i:02}", 0, 1, 5 if i % 2 else 9) for i in range(22)]
    found = wait_of(path, [*short, exact("wide", 1, 11, 3)], "fcfs", "wide", Machine.flat(22))
    assert found.hosts == "1 3 5 7 9 11 13 15 17 19 21"
    assert "started at 5 on 11 hosts (1 3 5 7 9 11 13 15 ...), ended at 8" in "\n".join(in_words(found, limit=1))


#: Ann's first job takes 4 s. So her second one, J, is expected to end at 14 s; its walltime ends at 1010 s.
ANN = [
    Task("P", 0.0, 1, 4.0, 1000.0, user="ann"),
    Task("J", 10.0, 1, 500.0, 1000.0, user="ann"),
    Task("H", 12.0, 2, 5.0, 5.0),
    Task("B", 13.0, 1, 80.0, 80.0),
]


@pytest.mark.parametrize(
    ("prediction", "end", "delays", "words"),
    [
        ("last-two", 14.0, True, "due by 14 by prediction last-two, started at 510"),
        ("oracle", 510.0, False, "due by 510 by prediction oracle, started at 510; it would not have delayed that"),
        ("requested", 1010.0, False, "due by 1,010 by the walltimes, started at 510; it would not have delayed that"),
    ],
)
def test_what_is_expected_is_what_the_run_predicted(
    path: Path, prediction: str, end: float, delays: bool, words: str
) -> None:
    """Under fcfs B waits behind H although a host is free, and H for J."""
    options = {"prediction": prediction}
    recording = record(simulate(Machine.flat(2), ANN, "fcfs", options=options), path)
    told = predictions_of(Result(dispatcher="fcfs", options=options))
    assert (told is None) == (prediction == "requested")
    (behind,) = explain(recording, ["B"], predictions=told)
    assert behind.phases[0].line is not None
    assert (behind.phases[0].line.due, behind.phases[0].line.delays) == (end, delays)
    assert words in "\n".join(in_words(behind, limit=5))
    nested = predictions_of(Result(dispatcher=f"attempts[dispatcher=fcfs[prediction={prediction}]]"))
    (held,) = explain(recording, ["H"], predictions=nested)
    assert [(holder.job, holder.expected_end) for holder in held.phases[0].holders] == [("w0!J", end)]


def test_who_is_expected_to_end_in_time_would_have_delayed_nobody(path: Path) -> None:
    """By its walltime B would be in H's way at 14 s; its user's jobs take a second, and so does it."""
    tasks = [
        *ANN[:3],
        Task("Q", 1.0, 1, 1.0, 80.0, user="ben"),
        Task("B", 12.5, 1, 1.0, 80.0, user="ben"),
    ]
    options = {"prediction": "last-two"}
    recording = record(simulate(Machine.flat(2), tasks, "fcfs", options=options), path)
    (found,) = explain(recording, ["B"], predictions=predictions_of(Result(dispatcher="fcfs", options=options)))
    assert found.phases[0].line is not None
    assert (found.phases[0].line.due, found.phases[0].line.delays) == (14.0, False)


def test_a_prediction_is_that_of_the_submission(path: Path) -> None:
    """K comes before its user's first job has ended, and is expected to take its walltime, whenever it starts."""
    tasks = [*ANN[:2], Task("K", 3.0, 2, 6.0, 50.0, user="ann"), Task("H", 5.0, 2, 5.0, 5.0)]
    options = {"prediction": "last-two"}
    recording = record(simulate(Machine.flat(2), tasks, "fcfs", options=options), path)
    (found,) = explain(recording, ["H"], predictions=predictions_of(Result(dispatcher="fcfs", options=options)))
    assert [(holder.job, holder.expected_end) for holder in found.phases[0].holders] == [("w0!K", 54.0)]


def test_a_prediction_in_a_file_is_not_executed() -> None:
    assert predictions_of(Result(dispatcher="fcfs", options={"prediction": "my.py:Mine"})) is None
    assert predictions_of(Result(dispatcher="fcfs", options={"prediction": "of-another-version"})) is None
