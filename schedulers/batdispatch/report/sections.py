"""Sections of a page that other folders and packages bring: each announces a function in the group of entry points."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markupsafe import Markup

from batdispatch.core.line import registry
from batdispatch.results.runs import Run
from batdispatch.results.sites import Sites
from batdispatch.results.usage import MachineUse

#: The entry-point group. Each entry point leads to a `MakeSection`.
GROUP = "batdispatch.sections"


class PageFacts(NamedTuple):
    """The runs of a page, and the facts about them that sections are made from.

    Attributes:
        runs: in the order of the page.
        reasons: label of a run -> full id of a job -> why it waited, in a sentence.
        sites: where the machines and workloads of the runs are.
        shared: by label, of runs on shared nodes or with licences.
    """

    runs: Sequence[Run]
    reasons: Mapping[str, Mapping[str, str]]
    sites: Sites
    shared: Mapping[str, MachineUse]


@dataclass(frozen=True)
class PageSection:
    """A section of a page, below the overview.

    Attributes:
        anchor: its id on the page.
        title: in the list of sections at the top.
        section: of the page.
        style: in its head.
        scripts: at its end.
    """

    anchor: str
    title: str
    section: Markup
    style: Markup
    scripts: Markup


#: Returns a section; None: there is nothing to show.
MakeSection = Callable[[PageFacts], PageSection | None]


def sections(facts: PageFacts) -> list[PageSection]:
    """Return the sections that are announced and have something to show, by their names.

    Raises:
        InputError: one cannot be loaded, or is announced twice.
    """
    made = (registry.load(GROUP, name, "page section")(facts) for name in registry.names(GROUP))
    return [section for section in made if section is not None]
