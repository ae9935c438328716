"""How a log is read, as people state it; nothing large is imported, so that help is quick."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta

from batdispatch.core.line.registry import names
from batdispatch.core.line.settings import INPUTS, LOGS, Form

#: Entry points of formats; each leads to a `LogFormat` of `inputs.workloads.logs`. A new format is one file and one
#: entry point.
ENTRY_POINTS = "batdispatch.logs"


class LogOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a log's jobs become jobs of a workload.

    columns: Read a table (CSV, Parquet), in which these columns mean these fields:
        submit=SUBMITTED,runtime=ELAPSED:min. A .toml file can say the same, and pm100 and f-data say it for these
        published tables.
    time_zone: Read times that name no time zone in this one, such as Europe/Berlin (sacct and tables). By default, they
        are read as they stand.
    units: Count jobs in whole hosts, or in cores (and what else the log says) on hosts that jobs share. The default is
        hosts for SWF and for tables without cores, and cores for the others.
    processors_per_host: Make whole hosts of N processors each. A job's last host may be used in part.
    size: Take this processor count as a job's size. Where it is unknown, the other one is taken. The default is
        allocated for sacct, which says what Slurm gave (hyperthreads, whole cores and nodes), and requested for the
        others.
    overrun: Choose what becomes of jobs that ran longer than their walltime: they are killed at it, or their walltime
        is raised above the run time.
    zero_runtime: Keep jobs that ran for 0 s, which then take 1 s, or drop them.
    memory: Let jobs demand the log's memory, in MiB (in SWF that of each core, which needs --units cores). The default
        is none for SWF, and requested for the others.
    submission: Let a job come when it was submitted, or when it became eligible: once no --begin, hold or dependency
        kept it back (sacct and tables).
    requeues: Keep the last run of a job that was requeued or preempted or lost a node, or all its runs, as jobs of
        which each continues the one before (sacct --duplicates).
    think_times: Let a job that names a preceding job come only when that one has ended in the simulation, and its think
        time has passed (SWF).
    keep_clock: Keep the log's clock instead of starting at 0 s.
    slurm: Read the machine and its queues from this folder, which holds the site's slurm.conf and gres.conf, or what
        scontrol show node, scontrol show partition, scontrol show reservation and sinfo print (sacct).
    partitions: Keep the partitions of the log, and take no machine that lacks one (keep), or let all jobs use all nodes
        (ignore; sacct).
    header: Take these names for the columns of a log that has no header, as sacct --noheader leaves it out:
        JobID,User,Submit,Start,End,State,AllocTRES,NodeList (the list that sacct --format had).
    cluster: Read only the jobs of this cluster (sacct, sinfo and squeue with --clusters).
    bad_records: Leave out this many records that cannot be read, and name the first ones. If there are more, the log
        is refused. The default is 10, or 5 of a thousand if that is more.
    """

    section: ClassVar[str] = LOGS
    #: See `batdispatch.inputs.workloads.mapping`; empty: the log is no table.
    columns: Annotated[str, Form("FIELD=COLUMN[:UNIT],...")] = ""
    time_zone: Annotated[str, Form("NAME")] = ""
    #: ``cores``: a unit is a core, or what the log says a unit needs.
    units: Literal["hosts", "cores"] | None = None
    processors_per_host: Annotated[Annotated[int, Meta(ge=1, le=1_000_000)], Form("N")] = 1
    size: Literal["requested", "allocated"] | None = None
    #: ``kill``: as in the usual simulators; ``extend``: all the work of the log is done.
    overrun: Literal["kill", "extend"] = "kill"
    zero_runtime: Literal["keep", "drop"] = "keep"
    memory: Literal["none", "requested", "used"] | None = None
    submission: Literal["submit", "eligible"] = "submit"
    requeues: Literal["last", "all"] = "last"
    think_times: bool = False
    keep_clock: bool = False
    slurm: Annotated[str | None, Form("DIR")] = None
    partitions: Literal["keep", "ignore"] = "keep"
    header: Annotated[str, Form("COLUMN,...")] = ""
    cluster: Annotated[str, Form("NAME")] = ""
    bad_records: Annotated[Annotated[int, Meta(ge=0)] | None, Form("N")] = None


class LogReading(LogOptions, frozen=True, kw_only=True):
    """How a log is found out about and read, and which part of it.

    kind: Read the log in this format. By default, its name or its content tells.
    select: Take a part of the log: first=N jobs; from=T and to=T for jobs submitted in [from, to) of the log's clock
        (in s, or 12h, 30d, 2w, or a date such as 2026-03-01); users=3,17. May be given several times.
    """

    kind: Annotated[str | None, Form(name="--format", choices=partial(names, ENTRY_POINTS))] = None
    select: Annotated[tuple[str, ...], Form("KEY=VALUE")] = ()


#: The fields that only logs have, by name.
ONLY_LOGS = LogReading.__struct_fields__


class LogMachine(msgspec.Struct, frozen=True, kw_only=True):
    """The machine beside a log.

    platform: Take the size of the machine from this SimGrid platform. By default, the workload says it.
    master_host: Leave out this host of the platform, which carries Batsim and is no resource.
    """

    section: ClassVar[str] = INPUTS
    platform: Annotated[Path | None, Form("P.xml")] = None
    master_host: Annotated[str | None, Form("NAME")] = None
