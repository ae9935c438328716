"""What the folders are that `check` is given: runs, or many runs with a table over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from batdispatch.inputs.folders import check_finished
from batdispatch.results.run_files import has_replicates
from batdispatch.results.runs import find_runs, read_result
from batdispatch.runs.collections import Collection, collections_at


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
        return [collection for folder in many for collection in collections_at(folder)]
    runs = find_runs([path])
    logs = [run for run in runs if len(runs) > 1 and read_result(run).is_log]
    return [Collection([run for run in runs if run not in logs], logs=logs)]
