"""The commands that make platforms and workloads, as a campaign's file names them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache

import click

from batdispatch.cli.main import cli
from batdispatch.core.errors import InputError
from batdispatch.core.line.options import did_you_mean

#: Options that say where to write and what to print.
_OUTPUT = ("output", "json")


class CommandMaker:
    """A command that writes a platform or a workload; see `campaign.commands.Maker`."""

    def __init__(self, path: Sequence[str], command: click.Command) -> None:
        self._path = tuple(path)
        self._command = command
        self._options: dict[str, click.Option] = {}
        for param in command.params:
            if isinstance(param, click.Option) and (name := _name(param)) not in _OUTPUT:
                self._options[name] = param
        self.options: Collection[str] = list(self._options)
        self.files: Collection[str] = [
            name for name, param in self._options.items() if isinstance(param.type, click.Path)
        ]
        self._log = any(isinstance(param, click.Argument) for param in command.params)

    def words(self, options: Mapping[str, str]) -> list[str]:
        """Return its words for the command line, with options but without files."""
        return [*self._path, *self._words(options)]

    def settings(self, options: Mapping[str, str]) -> dict[str, str]:
        """Return the value of every option, defaults included, but of none that names a file."""
        words = [*self._words(options), "--out=-", *(["log"] if self._log else [])]
        try:
            # Parses and checks, and calls nothing.
            context = self._command.make_context(" ".join(self._path), words)
        except click.exceptions.Exit:
            raise InputError(f"{' '.join(self._path)} has an option that prints and ends") from None
        except click.ClickException as problem:
            raise InputError(problem.format_message().rstrip(".")) from None
        named = {param.name for param in self._options.values() if not isinstance(param.type, click.Path)}
        return {name: str(value) for name, value in sorted(context.params.items()) if name in named}

    def _words(self, options: Mapping[str, str]) -> list[str]:
        words: list[str] = []
        for name, text in options.items():
            if name not in self._options:
                raise InputError(f"{' '.join(self._path)} has no option {name!r}: {did_you_mean(name, self._options)}")
            param = self._options[name]
            if param.is_flag:
                words += _flag(param, name, text)
            elif param.multiple:
                words += [f"--{name}={one}" for one in text.split()]
            else:
                words.append(f"--{name}={text}")
        return words


@cache
def find_maker(path: tuple[str, ...], kind: str) -> CommandMaker:
    """Return the maker of a kind of a group of commands, or of a command that has no kinds."""
    found: click.Command = cli
    for word in path:
        assert isinstance(found, click.Group)
        below = found.get_command(click.Context(found), word)
        assert below is not None
        found = below
    if kind:
        assert isinstance(found, click.Group)
        names = found.list_commands(click.Context(found))
        if kind not in names:
            raise InputError(f"batdispatch {' '.join(path)} knows no {kind!r}: {did_you_mean(kind, names)}")
        below = found.get_command(click.Context(found), kind)
        assert below is not None
        found, path = below, (*path, kind)
    return CommandMaker(path, found)


def make(words: Sequence[str]) -> None:
    """Run a command of the command line in this process.

    Raises:
        InputError: it refuses its options or its input.
    """
    try:
        cli.main(list(words), standalone_mode=False)
    except click.ClickException as problem:
        raise InputError(problem.format_message()) from None


def _name(param: click.Option) -> str:
    """Return an option's name on the command line."""
    return max(param.opts, key=len).removeprefix("--")


def _flag(param: click.Option, name: str, text: str) -> list[str]:
    if text not in ("true", "false"):
        raise InputError(f"option {name!r}: found {text!r}, expected true or false")
    if text == "true":
        return [f"--{name}"]
    return param.secondary_opts[:1]
