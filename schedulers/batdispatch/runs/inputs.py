"""What runs are given becomes files: a log, a workload in memory, and a platform of the right size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import UNSET

from batdispatch.core.abilities import missing_ability
from batdispatch.core.capacity.granularity import space_of
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.fields import is_whole_hosts
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request
from batdispatch.core.line import registry
from batdispatch.core.line.settings import settings_of
from batdispatch.core.machine.machine import Machine
from batdispatch.inputs.files import file_digest, write_whole
from batdispatch.inputs.log_options import LogReading
from batdispatch.inputs.platforms import Platform, read_platform
from batdispatch.inputs.sites import GROUP as SITES
from batdispatch.inputs.sites import (
    SiteDraft,
    SiteFiles,
    check_partitions,
    draft_of_use,
    fit_jobs,
    licence_inferences,
    with_licences,
    with_limits_of,
)
from batdispatch.inputs.workloads import Workload, read_workload, write_workload
from batdispatch.inputs.workloads.assembly import UNITS
from batdispatch.inputs.workloads.importers import (
    ImportedColumns,
    ImportResult,
    formats,
    import_log,
    is_workload,
)
from batdispatch.inputs.workloads.log_workload import LogWorkload
from batdispatch.inputs.workloads.logs import LogInfo
from batdispatch.inputs.workloads.model import stem
from batdispatch.inputs.workloads.moments import Clock, time_zone
from batdispatch.inputs.workloads.selection import parse_selection
from batdispatch.inputs.workloads.workload_file import WorkloadFile
from batdispatch.runs.listener import Listener

#: Folder of the inputs that were made, inside that of the results.
INPUT = "input"
#: Called with a piece of work, how much of it is done, and how much there is.
Follow = Callable[[str, int, int], None]
GivenWorkload = str | PathLike[str] | Workload
GivenPlatform = str | PathLike[str] | Platform | int


def read_log_as(
    log: str | PathLike[str],
    reading: LogReading,
    *,
    machine: Machine | None = None,
    follow: Follow | None = None,
) -> ImportedColumns:
    """Read a log as people say.

    Args:
        log: its path.
        reading: how, and which part.
        machine: what it is to run on; jobs that cannot are dropped and counted.
        follow: told of the progress.

    Raises:
        InputError: the log or a setting is wrong.
    """
    return import_log(
        Path(log),
        kind=reading.kind,
        options=reading,
        selection=parse_selection(reading.select, zone=reading.time_zone),
        machine=machine,
        progress=None if follow is None else partial(follow, f"reading {Path(log).name}"),
    )


class Inputs:
    """What runs are given as their platform and workload, and the files that they read.

    What is no such file is written into the folder ``input`` of the results by `prepare`: a workload that was made of a
    log or in memory, and a platform of the right size, or of so many equal hosts.

    Attributes:
        platform: the platform's file, which is there once `prepare` has ended.
        workload: the workload's file, likewise.
        made: whether there is anything to write.
        file: the workload's file with what was written there, once `prepare` has ended; None: it is still to be read.
        is_log: whether the workload is made of a log.
        site: the files that describe the log's site; None: there are none.
    """

    def __init__(
        self,
        workload: GivenWorkload,
        platform: GivenPlatform | None,
        out: Path,
        *,
        master: str | None = None,
        log: bool | None = None,
        reading: LogReading | None = None,
    ) -> None:
        """Look what is given; only a log's first bytes are read.

        Args:
            workload: file of a workload or a log, or a workload in memory.
            platform: file, a platform that was read from one, or a number of hosts; None: one of the right size.
            out: folder of the results.
            master: the platform's host that carries Batsim.
            log: whether the workload is a log; None: `is_log` tells.
            reading: how a log is read; None: as its format and the defaults say.

        Raises:
            InputError: the platform's file has changed since it was read, or settings of a log come with a workload.
        """
        reading = reading or LogReading()
        self._given, self._machine, self._master, self._reading = workload, platform, master, reading
        self.site = None if reading.slurm is None else read_site("slurm", Path(reading.slurm), reading.cluster)
        #: What was made of the site; None: there is none.
        self._draft: SiteDraft | None = None
        if self.site is not None and platform is not None:
            raise InputError("says what the machine is, and so does --platform: state one", source="option --slurm")
        if self.site is not None and not self.site.counts_memory and reading.memory is None:
            self._reading = msgspec.structs.replace(reading, memory="none")
        name = workload.path if isinstance(workload, Workload) else Path(workload)
        self.is_log = not isinstance(workload, Workload) and (is_log(workload, reading) if log is None else log)
        if not self.is_log:
            _refuse_reading(reading)
        makes_workload = self.is_log or isinstance(workload, Workload)
        file = None if platform is None or isinstance(platform, int) else _file_of(platform)
        self.made = makes_workload or file is None
        self._folder = out / INPUT
        self.file: WorkloadFile | None = None
        self.workload = self._folder / f"{stem(name)}.json" if makes_workload else name
        self.platform = file or self._folder / "platform.xml"

    def prepare(self, listener: Listener) -> ImportedColumns | None:
        """Write what is to be made, and return what was made of the log, if there is one.

        Args:
            listener: hears what was made and why, what is remarkable about a log, and how far it is read.

        Raises:
            InputError: the log or the platform is wrong, or a file cannot be written.
        """
        if not self.made:
            return None
        makes_folder = partial(self._folder.mkdir, parents=True, exist_ok=True)
        if isinstance(self._machine, int):
            makes_folder()
            write_whole(self.platform, flat_platform(self._machine))
        imported = self._imported(self._machine is not None, listener.progress) if self.is_log else None
        makes_folder()
        if self._machine is None:
            sized = self._sized(imported)
            write_whole(self.platform, sized.content)
            listener.note("\n  ".join([f"platform {self.platform}: {sized.why}", *sized.inferences]))
            for warning in sized.warnings:
                listener.warn(warning)
            if imported is not None and not self._all_fit(imported):
                imported = self._imported(True, listener.progress)
        if imported is not None:
            self._check_partitions(imported)
            if self._draft is not None:
                fit_jobs(
                    imported.workload.jobs,
                    self._draft,
                    imported.report,
                    imported.workload.path,
                    imported.info.unlimited,
                )
            digest = write_workload(imported.workload, self.workload)
            self.file = WorkloadFile.written(self.workload, digest, imported.workload)
            listener.note(f"workload {self.workload}: {imported.report.as_text()}")
            warn_of_overruns(imported, listener.warn)
        elif isinstance(self._given, Workload):
            write_workload(self._given, self.workload, batsim=self._given.batsim)
        return imported

    def read(self) -> Workload:
        """Return the workload with an object per job; `prepare` has ended.

        Raises:
            InputError: as `read_workload`.
        """
        return read_workload(self.workload) if self.file is None else self.file.workload()

    def options_by_log(
        self, dispatcher: str, options: Mapping[str, str], imported: ImportedColumns
    ) -> tuple[dict[str, str], str]:
        """Return what the log of a site tells of how the site schedules, as options of a dispatcher, and how.

        Only where there are files of the site.
        """
        assert self.site is not None
        workload = imported.workload
        origin = float(workload.about["origin"]["time_origin"])
        return self.site.options_by_log(dispatcher, options, origin, workload.jobs, imported.info)

    def _sized(self, imported: ImportedColumns | None) -> SizedPlatform:
        if imported is not None:
            self._draft = self._drafted(imported)
            if self._draft is not None:
                return _of_draft(self._draft)
            return platform_for(imported.workload, imported.report.format, imported.info)
        return platform_for(self._given if isinstance(self._given, Workload) else read_workload(self.workload))

    def _imported(self, fitting: bool, follow: Follow) -> ImportedColumns:
        """Read the log, without the jobs that do not fit the platform if that is there."""
        machine = read_platform(self.platform, master=self._master).machine if fitting else None
        assert not isinstance(self._given, Workload)
        return read_log_as(self._given, self._reading, machine=machine, follow=follow)

    def _drafted(self, imported: ImportedColumns) -> SiteDraft | None:
        """Return the site of a log, as its files or its jobs' nodes tell it; None: nothing does."""
        reading, keep = self._reading, self._reading.partitions == "keep"
        workload, info = imported.workload, imported.info
        if self.site is None:
            return draft_of(workload, imported.report.format, info, partitions=keep)
        if imported.report.format != self.site.log_format:
            raise InputError(f"goes with {self.site.logs}", source="option --slurm")
        clock = Clock(time_zone(reading.time_zone) if reading.time_zone else None)
        origin = float(workload.about["origin"]["time_origin"])
        draft = self.site.draft(
            info.use,
            clock,
            origin,
            shared=is_shared(workload),
            licences=info.licences,
            least=info.capacity,
            last=float(workload.jobs.submission[-1]),
        )
        if keep and not info.partitions and len(draft.queues.partitions) > 1:
            names = ", ".join(one.name for one in draft.queues.partitions)
            raise InputError(
                f"does not say in which partition jobs ran, and the site has {names}: export the column Partition, or "
                "let all jobs use all nodes (--partitions ignore)",
                source=str(workload.about["origin"]["log"]),
            )
        if not keep:
            queues = msgspec.structs.replace(draft.queues, partitions=[])
            return msgspec.structs.replace(draft, queues=queues)
        return with_limits_of(draft, workload.jobs)

    def _check_partitions(self, imported: ImportedColumns) -> None:
        """Refuse a platform without the partitions in which the jobs of a log ran, unless these are to be ignored."""
        if self._reading.partitions == "ignore" or not imported.info.partitions:
            return
        site = read_platform(self.platform, master=self._master).machine.site
        jobs = Counter(str(each) for each in imported.workload.jobs.column("partition") if each is not UNSET)
        check_partitions(jobs, () if site is None else site.partitions, str(self.platform))

    def _all_fit(self, imported: ImportedColumns) -> bool:
        space = space_of(read_platform(self.platform, master=self._master).machine)
        jobs = [Job(id="", request=request) for request in imported.workload.requests()]
        try:
            return len(space.fitting(space.whole(), jobs)) == len(jobs)
        except InputError:
            # A job needs a resource that no host has, such as a type of GPUs which the site does not tell apart.
            return False


def read_site(kind: str, folder: Path, cluster: str = "") -> SiteFiles:
    """Return what the files of a site say.

    Args:
        kind: of the files, as the option is called.
        folder: that holds them.
        cluster: whose files these are, where they are of several.

    Raises:
        InputError: the folder or a file in it is wrong, or nothing that is installed reads it.
    """
    read: Callable[[Path, str], SiteFiles] | None = registry.load(SITES, kind, "reader of sites")
    if read is None:
        raise missing_ability("sites", f"option --{kind}")
    return read(folder, cluster)


def is_log(path: str | PathLike[str], reading: LogReading) -> bool:
    """Return whether a file is to be read as a log: its format or its columns are stated, or it is no workload."""
    return reading.kind is not None or bool(reading.columns) or not is_workload(Path(path))


def _refuse_reading(reading: LogReading) -> None:
    """Refuse settings of a log that come with a workload.

    Raises:
        InputError: one is not its default.
    """
    for setting in settings_of(LogReading):
        if getattr(reading, setting.name) != setting.default:
            raise InputError("is for logs, and this is a Batsim workload", source=f"option {setting.option}")


def _file_of(platform: str | PathLike[str] | Platform) -> Path:
    """Return the file of a platform, which runs read again.

    Raises:
        InputError: it has changed since the platform was read, or the platform was told roles that no run can be told.
    """
    if not isinstance(platform, Platform):
        return Path(platform)
    if file_digest(platform.path) != platform.digest:
        raise InputError("has changed since it was read", source=str(platform.path))
    if "-r" in platform.batsim_arguments():
        raise InputError("was read with roles: state them in the file (property role)", source=str(platform.path))
    return platform.path


def warn_of_overruns(imported: ImportResult | ImportedColumns, warn: Callable[[str], None]) -> None:
    """Propose ``--overrun extend`` where many jobs would be killed for some seconds."""
    proposal = imported.info.overruns.proposal(len(imported.workload.jobs))
    if proposal:
        warn(proposal)


#: Most hosts that such a platform gets: more than any machine had; a log that says more is wrong.
MOST = 1_000_000


class SizedPlatform(NamedTuple):
    """A platform and where its size comes from."""

    content: bytes
    #: One line: what it is, and why.
    why: str
    #: Further lines: each thing that was worked out, from what, and how sure it is.
    inferences: Sequence[str] = ()
    #: What to doubt, a sentence each.
    warnings: Sequence[str] = ()


def is_shared(workload: Workload | LogWorkload) -> bool:
    """Return whether jobs share hosts."""
    return not all(
        is_whole_hosts(msgspec.structs.replace(one, licences=()) if one.licences else one)
        for one in workload.requests()
    )


def draft_of(
    workload: Workload | LogWorkload, kind: str, info: LogInfo, *, partitions: bool = True
) -> SiteDraft | None:
    """Return the site that the jobs of a log were seen to use; None: it does not tell on which nodes they ran.

    Args:
        workload: made of the log.
        kind: the log's format.
        info: what the log tells.
        partitions: whether its partitions are kept.
    """
    if formats()[kind].machine is not None or not info.use.names or info.use.unread:
        return None
    return draft_of_use(info.use, shared=is_shared(workload), partitions=partitions, licences=info.licences)


def platform_for(workload: Workload | LogWorkload, kind: str = "", info: LogInfo | None = None) -> SizedPlatform:
    """Return a platform for a workload: the machine that the log is of, if it is known, else equal hosts.

    If the log tells who used which node, these are the nodes, with what was in use on each, and their partitions. Else
    there are as many hosts as the log states, else as ran at a time in the log, else as the file's ``nb_res`` says,
    else as the largest job needs. Hosts that jobs share offer the least that the log allows: what jobs got on one host,
    what any job needs on one, and, spread evenly, the most that jobs held at a time.

    Args:
        workload: the jobs.
        kind: the format of the log that they were made of; empty: they are a workload of Batsim.
        info: what that log tells.
    """
    draft = None if info is None or not kind else draft_of(workload, kind, info)
    if draft is not None:
        return _of_draft(draft)
    shared = is_shared(workload)
    machine = formats()[kind].machine if kind else None
    if shared and machine is not None:
        return SizedPlatform(machine.platform(), f"{machine.name}, the machine that this format is of")
    capacity = _capacity(workload, info) if shared else {}
    hosts, why = _hosts(workload, info, capacity)
    for name, amount in ({} if info is None else info.peak).items():
        if name in capacity:
            capacity[name] = max(capacity[name], -(-amount // hosts))
    text = " ".join(f"{name}={amount}" for name, amount in capacity.items())
    what = f"{hosts:,} equal hosts" + (f" of {text}" if text else "")
    each = " What each offers is the least with which the jobs can have run." if text else ""
    licences = {} if info is None else info.licences
    content = with_licences(flat_platform(hosts, text or None), licences)
    return SizedPlatform(content, f"{what}: {why}.{each}", list(map(str, licence_inferences(licences))))


def _of_draft(draft: SiteDraft) -> SizedPlatform:
    names = ", ".join(partition.name for partition in draft.queues.partitions)
    what = f"{len(draft.nodes):,} nodes" + (f" in partitions {names}" if names else "")
    return SizedPlatform(draft.platform(), what, [str(one) for one in draft.inferences], draft.warnings)


def flat_platform(hosts: int, capacity: str | None = None) -> bytes:
    """Return a platform of equal hosts."""
    from batdispatch.inputs.platforms.generate import flat

    return flat(hosts, capacity=capacity)


def _capacity(workload: Workload | LogWorkload, info: LogInfo | None) -> dict[str, int]:
    found = dict(info.capacity) if info is not None else {}
    for request in workload.requests():
        for name, amount in _on_a_node(request).items():
            found[name] = max(found.get(name, 0), amount)
    return {name: amount for name, amount in sorted(found.items()) if amount}


def _on_a_node(request: Request) -> dict[str, int]:
    """Return what a job needs on one node at least."""
    units = -(-request.units // request.nodes[1]) if request.nodes else 1
    units = request.units_per_node or units
    needs = {name: units * amount for name, amount in request.per_unit or ()}
    for name, amount in request.per_node:
        needs[name] = needs.get(name, 0) + amount
    return needs


def _hosts(workload: Workload | LogWorkload, info: LogInfo | None, capacity: dict[str, int]) -> tuple[int, str]:
    """Return a number of hosts and why."""
    if info is None and workload.nb_res:
        return min(workload.nb_res, MOST), "nb_res of the workload"
    if info is not None and info.hosts:
        return min(info.hosts, MOST), info.why or "the log says so"
    least = max((_fewest(request, capacity) for request in workload.requests()), default=1)
    if info is not None and info.peak:
        # Units of a job are cores where hosts are shared.
        hosts = -(-info.peak[UNITS] // capacity.get("core", 1))
        return min(max(hosts, least), MOST), "as many as the most that ran at a time in the log, which states no size"
    return min(least, MOST), "as many as the largest job needs, since the log states no size and no start times"


def _fewest(request: Request, capacity: dict[str, int]) -> int:
    """Return the fewest such hosts that hold a job."""
    if request.per_unit is None or not capacity:
        return request.units
    per_node = dict(request.per_node)
    room = min(
        ((capacity[name] - per_node.get(name, 0)) // amount for name, amount in request.per_unit if amount), default=1
    )
    return max(-(-request.units // max(room, 1)), request.nodes[0] if request.nodes else 1)
