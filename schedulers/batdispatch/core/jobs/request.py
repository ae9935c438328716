"""What a job asks for, as one frozen record that every family, format and protocol reads alike.

A job is made of equal `units`. On a machine of whole hosts a unit is a host. On a machine whose nodes state capacities
a unit needs `per_unit` on one node, several units may share a node, and `per_node` is taken once on every node that
carries a unit: two GPUs a node, whatever number of cores lands there.

The names of the fields in a job's JSON object, in the workloads and messages of Batsim 4 and (inside ``extra_data``) 5:

==================  ===========================================================================================
``res``             `units`, Batsim's own field
``demand``          `per_unit`, ``{"core": 1, "memory": 512}``; a job without it takes whole nodes
``per_node``        `per_node`, ``{"gpu": 2}``
``nodes``           `nodes`, a number of nodes, or ``[least, most]``
``units_per_node``  `units_per_node`
``whole_nodes``     `whole_nodes`
``node_list``       `named`, names of hosts: only these may be used
``exclude_nodes``   `excluded`, names of hosts that may not be used
``contiguous``      `contiguous`
``licences``        `licences`, ``{"matlab": 2}``
``io_node``         `io_nodes`, the name of a storage host or a list of such names
``sizes``           `sizes`, ``{"least": 2, "most": 32, "factor": 2, ...}``, see `batdispatch.core.jobs.sizes`
``dependencies``    `dependencies`, ids of jobs that must have succeeded before this one may start, or objects such as
                    ``{"job": "7", "kind": "afterany", "delay": 60}``, see `Dependency`
==================  ===========================================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

import msgspec

from batdispatch.core.jobs.sizes import Sizes

#: Amounts of named resources, sorted by name. A tuple, so that requests can be compared and hashed.
Amounts = tuple[tuple[str, int], ...]
#: Largest amount of a resource that may be asked for: up to here every reader of JSON keeps whole numbers exact.
MAX_AMOUNT = 2**53 - 1


#: What must have happened to another job, with Slurm's words: it succeeded, ended in any way, ended without success,
#: started; or, for ``singleton``, all jobs of the same user and `name` that came before have ended.
Kind = Literal["afterok", "afterany", "afternotok", "after", "singleton"]


class Dependency(msgspec.Struct, frozen=True, gc=False):
    """What a job waits for before a dispatcher sees it."""

    #: Id (``workload!name`` or a name in the same workload) of the other job; empty for ``singleton``.
    job: str = ""
    kind: Kind = "afterok"
    #: Seconds from that moment on for which the job still has to wait.
    delay: float = 0.0


class Request(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True, gc=False):
    """What a job asks for. Use `amounts` to make the pairs of `per_unit`, `per_node` and `licences`.

    Attributes:
        plain: True when nothing but `units` and `per_unit` restricts where the job goes; worked out at construction.
    """

    #: Number of equal units, at least 1.
    units: int = 1
    #: Amounts that each unit needs on one node; None: each unit needs a whole node.
    per_unit: Amounts | None = None
    #: Amounts taken once on every node used.
    per_node: Amounts = ()
    #: Least and most nodes used; None: any number.
    nodes: tuple[int, int] | None = None
    #: Exactly this many units on every node used; None: any number.
    units_per_node: int | None = None
    #: Whether the nodes used are shared with no other job.
    whole_nodes: bool = False
    #: Names of the hosts that may be used; empty: all.
    named: tuple[str, ...] = ()
    #: Names of the hosts that may not be used.
    excluded: tuple[str, ...] = ()
    #: Whether the nodes used must have consecutive ids.
    contiguous: bool = False
    #: Amounts of what exists once for the whole machine.
    licences: Amounts = ()
    #: Names of the storage hosts that serve the job; empty: any.
    io_nodes: tuple[str, ...] = ()
    #: Sizes allowed, for malleable, evolving and moldable jobs; None: the job has `units` units.
    sizes: Sizes | None = None
    #: What other jobs must have done before.
    dependencies: tuple[Dependency, ...] = ()
    #: Mask of the hosts that the site leaves to the job (`core.machine.site`); None: all. It is worked out for one
    #: machine when the job is submitted, and is neither read nor written.
    allowed: int | None = None
    #: Masks of hosts: all hosts of the job lie in one of them, as where it names several partitions; empty: in any. As
    #: with `allowed`, which is their union then, this is worked out for one machine.
    choices: tuple[int, ...] = ()
    #: Power that the job adds, and that must be left beside it at its start, in mW; None: it is not counted. As with
    #: `allowed`, this is worked out for one machine.
    power: tuple[int, int] | None = None
    plain: bool = True

    def __post_init__(self) -> None:
        restricted = (
            self.per_node
            or self.nodes
            or self.units_per_node
            or (self.whole_nodes and self.per_unit is not None)
            or self.named
            or self.excluded
            or self.contiguous
            or self.licences
            or self.allowed is not None
            or self.choices
            or self.power is not None
        )
        msgspec.structs.force_setattr(self, "plain", not restricted)

    @property
    def demand(self) -> dict[str, int] | None:
        """What one unit needs, by name; None: a whole node."""
        return None if self.per_unit is None else dict(self.per_unit)

    @property
    def units_are_nodes(self) -> bool:
        """Whether each unit is a node, on machines where jobs share nodes, too."""
        return self.per_unit is None

    @property
    def whole(self) -> bool:
        """Whether no other job may use the nodes of this one, where jobs share nodes at all."""
        return self.per_unit is None or self.whole_nodes

    @property
    def stated(self) -> Amounts:
        """The amounts of `per_unit`, and then those of `per_node`."""
        return (*(self.per_unit or ()), *self.per_node)

    @property
    def least_nodes(self) -> int:
        """On how many nodes the job must run at least, where jobs share nodes."""
        if self.per_unit is None:
            return self.units
        if self.nodes is not None:
            return self.nodes[0]
        return -(-self.units // self.units_per_node) if self.units_per_node else 1


@lru_cache(maxsize=10_000)
def single_choices(request: Request) -> tuple[Request, ...]:
    """Return a request once for each of its choices, in their order, as one that has to do with that one alone."""
    return tuple(msgspec.structs.replace(request, allowed=mask, choices=()) for mask in request.choices)


def amounts(by_name: Mapping[str, int]) -> Amounts:
    """Return amounts by name in the form that a `Request` keeps them."""
    return tuple(sorted(by_name.items()))
