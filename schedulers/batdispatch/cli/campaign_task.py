"""What Snakemake calls for each task of a campaign: ``python -m batdispatch.cli.campaign_task FOLDER NAME``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from batdispatch.core.errors import BatdispatchError
from batdispatch.links.with_parent import end_with_parent
from batdispatch.runs.campaign.work import carry_out_task


def make(words: Sequence[str]) -> None:
    """Run a command of the command line in this process; raises InputError if it refuses."""
    from batdispatch.cli.campaign_inputs import make as run

    run(words)


def main(words: Sequence[str]) -> int:
    """Do a task."""
    # Who killed Snakemake wanted its work to end, too.
    end_with_parent(os.getppid())
    folder, name = words
    try:
        carry_out_task(Path(folder), name, make)
    except BatdispatchError as problem:
        print(f"batdispatch: error: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
