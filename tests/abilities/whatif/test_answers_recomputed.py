"""What `whatif` says of a real site, worked out again from the runs' jobs.csv by lines that share nothing with it."""

import csv
import json
import re
import statistics
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from batdispatch.cli.main import cli

SITE = Path(__file__).parents[2] / "conformance" / "recordings" / "slurm-accounts" / "busy4"
CHANGES = ("hosts+2", "SchedulerParameters=bf_interval=90")
PRICE = 2.0


def call(out: Path, *more: str) -> str:
    words = ["whatif", str(SITE / "sacct.txt"), "--slurm", str(SITE / "site"), "--node-price", str(PRICE), *more]
    words += [word for change in CHANGES for word in ("--change", change)]
    ran = CliRunner().invoke(cli, [*words, "--out", str(out)])
    assert ran.exit_code == 0, ran.output
    return ran.stdout.replace("\N{NO-BREAK SPACE}", " ")


def rows_of(run: Path) -> list[dict[str, str]]:
    """Return the jobs of a run in the order of their submission."""
    with (run / "jobs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return sorted(rows, key=lambda row: (float(row["submission_time"]), int(row["job_id"])))


def waits_of(run: Path) -> list[float]:
    return [float(row["starting_time"]) - float(row["submission_time"]) for row in rows_of(run)]


def inner(values: list[Any]) -> list[Any]:
    """Leave out the first and the last twentieth."""
    around = len(values) // 20
    return values[around : len(values) - around]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whatif")
    (folder / "text").write_text(call(folder))
    (folder / "json").write_text(call(folder, "--json"))
    return folder


def test_the_first_sentences_are_those_of_the_runs(out: Path) -> None:
    first = (out / "text").read_text().splitlines()[0]
    before, after = (inner(waits_of(out / name)) for name in ("baseline", "hosts+2"))
    found = re.match(
        r"With hosts\+2 \(\+25 % nodes\), jobs wait (\S+) s in the mean instead of (\S+) s with the baseline: "
        r"(\S+) times as long \(95 % interval (\S+) to (\S+?)(, may be chance)?\)\. "
        r"The price: 2 nodes more and (\S+) for each hour of waiting saved",
        first,
    )
    assert found is not None, first
    shown = [float(found[place]) for place in (1, 2, 3, 4, 5, 7)]
    ratio = statistics.mean(after) / statistics.mean(before)
    assert shown[:3] == pytest.approx([statistics.mean(after), statistics.mean(before), ratio], rel=5e-3)
    assert shown[3] < shown[2] < shown[4]
    # An interval that holds "no change" may be chance; its ends are rounded.
    assert bool(found[6]) == (shown[4] >= 1.0)
    # Two nodes more, from the first submission to the last one, over what all jobs wait less.
    submissions = [float(row["submission_time"]) for row in rows_of(out / "baseline")]
    saved = sum(waits_of(out / "baseline")) - sum(waits_of(out / "hosts+2"))
    assert shown[5] == pytest.approx(2 * PRICE * (submissions[-1] - submissions[0]) / saved, abs=0.006)


def test_groups_have_the_means_of_their_jobs(out: Path) -> None:
    answer = json.loads((out / "json").read_text())
    with (SITE / "sacct.txt").open(newline="") as file:
        accounts = {row["JobID"]: row for row in csv.DictReader(file, delimiter="|", quoting=csv.QUOTE_NONE)}
    names = inner([row["job_id"] for row in rows_of(out / "baseline")])
    for change, told in zip(CHANGES, answer["changes"], strict=True):
        waits = [dict(zip(names, inner(waits_of(out / name)), strict=True)) for name in ("baseline", change)]
        for group in told["groups"]:
            column = {"partition": "Partition", "group": "User"}.get(group["kind"])
            if column is None:
                continue
            own = [name for name in names if accounts[name][column] == group["name"]]
            before, after = (statistics.mean(each[name] for name in own) for each in waits)
            assert group["jobs"] == len(own)
            assert group["baseline_mean_wait"] == pytest.approx(before, rel=1e-6)
            assert group["mean_wait"] == pytest.approx(after, rel=1e-6)
            assert group["ratio"] == pytest.approx(after / before, rel=1e-6)
        whole = told["against_baseline"]["mean_waiting_time"]["ratio"]
        assert whole == pytest.approx(statistics.mean(waits[1].values()) / statistics.mean(waits[0].values()), rel=1e-6)


def test_the_period_is_that_of_the_accounts(out: Path) -> None:
    with (SITE / "sacct.txt").open(newline="") as file:
        rows = csv.DictReader(file, delimiter="|", quoting=csv.QUOTE_NONE)
        dates = sorted(row["Submit"] for row in rows if "." not in row["JobID"])
    # The accounts name no zone, so dates are told as they stand.
    period = [date.replace("T", " ") for date in (dates[0], dates[-1])]
    assert [date[:19] for date in json.loads((out / "json").read_text())["period"]] == period
    assert f"The log's jobs came from {period[0]}" in (out / "text").read_text()


def test_least_wait_and_losers_are_those_of_the_runs(out: Path) -> None:
    first = (out / "text").read_text().splitlines()[0]
    means = {name: statistics.mean(inner(waits_of(out / name))) for name in ("baseline", *CHANGES)}
    best = min(means, key=lambda name: means[name])
    assert ("They wait least with" in first) == (best != CHANGES[0])
    losers = [
        f"{group['kind']} {group['name']}"
        for group in json.loads((out / "json").read_text())["changes"][0]["groups"]
        if group["low"] is not None and group["low"] > 1
    ]
    assert all(name in first for name in losers[:3])
    assert ("Worse off" in first) == bool(losers)
