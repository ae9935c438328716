"""HEFT: the example of Topcuoglu, Hariri and Wu, insertion, and plans that have to be made anew."""

import math

import pytest

from batdispatch.abilities.tasks.heft import Heft
from batdispatch.abilities.tasks.heft_plan import Graph, Step, mean_costs, plan, upward_ranks
from batdispatch.core.jobs.job import JobState
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.messages import Message
from batdispatch.core.line.session import Session
from simulating import simulate
from strategies import make_job
from task_graphs import MEGA, node, spans, task

#: Figure 2 and Table 1 of the paper: ten tasks on three processors.
TIMES = [
    [14, 16, 9], [13, 19, 18], [11, 13, 19], [13, 8, 17], [12, 13, 10],
    [13, 16, 9], [7, 15, 11], [5, 11, 14], [18, 12, 20], [21, 7, 16],
]  # fmt: skip
COSTS = {
    (1, 2): 18, (1, 3): 12, (1, 4): 9, (1, 5): 11, (1, 6): 14, (2, 8): 19, (2, 9): 16, (3, 7): 23,
    (4, 8): 27, (4, 9): 23, (5, 9): 13, (6, 8): 15, (7, 10): 17, (8, 10): 11, (9, 10): 13,
}  # fmt: skip
GRAPH = Graph(
    TIMES,
    [{a - 1: cost for (a, b), cost in COSTS.items() if b == task} for task in range(1, 11)],
    [[0.0] * 3] * 10,
)


def apart(size: int, source: int, target: int) -> float:
    return float(size) if source != target else 0.0


def test_the_upward_ranks_of_the_papers_example() -> None:
    ranks = upward_ranks(GRAPH, *mean_costs([0, 1, 2], apart))
    assert ranks == pytest.approx([108, 77, 80, 80, 69, 63.333, 42.667, 35.667, 44.333, 14.667], abs=1e-3)


def test_the_schedule_of_the_papers_example_is_80_long() -> None:
    steps = plan(GRAPH, [0, 1, 2], upward_ranks(GRAPH, 0.0, 1.0), [0.0] * 3, apart)
    assert max(step.finish for step in steps) == 80
    # Figure 3(a): task 1 on P3 until 9, tasks 3 and 7 after it, task 10 last on P2.
    assert steps[0] == Step(2, 0, 9)
    assert steps[9] == Step(1, 73, 80)


def test_a_task_goes_into_a_gap_that_is_long_enough_and_not_into_a_shorter_one() -> None:
    """Tasks 0 and 1 leave the gap from 2 to 6; 2 fills it, and 3 goes behind."""
    graph = Graph([[2], [2], [4], [1]], [{}, {}, {}, {}], [[0.0], [6.0], [0.0], [0.0]])
    steps = plan(graph, [0], [9, 8, 7, 6], [0.0], apart)
    assert [step.start for step in steps] == [0, 6, 2, 8]
    longer = Graph([[2], [2], [5], [1]], [{}, {}, {}, {}], [[0.0], [6.0], [0.0], [0.0]])
    assert [step.start for step in plan(longer, [0], [9, 8, 7, 6], [0.0], apart)] == [0, 6, 8, 2]


def test_copies_are_beside_computation_or_hold_the_resource() -> None:
    """Task 1 needs 5 s of copies. Beside computation they are over when task 0 is; else they come after it."""
    graph = Graph([[5], [1]], [{}, {}], [[0.0], [5.0]])
    assert [step.start for step in plan(graph, [0], [2, 1], [0.0], apart)] == [0, 5]
    assert plan(graph, [0], [2, 1], [0.0], apart, hold=True)[1] == Step(0, 5, 11)


def test_what_has_begun_stays_where_it_is() -> None:
    graph = Graph([[1, 1], [4, 4]], [{}, {0: 3}], [[0.0, 0.0]] * 2)
    steps = plan(graph, [0, 1], [2, 1], [0.0, 7.0], apart, now=2.0, begun=[Step(1, 2.0, 7.0)])
    # On the other resource it begins at 7 + 3, on its own at 7.
    assert steps[1] == Step(1, 7.0, 11.0)


def test_tasks_without_bytes_between_them_pay_no_latency() -> None:
    graph = Graph([[1, math.inf], [math.inf, 1]], [{}, {0: 0}], [[0.0, 0.0]] * 2)

    def slow(size: int, source: int, target: int) -> float:
        return 10.0 + size

    assert upward_ranks(graph, 10.0, 1.0) == [2.0, 1.0]
    assert plan(graph, [0, 1], [2, 1], [0.0, 0.0], slow)[1] == Step(1, 1.0, 2.0)


def test_a_copy_costs_nothing_between_resources_of_one_memory() -> None:
    """Two cores and a GPU: of six ordered pairs, four lie between two memories, at 3 s and 6 s a GB."""

    def copy(size: int, source: int, target: int) -> float:
        return 3.0 + size * 6e-9 if source != target else 0.0

    assert mean_costs([0, 0, 1], copy) == pytest.approx((4 * 3.0 / 6, 4 * 6e-9 / 6))
    assert mean_costs([0], copy) == (0.0, 0.0)


def test_of_equal_finishes_the_first_resource_is_taken() -> None:
    graph = Graph([[9, 4, 4], [9, 4, 4]], [{}, {}], [[0.0] * 3] * 2)
    assert plan(graph, [0, 1, 2], [1, 1], [0.0] * 3, apart) == [Step(1, 0.0, 4.0), Step(2, 0.0, 4.0)]


def test_the_longest_way_goes_first() -> None:
    """One core: a chain of three, and a task of 2 s that came before it. By rank the chain's first task begins."""
    tasks = [task("a", 2.0, None), task("b", 1.0, None), task("c", 1.0, None, after=["b"])]
    tasks.append(task("d", 1.0, None, after=["c"]))
    result = simulate(node(1, 0), tasks, "heft")
    assert spans(result, tasks)["b"][0] == 0.0
    assert result.session.report["plans"] == 1


def test_tasks_that_come_later_are_planned_with_those_that_wait() -> None:
    """The head of a long chain comes while a short task waits: it goes first."""
    tasks = [task("now", 3.0, None), task("short", 1.0, None, after=["now"])]
    tasks += [task("head", 1.0, None, submission=1.0), task("tail", 9.0, None, after=["head"], submission=1.0)]
    result = simulate(node(1, 0), tasks, "heft")
    assert spans(result, tasks)["head"][0] == 3.0
    assert result.session.report["plans"] == 2


def test_the_plan_holds_what_waits_for_tasks_that_run() -> None:
    """A runs on the GPU when B comes, which needs its result. B stays there: to the faster core it takes 9 s."""
    tasks = [
        task("A", None, 5.0, reads=["x"], writes=["x"]),
        task("B", 1.0, 2.0, reads=["x"], after=["A"], submission=1.0),
    ]
    result = simulate(node(1, 1, latency=9.0), tasks, "heft")
    assert spans(result, tasks)["B"] == (15.0, 17.0, "1", JobState.COMPLETED_SUCCESSFULLY)


def test_tasks_that_wait_for_each_other_stop_nobody() -> None:
    tasks = [task("a", 1.0, None, after=["b"]), task("b", 1.0, None, after=["a"]), task("c", 1.0, None)]
    result = simulate(node(1, 0), tasks, "heft")
    assert {name: row.state.name for name, row in result.rows.items()} == {
        "a": "REJECTED",
        "b": "REJECTED",
        "c": "COMPLETED_SUCCESSFULLY",
    }


def test_a_busy_host_is_free_when_its_task_is_expected_to_end() -> None:
    """The GPU is busy until 10, so 6 s on the core are over before 2 s on the GPU."""
    tasks = [task("A", None, 10.0), task("B", 6.0, 2.0, submission=1.0)]
    assert spans(simulate(node(1, 1), tasks, "heft"), tasks)["B"][:3] == (1.0, 7.0, "0")


def test_of_two_that_write_a_datum_the_later_one_hands_it_on() -> None:
    graphs: list[Graph] = []

    class Spy(Heft):
        def _graph(self, ledger, tasks, begun, resources):  # type: ignore[no-untyped-def]
            graphs.append(super()._graph(ledger, tasks, begun, resources))
            return graphs[-1]

    tasks = [
        task("A", 1.0, 1.0, reads=["x", "y"], writes=["x", "y"]),
        task("B", 1.0, 1.0, reads=["x"], writes=["x"], after=["A"]),
        task("C", 1.0, 1.0, reads=["x", "y", "z"], after=["A", "B"]),
    ]
    simulate(node(1, 1), tasks, Spy())
    assert graphs[0].edges == [{}, {0: 1_000_000}, {1: 1_000_000, 0: 1_000_000}]
    # z alone comes from the main memory.
    assert graphs[0].entry[2] == [0.0, 1.0]


def test_a_task_that_takes_longer_than_expected_is_over_now_at_the_earliest() -> None:
    """A was to end at 10 and still runs at 50, when B comes, which needs 20 s of copies to run on the GPU.

    B's data leave at 50: on the core it is over at 60, on the GPU at 50 + 20 + 5 = 75. Had they left at 10, they would
    be on the GPU at 50, and B over at 55.
    """
    session = Session(create("heft"))
    data = {"x": 20 * MEGA}
    long = make_job("w0!A", 1, runtimes={"cpu": 10.0}, reads=data, writes=data)
    short = make_job("w0!B", 1, runtimes={"cpu": 10.0, "gpu": 5.0}, reads=data, dependencies=["A"])
    alone = {"w0": {long.profile: {"type": "delay", "delay": 10.0}}}
    begins = e.SimulationBegins(0.0, node(1, 1), {"dynamic-jobs-enabled": True}, profiles=alone)
    session.handle(Message(0.0, [begins, e.JobSubmitted(0.0, long)]))
    session.handle(Message(50.0, [e.JobSubmitted(50.0, short)]))
    ended = e.JobCompleted(51.0, "w0!A", JobState.COMPLETED_SUCCESSFULLY, 0, None)
    started = session.handle(Message(51.0, [ended])).decisions[0]
    assert isinstance(started, d.Execute)
    assert (started.job_id, list(started.allocation.ids)) == ("w0!B", [0])
