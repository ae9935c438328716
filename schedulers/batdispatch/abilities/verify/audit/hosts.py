"""Sets of hosts in Batsim's notation (``0-3 5``), a whole column at a time, and sweeps over what they carry."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.errors import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_FORM = re.compile(r"\d{1,9}(-\d{1,9})?([ ,]\d{1,9}(-\d{1,9})?)*", re.ASCII)
#: Intervals that are taken as Python's numbers at the same time.
BLOCK = 1 << 13


class HostSets(NamedTuple):
    """The intervals of many host sets, in order of row and then as written.

    Attributes:
        first: lowest host id, int64 [interval].
        last: highest host id, inclusive, int64 [interval].
        row: position of the host set that the interval belongs to, int64 [interval], ascending.
        rows: number of host sets.
    """

    first: Ints
    last: Ints
    row: Ints
    rows: int

    @property
    def length(self) -> Ints:
        """Number of hosts in each interval, int64 [interval]."""
        return self.last - self.first + 1

    @property
    def sizes(self) -> Ints:
        """Number of hosts in each set, int64 [row]."""
        return np.bincount(self.row, weights=self.length, minlength=self.rows).astype(np.int64)

    def ordered(self) -> HostSets:
        """Return the same with the intervals of each set in ascending order."""
        order = np.lexsort((self.first, self.row))
        return HostSets(self.first[order], self.last[order], self.row[order], self.rows)

    def pieces(self) -> Ints:
        """Return the number of maximal runs of consecutive ids in each set, int64 [row]."""
        first, last, row, _ = self.ordered()
        joined = (row[1:] == row[:-1]) & (first[1:] <= last[:-1] + 1)
        return np.bincount(row, minlength=self.rows) - np.bincount(row[1:][joined], minlength=self.rows)

    def twice(self) -> Ints:
        """Return the rows whose sets name a host more than once, int64."""
        first, last, row, _ = self.ordered()
        return np.unique(row[1:][(row[1:] == row[:-1]) & (first[1:] <= last[:-1])])

    def of(self, row: int) -> Ints:
        """Return the hosts of one set, int64 [host of it]."""
        low, high = np.searchsorted(self.row, (row, row + 1))
        pairs = zip(self.first[low:high].tolist(), (self.last[low:high] + 1).tolist(), strict=True)
        return np.concatenate([np.arange(first, end) for first, end in pairs] or [np.zeros(0, dtype=np.int64)])

    def slots(self) -> tuple[Ints, Ints]:
        """Return ``(host, row)`` [slot]: every host of every set, in the order of the intervals."""
        length = self.length
        within = np.arange(int(length.sum())) - np.repeat(np.cumsum(length) - length, length)
        return np.repeat(self.first, length) + within, np.repeat(self.row, length)

    def inside(self, low: int, high: int) -> tuple[HostSets, Ints]:
        """Return the parts of the sets on hosts from `low` to `high`, and which interval each is of, int64."""
        some = np.flatnonzero((self.first <= high) & (self.last >= low))
        first, last = np.maximum(self.first[some], low), np.minimum(self.last[some], high)
        return HostSets(first, last, self.row[some], self.rows), some


def read_host_sets(texts: Sequence[str]) -> HostSets:
    """Read a column of host sets; an empty text is an empty set.

    Raises:
        InputError: a text is no host set; its place is the position in the column.
    """
    for row, text in enumerate(texts):
        if text and not _FORM.fullmatch(text):
            raise _refusal(text, row)
    rows = np.array([row for row, text in enumerate(texts) if text], dtype=np.int64)
    joined = "".join([f"{text}\n" for text in texts if text])
    data = np.frombuffer(joined.encode(), dtype=np.uint8)
    # Each number is followed by one mark: a dash within an interval, a blank or the end of the line behind it.
    mark = data[(data < ord("0")) | (data > ord("9"))]
    dash, end = mark == ord("-"), mark == ord("\n")
    numbers = np.array(joined.replace("-", " ").replace(",", " ").split(), dtype=np.int64)
    last = np.flatnonzero(~dash)
    first = last - dash[last - 1]
    sets = HostSets(numbers[first], numbers[last], rows[(np.cumsum(end) - end)[last]], len(texts))
    for row in sets.row[sets.length <= 0].tolist():
        raise _refusal(texts[row], row)
    return sets


def _refusal(text: str, row: int) -> InputError:
    return InputError(f"found {text[:80]!r}, expected intervals of host ids such as '0-3 5'", place=str(row))


def mask_of(text: str) -> int:
    """Return a host set as the bits of a number.

    Raises:
        InputError: it is malformed.
    """
    hosts, mask = read_host_sets([text]), 0
    for first, last in zip(hosts.first.tolist(), hosts.last.tolist(), strict=True):
        mask |= (1 << last + 1) - (1 << first)
    return mask


def conflicts(hosts: HostSets, start: Floats, finish: Floats, tolerance: float) -> Iterator[tuple[int, int, int]]:
    """Yield ``(row, row that still holds the host, host)`` where a job starts on a whole host that another one holds.

    A job that takes no time goes first among those that start together. Time grows with the intervals, not the hosts.

    Args:
        hosts: of each row.
        start: seconds, float64 [row]; NaN for a job that did not run.
        finish: seconds, float64 [row].
        tolerance: seconds by which a job may start before the other's end.
    """
    size = int(hosts.last.max(initial=-1)) + 1
    until, holder = np.full(size, -np.inf), np.full(size, -1, dtype=np.int64)
    ran = np.flatnonzero(np.isfinite(start[hosts.row]))
    order = ran[np.lexsort((hosts.row[ran], finish[hosts.row[ran]], start[hosts.row[ran]]))]
    begins, ends = start.tolist(), finish.tolist()
    for low in range(0, len(order), BLOCK):
        columns = (column[order[low : low + BLOCK]].tolist() for column in (hosts.row, hosts.first, hosts.last))
        for row, first, last in zip(*columns, strict=True):
            held, holders = until[first : last + 1], holder[first : last + 1]
            at = int(held.argmax())
            latest, other = held.item(at), holders.item(at)
            # A host that the job's own allocation names twice is another rule's affair.
            if latest > begins[row] + tolerance and other != row:
                yield row, other, first + at
            if latest < ends[row]:
                held.fill(ends[row])
                holders.fill(row)
            else:
                longer = held < ends[row]
                holders[longer], held[longer] = row, ends[row]


class Slots(NamedTuple):
    """What jobs hold on single hosts: host, row and resource amounts, int64 [slot] and [slot, resource]."""

    host: Ints
    row: Ints
    amount: Ints


def overloads(
    slots: Slots, capacity: Ints, start: Floats, finish: Floats, tolerance: float
) -> Iterator[tuple[int, int, int, int]]:
    """Yield ``(row, host, resource, amount in use)`` where a job's start overloads a host.

    Args:
        slots: what each row's job holds on each host.
        capacity: int64 [host, resource].
        start: seconds, float64 [row]; NaN for a job that did not run.
        finish: seconds, float64 [row].
        tolerance: seconds by which a job may start before the other's end.
    """
    ran = np.isfinite(start[slots.row]) & (slots.host < len(capacity))
    row, host, amount = slots.row[ran], slots.host[ran], slots.amount[ran]
    # An end is moved earlier by the tolerance. A job that takes no time then competes with nothing.
    ends = np.maximum(finish[row] - tolerance, start[row])
    some = np.flatnonzero(ends > start[row])
    row, host, amount, ends = row[some], host[some], amount[some], ends[some]
    count = len(row)
    time, hosts = np.concatenate((ends, start[row])), np.tile(host, 2)
    begins = np.repeat([0, 1], count)
    order = np.lexsort((begins, time, hosts))
    # Every slot adds and removes the same, so the running sum is 0 again where the next host begins.
    used = np.cumsum(np.concatenate((-amount, amount))[order], axis=0)
    over = (used > capacity[hosts[order]]) & (begins[order] == 1)[:, None]
    for index, axis in np.argwhere(over).tolist():
        slot = int(order[index]) % count
        yield int(row[slot]), int(host[slot]), axis, int(used[index, axis])
