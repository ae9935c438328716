"""Command-line options that name the platform file which tells a dispatcher what Batsim does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from batdispatch.cli.groups import option
from batdispatch.core.line.messages import Peer

F = TypeVar("F", bound=Callable[..., Any])


def platform_options(command: F) -> F:
    """Add ``--platform --master-host --role`` to a command that is told its machine by a simulator."""
    for add in reversed(
        (
            option(
                "--platform",
                metavar="P.xml",
                type=click.Path(path_type=Path),
                help="Read the platform that Batsim was started with. The dispatcher then also knows what Batsim does "
                "not tell: coordinates, topology and routes, speeds. The file is checked against what Batsim says.",
            ),
            option(
                "--master-host",
                metavar="NAME",
                help="Keep this host of --platform for Batsim itself, as Batsim's -m does; it is no resource. "
                "The default is master_host, if the platform has one.",
            ),
            option(
                "--role",
                "roles",
                metavar="HOST:ROLE",
                multiple=True,
                help="Give a host of --platform a role (storage, compute_node), as Batsim's -r does.",
            ),
        )
    ):
        command = add(command)
    return command


def informed(peer: Peer, platform: Path | None, master: str | None, roles: Sequence[str], version: str) -> Peer:
    """Return a peer that takes its machine from a platform file, or `peer` itself when no file is named.

    Args:
        peer: what answers.
        platform: the file.
        master: the host that carries Batsim.
        roles: as HOST:ROLE.
        version: of the protocol; each version of Batsim numbers hosts in its own way.

    Raises:
        InputError: the file is malformed, or an option needs ``--platform``.
    """
    from batdispatch.cli.platform import parse_roles
    from batdispatch.core.errors import InputError
    from batdispatch.links.informed import informed_by

    if platform is None:
        if master is not None or roles:
            raise InputError("--master-host and --role need --platform")
        return peer
    return informed_by(platform, peer, master=master, roles=parse_roles(roles), version=version)
