"""What held a job of a recorded run while it waited: goes through the recording once and says so in records."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from heapq import nlargest
from pathlib import Path

import msgspec

from batdispatch.core.errors import InputError
from batdispatch.core.job import Job
from batdispatch.core.machine import Machine
from batdispatch.core.options import did_you_mean
from batdispatch.links.retrace import retrace
from batdispatch.results.explain.records import Amounts, Chance, Explanation, Free, Holder, Line, Overtaker, Phase
from batdispatch.results.explain.view import asked
from batdispatch.results.explain.watch import Episode, Stay, Wait, Watcher
from batdispatch.results.runs import jobs_file

#: Name of the exchange in a run's folder; the second after a run that failed.
RECORDINGS = ("decisions.jsonl", "decisions.jsonl.partial")
_MARK = "~"


def recording_of(folder: Path) -> Path | None:
    """Return the recorded exchange of a run's folder; None: there is none."""
    return next((folder / name for name in RECORDINGS if (folder / name).is_file()), None)


def find_recording(folder: Path) -> Path:
    """Return the recorded exchange of a run's folder.

    Raises:
        InputError: it is no folder of a run, or the run was not recorded.
    """
    if not folder.is_dir():
        raise InputError("is not a folder, expected a run's folder", source=str(folder))
    path = recording_of(folder)
    if path is not None:
        return path
    if jobs_file(folder) is not None:
        raise InputError(
            "holds no decisions.jsonl: the run was not recorded; repeat it without --no-record", source=str(folder)
        )
    runs = [sub.name for sub in sorted(folder.iterdir()) if sub.is_dir() and (jobs_file(sub) or recording_of(sub))]
    if runs:
        shown = ", ".join(runs[:8]) + (", ..." if len(runs) > 8 else "")
        raise InputError(f"holds several runs, expected one of them: {shown}", source=str(folder))
    raise InputError("holds neither decisions.jsonl nor jobs.csv, expected a run's folder", source=str(folder))


def explain(recording: Path, jobs: Sequence[str], *, holders: int = 5) -> list[Explanation]:
    """Say what held each of some jobs while it waited. Reads the recording once, whatever their number.

    Args:
        recording: the exchange of a run.
        jobs: ids, or numbers where only one workload has them.
        holders: most jobs named a phase.

    Raises:
        InputError: a job is not in the recording, a number is of several, or the recording is damaged.
        OSError: it cannot be read.
    """
    watcher = Watcher(jobs)
    retrace(recording, watcher)
    watcher.finish()
    found = [watcher.waits[_resolve(watcher, job, recording)] for job in jobs]
    return [_explanation(watcher, wait, holders) for wait in found]


def _resolve(watcher: Watcher, job: str, recording: Path) -> str:
    if job in watcher.waits:
        return job
    matching = [name for name in watcher.waits if name.partition("!")[2] == job]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise InputError(f"several jobs have the number {job!r}: {', '.join(matching)}", source=str(recording))
    numbers = {name.partition("!")[2]: name for name in watcher.starts}
    known = list(watcher.starts) if "!" in job else list(numbers)
    hint = did_you_mean(job, known) if len(known) <= 20 else did_you_mean(job, known).partition("known:")[0]
    raise InputError(
        f"no job {job!r} was submitted; {hint or f'there are {len(known)}, such as {known[0]}'}", source=str(recording)
    )


def _explanation(watcher: Watcher, wait: Wait, holders: int) -> Explanation:
    machine, job = watcher.cluster.machine, wait.job
    started = not math.isnan(watcher.starts[job.id])
    waits = job.id in watcher.cluster.queue
    family = job.id.partition(_MARK)[0]
    # Resolved again: of a job that can never run the ledger may not have done it.
    known = all(name in machine.resources for name in (job.demand or {}))
    return Explanation(
        job=job.id,
        submission=wait.submission,
        until=wait.until,
        outcome="started" if started else "waiting" if waits else "rejected",
        reason=wait.reason,
        registered=wait.registered,
        attempts=[
            name
            for name in watcher.starts
            if name.partition(_MARK)[0] == family and name != job.id and (_MARK in name or _MARK in job.id)
        ],
        units=job.units,
        demand=None if job.demand is None or machine.exclusive else dict(job.demand),
        asked=asked(machine, job) if known else {},
        walltime=_finite(job.walltime),
        hosts="" if job.allocation is None else str(job.allocation),
        end=wait.end,
        state=str(job.state),
        ahead=wait.ahead,
        capacity=dict(zip(machine.resources, machine.total().tolist(), strict=True)),
        phases=_phases(watcher, wait, holders),
        overtakers=[
            Overtaker(
                job=stay.job.id,
                submission=stay.job.submission,
                start=stay.start,
                end=stay.end,
                expected_end=_finite(stay.start + stay.job.walltime),
                asked=asked(machine, stay.job),
                preferred=preferred,
            )
            for stay, preferred in wait.overtakers
        ],
        chances=[Chance(time=time, started=started) for time, started in wait.chances],
    )


def _phases(watcher: Watcher, wait: Wait, holders: int) -> list[Phase]:
    machine, episodes = watcher.cluster.machine, wait.episodes
    ends = [episode.end for episode in episodes]
    ran: list[list[tuple[Stay, float]]] = [[] for _ in episodes]
    for stay in wait.stays:
        index = bisect_right(ends, stay.since)
        while index < len(episodes) and episodes[index].start < stay.until:
            seconds = min(stay.until, ends[index]) - max(stay.since, episodes[index].start)
            ran[index].append((stay, seconds))
            index += 1
    return [
        _phase(machine, wait.job, episode, stays, holders, watcher.starts)
        for episode, stays in zip(episodes, ran, strict=True)
    ]


def _phase(
    machine: Machine,
    job: Job,
    episode: Episode,
    stays: list[tuple[Stay, float]],
    holders: int,
    starts: dict[str, float],
) -> Phase:
    names, total, length = machine.resources, machine.total().tolist(), episode.end - episode.start
    keys = [axis for axis, name in enumerate(names) if name in (episode.short or asked(machine, job))]

    def size(entry: tuple[Stay, float]) -> tuple[float, float]:
        stay, seconds = entry
        if not keys:
            return _hosts(stay) * seconds, -stay.start
        return max(stay.amounts[axis] / max(total[axis], 1) for axis in keys) * seconds, -stay.start

    largest = nlargest(holders, stays, key=size)
    named = {id(stay) for stay, _ in largest}
    others = [(stay, seconds) for stay, seconds in stays if id(stay) not in named]
    return Phase(
        kind=episode.kind,
        start=episode.start,
        end=episode.end,
        short=list(episode.short),
        room=episode.room,
        free={
            name: Free(least=episode.least[axis], most=episode.most[axis], mean=episode.free[axis] / length)
            for axis, name in enumerate(names)
        },
        away={
            name: total[axis] - (episode.free[axis] + episode.held[axis]) / length for axis, name in enumerate(names)
        },
        holders=[
            Holder(
                job=stay.job.id,
                amounts=_amounts(machine, stay),
                hosts=_hosts(stay),
                seconds=seconds,
                start=stay.start,
                expected_end=_finite(stay.start + stay.job.walltime),
                end=stay.end,
            )
            for stay, seconds in largest
        ],
        others=len(others),
        others_held={
            name: sum(stay.amounts[axis] * seconds for stay, seconds in others) / length
            for axis, name in enumerate(names)
        },
        line=_with_start(episode.line, starts),
    )


def _with_start(line: Line | None, starts: dict[str, float]) -> Line | None:
    if line is None or not line.first:
        return line
    return msgspec.structs.replace(line, start=_finite(starts[line.first]))


def _amounts(machine: Machine, stay: Stay) -> Amounts:
    return {name: amount for name, amount in zip(machine.resources, stay.amounts, strict=True) if amount}


def _hosts(stay: Stay) -> int:
    return 0 if stay.job.allocation is None else stay.job.allocation.size


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
