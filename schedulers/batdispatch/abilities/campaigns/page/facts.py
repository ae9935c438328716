"""What a comparison's page says beside its figures: what was compared, what was left out, how to do it again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from batdispatch.inputs.files import read_record, write_whole
from batdispatch.results.run_files import COMPARISON


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """About a comparison.

    Attributes:
        title: of the page.
        blocks: what replicates are called, in words.
        how: how they were made, a sentence; empty: the table says.
        independent: how many replicates there is room for that share no job; None: for all of them.
        baseline: the dispatcher that others are compared with; empty: chosen by the page.
        who: (name, options as on the command line, what it is) of the dispatchers.
        refused: (what could not take part, why).
        failures: (run, why it failed).
        rerun: commands that do it again.
    """

    title: str
    blocks: str = "replicates"
    how: str = ""
    independent: int | None = None
    baseline: str = ""
    who: Sequence[tuple[str, str, str]] = ()
    refused: Sequence[tuple[str, str]] = ()
    failures: Sequence[tuple[str, str]] = ()
    rerun: Sequence[str] = ()


def title_of(workload: str) -> str:
    """Return the title of a page about the dispatchers for a workload."""
    return f"Which dispatcher for {workload}?"


def write_facts(facts: Facts, folder: Path) -> None:
    """Write facts into the folder of a comparison."""
    write_whole(folder / COMPARISON, msgspec.json.format(msgspec.json.encode(facts), indent=2) + b"\n")


def read_facts(folder: Path) -> Facts:
    """Read the facts of a comparison.

    Raises:
        InputError: they cannot be read.
    """
    return read_record(folder / COMPARISON, Facts)
