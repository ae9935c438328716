"""Where the inputs of a run are now: its folder may have been renamed, copied, or unpacked on another machine.

A run notes the path of each input as it was given, and the file's SHA-256. A file of that digest is the input, wherever
it lies. Inputs often move together with the run: ``made/input/slice-0.json`` of the run ``made/runs/slice-0/easy`` is
``copied/input/slice-0.json`` once the folder is called ``copied``. So every end of the noted path is looked for in the
run's folder and in those around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from batdispatch.core.errors import InputError
from batdispatch.inputs.files import file_digest
from batdispatch.inputs.workloads import Workload, read_workload
from batdispatch.results.runs import Result

#: What the name of an input begins with that an option of a dispatcher names, before the option's text.
OPTION = "option "


class Origins(NamedTuple):
    """The input files of a run as they are found now; None: the run notes none, or it is not there."""

    platform: Path | None
    workload: Path | None
    events: Path | None


def find_origins(folder: Path, result: Result) -> Origins:
    """Return where the inputs that a run's result.json names are now."""
    events, noted = result.settings.get("external_events"), result.input_digests.get("events")
    return Origins(
        find_input(folder, result.platform.path, result.platform.sha256),
        find_input(folder, result.workload.path, result.workload.sha256),
        find_input(folder, events, noted) if isinstance(events, str) and isinstance(noted, str) else None,
    )


def workload_of(folder: Path, result: Result) -> Workload | None:
    """Return the workload of a run, if it is still there and is the one that ran; None otherwise."""
    path = find_origins(folder, result).workload
    if path is None:
        return None
    try:
        workload = _workload(path, path.stat().st_mtime_ns)
    except InputError:
        return None
    return workload if workload.digest == result.workload.sha256 else None


@lru_cache(maxsize=1)
def _workload(path: Path, changed: int) -> Workload:
    """Return the workload that was last changed then; runs of a comparison share one."""
    return read_workload(path)


def find_input(folder: Path, noted: str, digest: str) -> Path | None:
    """Return the input of a run, or what stands in its place; None: there is neither.

    Args:
        folder: of the run.
        noted: its path as the run was given it, relative to where the run was made, or absolute.
        digest: its SHA-256; empty: unknown.
    """
    if not noted:
        return None
    stated = [path for path in (Path(noted), folder / noted) if path.is_file()]
    around = _around(folder, Path(noted)) if digest else iter(())
    matching = (path for path in (*stated, *around) if _digest_of(path, path.stat().st_mtime_ns) == digest)
    # Another file in its place is not the input, which whoever reads it finds out.
    return next(matching, None) or next(iter(stated), None)


def _around(folder: Path, noted: Path) -> Iterator[Path]:
    """Yield the files that end like a noted path, in a folder and in those around it, nearest first."""
    parts = [part for part in noted.parts if part not in ("..", noted.anchor)]
    here = folder.resolve()
    for place in (here, *here.parents):
        for begin in range(len(parts)):
            path = place.joinpath(*parts[begin:])
            if path.is_file():
                yield path


def find_series(folder: Path, digests: Mapping[str, Any]) -> dict[str, Path | None]:
    """Return where the files are now that options of a run name, by their names; None: such a file is not there."""
    found: dict[str, Path | None] = {}
    for key, digest in digests.items():
        _, option, text = key.partition(OPTION)
        if option:
            # `FILE` or `FILE:COLUMN`.
            names = (text, text.rpartition(":")[0])
            places = ((name, find_input(folder, name, str(digest))) for name in names)
            name, path = next((place for place in places if place[1] is not None), (text, None))
            found[name] = path
    return found


@lru_cache(maxsize=256)
def _digest_of(path: Path, changed: int) -> str:
    """Return the digest of a file that was last changed then; runs of a folder share their inputs."""
    return file_digest(path)
