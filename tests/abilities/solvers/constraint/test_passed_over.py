"""What the planning dispatchers say of a plan that passed a job over, against the plan that was carried out."""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.abilities.solvers.constraint.base import PlanningDispatcher
from batdispatch.abilities.solvers.constraint.instance import Instance
from batdispatch.abilities.solvers.constraint.lists import Plan
from batdispatch.abilities.solvers.constraint.passed_over import no_new_plan
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.dispatcher import Dispatcher, create
from batdispatch.core.line.hindsight import Hindsight, Reason, plain
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Machine
from batdispatch.explain.wait_causes import explain
from batdispatch.explain.witness import Witness
from recording import record
from simulating import Task, simulate
from strategies import machines, workloads

quick = settings(max_examples=20)
#: By job id: (planned start in s from the decision, whether it had a place).
Planned = dict[str, tuple[int, bool]]


class Asked(Witness):
    """Keeps each answer as (decision with a plan or None, now, job id, whether it fitted, answer)."""

    def __init__(self, dispatcher: Dispatcher, notes: Sequence[dict[str, Any]]) -> None:
        super().__init__(dispatcher, notes)
        self.answers: list[tuple[int | None, float, str, bool, Reason | None]] = []

    def ask(self, ledger: Ledger, job: Job, started: Sequence[tuple[Job, Allocation]]) -> Reason | None:
        said = super().ask(ledger, job, started)
        number = None if self.note(ledger.now) is None else self._next
        self.answers.append((number, ledger.now, job.id, ledger.space.fits(ledger.free, job), said))
        return said


def asked(machine: Machine, tasks: list[Task], name: str, options: dict[str, Any]) -> tuple[list[Planned], Asked]:
    """Run tasks and return the plan of each decision, and what is said of each job at each decision."""
    dispatcher = create(name, options)
    assert isinstance(dispatcher, PlanningDispatcher)
    plans: list[Planned] = []
    start = dispatcher.start

    def spied(ledger: Ledger, instance: Instance, plan: Plan) -> int:
        rows = zip(instance.jobs, plan.starts.tolist(), plan.places, strict=True)
        plans.append({job.id: (when, place is not None) for job, when, place in rows})
        return start(ledger, instance, plan)

    dispatcher.start = spied  # type: ignore[method-assign]
    result = simulate(machine, tasks, dispatcher)
    witness = Asked(create(name, options), [json.loads(line) for line in dispatcher.notes()])
    with tempfile.TemporaryDirectory() as folder:
        path = record(result, Path(folder) / "decisions.jsonl")
        explain(path, [task.id for task in tasks], witness=witness)
    return plans, witness


def options_of(data: st.DataObject) -> dict[str, Any]:
    return {
        "prediction": data.draw(st.sampled_from(["requested", "last-two"])),
        "window": data.draw(st.sampled_from(["100", "2"])),
        "ahead": data.draw(st.sampled_from(["0", "2"])),
        "reserve": data.draw(st.sampled_from(["0", "0.5"])),
        "placement": data.draw(st.sampled_from(["scarce", "best-fit", "contiguous"])),
    }


def check(said: Reason, now: float, fits: bool, planned: tuple[int, bool] | None) -> None:
    """Check what is said of a job at a decision with a plan that was made again."""
    if planned is None:
        reasons = (
            {"it was beyond the window", "room was kept for shorter jobs"}
            if fits
            else {"it did not fit, and was not planned for"}
        )
        assert said.why in reasons
        return
    start, placed = planned
    if not placed:
        assert said.why == (
            f"{'it fitted' if fits else 'it did not fit'}, but the plan found no place for it "
            + ("now" if start == 0 else "at any time")
        )
        return
    assert start > 0
    assert said.why == ("it fitted, but the plan starts it later" if fits else "it did not fit, and was planned ahead")
    assert said.how.split("; ")[0] == f"planned to start at {plain(now + start)}"


@quick
@given(data=st.data())
def test_the_planned_start_is_the_plans(data: st.DataObject) -> None:
    """Each reason of best-list is that of the plan which was carried out, and each decision with a plan has one."""
    machine = data.draw(machines())
    options = options_of(data) | {
        "capacity": data.draw(st.sampled_from(["nodes", "pooled"])),
        "tries": data.draw(st.sampled_from(["0", "2"])),
    }
    plans, witness = asked(machine, data.draw(workloads(machine)), "best-list", options)
    for number, now, job, fits, said in witness.answers:
        if number is None:
            assert said is None or said.why in {
                "no new plan was made, since neither room nor a job that fits had come",
                "room was kept for shorter jobs",
                "it did not fit, and was not planned for",
            }
            continue
        assert said is not None
        check(said, now, fits, plans[number].get(job))


@pytest.mark.parametrize("name", ["hcp19", "pcp19", "pcp20"])
@quick
@given(data=st.data())
def test_of_a_searched_plan_nothing_is_said_that_it_is_not(name: str, data: st.DataObject) -> None:
    machine = data.draw(machines())
    options = options_of(data) | {"work": data.draw(st.sampled_from(["0.000001", "0.01"]))}
    plans, witness = asked(machine, data.draw(workloads(machine)), name, options)
    for number, now, job, fits, said in witness.answers:
        if number is None or said is None:
            continue
        planned = plans[number].get(job)
        if not said.why.startswith("it fitted, but the plan let it wait"):
            check(said, now, fits, planned)
            continue
        assert fits
        assert planned is not None
        assert said.why.endswith(", or found no place for it") or planned[0] > 0


def test_a_placement_that_needs_the_network_leaves_the_explanation_without_reasons(tmp_path: Path) -> None:
    tasks = [Task("a", 0.0, 4, 10.0, 10.0), Task("b", 1.0, 4, 10.0, 10.0)]
    path = record(simulate(Machine.flat(4), tasks, "fcfs"), tmp_path / "decisions.jsonl")
    (found,) = explain(path, ["b"], witness=Witness(create("best-list", {"placement": "convex"}), []))
    assert (found.wait, found.verdicts) == (9, [])


def test_of_two_decisions_at_one_moment_the_plan_may_be_the_others() -> None:
    at: Any = SimpleNamespace(now=5.0)
    assert no_new_plan(Hindsight(at, [], None, 5.0)) is None
    assert no_new_plan(Hindsight(at, [], None, None)) is None
    said = no_new_plan(Hindsight(at, [], None, 4.0))
    assert said is not None
    assert said.how == "the last plan was made at 4, and left it waiting"


def test_what_the_second_stage_of_hcp19_changed_is_not_guessed() -> None:
    dispatcher = create("hcp19", {"repair": 1})
    assert isinstance(dispatcher, PlanningDispatcher)
    assert dispatcher.may_find_no_place({"put_back": 1})
    assert not dispatcher.may_find_no_place({"put_back": 0})
    nothing: Any = None
    assert dispatcher.plan_again(nothing, {"status": "UNKNOWN", "repairs": 1}) is None


@pytest.mark.parametrize("more", [0, 1])
def test_of_a_plan_that_was_not_carried_out_nothing_is_said(tmp_path: Path, more: int) -> None:
    """Two jobs of 2 s start before one of 20 s, planned for 12. With another cost, that was another plan."""
    tasks = [Task("0", 0.0, 4, 10.0, 20.0), Task("a", 1.0, 3, 20.0, 20.0)]
    tasks += [Task(name, 2.0, 2, 2.0, 2.0) for name in "bc"]
    result = simulate(Machine.flat(4), tasks, "best-list")
    notes = [json.loads(line) for line in result.session.dispatcher.notes()]
    witness = Witness(create("best-list"), [{**note, "cost": note["cost"] + more} for note in notes])
    (found,) = explain(record(result, tmp_path / "decisions.jsonl"), ["a"], witness=witness)
    said = ["it did not fit, and was not planned for"] + ["it fitted, but the plan starts it later"] * (1 - more)
    assert [verdict.why for verdict in found.verdicts] == said
