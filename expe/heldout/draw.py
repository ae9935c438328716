"""Draws the held-out slices that campaign.yaml names: ``python -m expe.heldout.draw``."""

from __future__ import annotations

import numpy as np

#: Jobs of a slice.
JOBS = 1000
#: Log -> how many whole slices it has, in the order of the draw.
WHOLE = {"KTH-SP2": 28, "CTC-SP2": 77, "KIT": 25, "Eurora": 5}
#: The first of so many parts of each log's slices is there for tuning, rounded down, but at least one slice.
TUNING_PART = 5
#: Of the other slices, so many are drawn for each log, without replacement; all of them where a log has fewer.
DRAWN = 10
#: Seed of the draw; the number of the log is its second part.
SEED = 20170613


def drawn() -> dict[str, list[int]]:
    """Return the held-out slices of each log that are compared on, ascending."""
    found = {}
    for number, (log, whole) in enumerate(WHOLE.items()):
        held_out = np.arange(max(whole // TUNING_PART, 1), whole)
        rng = np.random.default_rng([SEED, number])
        found[log] = sorted(rng.choice(held_out, size=min(DRAWN, len(held_out)), replace=False).tolist())
    return found


if __name__ == "__main__":
    for log, slices in drawn().items():
        print(f"{log}: {slices}")
