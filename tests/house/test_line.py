"""How much an author of a dispatcher, a layer or a concern has to know of the line: counted, and kept small."""

import ast
import inspect
from pathlib import Path
from typing import Any

import pytest

import batdispatch
from batdispatch.core.line import roles
from batdispatch.core.line.concern import Concern, Concerns
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.ledger import Ledger, announced_concerns
from batdispatch.layers.base import OWN, Layer

LINE = Path(batdispatch.__file__).parent / "core" / "line"
#: The most public methods and attributes of the ledger, hooks and flags of a dispatcher, and hooks of a role.
METHODS, ATTRIBUTES, HOOKS, FLAGS, HOOKS_OF_A_ROLE = 30, 20, 12, 4, 6
#: The most methods of a concern, which overrides those that it has something to say to.
SAYINGS = 30
ROLES = [kind for name, kind in vars(roles).items() if inspect.isclass(kind) and kind.__module__ == roles.__name__]


def body_of(file: str, name: str) -> list[ast.stmt]:
    """Return the statements of a class of the line."""
    tree = ast.parse((LINE / file).read_text())
    return next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)


def methods(body: list[ast.stmt]) -> list[str]:
    """Return the public methods and properties that a class defines itself."""
    return [node.name for node in body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]


def attributes(body: list[ast.stmt]) -> set[str]:
    """Return all attributes that any method of a class sets of itself, private ones as well."""
    targets = (
        node
        for statement in body
        if isinstance(statement, ast.FunctionDef)
        for node in ast.walk(statement)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    )
    return {node.attr for node in targets if isinstance(node.value, ast.Name) and node.value.id == "self"}


def flags(body: list[ast.stmt]) -> list[str]:
    """Return the class variables of a class."""
    targets = [node.target for node in body if isinstance(node, ast.AnnAssign)]
    targets += [target for node in body if isinstance(node, ast.Assign) for target in node.targets]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def test_the_ledger_keeps_what_every_dispatcher_needs() -> None:
    body = body_of("ledger.py", "Ledger")
    assert {"start", "reject", "kill", "free", "place"} <= set(methods(body))
    assert len(methods(body)) <= METHODS, methods(body)
    assert len(attributes(body)) <= ATTRIBUTES, attributes(body)


def test_a_dispatcher_has_few_hooks_and_flags_of_its_own() -> None:
    body = body_of("dispatcher.py", "Dispatcher")
    hooks = [name for name in methods(body) if name != "rng"]
    assert "decide" in hooks
    assert len(hooks) <= HOOKS, hooks
    assert len(flags(body)) <= FLAGS, flags(body)
    for role in ROLES:
        if role is not roles.Gap:
            assert len(methods(body_of("roles.py", role.__name__))) <= HOOKS_OF_A_ROLE, role
            assert issubclass(Dispatcher, role)


def test_a_concern_is_asked_by_one_small_interface() -> None:
    assert len(methods(body_of("concern.py", "Concern"))) <= SAYINGS


def test_the_line_knows_no_concern_by_name() -> None:
    """Neither the ledger, nor what all concerns derive from, imports one."""
    for file in ("ledger.py", "concern.py", "roles.py", "dispatcher.py"):
        imports = [node for node in ast.walk(ast.parse((LINE / file).read_text())) if isinstance(node, ast.ImportFrom)]
        assert not [node.module for node in imports if "concerns" in str(node.module)], file


#: All that anybody asks of a dispatcher.
ASKED = [name for name, _ in inspect.getmembers(Dispatcher, inspect.isfunction) if not name.startswith("_")]


@pytest.mark.parametrize("name", ASKED)
def test_a_layer_forwards_every_hook_and_none_by_hand(name: str) -> None:
    """The layer's own method returns what that of the dispatcher inside returns, given what it was given."""
    written = methods(next(n.body for n in ast.parse(inspect.getsource(Layer)).body if isinstance(n, ast.ClassDef)))
    if name in OWN or name == "begin":
        return
    assert name not in written
    layer: Any = object.__new__(type("Bare", (Layer,), {}))
    layer.inner = type("Inside", (), {name: lambda self, *given: ("inside", given)})()
    count = len(inspect.signature(getattr(Dispatcher, name)).parameters) - 1
    given = tuple(range(count))
    assert getattr(layer, name)(*given) == ("inside", given)


def test_what_concerns_offer_is_asked_of_the_ledger_and_belongs_to_one_of_them() -> None:
    Ledger(batdispatch.events.SimulationBegins(0.0, batdispatch.Machine.flat(1)))
    offers = [name for kind in announced_concerns() for name in kind.offers]
    assert len(offers) == len(set(offers))
    assert {"hold", "register_job", "set_state"} <= set(offers) <= set(dir(Ledger))
    assert not set(offers) & set(methods(body_of("ledger.py", "Ledger")))


def test_a_ledger_without_concerns_asks_nobody() -> None:
    ledger = Ledger(batdispatch.events.SimulationBegins(0.0, batdispatch.Machine.flat(1)))
    assert ledger.concerns.active == ()


def test_concerns_join_and_leave_while_others_are_asked() -> None:
    concerns = Concerns(None)
    first, second = concerns.of(Concern), concerns.of(type("Other", (Concern,), {}))
    concerns.join(first)
    concerns.join(second)
    concerns.join(first)
    asked = []
    for concern in concerns.active:
        concerns.leave(concern)
        asked.append(concern)
    assert asked == [first, second]
    assert concerns.active == ()
