"""From a log to the inputs of a comparison in one step: a workload, and a platform of the right size."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from batdispatch.core.capacity.granularity import space_of
from batdispatch.core.jobs.fields import is_whole_hosts
from batdispatch.core.jobs.request import Request
from batdispatch.inputs.files import write_whole
from batdispatch.inputs.platforms import generate, read_platform
from batdispatch.inputs.workloads import Workload, read_workload, write_workload
from batdispatch.inputs.workloads.importing import Imported
from batdispatch.inputs.workloads.logs import UNITS, LogInfo
from batdispatch.inputs.workloads.model import stem

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


#: Most hosts that such a platform gets: more than any machine had; a log that says more is wrong.
MOST = 1_000_000


class Sized(NamedTuple):
    """A platform and where its size comes from."""

    content: bytes
    #: One line: what it is, and why.
    why: str


def platform_for(workload: Workload, kind: str = "", info: LogInfo | None = None) -> Sized:
    """Return a platform for a workload: the machine that the log is of, if it is known, else equal hosts.

    There are as many hosts as the log states, else as ran at a time in the log, else as the file's ``nb_res`` says,
    else as the largest job needs. Hosts that jobs share offer the least that the log allows: what jobs got on one
    host, what any job needs on one, and, spread evenly, the most that jobs held at a time.

    Args:
        workload: the jobs.
        kind: the format of the log that they were made of; empty: they are a workload of Batsim.
        info: what that log tells.
    """
    shared = not all(is_whole_hosts(job.request) for job in workload.jobs)
    if shared and kind in ("eurora", "kit"):
        # What the node file beside the published logs states.
        eurora = generate.eurora(memory_mib=32768)
        name, content = ("Eurora", eurora) if kind == "eurora" else ("ForHLR II", generate.forhlr2())
        return Sized(content, f"{name}, the machine that this format is of")
    capacity = _capacity(workload, info) if shared else {}
    hosts, why = _hosts(workload, info, capacity)
    for name, amount in ({} if info is None else info.peak).items():
        if name in capacity:
            capacity[name] = max(capacity[name], -(-amount // hosts))
    text = " ".join(f"{name}={amount}" for name, amount in capacity.items())
    what = f"{hosts:,} equal hosts" + (f" of {text}" if text else "")
    each = " What each offers is the least with which the jobs can have run." if text else ""
    return Sized(generate.flat(hosts, capacity=text or None), f"{what}: {why}.{each}")


def _capacity(workload: Workload, info: LogInfo | None) -> dict[str, int]:
    found = dict(info.capacity) if info is not None else {}
    for request in {job.request for job in workload.jobs}:
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


def _hosts(workload: Workload, info: LogInfo | None, capacity: dict[str, int]) -> tuple[int, str]:
    """Return a number of hosts and why."""
    requests = [job.request for job in workload.jobs]
    if info is None and workload.nb_res:
        return min(workload.nb_res, MOST), "nb_res of the workload"
    if info is not None and info.hosts:
        return min(info.hosts, MOST), info.why or "the log says so"
    least = max((_fewest(request, capacity) for request in requests), default=1)
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
