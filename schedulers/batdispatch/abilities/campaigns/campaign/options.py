"""What people state of a call of a campaign; nothing large is imported, so that help is quick."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from batdispatch.core.line.settings import INPUTS, SIMULATION, Form


class CampaignOptions(msgspec.Struct, frozen=True, kw_only=True):
    """A call of a campaign.

    parts: Run only these parts of the file. The table then has their rows alone.
    quick: Run the quick version that the file describes, as the campaign NAME-quick.
    logs: Look for logs in this folder, too, if they do not stand where the file says.
    executor: Run tasks with this executor of Snakemake: local, or an executor plug-in that is installed, such as slurm.
    batch: Put at most N runs into a task. By default, a task has some minutes' worth of runs, as far as that is known.
    dry_run: Check everything, say what would be run and how long it would take, and run nothing.
    clean: Run nothing, and remove the runs in DIR that no campaign there needs any more, such as those of older code.
        With --dry-run, list them.
    """

    parts: Annotated[str | None, Form("PART,...", INPUTS)] = None
    quick: Annotated[bool, Form(section=INPUTS)] = False
    logs: Annotated[Path | None, Form("DIR", INPUTS)] = None
    executor: Annotated[str, Form("NAME", SIMULATION)] = "local"
    batch: Annotated[Annotated[int, Meta(ge=1)] | None, Form("N", SIMULATION)] = None
    dry_run: Annotated[bool, Form(section=SIMULATION)] = False
    clean: Annotated[bool, Form(section=SIMULATION)] = False
