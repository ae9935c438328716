"""Changes of a real Slurm's settings: what `whatif` says of them, and what the waits became.

Slurm 22.05.8 ran the same submissions under two settings each. `recordings/slurm-accounts` has the accounts, and each
case the ratio of the mean waits of the same jobs, the first and the last twentieth of them left out.
"""

import warnings
from pathlib import Path
from typing import NamedTuple

import pytest

import batdispatch
from batdispatch.abilities.whatif.whatif import Answers

ACCOUNTS = Path(__file__).parent / "recordings" / "slurm-accounts"


class Change(NamedTuple):
    """A change of a site, the jobs to look at, and the ratio of their mean waits that really came of it."""

    site: str
    change: str
    truth: float
    partition: str = ""


CHANGES = (
    Change("base", "SchedulerParameters=bf_interval=90", 1.20),
    Change("base2", "SchedulerParameters=bf_interval=90", 1.21),
    Change("base_bf90", "SchedulerParameters=bf_interval=15", 0.83),
    Change("base", "hosts=10", 0.56),
    Change("base_10n", "hosts=8", 1.80),
    Change("base", "SchedulerParameters=bf_max_job_test=3,default_queue_depth=3", 1.20),
    Change("base_depth", "SchedulerParameters=bf_max_job_test=500,default_queue_depth=100", 0.83),
    Change("busy4", "partition.busy.nodes+2", 0.44, "busy"),
    Change("busy6", "partition.busy.nodes-2", 2.25, "busy"),
)


def told(case: Change, out: Path) -> tuple[float, float, float, bool]:
    """Return the ratio of mean waits that is said to come of a change, its interval, and whether it leaves out 1."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        answers: Answers = batdispatch.whatif(
            ACCOUNTS / case.site / "sacct.txt", [case.change], slurm=ACCOUNTS / case.site / "site", out=out
        )
    found = answers.found
    pairs = {(group.kind, group.name): one[0] for group, one in found.group_pairs}
    pair = pairs["partition", case.partition] if case.partition else next(iter(found.pairs.values()))[0]
    assert pair.effect is not None
    assert pair.effect.low is not None
    assert pair.effect.high is not None
    return pair.effect.value, pair.effect.low, pair.effect.high, pair.apart


def test_a_site_that_was_recorded_twice_says_the_same_of_a_change(tmp_path: Path) -> None:
    first, again = (told(case, tmp_path / case.site) for case in CHANGES[:2])
    assert first[1] < again[2]
    assert again[1] < first[2]
    assert first[3]
    assert again[3]


@pytest.mark.slow
def test_changes_whose_truth_is_known(tmp_path: Path) -> None:
    found = [told(case, tmp_path / str(place)) for place, case in enumerate(CHANGES)]
    for case, (value, *_) in zip(CHANGES, found, strict=True):
        assert (value > 1) == (case.truth > 1), case
    held = [low <= case.truth <= high for case, (_, low, high, _) in zip(CHANGES, found, strict=True)]
    assert held.count(True) >= 8, list(zip(CHANGES, found, strict=True))
