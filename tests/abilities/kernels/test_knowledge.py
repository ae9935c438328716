"""The tables of what kernels know, and the reasons that follow from what they lack."""

from typing import Any

import pytest

from batdispatch.abilities.kernels import applies
from batdispatch.abilities.kernels.columns import path_of
from batdispatch.abilities.kernels.knowledge import KNOWLEDGE, knowledge_of, names
from batdispatch.cli.kinds import names as announced
from batdispatch.core.line.dispatcher import GROUP, create
from batdispatch.core.line.registry import load
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.dispatchers.backfilling.easy import Easy
from compiling import needs_kernels
from manual import hook_of

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


def table_of_the_manual() -> dict[tuple[str, str], str]:
    """Return the cells of the manual's table: (what, dispatcher) -> what it says."""
    head, _, *rows = hook_of("generated").on_page_markdown("<!-- generated: kernels -->").splitlines()
    dispatchers = [cell.strip(" `") for cell in head.strip("|").split("|")[1:]]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    return {(row[0], name): cell for row in cells for name, cell in zip(dispatchers, row[1:], strict=True)}


def is_compiled(dispatcher: str, options: dict[str, Any], machine: Machine = PLAIN) -> bool:
    return applies.why_never(create(dispatcher, options), machine) is None


def machine_with(**properties: str) -> Machine:
    speeds = (1e9, 1.0, 1.0, 1.0)
    return Machine([Host(id=number, name=f"n{number}", properties=properties, speeds=speeds) for number in range(4)])


RESERVED = machine_with(queues='{"reservations": [{"name": "r", "start": 10, "end": 20, "nodes": 1}]}')
PARTED = machine_with(partition="all")
SLEEPY = machine_with(wattage_per_state="95:190,9:9,10:10,11:11", sleep_pstates="1:2:3")


@needs_kernels
def test_the_manuals_table_says_what_is_compiled() -> None:
    table, kernels = table_of_the_manual(), [each.name for each in KNOWLEDGE.values()]
    for name in kernels:
        for part, group in (("placement", "placements"), ("prediction", "predictions")):
            for each in announced(group):
                assert (f"`{each}`" in table[part, name]) == is_compiled(name, {part: each}), (name, each)
        assert (table["orderings that change", name] == "yes") == is_compiled(name, {"ordering": "wfp3"})
        assert (table["`guarded` around an ordering", name] == "yes") == is_compiled(name, {"ordering": "guarded"})
        assert table["whole hosts with weights", name].startswith("yes") == is_compiled(name, {}, WEIGHTED)
        for what, machine in (("reservations", RESERVED), ("whole hosts of partitions", PARTED)):
            assert table[what, name].startswith("yes") == is_compiled(name, {}, machine), (what, name)
            if "requested" in table[what, name]:
                assert not is_compiled(name, {"prediction": "last-two"}, machine)
            elif is_compiled(name, {}, machine) and is_compiled(name, {"prediction": "last-two"}):
                assert is_compiled(name, {"prediction": "last-two"}, machine)
        asleep = {"dispatcher": name, "sleep": "idle"}
        assert (table["hosts that sleep", name] == "yes") == is_compiled("powered", asleep, SLEEPY)
        for option in filter(None, table["options", name].replace("any", "").split(", ")):
            key, _, value = option.strip("`").partition("=")
            assert str(getattr(create(name, {}).options, key)).removesuffix(".0") == value


@needs_kernels
def test_the_manuals_list_says_which_orderings_have_keys() -> None:
    steady, changing = hook_of("generated").on_page_markdown("<!-- generated: kernels orderings -->").splitlines()
    for each in announced("orderings"):
        if each != "guarded":
            assert (f"`{each}`" in steady + changing) == is_compiled("easy", {"ordering": each}), each
            assert (f"`{each}`" in steady) == is_compiled("conservative", {"ordering": each}), each
