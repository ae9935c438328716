"""Audits of a finished run: a package announces its audit, and rooms that make runs ask for it by this.

An `Auditor` reads the files of a run's folder. Each is announced in the entry-point group by what makes one, mostly its
class; `auditors` returns one of each. What Python is told of a check of folders is an `Answer`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from batdispatch.core.line import registry

#: The entry-point group. Each entry point leads to what returns an `Auditor` when it is called.
GROUP = "batdispatch.audits"


class Findings(Protocol):
    """What an audit found.

    Attributes:
        kept: what is wrong, as sentences or as what `str` makes sentences of; of many of a kind, the first ones.
    """

    kept: Sequence[object]

    @property
    def total(self) -> int:
        """Number of things that are wrong."""


class Auditor(Protocol):
    """Audits run folders; it may remember inputs that several of them share."""

    def run(self, folder: Path) -> Findings:
        """Audit one run folder.

        Raises:
            InputError: a file is missing or malformed.
        """


class Answer(Protocol):
    """What a check of folders found, as `batdispatch.check` returns it."""

    @property
    def violations(self) -> Sequence[tuple[Path, object]]:
        """What is wrong, and where; of many of a kind, the first ones."""

    @property
    def undone(self) -> Mapping[Path, str]:
        """Folder of a run that could not be made again -> why."""

    @property
    def clean(self) -> bool:
        """Whether nothing is wrong and every run was made again."""


def auditors() -> list[Auditor]:
    """Return an auditor of each kind that is announced, by their names.

    Raises:
        InputError: one cannot be loaded.
    """
    return [registry.load(GROUP, name, "audit")() for name in registry.names(GROUP)]
