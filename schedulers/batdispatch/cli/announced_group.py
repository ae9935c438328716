"""A group of commands that other packages may add to, by an entry point for each command."""

from __future__ import annotations

from typing import ClassVar

import click

from batdispatch.cli.groups import Group
from batdispatch.core.errors import BatdispatchError, InputError


class AnnouncedGroup(Group):
    """A group with the commands that installed packages announce beside its own, which come first if names are equal.

    Derive from it and name the entry points. A package says in ``short_help`` what stands beside a command's name.
    """

    #: The entry-point group; each entry point leads to a `click.Command`.
    entry_points: ClassVar[str] = ""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, sorted."""
        from batdispatch.core.line import registry

        return sorted({*super().list_commands(ctx), *registry.names(self.entry_points)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a name.

        Raises:
            InputError: a package announces something else by this name, or two packages announce it.
        """
        return super().get_command(ctx, cmd_name) or self._announced(cmd_name)

    def summary(self, ctx: click.Context, name: str) -> str:
        """Return one sentence about a command; of one that cannot be loaded, why, so that the others are shown."""
        try:
            return super().summary(ctx, name)
        except BatdispatchError as problem:
            return str(problem)

    def _announced(self, name: str) -> click.Command | None:
        from batdispatch.core.line import registry

        command = registry.load(self.entry_points, name, "command")
        if command is not None and not isinstance(command, click.Command):
            raise InputError(f"command {name!r} is announced as something else, expected a click.Command")
        return command
