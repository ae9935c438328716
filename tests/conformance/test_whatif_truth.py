"""Changes of a real Slurm's settings: what `whatif` says of them, and what the waits became.

`recordings/slurm-accounts` has the accounts, and `slurm_changes` in tests/support what was changed.
"""

import statistics
from pathlib import Path

import pytest

from slurm_changes import CHANGES, told, truth

ACCOUNTS = Path(__file__).parent / "recordings" / "slurm-accounts"
#: What really became of the mean waits, by those who recorded them.
TRUTHS = (1.20, 1.21, 0.83, 0.56, 1.80, 1.20, 0.83, 0.44, 2.25)


def test_accounts_hold_the_truth_that_was_recorded() -> None:
    assert [truth(ACCOUNTS, case) for case in CHANGES] == pytest.approx(TRUTHS, abs=0.006)


def test_a_site_that_was_recorded_twice_says_the_same_of_a_change(tmp_path: Path) -> None:
    first, again = (told(ACCOUNTS, case, tmp_path / case.site) for case in CHANGES[:2])
    assert first.low < again.high
    assert again.low < first.high
    assert first.apart
    assert again.apart


@pytest.mark.slow
def test_changes_whose_truth_is_known(tmp_path: Path) -> None:
    found = [told(ACCOUNTS, case, tmp_path / str(place)) for place, case in enumerate(CHANGES)]
    for case, answer, true in zip(CHANGES, found, TRUTHS, strict=True):
        assert (answer.ratio > 1) == (true > 1), case
    held = [answer.low <= true <= answer.high for answer, true in zip(found, TRUTHS, strict=True)]
    assert held.count(True) >= 8, list(zip(CHANGES, found, strict=True))
    off = [abs(answer.ratio / true - 1) for answer, true in zip(found, TRUTHS, strict=True)]
    assert statistics.median(off) <= 0.10, off
    assert max(off) <= 0.25, off
