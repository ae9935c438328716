"""Which hosts a job holds, and how many of its units sit on each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import repeat
from typing import Any

import msgspec
from procset import ProcSet

from batdispatch.core.errors import InputError
from batdispatch.core.hosts import hostruns, hostset
from batdispatch.core.hosts.hostruns import Bounds


class Allocation:
    """The hosts of a job, immutable.

    The hosts are kept as a mask, as runs, or as both: each form is worked out when it is first asked for.

    Attributes:
        counts: units on each host, in ascending order of host id; None when each host carries one unit.
    """

    __slots__ = ("_bounds", "_ids", "_mask", "_size", "_text", "counts", "share")

    def __init__(
        self,
        mask: int | None = None,
        counts: tuple[int, ...] | None = None,
        size: int | None = None,
        *,
        bounds: Bounds | None = None,
    ) -> None:
        """Take the hosts, in one form or both.

        Args:
            mask: the host ids as a bit mask.
            counts: units on each host; None: one each.
            size: number of hosts, where it is known: to count the bits of a large machine takes microseconds.
            bounds: the host ids as runs, see `batdispatch.core.hosts.hostruns`.
        """
        self._mask = mask
        self._bounds = bounds
        self.counts = counts
        self._size = size
        self._text: str | None = None
        self._ids: list[int] | None = None
        #: What a node space worked out for this allocation: (request, space, hosts, used); planning asks often.
        self.share: Any = None

    @classmethod
    def of(cls, hosts: ProcSet | Iterable[int], counts: Iterable[int] | None = None) -> Allocation:
        """Build an allocation from a ProcSet or any iterable of host ids.

        Args:
            hosts: the host ids, in any order.
            counts: units on each host, in the order of `hosts`; one each when None.

        Raises:
            InputError: a host id is impossible, or `counts` does not give a positive number for each host.
        """
        if counts is None:
            return cls(hostset.mask_of(hosts))
        ids, listed = list(hosts), list(counts)
        mask = hostset.mask_of(ids)
        if not len(listed) == len(ids) == mask.bit_count() or any(n < 1 for n in listed):
            raise InputError(f"allocation {hostset.to_text(mask)!r}: one positive unit count a host is expected")
        if all(n == 1 for n in listed):
            return cls(mask)
        return cls(mask, tuple(count for _, count in sorted(zip(ids, listed, strict=True))))

    @classmethod
    def parse(cls, text: str) -> Allocation:
        """Read Batsim's notation, ``0-3 5``.

        Raises:
            InputError: the text is not a set of intervals.
        """
        return cls(bounds=hostruns.from_text(text))

    @property
    def mask(self) -> int:
        """The host ids as a bit mask."""
        if self._mask is None:
            self._mask = hostruns.mask_of(self.bounds)
        return self._mask

    @property
    def bounds(self) -> Bounds:
        """The host ids as bounds of runs, see `batdispatch.core.hosts.hostruns`; not to be modified."""
        if self._bounds is None:
            self._bounds = hostruns.bounds_of(self._mask or 0)
        return self._bounds

    @property
    def hosts(self) -> ProcSet:
        """The host ids as a ProcSet."""
        bounds = self.bounds
        return ProcSet(*((first, end - 1) for first, end in zip(bounds[::2], bounds[1::2], strict=True)))

    @property
    def ids(self) -> list[int]:
        """The host ids in ascending order; computed once, not to be modified."""
        if self._ids is None:
            self._ids = hostruns.ids_of(self.bounds)
        return self._ids

    @property
    def size(self) -> int:
        """Number of distinct hosts; counted once."""
        if self._size is None:
            bounds, mask = self._bounds, self._mask or 0
            self._size = mask.bit_count() if bounds is None else hostruns.size_of(bounds)
        return self._size

    @property
    def units(self) -> int:
        """Number of units placed."""
        return self.size if self.counts is None else sum(self.counts)

    def per_host(self) -> list[tuple[int, int]]:
        """Return ``(host id, units on it)`` in ascending order of host id."""
        return list(zip(self.ids, repeat(1) if self.counts is None else self.counts, strict=False))

    def without(self, mask: int) -> Allocation | None:
        """Return the part on hosts that are not in a mask, with its units; None if there is no such part."""
        left = self.mask & ~mask
        if not left or left == self._mask:
            return self if left else None
        if self.counts is None:
            return Allocation(left)
        hosts, counts = zip(*((host, count) for host, count in self.per_host() if left >> host & 1), strict=True)
        return Allocation.of(hosts, counts)

    def joined(self, other: Allocation | None) -> Allocation:
        """Return the hosts of both, with their units; they have no host in common. None: there is no other."""
        if other is None:
            return self
        hosts, counts = zip(*self.per_host(), *other.per_host(), strict=True)
        return Allocation.of(hosts, counts)

    def is_within(self, other: Allocation) -> bool:
        """Return whether another allocation has as many units or more on each of the hosts."""
        counts = dict(other.per_host())
        return all(count <= counts.get(host, 0) for host, count in self.per_host())

    def same_hosts(self, other: Allocation) -> bool:
        """Return whether both are on the same hosts."""
        return self is other or self.bounds == other.bounds

    def __str__(self) -> str:
        # The exchange and the files write it several times.
        if self._text is None:
            self._text = hostruns.text_of(self.bounds)
        return self._text

    def __repr__(self) -> str:
        return f"Allocation({str(self)!r})" if self.counts is None else f"Allocation({str(self)!r}, {self.counts})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Allocation) and self.same_hosts(other) and self.counts == other.counts

    def __hash__(self) -> int:
        return hash((self.mask, self.counts))


class IoJob(msgspec.Struct, frozen=True):
    """I/O traffic that runs along with a job (Batsim 4 only): a profile over hosts of any role."""

    allocation: Allocation
    profile_name: str
    profile: dict[str, Any] | None = None


class Place(msgspec.Struct, frozen=True, gc=False):
    """Where a job goes, the whole answer of a placement. Batsim accepts at most one mapping, storage or I/O job."""

    #: The hosts, and how many units of the job each of them carries.
    allocation: Allocation
    #: Executor number -> index within the allocation; None: executors along ascending host ids.
    mapping: Mapping[int, int] | None = None
    #: Storage label of the job's profile -> host id.
    storage: Mapping[str, int] | None = None
    io_job: IoJob | None = None
    #: What the placement gave up because the job had waited long enough for it, by name.
    given_up: tuple[str, ...] = ()
