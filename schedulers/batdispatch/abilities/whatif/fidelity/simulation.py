"""The waits of a log beside those of simulations of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.whatif.fidelity.page import alone, render
from batdispatch.abilities.whatif.fidelity.waits import Waits, apart
from batdispatch.abilities.whatif.fidelity.words import LOG
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job_table import Floats, JobTable
from batdispatch.inputs.files import write_whole
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.workloads.importers import ImportResult
from batdispatch.report.workload.traits import Traits
from batdispatch.results.starvation import FolderJobs
from batdispatch.runs.compare import Preparation, at_site, compare, entrants_of
from batdispatch.runs.inputs import Inputs
from batdispatch.runs.listener import Listener
from batdispatch.runs.spec import RunSpec


def simulate_log(
    inputs: Inputs, dispatchers: str, folder: Path, *, seed: int, processes: int, listener: Listener
) -> tuple[ImportResult, list[Path], dict[str, str]]:
    """Simulate a log under dispatchers, and return what was made of it, the runs' folders, and failures by name.

    Args:
        inputs: the log and the platform.
        dispatchers: a list of them.
        folder: of the runs.
        seed: of random choices.
        processes: simulations at a time.
        listener: hears of the work.

    Raises:
        InputError: the log or an option is wrong.
    """
    platform, workload = str(inputs.platform), str(inputs.workload)
    specs = [
        RunSpec(
            platform=platform,
            workload=workload,
            dispatcher=one.name,
            options=one.all_options,
            seed=seed,
            record=False,
        )
        for one in at_site(entrants_of(dispatchers), inputs.site)
    ]
    imported: list[ImportResult] = []

    def prepare() -> Preparation:
        imported.extend(each.told() for each in [inputs.prepare(listener)] if each is not None)
        return Preparation(inputs.file)

    folders, failures = compare(specs, folder, processes=processes, listener=listener, prepare=prepare)
    return imported[0], folders, failures


def waits_of(
    imported: ImportResult, platform: Path, folders: Sequence[Path], only: NDArray[np.int64] | None = None
) -> dict[str, Waits]:
    """Return when the jobs ran in the log and in each run; jobs that are not known to have run in all are left out.

    Args:
        imported: the log.
        platform: of the machine.
        folders: of the runs.
        only: places of the jobs in the workload that are wanted; None: all.

    Raises:
        InputError: the log does not say when jobs started.
    """
    machine = read_platform(platform).machine
    capacity = machine.shared.get("core", machine.size)
    traits = Traits(imported.workload, capacity=capacity, starts=imported.info.starts)
    rows = {job.id: row for row, job in enumerate(imported.workload.jobs)}
    starts = {LOG: traits.start}
    runtimes = {LOG: traits.runtime}
    for folder in folders:
        # A job that was queued again waits until its last start, as it does in accounts.
        wait, runtimes[folder.name] = waits_in(FolderJobs(folder).logical, rows)
        starts[folder.name] = traits.submission + wait
    known = ~np.isnan(np.array(list(starts.values()))).any(axis=0)
    if only is not None:
        known &= np.isin(np.arange(len(known)), only)
    if np.isnan(traits.start).all() or not known.any():
        raise InputError(
            "does not say when jobs started, so there is nothing to compare with", source=imported.report.source
        )
    return {
        name: Waits(traits.submission[known], start[known], runtimes[name][known], traits.size[known], int(capacity))
        for name, start in starts.items()
    }


def waits_in(columns: JobTable, rows: Mapping[str, int]) -> tuple[Floats, Floats]:
    """Return wait and run time of each job of the workload in a run, s, float64 [job]; nan: it did not run.

    Args:
        columns: logical jobs: one that was preempted and queued again counts once, see `results.lineage.logical`.
        rows: by id, where a job stands in the workload.
    """
    at = [rows[name] for name in columns.job_id.tolist()]
    wait, runtime = (np.full(len(rows), np.nan) for _ in range(2))
    wait[at], runtime[at] = columns.waiting_time, columns.execution_time
    return wait, runtime


def write_fidelity(waits: Mapping[str, Waits], imported: ImportResult, folder: Path) -> Path:
    """Write the page of waits, with its pictures beside it, and return its path."""
    page = folder / "fidelity.html"
    title = f"{imported.workload.name}: the log and its simulations"
    write_whole(page, render(waits, title=title, account=imported.report.as_text()).encode())
    for name, picture in alone(waits).items():
        write_whole(folder / name, picture)
    return page


def as_dict(waits: Mapping[str, Waits]) -> dict[str, Any]:
    """Return the numbers as JSON has them."""
    log = next(iter(waits.values()))
    return {
        name: {
            "jobs": len(each.wait),
            "mean_wait": float(each.wait.mean()),
            "idle_share": each.idle_share(),
            **apart(log, each)._asdict(),
        }
        for name, each in waits.items()
    }
