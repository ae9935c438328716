"""The papers' counts of variables, which are formulas, against models that are built."""

import pytest
from hypothesis import given
from instances import instance, instances, placed_by

from batdispatch.abilities.solvers.constraint.instance import Instance
from batdispatch.abilities.solvers.constraint.lists import Planner, first_solution
from batdispatch.abilities.solvers.constraint.models.node_wise import NodeWise
from batdispatch.abilities.solvers.constraint.models.positions import Positions


@given(instances())
def test_pcp19_as_many_as_the_model_has(found: Instance) -> None:
    plan = first_solution(Planner(found, placed_by("best-fit", found)))
    assert NodeWise(found, plan).size()[0] == found.node_wise_variables()


@given(instances())
def test_pcp20_as_many_as_the_model_has_of_starts_and_positions(found: Instance) -> None:
    plan = first_solution(Planner(found, placed_by("best-fit", found)))
    needs = [(job.units, job.request.per_unit) for job in found.jobs]
    unused = sum(units * sum(amount == 0 for _, amount in asked) for units, asked in needs if asked is not None)
    # A job of whole nodes has no box. The paper has a position for each resource type of the machine; the model for
    # those a unit needs.
    whole = sum(1 + units * len(found.ledger.machine.resources) for units, asked in needs if asked is None)
    assert Positions(found, plan).size()[0] == found.paper_variables() - unused - whole


@pytest.mark.parametrize("units", [1, 64])
def test_a_machine_too_large_to_build_a_model_of_is_counted(units: int) -> None:
    nodes = 20_000
    found = instance([(4, 2)] * nodes, [(10, units, (1, 1))] * 50)
    # A node holds 2 units.
    assert found.node_wise_variables() == 50 * (1 + nodes * min(units, 2))
    assert found.paper_variables() == 50 * (1 + 2 * units)
