"""From a log to the inputs of a comparison in one step: a workload, and a platform of the right size."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from batdispatch.core.capacity.granularity import space_of
from batdispatch.core.machine.machine import Machine
from batdispatch.inputs.files import write_whole
from batdispatch.inputs.log_options import LogReading
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.workloads import Workload, read_workload, write_workload
from batdispatch.inputs.workloads.importing import Imported, import_log, is_workload, read_log
from batdispatch.inputs.workloads.model import stem
from batdispatch.inputs.workloads.report import ImportReport
from batdispatch.inputs.workloads.selecting import parse_selection
from batdispatch.runs.compare import LabelledProgress
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


def read_as(
    log: str | Path, reading: LogReading, *, machine: Machine | None = None, follow: LabelledProgress | None = None
) -> Imported:
    """Read a log as people say.

    Args:
        log: its path.
        reading: how, and which part.
        machine: what it is to run on; jobs that cannot are dropped and counted.
        follow: told of the progress.

    Raises:
        InputError: the log or an option is wrong.
    """
    return read_log(
        log,
        kind=reading.kind,
        options=reading,
        selection=parse_selection(reading.select, zone=reading.time_zone),
        machine=machine,
        progress=None if follow is None else partial(follow, f"reading {Path(log).name}"),
    )


class LogInputs(NamedTuple):
    """Makes the inputs of a comparison that were not given, and says so.

    Attributes:
        inputs: where they stand, from `inputs_in`.
        platform: the one given; None: one of the right size is made.
        log: its path; None: the workload was given.
        reading: how the log is read.
        master: the platform's host that carries Batsim.
        follow: told of the progress.
        tell: told what was made and why.
        warn: told what is remarkable.
    """

    inputs: Inputs
    platform: str | None
    log: str | None
    reading: LogReading
    master: str | None
    follow: LabelledProgress
    tell: Callable[[str], None]
    warn: Callable[[str], None]

    def make(self) -> None:
        """Write what is missing.

        Raises:
            InputError: something is wrong with the log, an option or the platform.
        """
        read = None if self.log is None else self.read
        imported = prepare(self.inputs, platform=self.platform, read=read, master=self.master, tell=self.tell)
        if imported is not None:
            self.tell(f"workload {self.inputs.workload}: {imported.report.as_text()}")
            if proposal := overrun_proposal(imported):
                self.warn(proposal)

    def read(self, platform: Path | None) -> Imported:
        """Read the log, without the jobs that do not fit the platform."""
        machine = None if platform is None else read_platform(platform, master=self.master).machine
        assert self.log is not None
        return read_as(self.log, self.reading, machine=machine, follow=self.follow)


def overrun_proposal(imported: Imported) -> str:
    """Return a proposal of ``--overrun extend`` where many jobs would be killed for some seconds; else nothing."""
    return imported.info.overruns.proposal(len(imported.workload.jobs)) or ""


def read_either(path: Path) -> tuple[Workload, ImportReport | None]:
    """Read a workload, or a log with the default options; also return an account of the latter.

    Raises:
        InputError: it is wrong.
    """
    return (read_workload(path), None) if is_workload(path) else import_log(path)


def _all_fit(imported: Imported, platform: Path, master: str | None) -> bool:
    machine = read_platform(platform, master=master).machine
    space = space_of(machine)
    jobs = imported.workload.jobs
    return len(space.fitting(space.whole(), jobs)) == len(jobs)
