"""From a log to the inputs of a comparison in one step: a workload, and a platform of the right size."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from batdispatch.core.capacity.granularity import space_of
from batdispatch.inputs.files import write_whole
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.workloads import read_workload, write_workload
from batdispatch.inputs.workloads.importing import Imported
from batdispatch.inputs.workloads.model import stem
from batdispatch.runs.right_size import platform_for

#: Folder of the inputs that a comparison made, inside its own.
INPUT = "input"
#: Reads the log, for a machine or for any (None).
Read = Callable[[Path | None], Imported]


class Inputs(NamedTuple):
    """Where the inputs of a comparison are, or will be once it is prepared."""

    platform: Path
    workload: Path


def inputs_in(out: Path, platform: str | None, workload: str, *, is_log: bool) -> Inputs:
    """Return where the inputs of a comparison in the folder `out` stand: those given, or those that are made."""
    made = out / INPUT
    return Inputs(
        Path(platform) if platform is not None else made / "platform.xml",
        made / f"{stem(workload)}.json" if is_log else Path(workload),
    )


def prepare(
    inputs: Inputs, *, platform: str | None, read: Read | None, master: str | None, tell: Callable[[str], None]
) -> Imported | None:
    """Write the inputs that are missing, and return what was made of the log if there is one.

    Args:
        inputs: from `inputs_in`.
        platform: the one given; None: one of the right size is made.
        read: reads the log; None: the workload is there already.
        master: the platform's host that carries Batsim.
        tell: told what was made and why.

    Raises:
        InputError: the log or the platform is wrong, or a file cannot be written.
    """
    imported = None if read is None else read(None if platform is None else inputs.platform)
    for path in inputs:
        if path.parent.name == INPUT:
            path.parent.mkdir(parents=True, exist_ok=True)
    if platform is None:
        if imported is None:
            sized = platform_for(read_workload(inputs.workload))
        else:
            sized = platform_for(imported.workload, imported.report.format, imported.info)
        write_whole(inputs.platform, sized.content)
        tell(f"platform {inputs.platform}: {sized.why}")
        if imported is not None and read is not None and not _all_fit(imported, inputs.platform, master):
            imported = read(inputs.platform)
    if imported is not None:
        write_workload(imported.workload, inputs.workload)
    return imported


def _all_fit(imported: Imported, platform: Path, master: str | None) -> bool:
    machine = read_platform(platform, master=master).machine
    space = space_of(machine)
    jobs = imported.workload.jobs
    return len(space.fitting(space.whole(), jobs)) == len(jobs)
