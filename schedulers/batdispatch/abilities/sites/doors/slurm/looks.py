"""When slurmctld looked at its queue, as far as accounts tell it.

Reservations of a backfill pass are rounded to multiples of what Slurm's clock shows, which accounts tell. When passes
were made, they do not tell, but a pass alone lets a job run ahead of one of its partition that came before and could
run: such a start tells when one was made.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from batdispatch.abilities.sites.slurm.options import SlurmOptions
from batdispatch.core.machine.site import PARTITIONS
from batdispatch.inputs.workloads.log_columns import LogColumns
from batdispatch.inputs.workloads.logs import LogInfo

#: All that is rounded is so to parts of an hour, s, which zones of time do not change.
_HOUR = 3600.0
#: For so long the job that was passed must have waited, s: the main loop may not have looked at it before.
_LOOKED_AT = 3.0


def clocks_of(options: Mapping[str, str], origin: float, jobs: LogColumns, info: LogInfo) -> tuple[dict[str, str], str]:
    """Return `clock` and `phase` of `slurm-backfill` by accounts, and how they are known; empty: it has both.

    Args:
        options: all that the dispatcher has.
        origin: what the site's clock shows at 0 s of the simulation.
        jobs: in order of submission.
        info: what the accounts tell of them.
    """
    clock = origin % _HOUR
    found, why = {"clock": f"{clock:g}"}, {"clock": "from when jobs came; sure"}
    interval = float(options.get("interval", SlurmOptions().interval))
    ahead = first_ahead(jobs, info) if interval else math.nan
    if not math.isnan(ahead):
        # Accounts cut off what is less than a second.
        found["phase"] = f"{(ahead + 0.5) % interval:g}"
        why["phase"] = f"a job first ran ahead of another at {ahead:g} s; a guess"
    told = {name: text for name, text in found.items() if name not in options}
    return told, ", ".join(f"{name}={text} ({why[name]})" for name, text in told.items())


def first_ahead(jobs: LogColumns, info: LogInfo) -> float:
    """Return when a job first started before one of its partition that came earlier and waited, in s; nan: none did."""
    #: Partition -> latest start of those that came so far, and when that job came.
    latest: dict[str, tuple[float, float]] = {}
    first = math.inf
    columns = zip(
        jobs.ids, jobs.submission.tolist(), info.starts.tolist(), jobs.texts("partition"), jobs.tables, strict=True
    )
    for name, submission, start, partition, table in columns:
        if math.isnan(start):
            continue
        passed, came = latest.get(partition, (-math.inf, 0.0))
        if came + _LOOKED_AT < start < min(passed, first):
            first = start
        waits_for_room = name not in info.held and not jobs.dependencies.get(name) and "array" not in table
        if start > passed and waits_for_room and PARTITIONS not in table:
            latest[partition] = (start, submission)
    return first if first < math.inf else math.nan
