"""``batdispatch platform generate eurora``: CINECA Eurora as a platform."""

from __future__ import annotations

from typing import Annotated

from batdispatch.cli.platform import kind_command
from batdispatch.core.line.settings import Form
from batdispatch.inputs.platform_kinds import Kind, LinkOptions


class Eurora(Kind, frozen=True, kw_only=True):
    """CINECA Eurora: 64 nodes of 16 cores, 32 of them with 2 MICs and 32 with 2 GPUs.

    memory: Give each node this much memory, in MiB. The node file of the published job logs states 32768.
    """

    memory: Annotated[int, Form("MIB")] = 16384

    def content(self, links: LinkOptions) -> bytes:
        """Return the file."""
        from batdispatch_papers.eurora.machine import eurora

        return eurora(memory_mib=self.memory, links=links.links)


command = kind_command(Eurora)
