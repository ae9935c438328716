"""What a run is audited from: its files and its inputs, as they were read, with nothing concluded from them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from batdispatch.audit.machine import Machine
from batdispatch.audit.queues import Queues
from batdispatch.audit.request import Demands
from batdispatch.audit.rows import Rows, read_lineage, read_units
from batdispatch.audit.words import TOLERANCE, part
from batdispatch.audit.workload import Workload


class Clock(NamedTuple):
    """How exactly the simulator's clock can be told from its messages."""

    #: Whether what is decided happens at its moment, and what happens is told at its moment.
    exact: bool

    def slack(self, told: int) -> float:
        """Return by how many seconds something may happen later than it was decided, or be told later than it was.

        Batsim's messages take time on the platform's links, each event and each decision of a message some more.

        Args:
            told: number of events, or of decisions, in the message.
        """
        return TOLERANCE if self.exact else 0.05 + 2e-3 * told


class Outage(NamedTuple):
    """Hosts that went away, or came back, from `earliest` to `latest`, in seconds."""

    earliest: float
    latest: float
    back: bool
    mask: int

    def __str__(self) -> str:
        hosts = [bit for bit in range(self.mask.bit_length()) if self.mask >> bit & 1]
        shown = ", ".join(map(str, hosts[:10])) + (", ..." if len(hosts) > 10 else "")
        return f"that hosts {shown} {'came back' if self.back else 'went away'} at {self.latest:.6f} s"


class Material:
    """What a run is audited from.

    Attributes:
        folder: of the run.
        said: result.json; empty where there is none, as in a folder that Batsim wrote.
        settings: what the run was made from, by that.
        rows: of its jobs file.
        machine: of its platform.
        workload: its jobs and profiles.
        digests: SHA-256 of the inputs, by the name that result.json gives them.
        outages: what the events file says of hosts, in order; None: it is not known.
        clock: of the simulator.
        units: of each row's job on each of its hosts.
        lineage: which rows are one job.
        queues: of the machine.
        demands: what jobs ask of the machine.
        at: index of each row's job in the workload, -1: it is none of these.
    """

    def __init__(
        self,
        folder: Path,
        said: Mapping[str, Any],
        rows: Rows,
        machine: Machine,
        workload: Workload,
        digests: Mapping[str, str],
        outages: list[Outage] | None,
    ) -> None:
        """Read what stands beside the jobs file.

        Raises:
            InputError: units.csv or lineage.csv is malformed.
        """
        self.folder, self.said, self.digests, self.outages = folder, said, digests, outages
        self.settings = part(part(said, "made_from"), "settings")
        self.rows, self.machine, self.workload = rows, machine, workload
        self.units, self.lineage = read_units(folder, rows), read_lineage(folder, rows)
        self.queues = Queues(machine)
        self.demands = Demands(machine, self.queues)
        self.clock = Clock(self.embedded and said.get("clock") != "batsim")
        known = {str(job.id): index for index, job in enumerate(workload.jobs)}
        # A job is found by its name, or by ``workload!name`` where the ids of the workload have that form.
        self.at = [known.get(name, known.get(full, -1)) for name, full in zip(rows.ids, rows.names, strict=True)]

    @property
    def embedded(self) -> bool:
        """Whether the embedded engine simulated the run."""
        return part(self.said, "engine").get("name") == "embedded"
