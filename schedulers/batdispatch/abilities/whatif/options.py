"""What people state of changes of a site; nothing large is imported, so that help is quick."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from batdispatch.core.line.settings import DISPATCHER, RESULTS, Form


class WhatIfOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What is changed, and of what.

    change: Simulate this change, too: hosts+10%, hosts=110, partition.NAME.nodes+2, partition.NAME.max_time=4:00:00,
        walltimes=last-two (a prediction instead of the users' walltimes), SchedulerParameters=bf_interval=60,
        dispatcher=guarded, PriorityWeightAge=1000 (a setting of slurm.conf), or KEY=VALUE for another option of the
        dispatcher. May be given several times.
    dispatcher: Let this dispatcher stand for the one that the site runs, with its options in brackets. What
        slurm.conf in --slurm says about scheduling are options of slurm-backfill.
    anyway: Take the baseline even if its grade is D.
    node_price: Say what an hour of waiting saved costs if a node costs this much for each hour.
    """

    change: Annotated[tuple[str, ...], Form("WHAT", DISPATCHER)] = ()
    dispatcher: Annotated[str, Form("NAME", DISPATCHER, offers="dispatcher")] = "slurm-backfill"
    anyway: Annotated[bool, Form(section=RESULTS)] = False
    node_price: Annotated[Annotated[float, Meta(gt=0)] | None, Form("PRICE", RESULTS)] = None
