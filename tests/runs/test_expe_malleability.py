"""The experiment on what malleability buys: a small log goes through its campaign, and changes are paired."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from campaigns import make, planned
from expe.common.running import rows_of, sections_of
from expe.malleability import show
from expe.malleability.show import AS_IT_IS, Case
from experiments import EXPE

JOBS = 30


def measured(folder: Path, *sizes: int) -> pd.DataFrame:
    """The rows on the second slice of a log of 60 jobs, of sizes in turns, which come faster than they run."""
    lines = []
    for number in range(2 * JOBS):
        size, length = sizes[number % len(sizes)], 1200 + 60 * (number % 5)
        lines.append(f"{number + 1} {1000 + 400 * number} -1 {length} {size} -1 -1 {size} 7200 -1 1 1 1 -1 1 -1 -1 -1")
    (folder / "log.swf").write_text("; MaxProcs: 100\n" + "\n".join(lines) + "\n")
    text = (EXPE / "malleability" / "campaign.yaml").read_text()
    text = text.replace("swf/KTH-SP2-1996-2.1-cln.swf.xz", "log.swf").replace("jobs: 1000", f"jobs: {JOBS}")
    begin, end = text.index("numbers: [0") + len("numbers: "), text.index("]", text.index("numbers: [0")) + 1
    make(planned(folder, text[:begin] + "1" + text[end:]))
    return rows_of(show, folder / "out", "malleability")


def test_a_small_log_goes_through_it(tmp_path: Path) -> None:
    rows = measured(tmp_path, 64, 36)
    found = show._found(rows)
    rigid, whole, half = (found[case].iloc[0] for case in (AS_IT_IS, Case(), Case(share=0.5)))
    assert (round(rigid.execution), rigid.shrinks, rigid.expands) == (1320, 0, 0)
    assert whole.shrinks > 0.1
    assert half.least <= half.wait <= half.most
    made = sections_of(show, rows)
    assert made["shares"].count("\n") == 1 + len(show.POLICIES) * len(show.SHARES)
    assert "`dmr`" in made["summary"]
    _, draw = show.PICTURES["gain.svg"]
    draw(tmp_path / "gain.svg", rows)
    assert (tmp_path / "gain.svg").stat().st_size > 5000


def test_what_a_run_measures_is_right_by_hand(tmp_path: Path) -> None:
    """Jobs of half the machine, two at a time: whoever comes third waits."""
    ends, waits, slow = [0.0, 0.0], [], []
    held = 0.0
    for number in range(JOBS):
        submitted, length = 400.0 * number, 1200.0 + 60 * (number % 5)
        start = max(submitted, min(ends))
        ends[ends.index(min(ends))] = start + length
        waits.append(start - submitted)
        slow.append((start + length - submitted) / length)
        held += 50 * max(0.0, min(start + length, 400.0 * 29) - start)
    found = show._found(measured(tmp_path, 50))[AS_IT_IS].iloc[0]
    assert found.wait == pytest.approx(np.mean(waits), abs=1e-3)
    assert found.slowdown == pytest.approx(np.mean(slow), abs=1e-6)
    assert found.held == pytest.approx(held / (100 * 400.0 * 29), abs=1e-6)


def test_changes_are_paired() -> None:
    def runs(*waits: float) -> pd.DataFrame:
        return pd.DataFrame({"wait": waits, "held": waits})

    found = {
        AS_IT_IS: runs(100.0, 10.0, 1000.0, 50.0),
        Case(): runs(50.0, 5.0, 500.0, 25.0),
        Case("speed-up"): runs(90.0, 0.0, 990.0, 40.0),
        Case("equal-share"): runs(50.0, 20.0, 900.0, 60.0),
    }
    halved = show.change(found, Case(), "wait")
    # The slices differ by a factor of a hundred, the pairs by none.
    assert (halved.value, *show.ends(halved)) == pytest.approx((-0.5, -0.5, -0.5))
    less = show.difference(found, Case("speed-up"), "held")
    assert (less.value, *show.ends(less)) == pytest.approx((-10.0, -10.0, -10.0))
    mixed = show.change(found, Case("equal-share"), "wait")
    low, high = show.ends(mixed)
    assert low < mixed.value < high
