"""The ESP experiment: its data are the published ones, and a row says what came of it."""

import json
from pathlib import Path

import pandas as pd
import pytest

from batdispatch.core.errors import SimulationError
from expe.common.claims import read_claims
from expe.common.running import CLAIMS, EXPE
from expe.esp import show

ORACLE = json.loads((EXPE.parent / "tests" / "oracles" / "auction" / "esp.json").read_text(encoding="utf-8"))
#: Row of the experiment -> row of the oracle.
NAMES = {
    "backfill, basic": "backfill/basic",
    "IPSCHED, basic": "ip/basic",
    "backfill, multifactor": "backfill/multifactor",
    "IPSCHED, multifactor": "ip/multifactor",
}


def test_the_figures_are_the_published_ones() -> None:
    for known, told in (("paper", show.PAPER), ("mean_of_3_seeds_spaced_over_10800_s", show.REFERENCE)):
        assert told.keys() == NAMES.keys()
        for row, name in NAMES.items():
            published = ORACLE[known][name]
            fields = ("wait", "wait_std", "slowdown", "slowdown_std", "util")
            assert told[row] == tuple(published[field] for field in fields)
    claims = [claim for claim in read_claims(EXPE / "esp" / CLAIMS).claims if claim.expected == "within 15 %"]
    assert {(claim.ours.of["dispatcher"], claim.ours.metric): claim.paper for claim in claims} == {
        (row, metric): getattr(figures, metric) for row, figures in show.PAPER.items() for metric in show.MEANS
    }
    for priorities in ("basic", "multifactor"):
        ratio = show.PAPER[f"IPSCHED, {priorities}"].wait / show.PAPER[f"backfill, {priorities}"].wait
        assert any(claim.paper == round(ratio, 2) for claim in read_claims(EXPE / "esp" / CLAIMS).claims)


def test_windows_that_are_not_proven_are_not_counted_as_such() -> None:
    counts = {"BOUND": (3, 1), "OPTIMAL": (2, None), "FEASIBLE": (1, None)}
    rows = pd.DataFrame({f"report.statuses.{name}": values for name, values in counts.items()})
    rows = rows.assign(
        dispatcher="IPSCHED, basic", decisions_seconds_p50=0.002, decisions_seconds_max=0.3, cpu_seconds=5.0
    )
    without = rows.assign(dispatcher="backfill, basic", **{name: None for name in rows if name.startswith("report.")})
    lines = show.decisions_table(pd.concat([rows, without])).splitlines()
    assert lines[2] == "| backfill, basic |  |  |  | 2.0 | 0.30 | 5.0 |"
    assert lines[3] == "| IPSCHED, basic | 7 | 6 | 2 | 2.0 | 0.30 | 5.0 |"


def test_what_slurm_did_has_a_name() -> None:
    told = [
        ({"dispatcher": "passes", "dispatcher.interval": 300.0}, "a pass every 5 minutes"),
        ({"dispatcher": "passes", "dispatcher.interval": 0.0}, "a pass at each event"),
        ({"dispatcher": "reservations", "dispatcher.reservations": 1.0}, "1 reservation"),
        ({"dispatcher": "reservations", "dispatcher.reservations": 0.0}, "a reservation for each job tried"),
        ({"dispatcher": "reservations", "dispatcher.reservations": 12.0}, "as in the table: 12"),
    ]
    for row, name in told:
        assert show._slurm_case(pd.Series(row)) == name


def test_a_job_that_did_not_end_by_itself_is_found() -> None:
    with pytest.raises(SimulationError, match="459 of 460 jobs"):
        show.columns({"nb_jobs_success": 459}, Path("run"))
