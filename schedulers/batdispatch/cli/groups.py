"""Commands, groups of commands and options with the help that people read.

Options and subcommands stand under headings, each subcommand's sentence is shown in full, and a mistyped name is
answered with the closest right one. The library made for this, cloup, was tried: importing it takes as much CPU time
as the whole of ``batdispatch --help`` (34 ms more than click alone), and its headings need the subcommands themselves,
which are imported only when they are used here.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

import click

from batdispatch.core.errors import BatdispatchError, InputError
from batdispatch.core.line.options import did_you_mean
from batdispatch.core.line.settings import HEADINGS

#: The heading of options that name none.
OTHER_OPTIONS = "Other options"
#: In the order of the help.
SECTIONS = (*HEADINGS, OTHER_OPTIONS)
#: Where a context notes that its help is to show all options.
HELP_ALL = "batdispatch.help_all"
#: Characters of choices that stand beside an option's name, at most.
_LONG = 40


class Option(click.Option):
    """An option that stands under a heading of its command's help."""

    def __init__(self, *args: Any, section: str = OTHER_OPTIONS, **kwargs: Any) -> None:
        """Set up.

        Args:
            args: as for `click.Option`.
            section: the heading.
            kwargs: as for `click.Option`.
        """
        kind = kwargs.get("type")
        if isinstance(kind, click.Choice) and "metavar" not in kwargs and len("|".join(kind.choices)) > _LONG:
            # Many choices make no name for a value; they stand in the text.
            kwargs["metavar"] = "NAME"
            kwargs["help"] = f"{kwargs['help']} One of {', '.join(kind.choices)}."
        elif "metavar" not in kwargs and isinstance(kind, click.IntRange | click.FloatRange):
            kwargs["metavar"] = "N" if isinstance(kind, click.IntRange) else "NUMBER"
        elif "metavar" not in kwargs and kind in (int, float):
            kwargs["metavar"] = "N" if kind is int else "NUMBER"
        super().__init__(*args, **kwargs)
        self.section = section

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Let the parser know the option. What is called ``--out`` is known as ``--output``, too."""
        super().add_to_parser(parser, ctx)
        if "--out" in self.opts:
            parser.add_option(obj=self, opts=["--output"], dest=self.name, action="store")

    def get_help_extra(self, ctx: click.Context) -> click.types.OptionHelpExtra:
        """Return what stands in brackets after the help; a range in words, where click writes ``x>=1``."""
        extra = super().get_help_extra(ctx)
        if "range" in extra and isinstance(self.type, click.IntRange | click.FloatRange):
            extra["range"] = _range_in_words(self.type)
        return extra


class Choice(click.Choice[str]):
    """A choice whose error proposes the closest value."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """Return what is wrong with a value, and which one may have been meant."""
        close = difflib.get_close_matches(str(value).lower(), self.choices, n=1)
        hint = f" {did_you_mean(str(value), self.choices).capitalize()}" if close else ""
        return f"{super().get_invalid_choice_message(value, ctx)}{hint}"


def _range_in_words(kind: click.IntRange | click.FloatRange) -> str:
    # A bound of 2^63 says nothing to people.
    most = None if kind.max is None or kind.max >= 2**62 else kind.max
    least = "" if kind.min is None else f"{'more than' if kind.min_open else 'at least'} {kind.min:,}"
    bound = "" if most is None else f"{'less than' if kind.max_open else 'at most'} {most:,}"
    return " and ".join(filter(None, (least, bound)))


def numbers_in_words(kind: click.IntRange | click.FloatRange) -> str:
    """Return which numbers a type takes: a whole number, at least 1 and at most 64."""
    what = "a whole number" if isinstance(kind, click.IntRange) else "a number"
    return ", ".join(filter(None, (what, _range_in_words(kind))))


#: As `click.option`, with ``section=``.
option = functools.partial(click.option, cls=Option)


class Command(click.Command):
    """A command whose options stand under headings; the help of one with many shows those that people use first."""

    def __init__(self, *args: Any, common: Collection[str] = (), **kwargs: Any) -> None:
        """Set up.

        Args:
            args: as for `click.Command`.
            common: names of the parameters that ``--help`` shows; ``--help-all`` shows all. None: ``--help`` does.
            kwargs: as for `click.Command`.
        """
        super().__init__(*args, **kwargs)
        self.common = frozenset(common)
        if common:
            self.params.append(
                Option(
                    ["--help-all"],
                    is_flag=True,
                    expose_value=False,
                    is_eager=True,
                    callback=_show_all,
                    hidden=True,
                    help="Show all options and exit.",
                )
            )

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, in the order of `SECTIONS`."""
        sections: dict[str, list[tuple[str, str]]] = {}
        left = 0
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is None:
                continue
            if self.common and not ctx.meta.get(HELP_ALL) and param.name not in self.common:
                left += "--help" not in param.opts
            else:
                sections.setdefault(getattr(param, "section", OTHER_OPTIONS), []).append(record)
        # What a command shares with no other one comes first; where that is --help alone, last.
        if len(sections.get(OTHER_OPTIONS, ())) > 1 or len(sections) == 1:
            sections = {"Options": sections.pop(OTHER_OPTIONS), **sections}
        for title in sorted(sections, key=lambda title: SECTIONS.index(title) if title in SECTIONS else -1):
            with formatter.section(title):
                formatter.write_dl(sections[title])
        if left:
            formatter.write_paragraph()
            formatter.write_text(f"{ctx.command_path} --help-all shows {left} more options.")


def _show_all(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    """Print the help with all options and exit, if that was asked for."""
    if value and not context.resilient_parsing:
        context.meta[HELP_ALL] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()


class Group(click.Group):
    """A group whose help shows each subcommand's first sentence in full, where click cuts it at the line's end."""

    command_class = Command

    #: Heading -> names of the subcommands under it. Without any, all stand under one.
    headings: ClassVar[Mapping[str, Sequence[str]]] = {}
    #: Subcommand that is gone -> a sentence on what replaces it, without its full stop.
    former: ClassVar[Mapping[str, str]] = {}

    def summary(self, ctx: click.Context, name: str) -> str:
        """Return one sentence about a subcommand."""
        command = self.get_command(ctx, name)
        assert command is not None
        return command.get_short_help_str(limit=1000)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of subcommands, under each heading its own, with one column of names for all."""
        headings = self.headings or {"Commands": self.list_commands(ctx)}
        widest = max(len(name) for names in headings.values() for name in names)
        for title, names in headings.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), self.summary(ctx, name)) for name in names])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the subcommand that the first argument names; a wrong name is answered with the closest right one."""
        names = self.list_commands(ctx)
        wrong = self.get_command(ctx, args[0]) is None and not args[0].startswith("-")
        if wrong and args[0] in self.former and not ctx.resilient_parsing:
            ctx.fail(f"The command {args[0]!r} is gone: {self.former[args[0]]}")
        if wrong and not ctx.resilient_parsing:
            ctx.fail(f"No such command {args[0]!r}: {did_you_mean(args[0], names)}")
        return super().resolve_command(ctx, args)


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
