"""What would other settings have done to the jobs of a log: simulations of one log that differ in one thing each.

Every variant simulates the whole log. The jobs are counted in windows by their submission, the same jobs for all, and
what a change does is the mean over the windows with its interval, see `abilities.campaigns.page.pairs`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.campaigns.page.table import Block, Floats, RunMetric
from batdispatch.abilities.whatif.changes import Setup, checked_dispatcher, setup_of, with_change
from batdispatch.abilities.whatif.fidelity.grade import Grade, grade_of
from batdispatch.abilities.whatif.fidelity.simulation import waits_in, waits_of
from batdispatch.abilities.whatif.fidelity.words import LOG
from batdispatch.abilities.whatif.page import AIMS, BASELINE, Group, Variant, WhatIf
from batdispatch.core.errors import InputError, SimulationError
from batdispatch.inputs.files import write_whole
from batdispatch.inputs.folders import Claim
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.workloads import Workload
from batdispatch.inputs.workloads.dates import dates_of
from batdispatch.inputs.workloads.groups import account_of, partition_of
from batdispatch.inputs.workloads.importers import ImportResult
from batdispatch.inputs.workloads.windows import plan_windows
from batdispatch.results.starvation import FolderJobs
from batdispatch.runs.compare import compare
from batdispatch.runs.inputs import INPUT, Inputs
from batdispatch.runs.listener import SILENT, Listener
from batdispatch.runs.spec import RunSpec

#: Windows, and the share of the jobs before the first and behind the last one, which do not count.
WINDOWS, AROUND = 10, 0.05
#: Groups of users that have a row of their own.
_GROUPS = 8
#: Most letters of the name of a run's folder.
_LONGEST_NAME = 80
#: Bounded slowdown's threshold, s.
_BOUND = 10.0
#: Largest size of each class but the last.
_SIZES = (1, 4, 16, 64, 256)


class _Runs(NamedTuple):
    """Variants by label, and the folders of their runs."""

    setups: dict[str, Setup]
    folders: dict[str, Path]


def what_if(
    inputs: Inputs,
    variants: Callable[[Setup], Mapping[str, Setup]],
    base: RunSpec,
    out: Path,
    *,
    graded: bool = True,
    anyway: bool = False,
    processes: int = 1,
    fresh: bool = False,
    listener: Listener = SILENT,
) -> WhatIf:
    """Simulate a log as it was and with changes, and return what each change does.

    Args:
        inputs: the log and its machine.
        variants: returns the variants by label, of which the first one is the baseline, for the site as it is.
        base: every run, but for its platform and dispatcher; its dispatcher is the baseline's, in brackets its options.
        out: folder of the runs.
        graded: whether the baseline is held against the log.
        anyway: whether a baseline of grade D is taken.
        processes: simulations at a time.
        fresh: keep no run.
        listener: hears of the work.

    Raises:
        InputError: something is wrong with an input or a change, or the baseline has grade D.
        SimulationError: a run failed.
    """
    with Claim(out):
        columns = inputs.prepare(listener)
        imported = None if columns is None else columns.told()
        machine = read_platform(inputs.platform, master=base.master_host).machine
        site = setup_of(machine, base.dispatcher)
        setups = dict(variants(site))
        if graded and imported is None:
            raise InputError("is no log, so nothing says what really happened", source=str(inputs.workload))
        specs = _specs(setups, site, base, inputs, out)
    workload = inputs.read()

    def make(count: int, made: int = 0) -> dict[str, Path]:
        """Make the first runs, of which the very first ones are made already."""
        names = run_names(list(setups))[:count]
        folders, failures = compare(
            specs[:count],
            out,
            processes=processes,
            listener=listener,
            fresh=fresh,
            workload=inputs.file,
            names=names,
            called=list(setups)[:count],
            just_made=names[:made],
        )
        if failures:
            name, why = next(iter(failures.items()))
            raise SimulationError(f"{list(setups)[names.index(name)]}: {why}")
        return dict(zip(setups, folders, strict=False))

    alone = 1 if graded else 0
    grade = _grade(imported, inputs, make(alone)) if alone and imported is not None else None
    if grade is not None and grade.grade == "D" and not anyway:
        raise InputError(
            "the baseline's grade is D, so its answers would say little of this site. " + " ".join(grade.lines())
            + " Mend the inputs (--slurm, --dispatcher), or go on (--anyway)",
            source=str(inputs.platform),
        )  # fmt: skip
    return _outcome(workload, _Runs(setups, make(len(specs), alone)), grade)


def run_names(labels: Sequence[str]) -> list[str]:
    """Return a folder's name for each variant: what it changes, so that a page of the runs names the changes.

    Characters that no folder should have become a dash. If two names are equal then, their places make them differ.
    """
    names = [re.sub(r"[^\w.+=-]+", "-", label).strip("-.")[:_LONGEST_NAME] or "change" for label in labels]
    return [name if names.count(name) == 1 else f"{name}-{place}" for place, name in enumerate(names)]


def with_changes(changes: Sequence[str]) -> Callable[[Setup], dict[str, Setup]]:
    """Return what makes the variants of a site by changes, each of the baseline.

    Raises:
        InputError: a change stands twice; what is returned raises it if a change does not suit the site.
    """
    if len(set(changes)) != len(changes) or BASELINE in changes:
        raise InputError("a change stands twice", source="option --change")

    def variants(setup: Setup) -> dict[str, Setup]:
        return {
            BASELINE: checked_dispatcher(setup),
            **{text: checked_dispatcher(with_change(setup, text), text) for text in changes},
        }

    return variants


def _specs(setups: Mapping[str, Setup], site: Setup, base: RunSpec, inputs: Inputs, out: Path) -> list[RunSpec]:
    """Write the platforms of the variants whose machine is not that of the site, and return the runs of all."""
    (out / INPUT).mkdir(parents=True, exist_ok=True)
    specs = []
    for number, setup in enumerate(setups.values()):
        platform = inputs.platform
        if (setup.nodes, setup.queues) != (site.nodes, site.queues):
            platform = out / INPUT / f"platform-{number}.xml"
            write_whole(platform, setup.platform)
        specs.append(
            msgspec.structs.replace(
                base,
                platform=str(platform),
                workload=str(inputs.workload),
                dispatcher=setup.dispatcher,
                options=setup.options,
                record=False,
            )
        )
    return specs


def _grade(imported: ImportResult, inputs: Inputs, folders: Mapping[str, Path]) -> Grade:
    """Return how faithful the baseline is to its log."""
    (folder,) = folders.values()
    waits = waits_of(imported, inputs.platform, [folder])
    count = len(imported.workload.jobs)
    # The means are those of the jobs that the tables count.
    counted = waits_of(imported, inputs.platform, [folder], np.concatenate(_windows(imported.workload)))
    rejected = np.isnan(waits_in(FolderJobs(folder).logical, _rows(imported.workload))[0]).sum() / count
    found = grade_of(waits[LOG], waits[folder.name], rejected=float(rejected))
    return found._replace(means=(float(counted[LOG].wait.mean()), float(counted[folder.name].wait.mean())))


def _windows(workload: Workload) -> list[NDArray[np.int64]]:
    """Return the places of the jobs of each window in the workload."""
    count = len(workload.jobs)
    plan = plan_windows(
        count, WINDOWS, jobs=max(int(count * (1 - 2 * AROUND)) // WINDOWS, 1), warm_up=int(AROUND * count),
        cool_down=int(AROUND * count), source=str(workload.path),
    )  # fmt: skip
    begins = [plan.warm_up + number * plan.step for number in range(plan.windows)]
    return [np.arange(begin, begin + plan.jobs) for begin in begins]


def _rows(workload: Workload) -> dict[str, int]:
    return {job.id: row for row, job in enumerate(workload.jobs)}


# ---------------------------------------------------------------------- what came of it


def _outcome(workload: Workload, runs: _Runs, grade: Grade | None) -> WhatIf:
    rows = _rows(workload)
    waits = {label: waits_in(FolderJobs(folder).logical, rows) for label, folder in runs.folders.items()}
    ran_with = {label: ~np.isnan(wait) for label, (wait, _) in waits.items()}
    before = next(iter(ran_with.values()))
    ran = np.logical_and.reduce(list(ran_with.values()))
    _check_ran(ran_with, np.concatenate(_windows(workload)))
    windows = [part[ran[part]] for part in _windows(workload)]

    def metric(name: str, chosen: Sequence[NDArray[np.int64]]) -> RunMetric:
        measure = _MEASURES[name]
        # The mean of the windows is that of their jobs, also where windows have different numbers of them.
        mean_size = np.mean([len(part) for part in chosen]) if name.startswith("mean_") else None
        values = [
            [
                measure(wait[part], run[part]) * (len(part) / mean_size if mean_size else 1.0) if len(part) else np.nan
                for wait, run in waits.values()
            ]
            for part in chosen
        ]
        blocks = tuple(Block(workload.name, f"window {number}") for number in range(len(chosen)))
        return RunMetric(name, blocks, tuple(waits), np.array(values))

    tables = {aim: metric(aim.metric, windows) for aim in AIMS}
    groups = []
    counted = np.concatenate(windows)
    for kind, names in _kinds(workload).items():
        for name in sorted(set(names[counted].tolist()), key=_natural):
            jobs = counted[names[counted] == name]
            # Windows of its own: those of all jobs may hold few of its jobs, or none.
            own = metric("mean_waiting_time", np.array_split(jobs, min(WINDOWS, len(jobs))))
            groups.append(Group(kind, name, len(jobs), own))
    hours = float(np.ptp([job.submission for job in workload.jobs])) / 3600
    variants = [
        Variant(
            label,
            len(runs.setups[label].nodes),
            float(wait[counted].mean()),
            float(wait[ran].sum()),
            int((before & ~ran_with[label]).sum()),
        )
        for label, (wait, _) in waits.items()
    ]
    missing = len(rows) - int(ran.sum())
    dates = dates_of(workload.about)
    ends = workload.jobs[0].submission, workload.jobs[-1].submission
    return WhatIf(
        name=workload.name,
        variants=variants,
        tables=tables,
        groups=groups,
        hours=hours,
        jobs=len(counted),
        missing=missing,
        grade=grade,
        folders=list(runs.folders.values()),
        period=None if dates is None else (dates.text(ends[0]), dates.text(ends[1])),
    )


def _check_ran(ran_with: Mapping[str, NDArray[np.bool_]], counted: NDArray[np.int64]) -> None:
    """Refuse variants of which nothing can be said.

    Args:
        ran_with: label -> whether each job ran with it.
        counted: places of the jobs that count.

    Raises:
        InputError: none of these ran with one of them, or with all of them.
    """
    for label, ran in ran_with.items():
        if not ran[counted].any():
            raise InputError("none of the jobs that count runs with it, so there are no waits to compare", source=label)
    if not np.logical_and.reduce(list(ran_with.values()))[counted].any():
        raise InputError(f"no job that counts runs with all of them, so take fewer: {', '.join(ran_with)}")


_MEASURES: dict[str, Callable[[Floats, Floats], float]] = {
    "mean_waiting_time": lambda wait, run: float(wait.mean()),
    "mean_bounded_slowdown": lambda wait, run: float(np.maximum((wait + run) / np.maximum(run, _BOUND), 1).mean()),
    "p99_waiting_time": lambda wait, run: float(np.quantile(wait, 0.99)),
    "max_waiting_time": lambda wait, run: float(wait.max()),
}


def _kinds(workload: Workload) -> dict[str, NDArray[np.object_]]:
    """Return the names of each job's partition, size class and group of users, object [job]."""
    found: dict[str, list[str]] = {"partition": [], "size": [], "group": []}
    for job in workload.jobs:
        found["partition"].append(partition_of(job) or "none")
        found["size"].append(_size(job.units))
        found["group"].append(account_of(job) or job.user or "unknown")
    most = {name for name, _ in Counter(found["group"]).most_common(_GROUPS)}
    found["group"] = [name if name in most else "others" for name in found["group"]]
    return {kind: np.array(names, dtype=object) for kind, names in found.items() if len(set(names)) > 1}


def _size(units: int) -> str:
    lower = 0
    for most in _SIZES:
        if units <= most:
            return str(most) if most == lower + 1 else f"{lower + 1}-{most}"
        lower = most
    return f"over {lower}"


def _natural(name: str) -> tuple[int, str]:
    first = name.removeprefix("over ").partition("-")[0]
    return (int(first) + name.startswith("over ") if first.isdigit() else 0, name)
