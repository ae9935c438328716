"""Comparisons with replicates and campaigns as collections: their runs, and how the tables over these are checked.

Only who has such a folder needs the libraries that read its tables.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from batdispatch.core import extras
from batdispatch.results.run_files import CAMPAIGN_TABLE, REPLICATES_TABLE
from batdispatch.results.runs import jobs_file
from batdispatch.runs.collections import Collection


def replicates(folder: Path) -> Collection | None:
    """Return the runs and the table of a comparison with replicates; None: the folder is none."""
    table = folder / REPLICATES_TABLE
    if not table.is_file():
        return None
    extras.check("report", f"the table of {folder}")
    from batdispatch.abilities.campaigns.check_replicates import check_replicates

    runs = [run for run in sorted(folder.glob("runs/*/*")) if jobs_file(run)]
    return Collection(runs, [(table, partial(check_replicates, folder))])


def campaign(folder: Path) -> Collection | None:
    """Return the runs and the tables of a campaign; None: the folder is none."""
    table = folder / CAMPAIGN_TABLE
    if not table.is_file() or (folder / REPLICATES_TABLE).is_file():
        return None
    extras.check("campaign", f"the table of {folder}")
    from batdispatch.abilities.campaigns.campaign.check import cells_of, check_campaign

    return Collection(cells_of(folder), [(table, partial(check_campaign, folder))])
