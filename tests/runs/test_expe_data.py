"""A claim is judged on the data that it names, and on no others."""

from pathlib import Path

import msgspec
import pandas as pd
import pytest
import yaml

from batdispatch.abilities.campaigns.campaign.inputs import MissingLog
from expe.common.claims import Claim, claims_table, read_claims
from expe.common.data import ClaimData
from expe.common.running import CLAIMS, EXPE, FILE, Experiment, folders

CAMPAIGN = """
name: small
platforms:
  few: {generate: flat, options: {hosts: [4, 8]}}
workloads:
  seeds: {generate: lublin, platform: few, seeds: 0..9, options: {jobs: 30, hosts: 4}}
  sizes: {generate: lublin, platform: few, seeds: 0, options: {jobs: [20, 30], hosts: 4}}
  whole: {generate: lublin, platform: few, seeds: 0, options: {jobs: 900, hosts: 4}}
  parts of it: {generate: lublin, platform: few, seeds: 0, options: {jobs: 30, hosts: 4}, windows: {count: 4}}
  log: {convert: lost.swf, platform: few}
dispatchers: [fcfs, easy]
parts:
  draws: {workloads: [seeds, sizes, whole, parts of it]}
  clock: {workloads: seeds, decision-time: [1, 2]}
  logs: {workloads: [log, seeds]}
quick:
  workloads:
    seeds: {seeds: 0..1}
    sizes: {options: {jobs: 20}}
    whole: {options: {jobs: 40}}
    parts of it: {windows: {count: 2}}
  parts:
    draws: {}
    clock: {decision-time: 1}
"""
ROWS = pd.DataFrame({"workload": ["seeds", "sizes", "whole", "parts of it", "drawn here"]})


@pytest.fixture
def quick(tmp_path: Path) -> ClaimData:
    path = tmp_path / "campaign.yaml"
    path.write_text(CAMPAIGN)
    return ClaimData.read(path, quick=True)


def claim(name: str, take: str = "mean", over: dict[str, object] | None = None, **of: object) -> Claim:
    """A claim about a workload."""
    figure = {"metric": "wait", "of": of, "over": over or {}, "take": take}
    return msgspec.convert({"claim": "c", "source": "s", "data": [name], "ours": figure}, Claim)


@pytest.mark.parametrize(
    ("about", "lacks"),
    [
        # Fewer seeds or windows of the same data widen an interval; a claim about each of them lacks the others.
        (claim("seeds", part="draws"), False),
        (claim("seeds", "geometric mean", part="draws"), False),
        (claim("seeds", "every", part="draws"), True),
        (claim("seeds", "some", part="draws"), True),
        (claim("parts of it", part="draws"), False),
        (claim("parts of it", "every", part="draws"), True),
        # Another number of jobs makes other data.
        (claim("whole", part="draws"), True),
        (claim("sizes", part="draws"), True),
        (claim("sizes", part="draws", **{"workload.jobs": 20}), False),
        (claim("sizes", part="draws", **{"workload.jobs": 30}), True),
        (claim("sizes", over={"workload.jobs": 30}, part="draws", **{"workload.jobs": 20}), True),
        # So does what runs are set to.
        (claim("seeds", part="clock"), True),
        (claim("seeds", part="clock", **{"setting.decision-time": 1}), False),
        # A log that is not here is no data, whatever else its part has.
        (claim("log", part="logs"), True),
        (claim("seeds", part="logs"), True),
        # A part that is made of others takes all of them, and data that are drawn elsewhere are there by their name.
        (claim("whole", part="over easy"), True),
        (claim("parts of it", part="over easy"), False),
        (claim("drawn here", part="batches"), False),
        (claim("drawn there", part="batches"), True),
    ],
)
def test_which_data_a_quick_version_lacks(quick: ClaimData, about: Claim, lacks: bool) -> None:
    assert quick.lacking(about, ROWS) == (about.data if lacks else [])


def test_what_was_not_run_is_lacking(quick: ClaimData) -> None:
    assert quick.lacking(claim("seeds", part="draws"), ROWS[ROWS["workload"] != "seeds"]) == ["seeds"]


def test_a_claim_without_its_data_has_no_verdict_whatever_the_rows_say(tmp_path: Path, quick: ClaimData) -> None:
    wrong = {"claim": "c", "source": "s", "data": ["whole", "seeds"], "expected": "at most 1"}
    about = msgspec.convert({**wrong, "ours": {"metric": "wait", "of": {"part": "draws"}, "take": "every"}}, Claim)
    rows = pd.DataFrame([{"part": "draws", "platform": "few", "workload": "whole", "wait": 0.5}])
    held, refused = (
        claims_table([about], rows, lacking=lacking, why=False).splitlines()[2]
        for lacking in (lambda _: [], lambda one: quick.lacking(one, rows))
    )
    assert held == "| c | s |  | 0.50 |  | at most 1 | holds |"
    assert refused == "| c | s |  |  |  | at most 1 | not run: needs whole, seeds |"


def test_a_whole_campaign_lacks_nothing(tmp_path: Path) -> None:
    path = tmp_path / "campaign.yaml"
    path.write_text(CAMPAIGN)
    with pytest.raises(MissingLog):
        ClaimData.read(path, quick=False)
    (tmp_path / "lost.swf").touch()
    data = ClaimData.read(path, quick=False)
    rows = pd.DataFrame({"workload": ["seeds", "sizes", "whole", "parts of it", "log"]})
    for name in rows["workload"]:
        assert not data.lacking(claim(name, "every", part="logs" if name == "log" else "draws"), rows)


@pytest.mark.parametrize("name", folders())
def test_claims_name_workloads_of_their_campaign_and_metrics_of_the_named_ones(name: str) -> None:
    file = yaml.safe_load((EXPE / name / FILE).read_text(encoding="utf-8"))
    drawn = {"pinned_io": {"batches"}}.get(name, set())
    for one in read_claims(EXPE / name / CLAIMS).claims:
        assert set(one.data) <= {*file["workloads"], *drawn}, one.claim
        for where in one.ours.choices():
            assert where.get("workload", one.data[0]) in one.data, one.claim


def test_quick_versions_judge_no_claim_about_logs(tmp_path: Path) -> None:
    judged = 0
    for name in folders():
        experiment = Experiment(name, tmp_path, quick=True)
        path = experiment.folder / FILE
        entries = yaml.safe_load(path.read_text(encoding="utf-8"))["workloads"]
        logs = {workload for workload, entry in entries.items() if "convert" in str(entry)}
        if experiment.lacking():
            continue
        data = ClaimData.read(path, quick=True)
        for one in experiment.claims.claims:
            # Rows of all of these names.
            lacking = data.lacking(one, pd.DataFrame({"workload": one.data}))
            assert set(one.data) & logs <= set(lacking), one.claim
            judged += not lacking
    assert judged > 20
