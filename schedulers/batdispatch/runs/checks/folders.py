"""What the folders are that `check` is given: runs, or many runs with a table over all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from batdispatch.audit.findings import Violation
from batdispatch.core import extras
from batdispatch.inputs.folders import check_finished
from batdispatch.results.run_files import CAMPAIGN_TABLE, REPLICATES_TABLE, has_replicates
from batdispatch.results.runs import find_runs, jobs_file, read_result

#: Works out a table from the runs, and yields where the file says otherwise.
Look = Callable[[], Iterable[Violation]]


@dataclass(frozen=True)
class Collection:
    """Runs, and the tables over them.

    Attributes:
        runs: their folders.
        tables: file -> how it is checked.
        logs: folders of what logs say beside them, which nobody simulated, and which breaks rules as machines do.
    """

    runs: Sequence[Path]
    tables: Sequence[tuple[Path, Look]] = field(default_factory=list)
    logs: Sequence[Path] = ()


def collections_in(paths: Sequence[Path]) -> list[Collection]:
    """Return what folders hold: a folder may also hold several of comparisons with replicates or of campaigns.

    Raises:
        InputError: one holds no run, or one is unfinished.
    """
    return [collection for path in paths for collection in _of(path)]


def _of(path: Path) -> list[Collection]:
    inside = sorted(path.iterdir()) if path.is_dir() else []
    many = list(filter(has_replicates, (path, *inside)))
    for folder in many:
        check_finished(folder)
    if many:
        return [_of_many(folder) for folder in many]
    runs = find_runs([path])
    logs = [run for run in runs if len(runs) > 1 and read_result(run).is_log]
    return [Collection([run for run in runs if run not in logs], logs=logs)]


def _of_many(folder: Path) -> Collection:
    if (folder / REPLICATES_TABLE).is_file():
        extras.check("report", f"the table of {folder}")
        from batdispatch.runs.checks.replicates import check_replicates

        runs = [run for run in sorted(folder.glob("runs/*/*")) if jobs_file(run)]
        return Collection(runs, [(folder / REPLICATES_TABLE, partial(check_replicates, folder))])
    extras.check("campaign", f"the table of {folder}")
    from batdispatch.runs.checks.campaign import cells_of, check_campaign
    from batdispatch.runs.checks.leaderboard import tables_of

    tables: list[tuple[Path, Look]] = [(folder / CAMPAIGN_TABLE, partial(check_campaign, folder)), *tables_of(folder)]
    return Collection(cells_of(folder), tables)
