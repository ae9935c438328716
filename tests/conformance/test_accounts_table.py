"""The table of docs/slurm.md: how near the accounts of a real Slurm are simulated, made again by its command."""

import os
from pathlib import Path

import pytest
from benchmarks.slurm import SiteRow, site_row

HERE = Path(__file__).parent
RECORDINGS = HERE / "recordings" / "slurm-accounts"
SHARED = Path(os.environ.get("BATDISPATCH_SHARED", HERE.parents[2] / "shared")) / "conformance" / "slurm" / "accounts"
TABLE = [line for line in (HERE.parents[1] / "docs" / "slurm.md").read_text().splitlines() if line.startswith("| ")]
#: Rows of the table by the name of their site.
ROWS = {line.split("|")[1].strip(): line for line in TABLE if line.count("|") == 8 and "site" not in line}
#: Those that the fast suite makes again.
SOME = ("base", "t13_parts")
#: Of these, accounts do not tell all that happened.
UNTOLD = ("t7_events",)


def check(folder: Path, site: str) -> SiteRow:
    row = site_row(folder / site)
    assert str(row) == ROWS[site]
    (_, pairs), _ = row.figures
    assert pairs >= 0.93
    return row


@pytest.mark.parametrize("site", SOME)
def test_rows_of_recordings_that_are_here(site: str) -> None:
    row = check(RECORDINGS, site)
    assert abs(row.figures[0][0] / row.mean_wait - 1) < 0.06


@pytest.mark.slow
@pytest.mark.parametrize("site", sorted({path.name for path in RECORDINGS.iterdir() if path.is_dir()} - set(SOME)))
def test_rows_of_further_recordings(site: str) -> None:
    check(RECORDINGS, site)


@pytest.mark.slow
@pytest.mark.reallogs
@pytest.mark.skipif(not SHARED.is_dir(), reason="the recordings are not there")
def test_all_rows_and_what_they_come_to() -> None:
    """On average, 97 of 100 pairs of jobs start in the real order, and mean waits are within 5 %."""
    rows = [check(SHARED, site) for site in ROWS]
    pairs = [row.figures[0][1] for row in rows]
    apart = [abs(row.figures[0][0] / row.mean_wait - 1) for row in rows if row.site not in UNTOLD]
    assert sum(pairs) / len(pairs) >= 0.97
    assert sum(apart) / len(apart) <= 0.05
