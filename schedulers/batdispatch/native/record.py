"""Structures of numbers and arrays that C and Python share, and calls of C with them."""

from __future__ import annotations

import ctypes
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from batdispatch.native.library import load

#: What a field may be: a number, or the elements of an array.
Kind = type[int] | type[float] | type[np.generic]
_NUMBERS: dict[Any, Any] = {int: ctypes.c_int64, float: ctypes.c_double}


def fields_of(kinds: dict[str, Kind]) -> list[tuple[str, Any]]:
    """Return the fields of a structure of C: int64_t, double, or a pointer to the elements of an array."""
    return [(name, _NUMBERS.get(kind, ctypes.c_void_p)) for name, kind in kinds.items()]


def pointer_to(array: NDArray[Any], kind: type[np.generic]) -> int:
    """Return where the elements of an array are.

    Raises:
        TypeError: they are not of this kind, or do not stand one behind the other.
    """
    if array.dtype != kind or not array.flags.c_contiguous:
        raise TypeError(f"expected an array of {kind.__name__} without gaps, found {array.dtype} {array.strides}")
    # `ctypes.data` makes an object first, which takes several times as long.
    address: int = array.__array_interface__["data"][0]
    return address


class Record(ctypes.Structure):
    """A structure that keeps alive the arrays to which it points; a subclass states `kinds`, and `_fields_` from them.

    Attributes:
        arrays: the arrays by name. An array is replaced by `hold`, and nowhere else.
    """

    kinds: ClassVar[dict[str, Kind]]
    arrays: dict[str, NDArray[Any]]

    def hold(self, **arrays: NDArray[Any]) -> None:
        """Point to arrays; raises as `pointer_to`."""
        for name, array in arrays.items():
            setattr(self, name, pointer_to(array, cast(type[np.generic], self.kinds[name])))
        self.arrays = {**getattr(self, "arrays", {}), **arrays}

    def hold_zeros(self, length: int, *names: str) -> None:
        """Point to new arrays of so many zeros."""
        self.hold(**{name: np.zeros(length, dtype=self.kinds[name]) for name in names})

    def lengthen(self, used: int, length: int, *names: str) -> None:
        """Point to longer arrays with what is used of the former ones, if any is; nothing is written behind that."""
        for name in names:
            # What is never written takes no memory.
            grown = np.empty(length, dtype=self.kinds[name])
            if used:
                grown[:used] = self.arrays[name][:used]
            self.hold(**{name: grown})


def call(name: str, *given: object, result: type[int] | type[float] | None = int) -> Any:
    """Call a function of the library, which `load` must have found.

    Args:
        name: of the function.
        given: whole numbers (int64_t), other numbers (double), structures and arrays (their addresses), None.
        result: what the function returns.
    """
    function = getattr(load(), name)
    function.restype = _NUMBERS.get(result)
    return function(*(_handed(each) for each in given))


def _handed(given: Any) -> Any:
    if isinstance(given, ctypes.Structure):
        return ctypes.byref(given)
    if isinstance(given, np.ndarray):
        return ctypes.c_void_p(pointer_to(given, given.dtype.type))
    if given is None:
        return ctypes.c_void_p(None)
    return ctypes.c_double(given) if isinstance(given, float) else ctypes.c_int64(given)
