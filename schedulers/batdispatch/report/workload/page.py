"""One self-contained HTML page about a workload."""

from __future__ import annotations

from collections.abc import Sequence

from batdispatch.report.html import Picture, page_text
from batdispatch.report.workload.figures import pictures
from batdispatch.report.workload.tables import HEADINGS, MOST_LISTED, facts, quantile_rows, user_rows
from batdispatch.report.workload.traits import Traits
from batdispatch.report.workload.waits import wait_headings, wait_rows

_FOOTER = (
    "The work of a job is its size times the time until it ends, or its walltime ends it. Of a time that depends on "
    "the platform nothing is counted."
)
#: Rows of a table: what each is about, and its cells.
Rows = Sequence[tuple[str, list[str]]]
#: A table: the heading of its first column, those of the others, and its rows.
Table = tuple[str, Sequence[str], Rows]


def render(traits: Traits, *, title: str, account: str = "") -> str:
    """Return the page; the same workload gives the same bytes.

    Args:
        traits: of the workload.
        title: its heading.
        account: what was left out of the log that it was made of, and why.
    """
    known = dict(facts(traits))
    return page(
        title=title,
        lead="; ".join(f"{name}: {known[name]}" for name in ("jobs", "machine", "offered load") if name in known),
        overview=("", ["value"], [(name, [text]) for name, text in known.items()]),
        pictures=pictures(traits),
        distributions=("", HEADINGS, quantile_rows(traits)),
        waits=("", wait_headings(traits), wait_rows(traits)),
        users=user_rows(traits),
        unlisted=max(len(traits.users()) - MOST_LISTED, 0),
        account=account,
        footer=_FOOTER,
    )


def page(
    *,
    title: str,
    lead: str,
    overview: Table,
    pictures: Sequence[Picture],
    distributions: Table,
    footer: str,
    waits: Table = ("", (), ()),
    users: Rows = (),
    unlisted: int = 0,
    account: str = "",
) -> str:
    """Return a page of tables and pictures that needs no other file.

    Args:
        title: its heading.
        lead: what stands below it.
        overview: the first table.
        pictures: what there is to see.
        distributions: the table below these.
        footer: what words mean.
        waits: the table of waits in the log.
        users: rows of users.
        unlisted: how many more there are.
        account: what was left out of a log, and why.
    """
    return page_text(
        "workload.html.j2",
        title=title,
        lead=lead,
        facts=[overview[0], *overview[1]],
        overview=overview[2],
        pictures=pictures,
        headings=[distributions[0], *distributions[1]],
        quantiles=distributions[2],
        wait_headings=[waits[0], *waits[1]],
        waits=waits[2],
        users=users,
        unlisted=unlisted,
        account=account,
        footer=footer,
    )
