"""What makes platforms and workloads: commands of the command line.

That is above this folder, which knows no more of it than where to find it when it is needed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from importlib import import_module
from typing import Protocol

#: Where the commands are.
_HOME = "batdispatch.abilities.campaigns.campaign_inputs"


class Maker(Protocol):
    """A command that writes a platform or a workload, such as ``generate lublin``.

    Attributes:
        options: names of its options, without those that say where to write and what to print.
        files: those of them that name a file.
    """

    @property
    def options(self) -> Collection[str]: ...

    @property
    def files(self) -> Collection[str]: ...

    def words(self, options: Mapping[str, str]) -> list[str]:
        """Return its words for the command line, with options but without files.

        Raises:
            InputError: an option is unknown.
        """
        ...

    def settings(self, options: Mapping[str, str]) -> dict[str, str]:
        """Return the value of every option, defaults included, but of none that names a file.

        Args:
            options: as texts; those that name files, too.

        Raises:
            InputError: the command would refuse them.
        """
        ...


def find_maker(command: Sequence[str], kind: str) -> Maker:
    """Return the maker of a kind of a group of commands such as ``generate``; "": of a command that has no kinds.

    Raises:
        InputError: there is no such kind.
    """
    found: Maker = import_module(_HOME).find_maker(tuple(command), kind)
    return found


def make(words: Sequence[str]) -> None:
    """Run a command of the command line in this process.

    Raises:
        InputError: it refuses its options or its input.
    """
    import_module(_HOME).make(words)
