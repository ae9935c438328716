"""Imports pybatsim only when it is wanted, and finds its schedulers."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import Any

from batdispatch.core.errors import InputError

#: What installs it beside a current pyzmq.
INSTALL = "pip install --no-deps pybatsim==3.2.1 && pip install docopt sortedcontainers"


def require_pybatsim() -> Any:
    """Return pybatsim's module ``batsim.batsim``.

    Raises:
        InputError: pybatsim or what it needs is not installed; says how to install it.
    """
    try:
        return importlib.import_module("batsim.batsim")
    except ImportError as problem:
        # Its wheel pins a pyzmq that no Python >= 3.11 can install, hence --no-deps.
        raise InputError(f"pybatsim cannot be imported ({problem}): install it with `{INSTALL}`") from None


def find_scheduler(name: str) -> type[Any]:
    """Return a pybatsim scheduler class.

    Args:
        name: as for pybatsim's launcher, a module of its ``schedulers`` package (``easyBackfill``) or a path to a file,
            the class being the module's name with a capital; or ``module:Class``.

    Raises:
        InputError: pybatsim is missing, or there is no such scheduler.
    """
    base = require_pybatsim().BatsimScheduler
    place, _, attribute = name.partition(":")
    stem = Path(place).stem if place.endswith(".py") else place.rpartition(".")[2]
    attribute = attribute or stem[:1].upper() + stem[1:]
    try:
        if place.endswith(".py"):
            spec = importlib.util.spec_from_file_location(f"pybatsim_user_{stem}", place)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        elif "." in place or ":" in name:
            module = importlib.import_module(place)
        else:
            module = importlib.import_module(f"schedulers.{place}")
    except Exception as problem:
        raise InputError(
            f"pybatsim scheduler {name!r} cannot be loaded: {type(problem).__name__}: {problem}; expected a module of "
            "its `schedulers` package such as easyBackfill, module:Class, or the path of a file"
        ) from None
    found = getattr(module, attribute, None)
    if not (isinstance(found, type) and issubclass(found, base)):
        raise InputError(f"pybatsim scheduler {name!r}: {module.__name__} has no scheduler class {attribute!r}")
    return found
