"""Announcements of abilities: each ability is a folder of its own, which the rest of the package does not know.

The ``__init__.py`` of the folder holds an `Ability` as ``ABILITY``. Its dispatchers, parts and page sections are entry
points of their groups, as those of a stranger's package. Without its folder and its entry points everything else works
as before.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import NamedTuple

from batdispatch.core.errors import InputError


class Command(NamedTuple):
    """A subcommand of ``batdispatch``.

    Attributes:
        name: as it is typed.
        module: that holds it as ``command``, or a ``QUESTION`` from which it follows; it is imported when it is used.
        summary: a sentence about it, for the help.
        heading: of the help, under which it stands; of a group's subcommand, there is none.
        after: the command that it stands behind there; empty: it comes last.
        group: the command whose subcommand it is, such as ``platform``; empty: it is one of ``batdispatch`` itself.
    """

    name: str
    module: str
    summary: str
    heading: str = ""
    after: str = ""
    group: str = ""


class Kind(NamedTuple):
    """A kind of part that packages announce in the entry-point group ``batdispatch.NAME``.

    Attributes:
        name: of the kind, in the plural, as ``list`` takes it.
        base: ``module:Class`` that each one derives from.
        single: name of the kind in the singular.
        title: name of one of them in a sentence; empty: as in the singular.
        option: that takes its name; empty: as in the singular.
        after: the kind that it stands behind in lists; empty: it comes last.
    """

    name: str
    base: str
    single: str
    title: str = ""
    option: str = ""
    after: str = ""


class Skeleton(NamedTuple):
    """A package to start from, as ``batdispatch new`` writes it.

    Attributes:
        kind: its subcommand.
        group: the end of its entry-point group.
        option: the option of a dispatcher that takes it, or ``dispatcher``; its files are called so.
        about: a sentence about the package.
        example: a name.
        package: in whose folder ``skeleton`` the files stand.
    """

    kind: str
    group: str
    option: str
    about: str
    example: str
    package: str = "batdispatch.cli"


class Ability(NamedTuple):
    """The announcement of an ability, beside its entry points of other groups.

    Attributes:
        name: of its folder.
        needs: names of the abilities that it imports.
        commands: its subcommands.
        kinds: of parts that it brings.
        skeletons: of such parts.
        names: public name -> the module that holds it, importable from ``batdispatch``.
    """

    name: str
    needs: tuple[str, ...] = ()
    commands: tuple[Command, ...] = ()
    kinds: tuple[Kind, ...] = ()
    skeletons: tuple[Skeleton, ...] = ()
    names: Mapping[str, str] = {}


@cache
def own_abilities() -> tuple[Ability, ...]:
    """Return the abilities that come with this package, by name.

    They are found by their folders: to read entry points takes as long as the rest of ``batdispatch --help``.
    """
    folder = import_module(f"{__name__.partition('.')[0]}.abilities")
    modules = [import_module(f"{folder.__name__}.{each.name}") for each in iter_modules(folder.__path__) if each.ispkg]
    return tuple(module.ABILITY for module in modules)


def missing_ability(ability: str, source: str) -> InputError:
    """Return the error of a word on the command line that needs an ability which is not there."""
    return InputError(f"needs the ability {ability}, which this installation lacks", source=source)


def insert_behind(row: list[str], name: str, after: str) -> None:
    """Put a name behind another one in a list; where that one is not there, at the end."""
    row.insert(row.index(after) + 1 if after in row else len(row), name)
