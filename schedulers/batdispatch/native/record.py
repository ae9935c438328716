"""Structures of numbers and arrays that C and Python share, and calls of C with them."""

from __future__ import annotations

import ctypes
import re
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from batdispatch.native.library import OWN, Library

#: What a field may be: a number, or the elements of an array.
Kind = type[int] | type[float] | type[np.generic]
_NUMBERS: dict[Any, Any] = {int: ctypes.c_int64, float: ctypes.c_double}
#: The same by the type that C's source states.
_KINDS: dict[str, Kind] = {
    **{"int64_t": int, "double": float, "int64_t *": np.int64, "double *": np.float64, "int32_t *": np.int32},
    **{"uint64_t *": np.uint64, "uint8_t *": np.uint8, "int8_t *": np.int8},
}


def structure_of(file: str, name: str, library: Library = OWN) -> tuple[dict[str, Kind], list[tuple[str, Any]]]:
    """Return what each field of a structure is, in order, as the source in C states it, and the same for `ctypes`.

    The address of a structure, or of the first of several, counts as that of whole numbers of 64 bits. Of a structure
    within, each field has a name such as ``key_column``, for the field ``column`` of ``key``.

    Args:
        file: of the source.
        name: of the structure.
        library: to which the source belongs.
    """
    text = re.sub(r"/\*.*?\*/", "", (library.folder / file).read_text(), flags=re.DOTALL)
    (body,) = re.findall(r"typedef struct (?:\w+ )?\{([^{}]*)\} " + name + ";", text)
    kinds: dict[str, Kind] = {}
    for kind, field in re.findall(r"(?:const )?(\w+(?: \*)?) ?(\w+);", body):
        if kind in _KINDS or kind.endswith("*"):
            kinds[field] = _KINDS.get(kind, np.int64)
        else:
            kinds.update({f"{field}_{inner}": value for inner, value in structure_of(file, kind, library)[0].items()})
    return kinds, [(name, _NUMBERS.get(kind, ctypes.c_void_p)) for name, kind in kinds.items()]


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
    """A structure that keeps alive the arrays to which it points; `structure_of` makes the fields.

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


def call(name: str, *given: object, result: type[int] | type[float] | None = int, library: Library = OWN) -> Any:
    """Call a function of a library, which must have been built.

    Args:
        name: of the function.
        given: whole numbers (int64_t), other numbers (double), structures and arrays (their addresses), None.
        result: what the function returns.
        library: that has the function.
    """
    function = getattr(library.loaded, name)
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
