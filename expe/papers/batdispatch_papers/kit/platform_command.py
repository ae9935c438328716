"""``batdispatch platform generate forhlr2``: KIT ForHLR II as a platform."""

from __future__ import annotations

from batdispatch.cli.platform import kind_command
from batdispatch.inputs.platform_kinds import Kind, LinkOptions


class Forhlr2(Kind, frozen=True, kw_only=True):
    """KIT ForHLR II: 1,152 nodes of 20 cores and 64 GB, 21 of 48 cores, 4 GPUs and 1 TB."""

    def content(self, links: LinkOptions) -> bytes:
        """Return the file."""
        from batdispatch_papers.kit.machine import forhlr2

        return forhlr2(links=links.links)


command = kind_command(Forhlr2)
