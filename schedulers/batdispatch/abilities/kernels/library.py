"""The library of the kernels in C, calls of it, and its structures."""

from __future__ import annotations

from typing import Any

from batdispatch.native import record
from batdispatch.native.library import Library
from batdispatch.native.record import Kind

KERNELS = Library.beside(__file__)


def why_missing() -> str | None:
    """Return why there is no library, as a sentence without its full stop, or None if there is one."""
    if KERNELS.loaded is not None:
        return None
    return "the kernels, which are written in C, were not built: install batdispatch again where there is a C compiler"


def structure_of(file: str, name: str) -> tuple[dict[str, Kind], list[tuple[str, Any]]]:
    """Return the fields of a structure of the kernels, as `record.structure_of` does."""
    return record.structure_of(file, name, KERNELS)


def call(name: str, *given: object, result: type[int] | type[float] | None = int) -> Any:
    """Call a function of the library, which must have been built, as `record.call` does."""
    return record.call(name, *given, result=result, library=KERNELS)
