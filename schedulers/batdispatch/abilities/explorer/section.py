"""The explorer as a piece of a page: its section, its style, its scripts and the data they read."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from typing import Any

import msgspec
from markupsafe import Markup

from batdispatch.abilities.explorer.data import MAX_ROWS, MAX_SEGMENTS, page_data
from batdispatch.abilities.explorer.demands import demands_of
from batdispatch.abilities.explorer.families import families
from batdispatch.core.jobs.job import FINAL_STATES
from batdispatch.report.bundle import bundle_script
from batdispatch.report.html import environment, template_text
from batdispatch.report.sections import PageFacts, PageSection
from batdispatch.results.metrics.rows import page_unit
from batdispatch.results.numbers import number
from batdispatch.results.runs import Run


def explorer(facts: PageFacts) -> PageSection | None:
    """Return the explorer of some runs; None: they have no jobs, or too many."""
    runs, sites = facts.runs, facts.sites
    machines = {run.result.platform.sha256: run for run in runs}
    largest = max(machines.values(), key=lambda run: run.hosts or 0)
    machine = sites.machine(largest) if (largest.hosts or 0) <= MAX_ROWS else None
    data = page_data(runs, demands_of(runs, sites), lambda table: families(table, sites, facts.shared), machine)
    if data is None:
        return None
    section = (
        environment()
        .from_string(_asset("assets", "explore.html.j2"))
        .render(
            scale=data["scale"],
            left_out=data["left_out"],
            most=number(MAX_SEGMENTS),
            joined=any(run.lineage.joined for run in runs),
            dated=data["dates"] is not None,
            zone=(data["dates"] or {}).get("zone", ""),
        )
    )
    states = [state.value for state in FINAL_STATES]
    # In a script's text nothing but its end tag ends it.
    header = {**data, **_as_on_page(runs, data["runs"]), "states": states, "reasons": facts.reasons}
    told = msgspec.json.encode(header).decode().replace("<", "\\u003c")
    # A page of plain hosts has neither the scripts nor the style of maps and resources.
    main, styles = ("families/main.js", ["explore.css", "families/families.css"])
    if "families" not in data:
        main, styles = "main.js", ["explore.css"]
    ours = bundle_script(main, script_text)
    return PageSection(
        "explore",
        "Explore",
        Markup(section),
        Markup(_asset("vendor", "uplot", "uPlot.min.css") + "".join(_asset("assets", style) for style in styles)),
        Markup(
            f'<script type="application/json" id="explore-data">{told}</script>\n'
            f"<script>{_library()}</script>\n"
            f"<script>(() => {{\n{ours}}})();</script>\n"
        ),
    )


def _as_on_page(runs: Sequence[Run], shown: Sequence[str]) -> dict[str, Any]:
    """Return the units of waits, (seconds, name) or None, and the runs' energy, kWh, as the page's tables have them."""
    units = {
        short: page_unit(f"{name}_waiting_time", [run.metrics.get(f"{name}_waiting_time") for run in runs])
        for short, name in (("mean", "mean"), ("longest", "max"))
    }
    return {"wait_units": units, "energies": [run.metrics.get("energy") for run in runs if run.label in shown]}


def _library() -> str:
    """Return uPlot with its licence, in place of the address that its first line has: a page names none."""
    code = _asset("vendor", "uplot", "uPlot.iife.min.js")
    licence = _asset("vendor", "uplot", "LICENSE").strip()
    return f"/*! uPlot\n{licence}\n*/\n{code[code.index('*/') + 2 :].strip()}"


def script_text(path: str) -> str:
    """Return a module of the explorer's scripts; numbers in words are those of every page."""
    return template_text(path) if path == "words.js" else _asset("assets", *path.split("/"))


def _asset(*names: str) -> str:
    return resources.files(__package__).joinpath(*names).read_text(encoding="utf-8")
