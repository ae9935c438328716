"""Whether what a table calls a dispatcher is what the run's dispatcher was: the name of one is no name of another."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from batdispatch.audit.findings import part
from batdispatch.core.errors import InputError
from batdispatch.core.line import registry
from batdispatch.core.line.dispatcher import GROUP
from batdispatch.core.line.options import parse_named


def belied_name(name: str, settings: Mapping[str, Any]) -> str:
    """Return how a name in a table contradicts a run, or an empty text. A name that is none of a dispatcher is free.

    Args:
        name: in the table.
        settings: that the run was made from.
    """
    try:
        base, options = parse_named(name, "dispatcher")
    except InputError:
        return ""
    dispatcher, given = str(settings.get("dispatcher")), part(settings, "options")
    if base not in registry.names(GROUP):
        return ""
    # A layer is called like the dispatcher in it by those who have nothing else in it.
    words = re.findall(r"[\w-]+", " ".join([dispatcher, *map(str, given.values())]))
    if base not in words:
        return f"the table calls it {name}, and it is a run of {dispatcher}"
    if base == dispatcher and not options.items() <= given.items():
        return f"the table calls it {name}, and its options are {given}"
    return ""
