"""One self-contained HTML page about a workload."""

from __future__ import annotations

from importlib import resources

import jinja2
from markupsafe import Markup

from batdispatch import __version__
from batdispatch.results.workload.figures import pictures
from batdispatch.results.workload.tables import HEADINGS, LISTED, facts, quantile_rows, user_rows
from batdispatch.results.workload.traits import Traits


def render(traits: Traits, *, title: str, account: str = "") -> str:
    """Return the page; the same workload gives the same bytes.

    Args:
        traits: of the workload.
        title: its heading.
        account: what was left out of the log that it was made of, and why.
    """
    templates = resources.files("batdispatch.results.report") / "templates"
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    template = environment.from_string((templates / "workload.html.j2").read_text(encoding="utf-8"))
    known = dict(facts(traits))
    return template.render(
        version=__version__,
        title=title,
        lead="; ".join(f"{name}: {known[name]}" for name in ("jobs", "machine", "offered load") if name in known),
        facts=[(name, [text]) for name, text in known.items()],
        pictures=pictures(traits),
        headings=["", *HEADINGS],
        quantiles=quantile_rows(traits),
        users=user_rows(traits),
        unlisted=max(len(traits.users()) - LISTED, 0),
        account=account,
        css=Markup((templates / "report.css").read_text(encoding="utf-8")),
    )
