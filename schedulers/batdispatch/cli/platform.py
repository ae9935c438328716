"""``batdispatch platform``: generate SimGrid platforms and look into them."""

from __future__ import annotations

import inspect
import sys
from functools import partial
from typing import Any

import click

from batdispatch.cli.groups import AnnouncedGroup, Command, option
from batdispatch.cli.messages import conclude
from batdispatch.cli.options import options
from batdispatch.cli.outputs import written_option
from batdispatch.cli.subcommands import OpenGroup
from batdispatch.core.errors import InputError
from batdispatch.inputs.platform_kinds import KINDS


class Platforms(OpenGroup):
    """What is done with platforms."""

    word = "platform"
    modules = {"show": "batdispatch.inputs.platform_show"}


@click.group(cls=Platforms)
def command() -> None:
    """Generate SimGrid platforms and look into them.

    \b
    Examples:
      batdispatch platform generate flat --hosts 128 -o flat128.xml
      batdispatch platform generate eurora -o eurora.xml
      batdispatch platform show eurora.xml
      batdispatch platform queues eurora.xml queues.toml -o site.xml
    """


class Kinds(AnnouncedGroup):
    """The kinds of platforms: those of this package, and what other packages announce."""

    entry_points = "batdispatch.platforms"


@command.group(cls=Kinds)
def generate() -> None:
    """Write a platform file: a machine or a family of machines.

    The same options always give the same bytes. Each file has a host master_host that carries Batsim itself.

    \b
    Examples:
      batdispatch platform generate flat --hosts 64 --capacity 'core=16 memory=32768' -o cluster.xml
      batdispatch platform generate torus --dims 24,24,24 --hosts-per-router 2 --io 672 -o bluewaters.xml
      batdispatch platform generate forhlr2 -o -      (to standard output)
    """


#: ``--out`` of what writes a platform.
output_option = partial(
    option,
    "-o",
    "--out",
    "output",
    required=True,
    help="Write into this file, or for - to the standard output.",
)


def write_platform(output: str, content: bytes, as_json: bool) -> None:
    """Write a platform; print it where it is the standard output, else its path, or as JSON what it has.

    Raises:
        InputError: JSON and the platform would be mixed.
    """
    from batdispatch.inputs.files import replace_file
    from batdispatch.inputs.platforms import read_platform
    from batdispatch.inputs.platforms.summary import summarise

    if output == "-":
        if as_json:
            raise InputError("the platform itself is the output, expected a file in --out", source="option --json")
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    with replace_file(output) as file:
        file.write(content)
    conclude(output, summarise(read_platform(output)) if as_json else {}, as_json=as_json)


def kind_command(kind: Any) -> click.Command:
    """Return the command that writes a kind of platform.

    Args:
        kind: a struct that derives from `inputs.platform_kinds.Kind` and has a method `content`, which returns the file
            for the links stated. The command is called as the struct, in small letters.
    """

    @options(kind)
    @options(kind.links_type)
    @output_option(metavar="P.xml")
    @written_option
    def write(chosen: Any, links: Any, output: str, as_json: bool) -> None:
        write_platform(output, links.complete(chosen.content(links)), as_json)

    about = inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[0]
    return click.command(kind.__name__.lower(), cls=Command, help=about)(write)


for _kind in KINDS:
    generate.add_command(kind_command(_kind))
