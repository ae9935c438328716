"""Making one input or one cell of a campaign, in a worker."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

from batdispatch.abilities.campaigns.campaign.commands import make
from batdispatch.abilities.campaigns.campaign.plan import AUDIT_MARK, CellTask, Places, Recipe, is_kept
from batdispatch.core.errors import InputError, SimulationError
from batdispatch.inputs.files import file_digest, replace_file
from batdispatch.inputs.folders import FolderClaim
from batdispatch.runs.audits import Auditor, auditors
from batdispatch.runs.run import InputFiles, execute

#: What the reason of a cell's failure begins with if its run is there, and wrong.
AUDIT_FAILURE = "the audit found"
#: Seconds between two looks at a cell that another process simulates.
_PAUSE = 1.0
#: What this process has read.
_FILES = InputFiles()


def make_input(recipe: Recipe, make: Callable[[Sequence[str]], None] = make) -> None:
    """Make a platform or workload, unless it is there; `make` runs a command of the command line.

    Raises:
        InputError: it cannot be made.
    """
    output = Path(recipe.output)
    if output.is_file():
        return
    output.parent.mkdir(parents=True, exist_ok=True)
    if recipe.file is not None:
        source, digest = recipe.file
        with Path(source).open("rb") as file, replace_file(output) as copy:
            shutil.copyfileobj(file, copy, 1 << 20)
        if file_digest(output) != digest:
            output.unlink()
            raise InputError("has changed since the campaign began", source=source)
        return
    words = list(recipe.words)
    for option, path in recipe.paths.items():
        words.append(f"--{option}={path}" if option else path)
    make([*words, f"--out={output}"])


def simulate(task: CellTask, places: Places) -> None:
    """Simulate a cell, unless it is there.

    Raises:
        InputError, ImpossibleDecision, SimulationError: as `execute`, or the audit found something.
    """
    folder = places.cell(task.key)
    while not is_kept(task, places):
        for path in (task.spec.platform, task.spec.workload):
            if not Path(path).is_file():
                raise InputError("could not be made", source=path)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / AUDIT_MARK).unlink(missing_ok=True)
            execute(task.spec, folder, files=_FILES)
        except FolderClaim:
            time.sleep(_PAUSE)
            continue
        if task.audit:
            _audit(task, folder)
        # Not asked again whether it is kept: code that changed in the meantime would let it be made for ever.
        return


def _audit(task: CellTask, folder: Path) -> None:
    for auditor in _auditors(task.spec.platform, task.spec.workload):
        findings = auditor.run(folder)
        if findings.total:
            shown = "; ".join(map(str, findings.kept[:3]))
            raise SimulationError(f"{AUDIT_FAILURE} {findings.total} violations: {shown}")
    (folder / AUDIT_MARK).touch()


@lru_cache(maxsize=1)
def _auditors(platform: str, workload: str) -> list[Auditor]:
    """Return auditors for runs of the same inputs, which they remember.

    Raises:
        InputError: there is none.
    """
    found = auditors()
    if not found:
        raise InputError("no audit is installed to hold the runs against", source="setting audit")
    return found
