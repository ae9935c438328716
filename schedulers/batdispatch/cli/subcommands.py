"""Groups of commands that are imported when they are used."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import ClassVar

import click

from batdispatch.cli.groups import Group
from batdispatch.core.abilities import own_abilities


def command_in(module: str) -> click.Command:
    """Return the command that a module holds as ``command``, or that follows from its ``QUESTION``."""
    holder = importlib.import_module(module)
    if hasattr(holder, "QUESTION"):
        from batdispatch.cli.questions import command_of

        return command_of(holder.QUESTION)
    command = holder.command
    assert isinstance(command, click.Command)
    return command


class LazyGroup(Group):
    """A group that imports a subcommand only when it is asked for, so that help and completion are quick.

    Derive from it and name the subcommands.
    """

    #: Subcommand -> its module, as for `command_in`, and a sentence about it. The order is that of the help.
    table: ClassVar[Mapping[str, tuple[str, str]]] = {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one subcommand."""
        if cmd_name not in self.table:
            return None
        return command_in(self.table[cmd_name][0])

    def summary(self, ctx: click.Context, name: str) -> str:
        """Return the table's sentence about a subcommand, or its own where the table does not have it."""
        return self.table[name][1] if name in self.table else super().summary(ctx, name)


class OpenGroup(Group):
    """A group with subcommands of modules, and those that abilities bring. Derive from it and say how it is called."""

    #: As it is typed.
    word: ClassVar[str] = ""
    #: Subcommand -> its module, as for `command_in`.
    modules: ClassVar[Mapping[str, str]] = {}

    def _brought(self) -> dict[str, str]:
        """Return the modules of subcommands by the names of these."""
        commands = (each for ability in own_abilities() for each in ability.commands)
        return {**self.modules, **{each.name: each.module for each in commands if each.group == self.word}}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, sorted."""
        return sorted({*super().list_commands(ctx), *self._brought()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return one subcommand, which is imported only then if it is a module's."""
        own = super().get_command(ctx, cmd_name)
        module = self._brought().get(cmd_name)
        return own if own is not None or module is None else command_in(module)
