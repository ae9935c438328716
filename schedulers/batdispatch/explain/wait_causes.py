"""What held a job of a recorded run while it waited: goes through the recording once and says so in records."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from heapq import nlargest
from pathlib import Path
from typing import Any

import msgspec

from batdispatch.core.capacity.space import Space
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import Job, JobState
from batdispatch.core.line.options import did_you_mean
from batdispatch.core.machine.machine import Machine
from batdispatch.explain.records import Chance, Explanation, Free, Holder, Line, Overtaker, Phase
from batdispatch.explain.view import total_demand
from batdispatch.explain.watch import Episode, Visit, Wait, Watcher
from batdispatch.explain.witness import Witness
from batdispatch.inputs.files import closest
from batdispatch.links.early_starts import early_starts
from batdispatch.links.excerpt import excerpt_of
from batdispatch.links.retrace import retrace
from batdispatch.parts.placement import make_placement
from batdispatch.parts.prediction import Predictions
from batdispatch.results.run_files import PARTIAL_RECORDING, RECORDING
from batdispatch.results.runs import jobs_file

#: Name of the exchange in a run's folder; the second after a run that failed.
RECORDINGS = (RECORDING, PARTIAL_RECORDING)


def recording_of(folder: Path) -> Path | None:
    """Return the recorded exchange of a run's folder; None: there is none."""
    return next((folder / name for name in RECORDINGS if (folder / name).is_file()), None)


def find_recording(folder: Path) -> Path:
    """Return the recorded exchange of a run's folder.

    Raises:
        InputError: it is no folder of a run, or the run was not recorded.
    """
    if not folder.is_dir():
        raise InputError(f"is not a folder, expected a run's folder{closest(folder)}", source=str(folder))
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


def explain(
    recording: Path,
    jobs: Sequence[str],
    *,
    holders: int = 5,
    placement: str = "",
    machine: Machine | None = None,
    witness: Witness | None = None,
    predictions: Predictions | None = None,
) -> list[Explanation]:
    """Say what held each of some jobs while it waited. Reads the recording once or twice, whatever their number.

    Args:
        recording: the exchange of a run; only that of a run that failed, which says so by its name, may end too soon.
        jobs: ids, or numbers where only one workload has them.
        holders: most jobs named for each phase.
        placement: the run's, with options in brackets, where it may find no place although there is room, see
            `run_parts.placement_of`; empty: a job for which there is room has a place.
        machine: the run's with its network, if that is known, see `sites.machine_of`.
        witness: the run's dispatcher, if it can say why it left a job waiting, see `witness.witness_of`.
        predictions: makes the run's predictions again, see `run_parts.predictions_of`; None: it took walltimes.

    Raises:
        InputError: a job is not in the recording, a number is of several, or the recording is damaged.
        OSError: it cannot be read.
    """
    watcher = Watcher(jobs, make_placement(placement) if placement else None, witness, machine, predictions)
    # What learns from all that ended has to hear of all.
    learns = predictions is not None or (witness is not None and witness.learns)
    excerpt = None if learns else excerpt_of(recording, frozenset(jobs))
    if excerpt is not None:
        watcher.starts = dict.fromkeys(excerpt.submitted, math.nan)
    partial = recording.name == PARTIAL_RECORDING
    retrace(recording, watcher, partial=partial, excerpt=excerpt, early=early_starts(recording))
    watcher.finish()
    if not watcher.starts:
        raise InputError("no job was submitted", source=str(recording))
    found = [watcher.waits[_resolve(watcher, job, recording)] for job in jobs]
    families = _families(watcher.ledger.roll.parents)
    return [_explanation(watcher, wait, holders, placement, families) for wait in found]


def _families(parents: Mapping[str, str]) -> Mapping[str, str]:
    """Return the root of each job that continues another, by id; a circle ends where it closes."""

    def parent_of(job_id: str) -> str:
        parent = parents[job_id]
        return parent if "!" in parent else f"{job_id.partition('!')[0]}!{parent}"

    found: dict[str, str] = {}
    for job_id in parents:
        way = [job_id]
        while way[-1] in parents and way[-1] not in found and len(way) == len(set(way)):
            way.append(parent_of(way[-1]))
        root = found.get(way[-1], way[-1])
        found.update((each, root) for each in way if each in parents)
    return found


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


def _explanation(
    watcher: Watcher, wait: Wait, holders: int, placement: str, families: Mapping[str, str]
) -> Explanation:
    ledger, job, stay = watcher.ledger, wait.job, wait.stay
    machine, space, request = ledger.machine, ledger.space, job.request
    waits = job.id in ledger.queue or job.id in ledger.blocked
    root = families.get(job.id, job.id)
    segments = watcher.starts if families else ()
    return Explanation(
        job=job.id,
        submission=wait.submission,
        until=wait.until,
        outcome="waiting" if waits else "rejected" if stay is None else "started",
        reason=wait.reason,
        registered=wait.registered,
        attempts=[name for name in segments if name != job.id and families.get(name, name) == root],
        units=job.units,
        demand=None if machine.units_are_hosts(request) else request.demand,
        asked=total_demand(space, job),
        walltime=_finite(job.walltime),
        hosts="" if stay is None else str(stay.allocation),
        end=wait.end,
        state=str(stay.state if stay is not None else JobState.SUBMITTED if waits else JobState.REJECTED),
        ahead=wait.ahead,
        capacity=dict(zip(space.pools, space.pooled(space.whole()).tolist(), strict=True)),
        phases=_phases(watcher, wait, holders, placement),
        overtakers=[
            Overtaker(
                job=visit.job.id,
                submission=visit.job.submission,
                start=visit.start,
                end=visit.end,
                expected_end=_finite(visit.due),
                asked=total_demand(space, visit.job),
                preferred=preferred,
            )
            for visit, preferred in wait.overtakers
        ],
        chances=[Chance(time=time, started=started) for time, started in wait.chances],
        verdicts=wait.verdicts,
        at_start=wait.at_start,
    )


def _phases(watcher: Watcher, wait: Wait, holders: int, placement: str) -> list[Phase]:
    episodes = wait.episodes
    ends = [episode.end for episode in episodes]
    ran: list[list[tuple[Visit, float]]] = [[] for _ in episodes]
    for visit in wait.visits:
        index = bisect_right(ends, visit.since)
        while index < len(episodes) and episodes[index].start < visit.until:
            seconds = min(visit.until, ends[index]) - max(visit.since, episodes[index].start)
            ran[index].append((visit, seconds))
            index += 1
    return [
        _phase(watcher.ledger.space, wait.job, episode, visits, holders, placement, watcher.starts)
        for episode, visits in zip(episodes, ran, strict=True)
    ]


def _phase(
    space: Space[Any],
    job: Job,
    episode: Episode,
    visits: list[tuple[Visit, float]],
    holders: int,
    placement: str,
    starts: dict[str, float],
) -> Phase:
    names, total, length = space.pools, space.pooled(space.whole()).tolist(), episode.end - episode.start
    keys = [axis for axis, name in enumerate(names) if name in (episode.short or total_demand(space, job))]
    # Where there is room elsewhere, only those count that run on the nodes which the job may use.
    within = space.need(job).hosts if episode.kind == "elsewhere" else None

    def is_within(visit: Visit) -> bool:
        return within is None or bool(visit.hosts.mask & within)

    def size(entry: tuple[Visit, float]) -> tuple[float, float]:
        visit, seconds = entry
        if not is_within(visit):
            return 0.0, -visit.start
        if not keys:
            return visit.hosts.size * seconds, -visit.start
        return max(visit.amounts[axis] / max(total[axis], 1) for axis in keys) * seconds, -visit.start

    largest = nlargest(holders, visits, key=size)
    largest = [entry for entry in largest if is_within(entry[0])]
    named = {id(visit) for visit, _ in largest}
    others = [(visit, seconds) for visit, seconds in visits if id(visit) not in named]
    return Phase(
        kind=episode.kind,
        start=episode.start,
        end=episode.end,
        short=list(episode.short),
        by=[placement] if episode.kind == "placement" else list(episode.by),
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
                job=visit.job.id,
                amounts={name: amount for name, amount in zip(names, visit.amounts, strict=True) if amount},
                hosts=visit.hosts.size,
                seconds=seconds,
                start=visit.start,
                expected_end=_finite(visit.due),
                end=visit.end,
                leaving=visit.leaving,
            )
            for visit, seconds in largest
        ],
        others=len(others),
        others_held={
            name: sum(visit.amounts[axis] * seconds for visit, seconds in others) / length
            for axis, name in enumerate(names)
        },
        line=_with_start(episode.line, starts),
    )


def _with_start(line: Line | None, starts: dict[str, float]) -> Line | None:
    if line is None or not line.first:
        return line
    return msgspec.structs.replace(line, start=_finite(starts[line.first]))


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
