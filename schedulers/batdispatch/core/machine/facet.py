"""Facets of a machine: what an ability reads from the properties of its hosts, which the core does not know.

A package announces the class of a facet in the entry-point group `GROUP`. Only files that use it import it:
``HostPowers.of(machine)`` is the facet of a machine. `platform show` asks all that are announced for their facts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

from batdispatch.core.machine.machine import Machine

#: Entry-point group in which a package announces its facets.
GROUP = "batdispatch.facets"


class Facet(ABC):
    """Something about a machine. It is read when it is first asked for."""

    @abstractmethod
    def __init__(self, machine: Machine) -> None:
        """Read it.

        Raises:
            InputError: a host does not state what is needed, or states it wrongly; the text begins with ``host NAME``.
        """

    @classmethod
    def of(cls, machine: Machine) -> Self:
        """Return the facet of this kind of a machine; raises as the class does."""
        found: Self | None = machine.facets.get(cls)
        if found is None:
            found = machine.facets[cls] = cls(machine)
        return found

    @staticmethod
    @abstractmethod
    def is_stated(machine: Machine) -> bool:
        """Return whether a host states something of it."""

    @property
    @abstractmethod
    def plain_at_first(self) -> bool:
        """Whether a dispatcher that does not know of it can use all hosts at first."""

    @abstractmethod
    def facts(self) -> list[dict[str, Any]]:
        """Return what it says, for JSON: an entry for each kind of host."""

    @staticmethod
    @abstractmethod
    def in_words(entry: dict[str, Any]) -> str:
        """Return an entry of `facts` for people."""
