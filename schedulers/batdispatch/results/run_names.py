"""Whether a name that stands for a run is that of what ran: a dispatcher's name is no name of another one's run.

Folders and tables may be renamed after the runs. A name that is none of a dispatcher is free. A name that is one, such
as that of a folder, must be the dispatcher of which result.json says that it was run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from batdispatch.core.errors import InputError
from batdispatch.core.line import registry
from batdispatch.core.line.dispatcher import GROUP
from batdispatch.core.line.options import parse_named


def belied_name(name: str, settings: Mapping[str, Any], place: str = "the table") -> str:
    """Return how a name contradicts a run, or an empty text. A name that is none of a dispatcher is free.

    Args:
        name: of the run, such as ``easy[ordering=sjf]``.
        settings: that the run was made from.
        place: where the name stands.
    """
    try:
        base, options = parse_named(name, "dispatcher")
    except InputError:
        return ""
    dispatcher, given = str(settings.get("dispatcher")), settings.get("options")
    given = given if isinstance(given, dict) else {}
    if base not in registry.names(GROUP):
        return ""
    # A layer is called like the dispatcher in it by those who have nothing else in it.
    words = re.findall(r"[\w-]+", " ".join([dispatcher, *map(str, given.values())]))
    if base not in words:
        return f"{place} calls it {name}, and it is a run of {dispatcher}"
    if base == dispatcher and not options.items() <= given.items():
        return f"{place} calls it {name}, and its options are {given}"
    return ""


class NamedRun(NamedTuple):
    """A run's folder, and the label and settings in its result.json."""

    folder: Path
    label: str
    settings: Mapping[str, Any]


def misnamed_folders(runs: Sequence[NamedRun]) -> dict[Path, str]:
    """Return folder -> how its name contradicts the run in it, of those where it does.

    A folder is called after its run's label. Another name is wrong if it is the label of another run in the same
    folder, or names another dispatcher or other options.
    """
    labels: dict[Path, set[str]] = {}
    for run in runs:
        labels.setdefault(run.folder.parent, set()).add(run.label)
    found = {}
    for folder, label, settings in runs:
        if not label or folder.name == label:
            continue
        if folder.name in labels[folder.parent]:
            found[folder] = f"the folder calls it {folder.name}, and it is the run {label}"
            continue
        base, comma, options = folder.name.partition(",")
        if told := belied_name(f"{base}[{options}]" if comma else base, settings, "the folder"):
            found[folder] = told
    return found
