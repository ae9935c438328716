"""The files in C stand in layers: what a header or its source includes never leads back to it."""

import re
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import batdispatch
from batdispatch.native.library import FOLDER, folders

PACKAGE = Path(batdispatch.__file__).parent
_INCLUDE = re.compile(r'^\s*#\s*include\s+"(?:.*/)?([^"/]+)\.h"', re.MULTILINE)


def sources(folder: Path) -> dict[str, str]:
    """Return the text of each part of a library in C, a header with its source, by their name without its ending."""
    texts: dict[str, str] = {}
    for file in sorted(folder.glob("*.[ch]")):
        texts[file.stem] = texts.get(file.stem, "") + file.read_text()
    return texts


def includes(texts: Mapping[str, str]) -> dict[str, set[str]]:
    """Return which parts each part includes."""
    return {name: set(_INCLUDE.findall(text)) - {name} for name, text in texts.items()}


def circle(graph: Mapping[str, set[str]]) -> list[str]:
    """Return parts that lead back to the first of them; empty: there are none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as problem:
        return list(problem.args[1])
    return []


@pytest.mark.parametrize("folder", folders(PACKAGE), ids=lambda folder: folder.parent.name)
def test_no_circle_of_headers_and_sources(folder: Path) -> None:
    # An ability's files see the base's headers.
    graph = includes(sources(FOLDER) | sources(folder))
    assert circle(graph) == []


@pytest.mark.parametrize("folder", folders(PACKAGE), ids=lambda folder: folder.parent.name)
def test_what_is_included_is_the_own_or_the_bases(folder: Path) -> None:
    own, base = sources(folder), sources(FOLDER)
    assert not own.keys() & base.keys() or own == base
    for name, used in includes(own).items():
        assert used <= own.keys() | base.keys(), name


def test_a_circle_is_found_by_way_of_a_source_too() -> None:
    texts = {"a": '#include "b.h"\n', "b": "", "c": '#include "a.h"'}
    assert circle(includes(texts)) == []
    # b.c includes what includes b.h.
    assert set(circle(includes(texts | {"b": '#include "b.h"\n# include "c.h"'}))) == {"a", "b", "c"}
