"""Platforms made from numbers, as people state them; nothing large is imported, so that help is quick.

A kind is one struct here: its docstring is the help, its fields are the options, `content` calls the function in
`inputs.platforms.generate` that writes the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import msgspec
from msgspec.structs import asdict

from batdispatch.core.errors import InputError
from batdispatch.core.line.settings import Form

if TYPE_CHECKING:
    from batdispatch.inputs.platforms.generate import Links


#: Entry-point group of what completes a generated platform, by the option that asks for it: a function that returns the
#: file, given the file and the option's value.
GROUP = "batdispatch.platform_options"


class LinkOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Cores and links.

    speed: Give each core this speed, such as 1Gf (10^9 floating-point operations in a second).
    bw: Give each link this bandwidth, such as 1.25GBps (1.25 10^9 bytes in a second).
    lat: Give each link this latency, such as 1us.
    power: Let nodes have the power states of this machine, with watts, sleep and speeds in proportion to --speed.
    """

    speed: Annotated[str, Form("SPEED")] = "1Gf"
    bw: Annotated[str, Form("BANDWIDTH")] = "1.25GBps"
    lat: Annotated[str, Form("TIME")] = "10us"
    power: Annotated[Literal["batsim-cluster", "batsim-homogeneous", "simgrid-cluster"] | None, Form("NAME")] = None

    @property
    def links(self) -> Links:
        """What the functions take."""
        from batdispatch.inputs.platforms.generate import Links

        return Links(speed=self.speed, bw=self.bw.split(",")[0], lat=self.lat)

    def complete(self, content: bytes) -> bytes:
        """Return a generated platform with what these options add to its nodes.

        Raises:
            InputError: what does it is not installed.
        """
        if self.power is None:
            return content
        from batdispatch.core.abilities import missing_ability
        from batdispatch.core.line import registry

        change = registry.load(GROUP, "power", "option of platforms")
        if change is None:
            raise missing_ability("power", "option --power")
        completed: bytes = change(content, self.power)
        return completed


def sizes_of(text: str) -> tuple[int, ...]:
    """Read a list of whole numbers, such as 4,4,4.

    Raises:
        InputError: it is none.
    """
    parts = text.split(",")
    if not all(part.isascii() and part.isdigit() and len(part) <= 9 for part in parts):
        raise InputError(f"{text!r} is not a list of whole numbers such as 4,4,4")
    return tuple(int(part) for part in parts)


#: How many of something.
Count = Annotated[int, Form("N")]
#: What each node offers.
Capacity = Annotated[str | None, Form("TEXT")]


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of platform.

    capacity: Let each node offer these amounts, such as 'core=16 gpu=2 memory=16384' (memory in MiB), which jobs then
        share. By default, jobs take whole hosts.
    dims: Make this many routers along each dimension, of which there may be up to ten.
    hosts_per_router: Put this many nodes on each router.
    """

    #: What can be stated of its links.
    links_type: ClassVar[type[LinkOptions]] = LinkOptions


class Flat(Kind, frozen=True, kw_only=True):
    """Equal nodes on a switch that never limits them.

    hosts: Make this many compute hosts.
    """

    hosts: Count
    capacity: Capacity = None

    def content(self, links: LinkOptions) -> bytes:
        """Return the file."""
        from batdispatch.inputs.platforms.generate import flat

        return flat(**asdict(self), links=links.links)


#: The kinds that are of no one machine.
KINDS = (Flat,)
