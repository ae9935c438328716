"""Lists what authors may rely on: every name of `batdispatch` and `batdispatch.testing`, with members and parameters.

``PYTHONPATH=tests/support python -m public_names > tests/house/public_names.txt`` writes the list of a release.
"""

import inspect
import typing
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import msgspec

#: Methods that the simulation calls, and authors do not.
INTERNAL = ("apply_", "check", "unblock", "reject_hopeless", "take_decisions")


def listed() -> list[str]:
    """Return every public name, sorted; a function with its parameters, those with a default with a ``=``."""
    import batdispatch
    import batdispatch.testing

    found = []
    # The first ledger gathers what concerns offer of it.
    begins = batdispatch.events.SimulationBegins(0.0, batdispatch.Machine.flat(1))
    shown = vars(batdispatch.Ledger(begins))
    for module in (batdispatch, batdispatch.testing):
        for name in module.__all__:
            if not name.startswith("__"):
                found += _of(f"{module.__name__}.{name}", getattr(module, name))
    # What a ledger shows besides are attributes that it sets itself; the manual names these.
    found += [f"batdispatch.Ledger.{name}" for name in ("machine", "now", "queue", "running", "space") if name in shown]
    return sorted(set(found))


def _of(path: str, thing: Any) -> Iterator[str]:
    if isinstance(thing, ModuleType):
        own = [name for name, each in vars(thing).items() if getattr(each, "__module__", None) == thing.__name__]
        for name in own:
            if not name.startswith("_"):
                yield from _of(f"{path}.{name}", getattr(thing, name))
    elif inspect.isclass(thing):
        yield path
        for name in _fields(thing):
            yield f"{path}.{name}"
        for name, member in inspect.getmembers(thing):
            home = getattr(inspect.unwrap(getattr(member, "fget", member) or member), "__module__", "")
            if name.startswith("_") or name.startswith(INTERNAL) or not str(home).startswith("batdispatch"):
                continue
            yield f"{path}.{name}{_parameters(member)}"
    elif callable(thing):
        yield f"{path}{_parameters(thing)}"
    else:
        yield path


def _fields(cls: type) -> tuple[str, ...]:
    if issubclass(cls, msgspec.Struct):
        return tuple(name for name in cls.__struct_fields__ if not name.startswith("_"))
    own = typing.cast("Any", cls)
    return tuple(
        name
        for name in getattr(own, "__dataclass_fields__", None) or getattr(own, "_fields", ())
        if not name.startswith("_")
    )


def _parameters(function: Any) -> str:
    if not callable(function) or inspect.isclass(function):
        return ""
    taken = [each for each in inspect.signature(function).parameters.values() if each.name != "self"]
    return f"({', '.join(each.name + ('' if each.default is each.empty else '=') for each in taken)})"


if __name__ == "__main__":
    print("\n".join(listed()))
