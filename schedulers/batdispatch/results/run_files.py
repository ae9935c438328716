"""The files of a run's folder: which there are, their digests, and whether they are those of one run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from batdispatch.core.errors import InputError
from batdispatch.inputs.files import content_digest

#: Says what the others are; written last.
RESULT = "result.json"
RECORDING = "decisions.jsonl"
#: What a recording is called after its run has failed.
PARTIAL_RECORDING = f"{RECORDING}.partial"
#: Files without which a folder says less, but nothing wrong: to remove them saves space.
SPARABLE = (
    "schedule.csv",
    "schedule.json",
    "machine_states.csv",
    "pstate_changes.csv",
    "consumed_energy.csv",
    RECORDING,
    "network.csv",
    "solver.jsonl",
    "decision_times.csv",
)
#: What a run may write beside result.json.
NAMES = ("jobs.csv", "units.csv", "lineage.csv", *SPARABLE)
#: Of a file that is plain or packed.
_ENDINGS = ("", ".xz", ".gz")


def find(folder: Path, name: str) -> Path | None:
    """Return a file of a run, plain or packed; None: it is not there."""
    return next(iter(_forms(folder, name)), None)


def _forms(folder: Path, name: str) -> list[Path]:
    return [path for ending in _ENDINGS if (path := folder / f"{name}{ending}").is_file()]


#: The page of what changes of a site, or sizes of a machine, do.
WHATIF_PAGE = "whatif.html"
#: Tables over several runs: of a campaign, and of a comparison with replicates.
CAMPAIGN_TABLE, REPLICATES_TABLE = "results.parquet", "replicates.csv"
#: What the page of a comparison with replicates says beside its figures.
COMPARISON = "comparison.json"


def has_replicates(folder: Path) -> bool:
    """Return whether a folder is that of a campaign, or of a comparison with replicates."""
    return any((folder / name).is_file() for name in (CAMPAIGN_TABLE, REPLICATES_TABLE))


def digests(folder: Path, known: Mapping[str, str]) -> dict[str, str]:
    """Return the SHA-256 of the content of each file of a run that is in a folder, by name; some are known already."""
    there = [name for name in NAMES if (folder / name).is_file()]
    return {name: known.get(name) or content_digest(folder / name) for name in there}


def check_files(folder: Path, noted: Mapping[str, str]) -> None:
    """Check that a folder's files are those that its result.json was written with; packed ones count as unpacked.

    Args:
        folder: of the run.
        noted: name -> SHA-256, result.json's ``files``.

    Raises:
        InputError: a file has another content, or belongs to another run, or is missing.
    """
    for name in NAMES:
        there = _forms(folder, name)
        if not there and name in noted and name not in SPARABLE:
            raise InputError(f"is missing; {RESULT} was written with it", source=str(folder / name))
        for path in there:
            if name not in noted:
                raise InputError(f"is of another run: {RESULT} was written without it", source=str(path))
            found = content_digest(path)
            if found != noted[name]:
                raise InputError(
                    f"is not the file that {RESULT} was written with: its SHA-256 is {found[:16]}..., expected "
                    f"{noted[name][:16]}...; it is of another run or was changed, so make the run anew",
                    source=str(path),
                )
