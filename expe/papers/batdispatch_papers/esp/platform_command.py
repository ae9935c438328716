"""``batdispatch platform generate esp``: the cluster of the ESP experiments."""

from __future__ import annotations

from batdispatch.cli.platform import kind_command
from batdispatch.inputs.platform_kinds import Count, Kind, LinkOptions


class Esp(Kind, frozen=True, kw_only=True):
    """The CPU-GPU cluster of the ESP experiments.

    hosts: Make this many nodes.
    cores: Give each node this many cores.
    gpus: Give each node this many GPUs.
    """

    hosts: Count = 1024
    cores: Count = 8
    gpus: Count = 2

    def content(self, links: LinkOptions) -> bytes:
        """Return the file."""
        from batdispatch_papers.esp.machine import esp

        return esp(nodes=self.hosts, cores=self.cores, gpus=self.gpus, links=links.links)


command = kind_command(Esp)
