"""Which executor sits on which host: mappings as Batsim 4 and 5 write them <-> units per host."""

from __future__ import annotations

from collections import Counter
from itertools import chain, repeat
from operator import eq

from batdispatch.core.errors import FieldError
from batdispatch.core.hosts.allocation import Allocation

#: Texts of numbers that are kept for comparing with.
_MOST_TEXTS = 1 << 20
_numbers: list[str] = []


def read_mapping(given: dict[str, str | int], allocation: Allocation) -> tuple[Allocation, dict[int, int] | None]:
    """Return where the executors of Batsim 4's ``mapping`` sit: units of the allocation, or else a mapping.

    Raises:
        FieldError: an executor or a host is none.
    """
    counts = _counts_as_written(given, allocation.size)
    return (
        fold_mapping(allocation, _mapping(given, allocation.size))
        if counts is None
        else (_with(allocation, counts), None)
    )


def fold_mapping(allocation: Allocation, mapping: dict[int, int]) -> tuple[Allocation, dict[int, int] | None]:
    """Return the allocation with units per host if these say the same as a mapping does, or else both."""
    counts = _unit_counts(mapping, allocation.size)
    return (allocation, mapping) if counts is None else (_with(allocation, counts), None)


def _with(allocation: Allocation, counts: tuple[int, ...]) -> Allocation:
    return Allocation(allocation.mask, counts)


def _mapping(given: dict[str, str | int], size: int) -> dict[int, int]:
    mapping: dict[int, int] = {}
    for executor, index in given.items():
        if not _is_index(executor) or not _is_index(index) or int(index) >= size:
            raise FieldError(
                "data.mapping", f"{executor[:20]}: {str(index)[:20]}", f"executor: index in alloc, from 0 to {size - 1}"
            )
        mapping[int(executor)] = int(index)
    if sorted(mapping) != list(range(len(mapping))) or len(mapping) != len(given):
        raise FieldError("data.mapping", sorted(mapping)[:8], "the executors 0, 1, 2, ... without holes")
    return mapping


def _is_index(value: str | int) -> bool:
    return value >= 0 if isinstance(value, int) else value.isascii() and value.isdigit() and len(value) < 10


def _counts_as_written(given: dict[str, str | int], size: int) -> tuple[int, ...] | None:
    """Return `_unit_counts` of a mapping that is written as our encoder does, else None.

    A job of thousands of cores has a mapping of thousands of entries; this looks at them without a loop of Python's.
    """
    counts = Counter(given.values())
    if len(given) <= size or list(counts) != _texts(size) or list(given) != _texts(len(given)):
        return None
    in_order = chain.from_iterable(map(repeat, counts, counts.values()))
    return tuple(counts.values()) if all(map(eq, in_order, given.values())) else None


def _texts(count: int) -> list[str]:
    """Return the texts of the numbers below `count`."""
    if count > _MOST_TEXTS:
        return list(map(str, range(count)))
    _numbers.extend(map(str, range(len(_numbers), count)))
    return _numbers[:count]


def _unit_counts(mapping: dict[int, int], size: int) -> tuple[int, ...] | None:
    """Return how many executors sit on each host, if they fill the hosts one after the other and some share one.

    Such a mapping says no more than an Allocation with counts, which is what dispatchers for nodes with several
    resources decide; any other is kept as a mapping.
    """
    indices = [mapping[executor] for executor in range(len(mapping))]
    if len(indices) <= size or indices != sorted(indices):
        return None
    counts = [0] * size
    for index in indices:
        counts[index] += 1
    return tuple(counts) if all(counts) else None
