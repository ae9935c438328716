"""Sections of a page that other folders and packages bring: each announces a function in the group of entry points."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from batdispatch.core.line import registry
from batdispatch.report.html import Picture, environment
from batdispatch.report.losses import Losses
from batdispatch.results.metrics.rows import Row
from batdispatch.results.runs import Run
from batdispatch.results.sites import Sites
from batdispatch.results.usage import MachineUse

#: The entry-point group. Each entry point leads to a `MakeSection`.
GROUP = "batdispatch.sections"


class PageFacts(NamedTuple):
    """The runs of a page, and the facts about them that sections are made from.

    Attributes:
        runs: in the order of the page.
        losses: what the runs lose against each other.
        sites: where the machines and workloads of the runs are.
        shared: by label, of runs on shared nodes or with licences.
        use_note: why some of these are not there; empty: all are.
        metrics: group of metrics -> its rows.
        curves: pictures of the runs.
        figures: address of evalys' figures of the runs; empty: there are none.
    """

    runs: Sequence[Run]
    losses: Losses
    sites: Sites
    shared: Mapping[str, MachineUse]
    use_note: str = ""
    metrics: Mapping[str, Sequence[Row]] = {}
    curves: Sequence[Picture] = ()
    figures: str = ""

    @property
    def labels(self) -> list[str]:
        """The labels of the runs."""
        return [run.label for run in self.runs]

    @property
    def reasons(self) -> Mapping[str, Mapping[str, str]]:
        """Label of a run -> full id of a job -> why it waited, in a sentence."""
        return self.losses.reasons


class PageSection(NamedTuple):
    """A section of a page, below the overview.

    Attributes:
        anchor: its id on the page.
        title: in the list of sections at the top; empty: it is not listed.
        section: of the page.
        style: in the head of the page.
        scripts: at its end.
        after: anchor of the section of the base behind which it stands, be that one shown or not.
    """

    anchor: str
    title: str
    section: Markup
    style: Markup = Markup()
    scripts: Markup = Markup()
    after: str = "overview"


#: Returns a section; None: there is nothing to show.
MakeSection = Callable[[PageFacts], PageSection | None]


def filled_section(anchor: str, title: str, template: str, *, after: str = "overview", **values: Any) -> PageSection:
    """Return a section that a template makes of values; the macros of ``parts.html.j2`` are there to import."""
    return PageSection(anchor, title, Markup(environment().from_string(template).render(**values)), after=after)


def sections(facts: PageFacts, own: Mapping[str, MakeSection]) -> list[PageSection]:
    """Return the sections that have something to show.

    Args:
        facts: about the runs.
        own: the sections of the base by anchor, in the order of the page. Those that are announced stand behind them,
            by name; a section that names none of them as `after` comes last.

    Raises:
        InputError: one cannot be loaded, or is announced twice.
    """
    behind: dict[str, list[PageSection]] = {anchor: [] for anchor in ("overview", *own)}
    for name in registry.names(GROUP):
        made = registry.load(GROUP, name, "page section")(facts)
        if made is not None:
            behind.setdefault(made.after, []).append(made)
    found: list[PageSection] = []
    for anchor, announced in behind.items():
        mine = own[anchor](facts) if anchor in own else None
        found += [*([mine] if mine is not None else []), *announced]
    return found
