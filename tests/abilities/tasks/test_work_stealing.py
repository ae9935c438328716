"""Work stealing: whose queue a task goes to, and who takes which."""

import numpy as np
import pytest

from batdispatch.abilities.tasks.work_stealing import WorkStealing, WorkStealingOptions
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import parse_options
from simulating import simulate
from task_graphs import node, spans, task


def test_own_tasks_newest_first_and_stolen_ones_oldest_first() -> None:
    """All begin in the queue of the first core: it takes the newest, the other one steals the oldest."""
    tasks = [task(name, 1.0, None) for name in "abcd"]
    result = simulate(node(2, 0), tasks, "work-stealing")
    found = spans(result, tasks)
    assert {name: (found[name][0], found[name][2]) for name in "abcd"} == {
        "d": (0.0, "0"),
        "a": (0.0, "1"),
        "c": (1.0, "0"),
        "b": (1.0, "1"),
    }
    assert result.session.report["steals"] == 2


def test_a_thief_takes_the_oldest_task_that_it_can_run() -> None:
    tasks = [task("a", 1.0, None), task("b", 1.0, 1.0), task("c", 1.0, None), task("d", 1.0, None)]
    found = spans(simulate(node(1, 1), tasks, "work-stealing"), tasks)
    assert (found["d"][2], found["b"][2]) == ("0", "1")


def test_with_locality_a_task_goes_where_its_data_are() -> None:
    """B was released by the core, and most of its data are on the GPU."""
    tasks = [
        task("A", None, 1.0, reads=["x", "y"], writes=["x", "y"]),
        task("Z", 5.0, None, reads=["z"], writes=["z"]),
        task("B", 1.0, 1.0, reads=["x", "y", "z"], after=["A", "Z"]),
        task("C", 1.0, 1.0, after=["A", "Z"]),
    ]
    local = spans(simulate(node(1, 1), tasks, "work-stealing"), tasks)
    assert (local["B"][0], local["B"][2]) == (5.0, "1")
    # C has no data anywhere, so it stays with the host that released it.
    assert (local["C"][0], local["C"][2]) == (5.0, "0")
    plain = spans(simulate(node(1, 1), tasks, "work-stealing", options={"locality": False}), tasks)
    # Both are in the core's queue; it takes the newest, and the GPU steals B all the same.
    assert (plain["C"][2], plain["B"][2]) == ("0", "1")
    alone = spans(simulate(node(1, 1), tasks[:3], "work-stealing", options={"locality": False}), tasks[:3])
    assert alone["B"][2] == "0"


def test_the_victim_is_drawn_from_the_seed() -> None:
    """Three cores with queues of their own, and a fourth that steals: from whom depends on the seed."""
    heads = [task(f"h{i}", 1.0 if i < 3 else 0.5, None) for i in range(4)]
    tails = [task(f"t{i}-{k}", 1.0, None, after=[f"h{i}"]) for i in range(3) for k in range(2)]
    taken = set()
    for seed in range(8):
        tasks = [*heads, *tails]
        found = spans(simulate(node(4, 0), tasks, create("work-stealing", {}, seed)), tasks)
        taken.add(
            min((found[one.id][0], found[one.id][2], one.id) for one in tails if found[one.id][2] == found["h3"][2])
        )
    assert len(taken) > 1


@pytest.mark.parametrize("locality", [True, False])
def test_no_host_idles_while_a_task_is_ready_that_it_can_run(locality: bool) -> None:
    """Random graphs on one or two cores and GPUs, tasks of which run on either class or on both."""
    idled = 0

    class Watched(WorkStealing):
        def decide(self, ledger: Ledger) -> None:
            nonlocal idled
            super().decide(ledger)
            for resource in self.idle(ledger):
                assert not [one for one in self.ready.values() if resource.kind in one.runtimes]
                idled += bool(self.ready)

    for seed in range(20):
        rng = np.random.default_rng(seed)
        machine = node(int(rng.integers(1, 3)), int(rng.integers(1, 3)), latency=0.5)
        tasks = []
        for number in range(40):
            classes = rng.integers(3)
            tasks.append(
                task(
                    f"t{number:02}",
                    None if classes == 0 else float(rng.integers(1, 9)) / 4,
                    None if classes == 1 else float(rng.integers(1, 9)) / 4,
                    reads=[f"x{i}" for i in rng.permutation(4)[:2]],
                    after=[f"t{other:02}" for other in range(number) if rng.random() < 0.05],
                )
            )
        watched = Watched(parse_options(WorkStealingOptions, {"locality": locality}, "test"), seed)
        assert len(spans(simulate(machine, tasks, watched), tasks)) == len(tasks)
    # There were hosts that idled beside tasks of the other class.
    assert idled > 20
