"""A call of a campaign, from the plan to the tables."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec

from batdispatch.abilities.campaigns.campaign.estimate import estimate
from batdispatch.abilities.campaigns.campaign.leftovers import note_needs
from batdispatch.abilities.campaigns.campaign.names import LINKS, named_cells
from batdispatch.abilities.campaigns.campaign.plan import Plan
from batdispatch.abilities.campaigns.campaign.snakemake import Orders, run, take_away
from batdispatch.abilities.campaigns.campaign.table import write_tables
from batdispatch.abilities.campaigns.campaign.task import Outcome
from batdispatch.core import extras
from batdispatch.inputs.files import write_whole
from batdispatch.inputs.folders import Claim, check_free

#: Says in a folder of evalys' figures which runs they show, so that they are drawn again only if these change.
RUNS_FILE = "runs.json"


def carry_out_campaign(
    make_plan: Callable[[], Plan],
    own: Path,
    orders: Orders,
    *,
    fresh: bool,
    begin: Callable[[Plan, dict[str, float | None]], Callable[[Outcome], None]],
) -> dict[str, str]:
    """Make the cells of a campaign that are not there, and its tables; return why cells failed, by key.

    Args:
        make_plan: looks what is to do, once nobody else works on the campaign.
        own: the campaign's folder.
        orders: how to run.
        fresh: make all cells anew.
        begin: called with the plan and what each pending cell is expected to take; returns what outcomes are told to.

    Raises:
        InputError: something is wrong with the input, or another process works on this campaign or cleans the folder.
        SimulationError: Snakemake could not run it.
    """
    with Claim(own):
        plan = make_plan()
        # Whoever cleans looks at claims of campaigns once it has its own, so that one of us sees the other.
        check_free(plan.places.cells)
        note_needs(plan)
        if fresh:
            take_away(plan)
        costs = estimate(plan)
        failures = run(plan, costs, orders, begin(plan, costs))
        _draw_figures(plan, link(plan, failures))
        write_tables(plan, failures)
    return failures


def link(plan: Plan, failures: dict[str, str]) -> dict[str, dict[str, str]]:
    """Make the folder of links to the cells that are whole, for people and for ``batdispatch report``.

    Returns, for each folder in it, the name of each link with the key of its cell.
    """
    made: dict[str, dict[str, str]] = {}
    root = plan.places.own / LINKS
    shutil.rmtree(root, ignore_errors=True)
    for one in named_cells(plan):
        if one.cell in failures:
            continue
        path = root / one.link
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_symlink():
            path.symlink_to(os.path.relpath(plan.places.cell(one.cell), path.parent), target_is_directory=True)
        made.setdefault(path.parent.relative_to(root).as_posix(), {})[path.name] = one.cell
    return made


def _draw_figures(plan: Plan, links: dict[str, dict[str, str]]) -> None:
    """Let evalys draw the runs of each folder of links whose part asks for it, unless its figures are there."""
    asked = {one.cell.part for one in plan.planned if one.cell.evalys}
    if not asked:
        return
    extras.check("report", "`evalys: true`")
    from batdispatch.report.evalys_figures import FOLDER, write_figures
    from batdispatch.results.runs import read_run

    drawn = {one.task.key for one in plan.planned if one.cell.evalys}
    own = plan.places.own
    for folder, keys in links.items():
        wanted = {name: key for name, key in keys.items() if key in drawn}
        shown, content = own / FOLDER / folder / RUNS_FILE, msgspec.json.format(msgspec.json.encode(wanted), indent=2)
        if wanted and not (shown.is_file() and shown.read_bytes() == content):
            write_figures([read_run(own / LINKS / folder / name, label=name) for name in wanted], shown.parent)
            write_whole(shown, content)
