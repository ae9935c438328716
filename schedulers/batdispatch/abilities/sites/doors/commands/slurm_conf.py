"""What people ask of a slurm.conf: what `slurm-backfill` takes from it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec

from batdispatch.core.line.settings import RESULTS, Form
from batdispatch.core.questions import Answer, Line, Question


class SlurmConfOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a slurm.conf is read.

    slurm_version: Take the defaults of this version of Slurm.
    """

    slurm_version: str = "22.05"


def slurm_conf(how: SlurmConfOptions, file: Annotated[Path, Form("slurm.conf")]) -> Answer:
    """Say for each setting of a slurm.conf about scheduling whether slurm-backfill understands it.

    The last line is the dispatcher that slurm-backfill[conf=slurm.conf] stands for.

    \b
    Examples:
      batdispatch slurm-conf /etc/slurm/slurm.conf
      batdispatch slurm-conf slurm.conf --slurm-version 23.11 --json
    """
    from batdispatch.abilities.sites.doors.slurm.conf import read_conf
    from batdispatch.abilities.sites.doors.slurm.scheduling import scheduling_of

    conf = read_conf(file)
    read = scheduling_of(conf, how.slurm_version)
    name = f"slurm-backfill[{','.join(f'{key}={value}' for key, value in read.options.items())}]"
    rows = [
        {"file": one.source, "line": one.line, "key": one.key, "value": one.value, "verdict": verdict, "means": means}
        for one, verdict, means in read.readings
    ]
    said = [
        f"{verdict:<12}  line {one.line:<4}  {'='.join(filter(None, (one.key, one.value))):<40}  {means}"
        for one, verdict, means in read.readings
    ]
    aside = [Line(f"note: {remark}", aside=True) for remark in conf.remarks()]
    return Answer({"settings": rows, "remarks": conf.remarks(), "dispatcher": name}, [*said, *aside, name])


QUESTION = Question("slurm-conf", slurm_conf, "Print the list as JSON.", RESULTS)
