"""The conformance kit: our own dispatchers pass, and each kind of fault is found and named."""

from pathlib import Path

import pytest

from batdispatch import Dispatcher, Ledger, Machine
from batdispatch.core.errors import InputError
from batdispatch.core.line import dispatcher, registry
from batdispatch.testing import CASES, Case, Task, check_dispatcher, check_hash_seeds, check_part, simulate

HEAD = "import time\nfrom batdispatch import Allocation, Dispatcher, Ordering\n\n\n"
BY_NAME = {case.name: case for case in CASES}
#: Those whose solvers take longer stand in the slow test.
SOLVERS = ("pcp20", "pcp19", "hcp19", "aucsched")
#: Those that share the cases among them in the fast suite, and have all of them in the slow one.
IN_TURN = ("ipsched", "best-list", "pinned-io")
#: What is wrong -> the body of a dispatcher, the case that shows it, and a part of the message.
FAULTY = {
    "loses a job": (
        """
    def decide(self, ledger):
        for job in list(ledger.queue.values()):
            if job.units != 8 and (place := ledger.place(job)) is not None:
                ledger.start(job, place)
""",
        "whole-hosts",
        "neither started nor rejected",
    ),
    "starts on busy hosts": (
        """
    def decide(self, ledger):
        for job in list(ledger.queue.values()):
            ledger.start(job, Allocation((1 << job.units) - 1))
""",
        "whole-hosts",
        "the job needs 1 there",
    ),
    "knows no shared nodes": (
        """
    def decide(self, ledger):
        for job in list(ledger.queue.values()):
            if job.units <= ledger.free.bit_count():
                ledger.start(job, ledger.place(job))
""",
        "shared-nodes",
        "bit_count",
    ),
    "keeps jobs in a class": (
        """
    seen = set()

    def decide(self, ledger):
        for job in list(ledger.queue.values()):
            late = job.id in self.seen
            self.seen.add(job.id)
            if (place := ledger.place(job)) is not None and not late:
                ledger.start(job, place)
            elif place is not None and not ledger.running:
                ledger.start(job, place)
""",
        "whole-hosts",
        "differs when the run is repeated",
    ),
    "looks at a clock": (
        """
    def decide(self, ledger):
        jobs = sorted(ledger.queue.values(), key=lambda job: hash((job.id, time.perf_counter_ns())))
        for job in jobs:
            if (place := ledger.place(job)) is not None:
                ledger.start(job, place)
""",
        "everything-at-once",
        "differs when the run is repeated",
    ),
    "rejects without a reason": (
        """
    def decide(self, ledger):
        for job in list(ledger.queue.values()):
            if job.units > 5:
                ledger.reject(job, "")
            elif (place := ledger.place(job)) is not None:
                ledger.start(job, place)
""",
        "whole-hosts",
        "job j03",
    ),
    "forgets that hosts go away": (
        """
    def decide(self, ledger):
        for job in list(ledger.queue.values()):
            busy = 0
            for stay in ledger.running.values():
                busy |= stay.allocation.mask
            idle = [host for host in range(8) if not busy >> host & 1]
            if len(idle) >= job.units:
                ledger.start(job, Allocation(sum(1 << host for host in idle[: job.units])))
""",
        "hosts-that-come-and-go",
        "is unavailable",
    ),
}


@pytest.mark.parametrize("name", [name for name in registry.names(dispatcher.GROUP) if name not in SOLVERS])
def test_our_own_dispatchers_conform(name: str, tmp_path: Path) -> None:
    for case in CASES[IN_TURN.index(name) :: len(IN_TURN)] if name in IN_TURN else CASES:
        check_dispatcher(name, case, tmp_path / case.name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*SOLVERS, *IN_TURN])
def test_our_own_dispatchers_that_take_longer_conform(name: str, tmp_path: Path) -> None:
    for case in CASES:
        check_dispatcher(name, case, tmp_path / case.name)


@pytest.mark.parametrize("case", [case for case in CASES if case.name in ("whole-hosts", "shared-nodes")], ids=str)
def test_the_manuals_examples_conform(case: Case, tmp_path: Path) -> None:
    check_dispatcher("batdispatch.examples.smallest_first:SmallestFirst", case, tmp_path / "dispatcher")
    check_part("placement", "batdispatch.examples.strided:Strided[step=3]", case, tmp_path / "placement")
    check_part("ordering", "batdispatch.examples.fair_share:FairShare", case, tmp_path / "ordering")


@pytest.mark.parametrize(
    "name",
    ["whole-hosts", "shared-nodes", "killed-at-the-walltime", "requests-of-every-form", "jobs-that-wait-for-others"],
)
def test_the_malleable_example_conforms_where_it_claims_to(name: str, tmp_path: Path) -> None:
    check_dispatcher("batdispatch.examples.halving:Halving", BY_NAME[name], tmp_path)


@pytest.mark.parametrize("fault", FAULTY)
def test_a_fault_is_found_and_named(fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body, case, part = FAULTY[fault]
    # A module of its own, as in a package: a file would be run anew for each simulation.
    module = f"faulty_{fault.replace(' ', '_')}"
    (tmp_path / f"{module}.py").write_text(f"{HEAD}class Faulty(Dispatcher):{body}")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(AssertionError) as caught:
        check_dispatcher(f"{module}:Faulty", BY_NAME[case], tmp_path)
    assert part in str(caught.value)
    assert f"Faulty on the case {case}" in str(caught.value)


def test_a_decision_by_hash_is_found(tmp_path: Path) -> None:
    body = """
    def key(self, job, now, expected):
        return hash(job.id)
"""
    (tmp_path / "faulty.py").write_text(f"{HEAD}class Faulty(Ordering):{body}")
    name = f"fcfs[ordering={tmp_path / 'faulty.py'}:Faulty]"
    with pytest.raises(AssertionError, match="decides by the order of a set or by a hash"):
        check_hash_seeds(name, BY_NAME["everything-at-once"], tmp_path / "out")
    check_hash_seeds("easy", BY_NAME["everything-at-once"], tmp_path / "easy")


def test_every_case_is_one_of_its_own() -> None:
    assert len({case.name for case in CASES}) == len(CASES) > 12


@pytest.mark.parametrize(("field", "argument"), [("res", "units"), ("subtime", "submission")])
def test_a_field_that_a_task_has_an_argument_for_is_refused(field: str, argument: str) -> None:
    with pytest.raises(InputError, match=f"^task j, extra: the field '{field}', expected as {argument}=, "):
        Task("j", 0.0, 1, 1.0, extra={field: "ada"}).fields()


def test_the_user_and_the_demand_of_a_workload_file_are_heard() -> None:
    fields = {"user": "ada", "demand": {"core": 2}}
    task = Task("j", 0.0, 1, 1.0, extra=fields)
    assert task.request() == Task("j", 0.0, 1, 1.0, demand={"core": 2}).request()
    seen: list[str] = []

    class Sees(Dispatcher):
        def decide(self, ledger: Ledger) -> None:
            for job in list(ledger.queue.values()):
                seen.append(job.user)
                ledger.reject(job, "seen")

    simulate(Machine.flat(1, "core=2"), [task, Task("k", 0.0, 1, 1.0, user="ben", extra=fields)], Sees())
    assert sorted(seen) == ["ada", "ben"]


@pytest.mark.parametrize(("fault", "leads_to_it"), [("loses a job", False), ("starts on busy hosts", True)])
def test_pytest_shows_the_line_of_the_test_and_of_the_dispatcher(fault: str, leads_to_it: bool, tmp_path: Path) -> None:
    body, case, _ = FAULTY[fault]
    (tmp_path / "made.py").write_text(f"{HEAD}class Made(Dispatcher):{body}")
    with pytest.raises(AssertionError) as failed:
        check_dispatcher(f"{tmp_path}/made.py:Made", BY_NAME[case], tmp_path / "run")
    assert {entry.path.name for entry in failed.traceback.filter(failed)} == {Path(__file__).name}
    assert ("in decide" in str(failed.getrepr(style="short"))) == leads_to_it
