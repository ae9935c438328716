"""Groups of subcommands: help lines in full, and the closest name for one that was mistyped."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import ClassVar

import click

from batdispatch.core.options import did_you_mean


class Group(click.Group):
    """A group whose help shows each subcommand's first sentence in full, where click cuts it at the line's end."""

    def summary(self, ctx: click.Context, name: str) -> str:
        """Return one sentence about a subcommand."""
        command = self.get_command(ctx, name)
        assert command is not None
        return command.get_short_help_str(limit=1000)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of subcommands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.summary(ctx, name)) for name in self.list_commands(ctx)])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the subcommand that the first argument names; a wrong name is answered with the closest right one."""
        names = self.list_commands(ctx)
        if not ctx.resilient_parsing and args[0] not in names and not args[0].startswith("-"):
            ctx.fail(f"No such command {args[0]!r}: {did_you_mean(args[0], names)}")
        return super().resolve_command(ctx, args)


class LazyGroup(Group):
    """A group that imports a subcommand only when it is asked for, so that help and completion are quick.

    Derive from it and name the subcommands.
    """

    #: Subcommand -> the module that holds it as `command`, and a sentence about it. The order is that of the help.
    table: ClassVar[Mapping[str, tuple[str, str]]] = {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one subcommand."""
        if cmd_name not in self.table:
            return None
        command = importlib.import_module(self.table[cmd_name][0]).command
        assert isinstance(command, click.Command)
        return command

    def summary(self, ctx: click.Context, name: str) -> str:
        """Return the table's sentence about a subcommand."""
        return self.table[name][1]
