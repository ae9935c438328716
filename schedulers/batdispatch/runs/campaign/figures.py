"""evalys' figures of a campaign's runs, for parts that ask for them: a folder for each platform and workload."""

from __future__ import annotations

import msgspec

from batdispatch.core import extras
from batdispatch.inputs.files import write_whole
from batdispatch.runs.campaign.plan import Plan

#: Says in a folder of figures which runs they show, so that they are drawn again only if these change.
RUNS_FILE = "runs.json"


def draw_figures(plan: Plan, links: dict[str, dict[str, str]], root: str) -> None:
    """Draw the runs of each folder of links whose part asks for it, unless its figures are there.

    Args:
        plan: the campaign.
        links: folder below the folder of links -> name of a link -> key of its cell.
        root: name of the folder of links.

    Raises:
        InputError: evalys is not installed.
    """
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
            write_figures([read_run(own / root / folder / name, label=name) for name in wanted], shown.parent)
            write_whole(shown, content)
