"""``check`` goes through the runs of a comparison or a campaign, and works out the table over them."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pandas")
pytest.importorskip("pyarrow")
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from click.testing import CliRunner

from batdispatch.abilities.campaigns.campaign.campaign import link
from batdispatch.abilities.campaigns.campaign.leftovers import note_needs
from batdispatch.abilities.verify.checks.folders import collections_in
from batdispatch.cli.main import cli
from batdispatch.core.errors import InputError
from batdispatch.inputs.platforms.generate import flat
from batdispatch.inputs.workloads.lublin import lublin
from batdispatch.inputs.workloads.writer import write_workload
from batdispatch.results.run_names import belied_name
from campaigns import SMALL, make, planned

pytestmark = pytest.mark.usefixtures("worker_threads")
# What the fixtures are; see conftest.py.
Check = Any


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a comparison of filler and easy on two slices of a workload."""
    place = tmp_path_factory.mktemp("compared")
    folder = place / "made"
    (place / "p.xml").write_bytes(flat(16))
    workload = lublin(np.random.default_rng(1), jobs=80, hosts=16, load=1.1, walltimes="modal")
    write_workload(workload, place / "w.json")
    words = ["--platform", str(place / "p.xml"), "--out", str(folder), "--jobs", "1"]
    words += [
        "--dispatchers",
        "filler,easy,easy[ordering=sjf]",
        "--replicates",
        "2",
        "--replicate-by",
        "slices",
        "--slice-jobs",
        "40",
    ]
    done = CliRunner().invoke(cli, ["compare", str(place / "w.json"), *words])
    assert done.exit_code == 0, done.output
    return folder


@pytest.fixture(scope="module")
def campaigned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of campaigns with one of four runs."""
    folder = tmp_path_factory.mktemp("campaigned")
    plan = planned(folder, SMALL.replace("[fcfs,", "[filler,"), folder / "made")
    make(plan)
    note_needs(plan)
    link(plan, {})
    return folder / "made"


@pytest.fixture
def comparison(compared: Path, tmp_path: Path) -> Path:
    """Return a copy of the comparison, under another name."""
    return Path(shutil.copytree(compared, tmp_path / "copied"))


@pytest.fixture
def campaigns(campaigned: Path, tmp_path: Path) -> Path:
    """Return a copy of the folder of campaigns, under another name."""
    return Path(shutil.copytree(campaigned, tmp_path / "campaigns", symlinks=True))


def test_a_copied_comparison_is_clean(comparison: Path, compared: Path, check: Check) -> None:
    hidden = compared.rename(compared.with_name("hidden"))
    try:
        found = check(comparison)
    finally:
        hidden.rename(compared)
    assert found.status == 0, found.text
    assert found.text.count("no violation") == 2 * 3 + 1
    assert found.text.splitlines()[-1] == f"{comparison / 'replicates.csv'}: 1 rule, no violation"


def test_a_copied_campaign_is_clean_also_through_the_folder_of_campaigns(campaigns: Path, check: Check) -> None:
    for folder in (campaigns / "small", campaigns):
        found = check(folder)
        assert found.status == 0, found.text
        assert found.text.count("no violation") == 2 * 2 + 1


# ---------------------------------------------------------------------- comparisons

Change = Callable[[list[list[str]]], None]


def better(rows: list[list[str]]) -> None:
    rows[1][5] = str(float(rows[1][5] or 0) + 1)


def swapped(rows: list[list[str]]) -> None:
    rows[1][2], rows[2][2] = rows[2][2], rows[1][2]


def left_out(rows: list[list[str]]) -> None:
    del rows[1]


def replicate_left_out(rows: list[list[str]]) -> None:
    del rows[1:4]


@pytest.mark.parametrize("change", [better, swapped, left_out, replicate_left_out])
def test_a_changed_table_of_a_comparison_is_found(change: Change, comparison: Path, check: Check) -> None:
    path = comparison / "replicates.csv"
    rows = [line.split(",") for line in path.read_text().splitlines()]
    assert not any('"' in line for row in rows for line in row)
    change(rows)
    path.write_text("\n".join(map(",".join, rows)) + "\n")
    found = check(comparison, "--sample", 1, "--replay", "never")
    assert found.status == 1
    assert f"{path}: table: " in found.text


@pytest.mark.parametrize("way", [[], ["--replicate-by", "separate-windows"]])
def test_fewer_windows_than_were_asked_for_are_clean(
    way: list[str], compared: Path, tmp_path: Path, check: Check
) -> None:
    inputs = [str(compared.parent / "w.json"), "--platform", str(compared.parent / "p.xml"), "--jobs", "1"]
    wanted = ["--dispatchers", "filler,fcfs", "--replicates", "4", "--window", "56", *way]
    done = CliRunner().invoke(cli, ["compare", *inputs, *wanted, "--out", str(tmp_path / "few")])
    assert done.exit_code == 0, done.output
    assert len((tmp_path / "few/replicates.csv").read_text().splitlines()) < 1 + 4 * 2
    found = check(tmp_path / "few")
    assert found.status == 0, found.text


def test_a_replicate_told_twice_is_found(comparison: Path, check: Check) -> None:
    shutil.rmtree(comparison / "runs/slice-1")
    shutil.copytree(comparison / "runs/slice-0", comparison / "runs/slice-1")
    head, *rows = (comparison / "replicates.csv").read_text().splitlines()
    rows = rows[:3] + [row.replace("slice 0", "slice 1") for row in rows[:3]]
    (comparison / "replicates.csv").write_text("\n".join([head, *rows, ""]))
    found = check(comparison, "--replay", "never")
    assert found.status == 1
    assert "table: slice 1 and slice 0 have the same inputs and seed" in found.text


def test_a_run_on_another_workload_than_the_others_of_its_replicate_is_found(comparison: Path, check: Check) -> None:
    (comparison / "runs/slice-0/filler").rename(comparison / "other")
    (comparison / "runs/slice-1/filler").rename(comparison / "runs/slice-0/filler")
    found = check(comparison, "--replay", "never")
    assert found.status == 1
    assert "table: the runs of slice 0 have different inputs or seeds" in found.text


def test_a_run_under_another_dispatchers_name_is_found(comparison: Path, check: Check) -> None:
    # The table and what is told about it call filler easy, and easy filler, as the names of the runs do.
    names = json.loads((comparison / "names.json").read_bytes())
    for bound in names["runs"].values():
        bound["name"] = {"easy": "filler", "filler": "easy"}.get(bound["name"], bound["name"])
    (comparison / "names.json").write_text(json.dumps(names))
    for name in ("replicates.csv", "comparison.json"):
        path = comparison / name
        text = path.read_text().replace("easy[", "EASY[").replace("filler", "FILLER")
        path.write_text(text.replace(",easy,", ",filler,").replace(",FILLER,", ",easy,").replace("EASY[", "easy["))
    facts = json.loads((comparison / "comparison.json").read_bytes())
    facts["who"] = [["filler", "filler", ""], ["easy", "easy", ""], *facts["who"][2:]]
    (comparison / "comparison.json").write_text(json.dumps(facts))
    found = check(comparison, "--replay", "never")
    assert found.status == 1
    assert "the table calls it easy, and it is a run of filler" in found.text


def exchange_outcomes(one: Path, other: Path) -> None:
    """Give a run all that came out of another one, and let it say that it is what it was."""
    said = json.loads((one / "result.json").read_bytes())
    for path in other.iterdir():
        shutil.copy(path, one / path.name)
    kept = ("dispatcher", "label", "options", "command", "made_from")
    result = json.loads((one / "result.json").read_bytes()) | {name: said[name] for name in kept}
    (one / "result.json").write_text(json.dumps(result))


def test_a_forged_run_of_a_comparison_is_found(comparison: Path, check: Check) -> None:
    runs = comparison / "runs" / "slice-1"
    exchange_outcomes(runs / "filler", runs / "easy")
    found = check(comparison)
    assert found.status == 1
    assert f"{runs / 'filler'}: decision: " in found.text
    # The table is no longer that of the runs.
    assert f"{comparison / 'replicates.csv'}: table: line " in found.text


# ---------------------------------------------------------------------- campaigns


def rewrite(path: Path, change: Callable[[list[dict[str, Any]]], None]) -> None:
    table = pq.read_table(path)
    rows = table.to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), path)


def better_row(rows: list[dict[str, Any]]) -> None:
    rows[0]["mean_waiting_time"] *= 0.9


def another_column(rows: list[dict[str, Any]]) -> None:
    rows[1]["max_waiting_time"] = None


def names_swapped(rows: list[dict[str, Any]]) -> None:
    rows[0]["dispatcher"], rows[1]["dispatcher"] = rows[1]["dispatcher"], rows[0]["dispatcher"]


def replicates_swapped(rows: list[dict[str, Any]]) -> None:
    one, other = (next(row for row in rows if row["replicate"] == f"seed {seed}") for seed in (0, 1))
    for name in ("replicate", "workload.seed"):
        one[name], other[name] = other[name], one[name]


def another_seed(rows: list[dict[str, Any]]) -> None:
    rows[0]["seed"] = 5


def row_left_out(rows: list[dict[str, Any]]) -> None:
    del rows[0]
    rows.append(rows[0])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (better_row, "mean_waiting_time is "),
        (another_column, "max_waiting_time is None, its run gives "),
        (names_swapped, "the table calls it filler, and it is a run of easy"),
        (replicates_swapped, "its run has another platform or workload"),
        (another_seed, "seed is 5, its run has 0"),
        (row_left_out, ", needs.json says "),
    ],
)
def test_a_changed_table_of_a_campaign_is_found(
    change: Callable[[list[dict[str, Any]]], None], said: str, campaigns: Path, check: Check
) -> None:
    own = campaigns / "small"
    assert check(own, "--sample", 1, "--replay", "never").status == 0
    rewrite(own / "results.parquet", change)
    found = check(own, "--sample", 1, "--replay", "never")
    assert found.status == 1
    assert f"{own / 'results.parquet'}: table: " in found.text
    assert said in found.text


def test_a_forged_cell_is_found(campaigns: Path, check: Check) -> None:
    rows = pq.read_table(campaigns / "small" / "results.parquet").to_pylist()
    one, other = (campaigns / "cells" / row["cell"] for row in rows if row["replicate"] == "seed 0")
    exchange_outcomes(one, other)
    found = check(campaigns / "small")
    assert found.status == 1
    assert f"{one}: decision: " in found.text


def test_a_cell_that_is_gone_is_found(campaigns: Path, check: Check) -> None:
    rows = pq.read_table(campaigns / "small" / "results.parquet").to_pylist()
    shutil.rmtree(campaigns / "cells" / rows[2]["cell"])
    found = check(campaigns / "small")
    assert found.status == 1
    assert f"its run {rows[2]['cell']} is not there" in found.text
    shutil.rmtree(campaigns / "cells")
    with pytest.raises(InputError, match="none of the campaign's runs is there"):
        collections_in([campaigns / "small"])


# ---------------------------------------------------------------------- samples and names


def test_a_sample_is_drawn_by_its_seed_and_the_rest_is_told(campaigns: Path, check: Check) -> None:
    def drawn(*words: object) -> str:
        (run,) = json.loads(check(campaigns / "small", "--json", "--replay", "never", "--sample", 1, *words).text)[
            "runs"
        ]
        return str(run["folder"])

    assert len({drawn("--seed", 7) for _ in range(2)}) == 1
    assert len({drawn("--seed", seed) for seed in range(12)}) > 1
    found = check(campaigns / "small", "--sample", 3, "--replay", "never")
    assert "1 runs were not drawn (--sample 3 --seed " in found.text
    # The seed that was drawn draws the same again.
    seed = found.text.rpartition("--seed ")[2].strip(")\n")
    again = check(campaigns / "small", "--sample", 3, "--replay", "never", "--seed", seed)
    assert again.text == found.text


def test_a_seed_without_a_sample_is_refused(campaigns: Path) -> None:
    done = CliRunner().invoke(cli, ["check", str(campaigns), "--seed", "1"])
    assert isinstance(done.exception, InputError)


@pytest.mark.parametrize(
    ("name", "dispatcher", "options", "belied"),
    [
        ("easy", "easy", {"ordering": "sjf"}, False),
        ("easy[ordering=sjf]", "easy", {"ordering": "sjf", "placement": "first-fit"}, False),
        ("easy[ordering=sjf]", "easy", {}, True),
        ("easy", "attempts", {"dispatcher": "easy"}, False),
        ("easy", "filler", {}, True),
        ("plain", "filler", {}, False),
        ("filler, shortest first", "filler", {"ordering": "sjf"}, False),
    ],
)
def test_the_name_of_a_dispatcher_is_no_name_of_another(
    name: str, dispatcher: str, options: dict[str, str], belied: bool
) -> None:
    assert bool(belied_name(name, {"dispatcher": dispatcher, "options": options})) == belied


@pytest.mark.parametrize("name", ["results.parquet", "needs.json"])
def test_a_table_of_a_campaign_that_is_none_is_an_error_with_its_name(name: str, campaigns: Path) -> None:
    path = campaigns / "small" / name
    path.write_text("nothing")
    done = CliRunner().invoke(cli, ["check", str(path.parent), "--replay", "never"])
    assert isinstance(done.exception, InputError)
    assert str(path) in str(done.exception)


def test_tables_without_their_columns_are_errors(campaigns: Path, comparison: Path) -> None:
    path = campaigns / "small" / "results.parquet"
    pq.write_table(pq.read_table(path).drop_columns("failure"), path)
    (comparison / "replicates.csv").write_text("name\n1\n")
    for folder, column in ((path.parent, "failure"), (comparison, "workload")):
        done = CliRunner().invoke(cli, ["check", str(folder), "--replay", "never"])
        assert isinstance(done.exception, InputError)
        assert f"no column {column!r}" in str(done.exception)


def test_runs_that_say_nothing_sensible_of_what_they_were_made_from_are_told(
    comparison: Path, campaigns: Path, check: Check
) -> None:
    for path in [*comparison.glob("runs/*/*/result.json"), *campaigns.glob("cells/*/result.json")]:
        result = json.loads(path.read_bytes())
        path.write_text(json.dumps(result | {"made_from": {"settings": [1], "sha256": "none"}}))
    for folder in (comparison, campaigns):
        found = check(folder)
        assert found.status == 1
        assert "result.json does not say what the run was made from" in found.text
