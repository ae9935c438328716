"""What a resize costs: the seconds in which a job is resized and its work stands still."""

from __future__ import annotations


def transfer_seconds(data: float, before: int, after: int, bandwidth: float) -> float:
    """Return how long a resize takes to redistribute a job's data, in seconds.

    The data is spread evenly. With n units on the smaller side and k on the larger one, each of the n sends or receives
    what the units on the other side have beyond its own part: data (k - n) / (k n). All do so at the same time. So it
    takes less with more units on both sides, and more the larger the step is, as in Iserte et al. (2018), figure 3b.

    Args:
        data: bytes of the whole job.
        before: units before the resize.
        after: units after it.
        bandwidth: bytes per second that a unit sends or receives.
    """
    few, many = sorted((before, after))
    return data * (many - few) / (many * few) / bandwidth
