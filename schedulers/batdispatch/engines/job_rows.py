"""The jobs of a simulation that are over, as columns, and their rows in jobs.csv."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.hosts import decimals, hostsets
from batdispatch.core.hosts.hostsets import Intervals
from batdispatch.core.jobs.job import FINAL_STATES, JobState

#: Positions in `FINAL_STATES`.
SUCCESS, REJECTED = map(FINAL_STATES.index, (JobState.COMPLETED_SUCCESSFULLY, JobState.REJECTED))
#: Seconds that Batsim writes for a job that took none.
NO_TIME = 1e-5

#: Characters for which a field is quoted.
SPECIAL = ',"\n\r'
_SPECIAL = re.compile(f"[{SPECIAL}]")
#: Success and final state, as they are written.
OUTCOMES = [f"{position == SUCCESS:d},{state.value}," for position, state in enumerate(FINAL_STATES)]

Floats = NDArray[np.float64]


class EndedJobs(NamedTuple):
    """Some jobs, in the order in which they ended."""

    #: Without the workload.
    names: list[str]
    workloads: list[str]
    profiles: list[str]
    #: Seconds, as all `Floats`, float64 [job].
    submission: Floats
    #: Units asked for, int64 [job].
    units: NDArray[np.int64]
    #: Infinite for none.
    walltime: Floats
    #: Position in `FINAL_STATES`, int8 [job].
    state: NDArray[np.int8]
    #: NaN for a rejected job.
    start: Floats
    #: NaN for a rejected job.
    end: Floats
    #: Nothing for a rejected job.
    hosts: Intervals
    metadata: list[str]
    #: Burnt by the job's hosts while it ran; -1: not counted.
    joules: Floats


class Times(NamedTuple):
    """What follows from the times of jobs, before it is rounded to be written; NaN for rejected jobs."""

    end: Floats
    run: Floats
    wait: Floats
    turnaround: Floats
    #: Turnaround time over run time.
    stretch: Floats


class Details(NamedTuple):
    """Of rows, what metrics of whole hosts have no need of."""

    names: list[str]
    workloads: list[str]
    profiles: list[str]
    hosts: Intervals
    metadata: list[str]


class Rows(NamedTuple):
    """Jobs as jobs.csv has them: the numbers are those that stand there."""

    submission: Floats
    units: NDArray[np.int64]
    #: -1 for none.
    walltime: Floats
    state: NDArray[np.int8]
    start: Floats
    run: Floats
    end: Floats
    wait: Floats
    turnaround: Floats
    stretch: Floats
    #: NaN for a rejected job.
    joules: Floats
    #: Number of hosts, and of runs of consecutive ids that these make up, int64 [job].
    held: NDArray[np.int64]
    pieces: NDArray[np.int64]
    #: Makes the rest, which takes more memory than all of these; None: it stands in the file alone.
    details: Callable[[], Details] | None = None


def times_of(jobs: EndedJobs) -> Times:
    """Return what follows from the times of jobs; one that took no time took `NO_TIME`, as Batsim has it."""
    end = np.where(jobs.end - jobs.start < 1e-9, jobs.start + NO_TIME, jobs.end)
    run, wait, turnaround = end - jobs.start, jobs.start - jobs.submission, end - jobs.submission
    return Times(end, run, wait, turnaround, turnaround / run)


def write_rows(jobs: EndedJobs, times: Times) -> tuple[bytes, Rows]:
    """Return the rows of jobs.csv as they are written, and as columns. Time: about a microsecond per job."""
    count = len(jobs.names)
    comma = decimals.constant(",", count)
    rejected = jobs.state == REJECTED
    columns: list[decimals.Texts] = []

    def write(numbers: Floats, *, where: NDArray[np.bool_] | None = None) -> Floats:
        texts, known = decimals.six_digits(numbers if where is None else np.where(where, numbers, 0.0))
        if where is not None:
            texts *= where[:, None]
            known[~where] = np.nan
        columns.extend((texts, comma))
        return known

    submission = write(jobs.submission)
    columns += [decimals.whole(jobs.units), comma]
    walltime = write(np.where(np.isinf(jobs.walltime), -1.0, jobs.walltime))
    columns.append(decimals.chosen(OUTCOMES, jobs.state))
    ran = ~rejected if rejected.any() else None
    start, run, end, wait, turnaround, stretch = (
        write(numbers, where=ran)
        for numbers in (jobs.start, times.run, times.end, times.wait, times.turnaround, times.stretch)
    )
    numbers = decimals.join_texts(*columns, decimals.constant("\n", count)).decode("ascii").split("\n")
    allocated = jobs.hosts.texts()
    energy, joules = _energy(jobs.joules, rejected)
    lines = [
        f'{name},{workload},{profile},{middle}{hosts}{used}"{noted}"\n'
        for name, workload, profile, middle, hosts, used, noted in zip(
            *map(_quoted, (jobs.names, jobs.workloads, jobs.profiles)),
            numbers[:-1],
            allocated,
            energy,
            jobs.metadata,
            strict=True,
        )
    ]
    rows = Rows(
        submission=submission,
        units=jobs.units,
        walltime=walltime,
        state=jobs.state,
        start=start,
        run=run,
        end=end,
        wait=wait,
        turnaround=turnaround,
        stretch=stretch,
        joules=joules,
        held=jobs.hosts.sizes,
        pieces=jobs.hosts.runs,
        details=lambda: Details(jobs.names, jobs.workloads, jobs.profiles, jobs.hosts, jobs.metadata),
    )
    return "".join(lines).encode(), rows


def _energy(joules: Floats, rejected: NDArray[np.bool_]) -> tuple[list[str], Floats]:
    """Return the column of energies with the commas around it, and the numbers that stand there."""
    if (joules[~rejected] == -1.0).all():
        return [",," if none else ",-1.000000," for none in rejected.tolist()], np.where(rejected, np.nan, -1.0)
    texts = ["" if none else f"{each:.6f}" for each, none in zip(joules.tolist(), rejected.tolist(), strict=True)]
    return [f",{text}," for text in texts], np.array([float(text or "nan") for text in texts])


def join_jobs(parts: Sequence[Rows]) -> Rows:
    """Return the rows of several blocks, one behind the other; there is one block at least."""
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in Rows._fields[:-1]}
    made = [part.details for part in parts if part.details is not None]
    return Rows(**columns, details=lambda: _join_details([make() for make in made]))


def _join_details(parts: Sequence[Details]) -> Details:
    hosts = hostsets.join_columns([part.hosts for part in parts])
    names, workloads, profiles, metadata = (
        list(chain.from_iterable(getattr(part, name) for part in parts))
        for name in ("names", "workloads", "profiles", "metadata")
    )
    return Details(names, workloads, profiles, hosts, metadata)


def quote(text: str) -> str:
    """Return a CSV field, quoted if it needs to be."""
    return '"' + text.replace('"', '""') + '"' if _SPECIAL.search(text) else text


def _quoted(texts: list[str]) -> list[str]:
    return list(map(quote, texts)) if _SPECIAL.search("".join(texts)) else texts
