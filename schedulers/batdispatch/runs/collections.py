"""Folders that hold many runs and tables over them; each kind announces how it is found and how its tables are checked.

`Collection` is what such a folder holds. Whatever writes tables over runs announces a `FindCollection` in the
entry-point group; `batdispatch check` asks all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from batdispatch.core.line import registry

#: The entry-point group. Each entry point leads to a `FindCollection`.
GROUP = "batdispatch.collections"
#: Works out a table from the runs, and yields what its file says otherwise, in sentences.
Look = Callable[[], Iterable[str]]


@dataclass(frozen=True)
class Collection:
    """Runs, and the tables over them.

    Attributes:
        runs: their folders.
        tables: file -> how it is checked.
        logs: folders of what logs say beside them: this is not simulated, and breaks rules as machines do.
    """

    runs: Sequence[Path]
    tables: Sequence[tuple[Path, Look]] = field(default_factory=list)
    logs: Sequence[Path] = ()


#: Returns what a folder holds; None: it holds no table of this kind.
FindCollection = Callable[[Path], Collection | None]


def collections_at(folder: Path) -> list[Collection]:
    """Return the collections of a folder, by the names of their kinds.

    Raises:
        InputError: a kind cannot be loaded, or a library that its tables need is missing.
    """
    found = (registry.load(GROUP, name, "kind of tables over runs")(folder) for name in registry.names(GROUP))
    return [collection for collection in found if collection is not None]
