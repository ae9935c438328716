"""DADA as a dispatcher: what alpha, the prediction of copies, the affinity and the batches change."""

from pathlib import Path

import pytest

from batdispatch.abilities.tasks.dada import Dada, DadaOptions
from batdispatch.core.errors import InputError
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.inputs.platforms import read_platform
from batdispatch_papers.dada.machine import hybrid
from batdispatch_papers.dada.workload import tiles
from simulating import Task, simulate
from task_graphs import node, spans, task


def two_gpus(**options: object) -> dict[str, str]:
    """A writes x on the first GPU. Then B and C, which read it, and D, which does not; the hosts that they go to."""
    tasks = [
        task("A", None, 1.0, reads=["x"], writes=["x"]),
        task("B", None, 2.0, reads=["x"], after=["A"]),
        task("C", None, 2.0, reads=["x"], after=["A"]),
        task("D", None, 4.0, reads=["y"], after=["A"]),
    ]
    result = simulate(node(1, 2), tasks, "dada", options=options)
    return {name: found[2] for name, found in spans(result, tasks).items()}


def test_without_affinity_load_alone_decides() -> None:
    """B and C go to different GPUs, the least loaded one at a time; D follows."""
    assert two_gpus(alpha=0) == {"A": "1", "B": "1", "C": "2", "D": "1"}


def test_with_affinity_tasks_stay_with_their_data() -> None:
    assert two_gpus(alpha=1) == {"A": "1", "B": "1", "C": "1", "D": "2"}


def test_the_time_of_copies_counts_if_it_is_to() -> None:
    """A copy of x takes 10 s: the core, which has it, is the better place for 3 s of work than the GPU for 1 s."""
    tasks = [task("A", 3.0, 1.0, reads=["x"])]
    for communication, expected in ((False, "1"), (True, "0")):
        result = simulate(
            node(1, 1, bandwidth=1e5), tasks, "dada", options={"alpha": 0, "communication": communication}
        )
        assert spans(result, tasks)["A"][2] == expected


def test_the_affinity_may_be_that_of_what_is_changed() -> None:
    """P and Q leave data on a GPU each. R reads two of P's and changes Q's one."""
    tasks = [
        task("P", None, 1.0, reads=["p", "q"], writes=["p", "q"]),
        task("Q", None, 1.0, reads=["r", "s"], writes=["r"]),
        task("R", None, 1.0, reads=["p", "q", "r"], writes=["r"], after=["P", "Q"]),
    ]
    for affinity, beside in (("valid-bytes", "P"), ("written-bytes", "Q")):
        found = spans(simulate(node(1, 2), tasks, "dada", options={"alpha": 1, "affinity": affinity}), tasks)
        assert found["P"][2] != found["Q"][2]
        assert found["R"][2] == found[beside][2]


def test_the_affinity_may_be_any_callable() -> None:
    class Second(Dada):
        def begin(self, ledger):  # type: ignore[no-untyped-def]
            super().begin(ledger)
            self.affinity = lambda task, memory, copies: float(memory == 2)

    tasks = [task("A", None, 1.0)]
    for dispatcher, host in ((Dada(), "1"), (Second(DadaOptions(alpha=1.0)), "2")):
        assert spans(simulate(node(1, 2), tasks, dispatcher), tasks)["A"][2] == host


def test_tasks_that_wait_are_placed_anew_or_stay_where_they_were_placed() -> None:
    """B waits behind A on the core. When L comes, only a new batch sends B to the GPU, which is free by then."""
    tasks = [
        Task("wide", 0.0, 1, 1.0, extra={"node_list": ["g0"]}),
        task("A", 4.0, 4.0, submission=0.5),
        task("B", 4.0, 4.0, submission=0.5),
    ]
    anew = spans(simulate(node(1, 1), tasks, "dada", options={"alpha": 0}), tasks)
    assert (anew["B"][0], anew["B"][2]) == (1.0, "1")
    kept = spans(simulate(node(1, 1), tasks, "dada", options={"alpha": 0, "batch": "fresh"}), tasks)
    assert (kept["B"][0], kept["B"][2]) == (4.5, "0")


def test_what_was_placed_for_good_and_waits_is_load_too() -> None:
    """Both cores are busy until 10. P, of 5 s, is placed behind the first one, so Q goes behind the other."""
    tasks = [task("X", 10.0, None), task("Y", 10.0, None)]
    tasks += [task("P", 5.0, None, submission=1.0), task("Q", 1.0, None, submission=2.0)]
    found = spans(simulate(node(2, 0), tasks, "dada", options={"alpha": 0, "batch": "fresh"}), tasks)
    assert (found["P"][0], found["Q"][0]) == (10.0, 10.0)
    assert found["P"][2] != found["Q"][2]


def test_what_a_busy_host_still_has_to_do_is_its_load() -> None:
    """The GPU is busy until 10: a task of 6 s on the core is better there than after that for 2 s."""
    tasks = [task("A", None, 10.0), task("B", 6.0, 2.0, submission=1.0)]
    found = spans(simulate(node(1, 1), tasks, "dada", options={"alpha": 0, "precision": 0.001}), tasks)
    assert found["B"][:3] == (1.0, 7.0, "0")


def test_a_second_class_of_accelerators_is_refused() -> None:
    hosts = [Host(id=i, name=kind, properties={"class": kind}) for i, kind in enumerate(("cpu", "fpga", "gpu"))]
    with pytest.raises(InputError, match="classes fpga, gpu, expected cpu and at most one other"):
        simulate(Machine(hosts), [task("A", 1.0, 1.0)], "dada")


def test_on_cholesky_affinity_moves_less_than_heft_and_is_as_fast(tmp_path: Path) -> None:
    """A small version of the slides' case: 10 x 10 tiles on 4 GPUs."""
    path = tmp_path / "p.xml"
    path.write_bytes(hybrid(gpus=4))
    machine = read_platform(path).machine
    workload = tiles("cholesky", size=5120, tile=512)
    tasks = [
        Task(job.id, 0.0, 1, workload.profiles[job.profile]["delay"], extra=dict(job.extra)) for job in workload.jobs
    ]
    reports = {
        name: simulate(machine, tasks, dispatcher, options=options).session.report
        for name, dispatcher, options in (
            ("heft", "heft", {}),
            ("dada", "dada", {"alpha": 0.5}),
            ("plain", "dada", {"alpha": 0.0}),
        )
    }
    assert reports["dada"]["bytes_moved"] < 0.8 * min(reports["heft"]["bytes_moved"], reports["plain"]["bytes_moved"])
    assert reports["dada"]["gflops"] > max(reports["heft"]["gflops"], reports["plain"]["gflops"])
