"""What resizes cost: the seconds in which a job is resized and its work stands still, and an account of them."""

from __future__ import annotations

from typing import Any, NamedTuple

from batdispatch.core.hosts.allocation import Allocation


class Stages(NamedTuple):
    """Seconds of a resize by stage, as figure 3 of Iserte et al. (2018) divides them."""

    #: To decide and arrange it, with the checks before it that had no action.
    scheduling: float
    #: To move the data, and for the processes of a shrink to wait for one another.
    moving: float

    @property
    def whole(self) -> float:
        """Seconds in which the job's work stands still."""
        return self.scheduling + self.moving


class Costs(NamedTuple):
    """What resizes cost; the options of the resizing layer say it."""

    #: Seconds of a check without action, of an expansion and of a shrink.
    check: float
    expand: float
    shrink: float
    #: Seconds for each unit of the larger size, and for each unit that shrinks.
    unit: float
    acknowledge: float
    #: Bytes per second that a unit sends or receives.
    bandwidth: float

    def of(self, before: int, after: int, data: float, owed: float) -> Stages:
        """Return what a resize costs.

        Args:
            before: units before the resize.
            after: units after it.
            data: bytes that are redistributed; 0: none, or the network is simulated.
            owed: seconds of the checks before it.
        """
        base = self.expand if after > before else self.shrink
        synchronisation = 0.0 if after > before else self.acknowledge * before
        return Stages(
            base + self.unit * max(before, after) + owed,
            transfer_seconds(data, before, after, self.bandwidth) + synchronisation,
        )


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


def transfer_profile(data: float, before: Allocation, after: Allocation) -> dict[str, Any]:
    """Return a profile that redistributes a job's data over the network, on the larger of two allocations.

    The data lies in equal blocks on the hosts of each allocation, in ascending order of host ids. Each host sends what
    the others need of its block. The job has done nothing of its work when this is over, so the profile fails: no
    simulator takes it for the end of the job.

    Args:
        data: bytes of the whole job.
        before: whole hosts, before the resize.
        after: whole hosts after it; one of the two contains the other.
    """
    hosts = max(before.ids, after.ids, key=len)
    index = {host: position for position, host in enumerate(hosts)}
    bytes_sent = [0.0] * len(hosts) ** 2
    for i, source in enumerate(before.ids):
        for j, target in enumerate(after.ids):
            overlap = min((i + 1) / before.size, (j + 1) / after.size) - max(i / before.size, j / after.size)
            if overlap > 0 and source != target:
                bytes_sent[index[source] * len(hosts) + index[target]] = data * overlap
    return {"type": "parallel", "cpu": [0.0] * len(hosts), "com": bytes_sent, "ret": 1}


class Actions:
    """Counts checks and resizes, and how long the resizes took."""

    def __init__(self) -> None:
        self.checks = 0
        #: Expansions that found no nodes in time.
        self.dropped = 0
        #: Action -> seconds of each, and of its first stage.
        self.seconds: dict[str, list[float]] = {"expand": [], "shrink": []}
        self.scheduling: dict[str, list[float]] = {"expand": [], "shrink": []}

    def did(self, kind: str, stages: Stages, waited: float = 0.0) -> None:
        """Count a resize, before which the job waited for nodes for some seconds."""
        self.seconds[kind].append(stages.whole + waited)
        self.scheduling[kind].append(stages.scheduling)

    def report(self) -> dict[str, Any]:
        """Return the counts for result.json, with least, mean and largest seconds of each action.

        `scheduling` holds the mean of the first of the `Stages` of each.
        """
        found: dict[str, Any] = {"checks": self.checks, "dropped_expansions": self.dropped}
        for kind, times in self.seconds.items():
            found[kind] = {"count": len(times)}
            if times:
                found[kind] |= {"least": min(times), "mean": sum(times) / len(times), "most": max(times)}
        found["scheduling"] = {kind: sum(times) / len(times) for kind, times in self.scheduling.items() if times}
        return found
