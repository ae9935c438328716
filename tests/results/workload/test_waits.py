"""Waits in a log: the tables of `workload show`, held against lines that share nothing with the code."""

import csv
import datetime
import json
import re
import statistics
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from batdispatch.cli.main import cli

ACCOUNTS = Path(__file__).parents[2] / "conformance" / "recordings" / "slurm-accounts" / "busy4" / "sacct.txt"


def show(*words: object) -> str:
    ran = CliRunner().invoke(cli, ["workload", "show", *map(str, words)])
    assert ran.exit_code == 0, ran.output
    return ran.stdout


def real_waits(column: str) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    with ACCOUNTS.open(newline="") as file:
        for row in csv.DictReader(file, delimiter="|", quoting=csv.QUOTE_NONE):
            if "." not in row["JobID"]:
                submit, start = (datetime.datetime.fromisoformat(row[key]) for key in ("Submit", "Start"))
                name = row["Submit"][:7] if column == "month" else row[column]
                found.setdefault(name, []).append((start - submit).total_seconds())
    return found


def test_waits_of_partitions_users_and_months_are_those_of_the_accounts() -> None:
    waits = json.loads(show(ACCOUNTS, "--json"))["waits"]
    # These accounts name no account.
    assert list(waits) == ["partition", "user", "month"]
    for kind, column in (("partition", "Partition"), ("user", "User"), ("month", "month")):
        real = real_waits(column)
        total = sum(map(sum, real.values()))
        assert {one["name"] for one in waits[kind]} == real.keys()
        for one in waits[kind]:
            own = real[one["name"]]
            assert one["jobs"] == len(own)
            assert abs(one["share"] - sum(own) / total) < 1e-9
            assert abs(one["mean"] - statistics.mean(own)) < 1e-6
            assert abs(one["median"] - statistics.median(own)) < 1e-6
            assert one["longest"] == max(own)
            assert sum(each <= one["most_of_ten"] for each in own) >= 0.9 * len(own) - 1
        shares = [one["share"] for one in waits[kind]]
        assert shares == sorted(shares, reverse=True)


def test_table_of_waits_has_one_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    real = real_waits("Partition")
    lines = show(ACCOUNTS).splitlines()
    head = next(line for line in lines if line.startswith("waits in the log of"))
    assert re.findall(r", (\w+)(?:\s|$)", head) == ["s"] * 4
    (row,) = (line.split() for line in lines if line.startswith("partition busy "))
    assert row[2] == str(len(real["busy"]))
    assert float(row[4]) == float(f"{statistics.mean(real['busy']):.3g}")
    assert float(row[7]) == max(real["busy"])


def write_table(path: Path, rows: list[tuple[Any, ...]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("id", "at", "start", "ran", "cores", "who", "acct"), *rows])


def test_months_are_those_of_the_people_and_in_order(tmp_path: Path) -> None:
    log = tmp_path / "jobs.csv"
    rows = [
        ("a", "2026-02-28 23:30:00", "2026-03-01 00:30:00", 60, 1, "ada", "physics"),
        ("b", "2026-01-31 23:30:00", "2026-01-31 23:30:30", 60, 1, "bob", ""),
        ("c", "2026-01-05 12:00:00", "2026-01-05 12:00:10", 60, 1, "ada", "physics"),
    ]
    write_table(log, rows)
    mapping = tmp_path / "mapping.toml"
    dated = 'unit = "%Y-%m-%d %H:%M:%S"'
    mapping.write_text(
        f'[columns]\nid = "id"\nsubmit = {{ column = "at", {dated} }}\nstart = {{ column = "start", {dated} }}\n'
        'runtime = { column = "ran", unit = "s" }\ncores = "cores"\nuser = "who"\naccount = "acct"\n'
    )
    waits = json.loads(show(log, "--columns", mapping, "--time-zone", "Europe/Berlin", "--json"))["waits"]
    # Half past eleven at night in Berlin is still the last day of the month, and its job waits into the next one.
    assert [(one["name"], one["jobs"], one["mean"]) for one in waits["month"]] == [
        ("2026-01", 2, 20.0),
        ("2026-02", 1, 3600.0),
    ]
    # A job without an account is in none.
    assert [(one["name"], one["jobs"]) for one in waits["account"]] == [("physics", 2)]
    assert "partition" not in waits
    page = tmp_path / "page.html"
    show(log, "--columns", mapping, "--html", page)
    assert "Who waited in the log" in page.read_text()


def test_a_workload_that_no_log_is_behind_says_nothing_of_waits(tmp_path: Path) -> None:
    jobs = [{"id": "1", "subtime": 0, "walltime": 10, "res": 1, "profile": "p"}]
    path = tmp_path / "w.json"
    path.write_text(json.dumps({"nb_res": 2, "jobs": jobs, "profiles": {"p": {"type": "delay", "delay": 5}}}))
    assert json.loads(show(path, "--json"))["waits"] == {}
    assert "waits in the log" not in show(path)
