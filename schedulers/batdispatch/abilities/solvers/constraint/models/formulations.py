"""The searched models by name. Who imports this loads a solver, which takes half a second."""

from __future__ import annotations

from collections.abc import Callable

from batdispatch.abilities.solvers.constraint.models.node_wise import NodeWise
from batdispatch.abilities.solvers.constraint.models.pooled_model import PooledModel
from batdispatch.abilities.solvers.constraint.models.positions import Positions
from batdispatch.abilities.solvers.constraint.models.searched_model import SearchedModel
from batdispatch.abilities.solvers.constraint.models.whole_jobs import WholeJobs

SEARCHED_MODELS: dict[str, Callable[..., SearchedModel]] = {
    model.name: model for model in (PooledModel, NodeWise, Positions, WholeJobs)
}
