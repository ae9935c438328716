"""The structures that the kernels share with Python have Python's fields."""

from pathlib import Path

import numpy as np
import pytest

from batdispatch.abilities.kernels.energy import Energy
from batdispatch.abilities.kernels.foresight import Foresight
from batdispatch.abilities.kernels.library import KERNELS, structure_of
from batdispatch.abilities.kernels.multifactor import Factors
from batdispatch.abilities.kernels.node_plan import NodePlan
from batdispatch.abilities.kernels.nodes import Nodes
from batdispatch.abilities.kernels.openings import Openings
from batdispatch.abilities.kernels.plan import Plan
from batdispatch.abilities.kernels.queue_order import Beside, Order
from batdispatch.abilities.kernels.sleepers import Sleepers
from batdispatch.abilities.kernels.slurm import Slurm
from batdispatch.abilities.kernels.state import State
from batdispatch.native.record import Record
from compiling import needs_kernels, sizes_in_c

RECORDS: dict[str, tuple[type[Record], ...]] = {
    **{"state.h": (State,), "plan.h": (Plan,), "foresight.h": (Foresight,), "easy_beside.h": (Beside,)},
    **{"queue_order.h": (Order,), "nodes.h": (Nodes,), "openings.h": (Openings,), "node_plan.h": (NodePlan,)},
    **{"slurm.h": (Slurm,), "sleepers.h": (Sleepers,), "energy.c": (Energy,), "multifactor.h": (Factors,)},
}


@needs_kernels
@pytest.mark.parametrize("source", RECORDS)
def test_structures_are_as_large_and_end_alike_in_python_and_in_c(tmp_path: Path, source: str) -> None:
    sizes_in_c(KERNELS, source, RECORDS[source], tmp_path)


def test_fields_are_of_the_kind_that_c_states() -> None:
    kinds, _ = structure_of("queue_order.h", "Order")
    assert list(kinds)[:2] == ["key_formula", "key_column"]
    assert (kinds["key_formula"], kinds["ahead_power"], kinds["ahead_column"]) == (int, float, np.float64)
    assert (kinds["queued"], kinds["entries"], kinds["tier"]) == (int, np.int64, np.int64)
