"""``batdispatch plugin``, as `batdispatch new` was called before."""

from __future__ import annotations

from pathlib import Path

import click

from batdispatch.cli.groups import Choice, Command, option
from batdispatch.cli.messages import warn
from batdispatch.cli.new import KINDS, output_option, write_package
from batdispatch.core.deprecation import DeprecatedName


@click.command(cls=Command)
@click.argument("name")
@option("--kind", type=Choice(list(KINDS)), default="dispatcher", show_default=True, help="Write this kind of package.")
@output_option
def command(name: str, kind: str, output: Path | None) -> None:
    """Write a package for a dispatcher or part of your own. Deprecated: `batdispatch new` does the same."""
    warn(str(DeprecatedName.after("0.1.0", "`batdispatch plugin`", f"`batdispatch new {kind} {name}`")))
    write_package(kind, name, output)
