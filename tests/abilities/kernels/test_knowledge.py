"""The tables of what kernels know, and the reasons that follow from what they lack."""

from typing import Any

import pytest

from batdispatch.abilities.kernels import applies
from batdispatch.abilities.kernels.columns import path_of
from batdispatch.abilities.kernels.knowledge import KNOWLEDGE, knowledge_of, names
from batdispatch.core.line.dispatcher import GROUP, create
from batdispatch.core.line.registry import load
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.dispatchers.backfilling.easy import Easy
from compiling import needs_kernels

PLAIN = Machine([Host(id=number, name=f"n{number}") for number in range(4)])
WEIGHTED = Machine([Host(id=number, name=f"n{number}", properties={"weight": "3"}) for number in range(4)])


@needs_kernels
@pytest.mark.parametrize("kind", KNOWLEDGE)
def test_each_kernel_is_named_as_its_dispatcher_and_knows_its_defaults(kind: str) -> None:
    knowledge = KNOWLEDGE[kind]
    assert kind == path_of(load(GROUP, knowledge.name, "dispatcher"))
    assert applies.why_never(create(knowledge.name, {}), PLAIN) is None
    assert applies.calls(create(knowledge.name, {}), PLAIN) == knowledge.is_called


def test_a_derived_dispatcher_has_no_kernel() -> None:
    class Own(Easy):
        pass

    assert knowledge_of(Own()) is None
    assert applies.why_never(Own(), PLAIN) == f"dispatcher Own has no kernel, these have: {names()}"
    assert names() == "conservative, easy, fcfs, filler, slurm-backfill"
    assert names(sleepers=True) == "conservative, easy, fcfs, filler"


# Worked by hand from the dispatchers: each line lacks one thing, and the line behind it has it.
GUARD, CHANGING = {"ordering": "guarded"}, {"ordering": "wfp3"}
LACKS: list[tuple[str, dict[str, Any], Machine, str | None]] = [
    ("easy", {"placement": "consecutive"}, PLAIN, "placement consecutive has no kernel"),
    ("slurm-backfill", {"placement": "consecutive"}, PLAIN, None),
    ("conservative", CHANGING, PLAIN, "the kernel of conservative knows no such"),
    ("fcfs", CHANGING, PLAIN, None),
    ("slurm-backfill", GUARD, PLAIN, "the kernel of slurm-backfill knows no such"),
    ("easy", GUARD, PLAIN, None),
    ("easy", {"prediction": "last-two", **GUARD}, PLAIN, "guarded and conservative have kernels only with"),
    ("conservative", {"prediction": "last-two"}, PLAIN, "guarded and conservative have kernels only with"),
    ("fcfs", {"prediction": "last-two"}, PLAIN, "prediction last-two has a kernel only under easy and slurm-backfill"),
    ("slurm-backfill", {"prediction": "last-two", **CHANGING}, PLAIN, "slurm-backfill has a kernel with predictions"),
    ("easy", {"prediction": "last-two", **CHANGING}, PLAIN, None),
    ("slurm-backfill", {"preempt": "qos"}, PLAIN, "the kernel of slurm-backfill preempts no job"),
    ("slurm-backfill", {"tick": 2.0**43}, PLAIN, "tick is longer than"),
    ("slurm-backfill", {}, WEIGHTED, "hosts have weights, and kernels know none"),
    ("easy", {}, WEIGHTED, None),
]


@needs_kernels
@pytest.mark.parametrize(("dispatcher", "options", "machine", "reason"), LACKS)
def test_what_a_table_lacks_is_a_reason(
    dispatcher: str, options: dict[str, Any], machine: Machine, reason: str | None
) -> None:
    found = applies.why_never(create(dispatcher, options), machine)
    assert (found is None) if reason is None else (found is not None and reason in found)
