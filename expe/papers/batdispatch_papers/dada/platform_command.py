"""``batdispatch platform generate hybrid``: a node of CPU cores and GPUs."""

from __future__ import annotations

from typing import Annotated, ClassVar

from batdispatch.cli.platform import kind_command
from batdispatch.core.line.settings import Form
from batdispatch.inputs.platform_kinds import Count, Kind, LinkOptions


class HybridLinks(LinkOptions, frozen=True, kw_only=True):
    """Those of a node with GPUs."""

    speed: Annotated[str, Form("SPEED")] = "10.64Gf"
    bw: Annotated[str, Form("BANDWIDTH")] = "6GBps"
    lat: Annotated[str, Form("TIME")] = "10us"


class Hybrid(Kind, frozen=True, kw_only=True):
    """A node whose CPU cores and GPUs are hosts of two classes, for graphs of tasks.

    gpus: Give the node this many GPUs (0 to 255). Each GPU takes one CPU core to drive it.
    cores: Let this many CPU cores compute, at least 1. The default is 12, less one for each GPU.
    switches: Spread the GPUs over this many PCI Express switches.
    """

    links_type: ClassVar[type[LinkOptions]] = HybridLinks
    gpus: Count = 8
    cores: Annotated[int | None, Form("N")] = None
    switches: Count = 4

    def content(self, links: LinkOptions) -> bytes:
        """Return the file."""
        from batdispatch_papers.dada.machine import hybrid

        return hybrid(gpus=self.gpus, cores=self.cores, switches=self.switches, links=links.links)


command = kind_command(Hybrid)
