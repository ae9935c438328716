"""Campaigns that Snakemake runs: what comes out, failures, and kills of everything at random moments."""

import json
import random
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from batdispatch.cli.main import cli
from batdispatch.core.errors import InputError
from batdispatch.inputs.folders import MARK, Claim
from campaigns import MANY, PLATFORM, SMALL, WORKLOAD, Calls, make, planned, written

#: Two dispatchers on one workload.
DRAWN = """
name: drawn
platforms: {flat: {generate: flat, options: {hosts: 8}}}
workloads: {lublin: {generate: lublin, seeds: 1, options: {jobs: 8, hosts: 8}}}
dispatchers: [fcfs, easy]
settings: {evalys: true}
"""
FAILING = '''
"""Dispatchers that go wrong."""
import os
from batdispatch.dispatchers.backfilling.easy import Easy

class Wrong(Easy):
    """Wrong."""
    def decide(self, ledger):
        print("about to fail")
        raise ValueError("seven is no time")

class Crash(Easy):
    """Crash."""
    def decide(self, ledger):
        os.abort()
'''


CALLS = Calls()


def test_a_campaign_asks_for_figures_by_evalys(tmp_path: Path) -> None:
    path = written(tmp_path, DRAWN)
    CALLS.run(path)
    own = tmp_path / "campaigns" / "drawn"
    [shown] = own.glob("evalys/all/*/*/runs.json")
    assert sorted(json.loads(shown.read_bytes())) == ["easy", "fcfs"]
    names = {figure.name for figure in shown.parent.iterdir()}
    assert {"fcfs-gantt.svg", "easy-queue.png", "gantt-diff.svg", "index.html"} <= names
    before = {figure: figure.stat().st_mtime_ns for figure in shown.parent.iterdir()}
    CALLS.run(path)
    assert {figure: figure.stat().st_mtime_ns for figure in shown.parent.iterdir()} == before, "they are there"
    page = CliRunner().invoke(cli, ["report", str(own)], catch_exceptions=False).output.strip()
    runs = (Path(page).parent / "pages" / "0.html").read_text()
    [link] = set(re.findall(r'href="([^"]*/evalys/[^"]*)"', runs))
    assert (Path(page).parent / "pages" / link).is_file()


def test_a_campaign_from_the_file_to_the_table(tmp_path: Path) -> None:
    path = written(tmp_path, SMALL)
    before = CALLS.forecast(path).splitlines()
    assert before[0] == "small: 4 runs, of which 0 are there"
    assert before[-1] == "4 of the runs: nothing like them was run, so how long they take is unknown"
    done = CALLS.run(path, "--jobs", "2")
    results = tmp_path / "campaigns" / "small" / "results.parquet"
    assert done.stdout.splitlines()[-1] == "campaigns/small/results.parquet" or done.stdout.strip() == str(results)
    table = pq.read_table(results)
    rows = table.to_pylist()
    assert [(row["workload.seed"], row["dispatcher"], row["seed"]) for row in rows] == [
        (seed, name, 0) for seed in (0, 1) for name in ("fcfs", "easy[ordering=sjf]")
    ]
    assert [row["failure"] for row in rows] == [None] * 4
    assert (rows[0]["platform.hosts"], rows[0]["workload.jobs"], rows[0]["nb_jobs_success"]) == (8, 20, 20)
    metadata = table.schema.field("mean_waiting_time").metadata
    assert metadata[b"unit"] == b"s"
    assert not any("seconds" in name or "decision" in name for name in table.schema.names)
    for row in rows:
        folder = tmp_path / "campaigns" / "cells" / row["cell"]
        assert json.loads((folder / "result.json").read_bytes())["metrics"]["makespan"] == row["makespan"]
    links = sorted((tmp_path / "campaigns" / "small" / "runs").glob("*/*/*/*"))
    assert [str(link.relative_to(tmp_path / "campaigns" / "small" / "runs")) for link in links] == [
        f"all/flat,hosts=8/lublin,jobs=20,hosts=8,seed={seed}/{name}"
        for seed in (0, 1)
        for name in ("easy_ordering=sjf_", "fcfs")
    ]
    # Two options away: two new cells, whose time is known from the others.
    content = results.read_bytes()
    path.write_text(SMALL.replace("sjf", "ljf"))
    told = json.loads(CALLS.forecast(path, "--json"))
    assert (told["kept"], told["pending"], told["inputs"]) == (2, 2, 0)
    path.write_text(SMALL)
    stamps = {link: (link / "result.json").stat().st_mtime_ns for link in links}
    again = CALLS.here(path)
    assert "kept 4 runs of 4" in again.stderr
    assert results.read_bytes() == content
    assert {link: (link / "result.json").stat().st_mtime_ns for link in links} == stamps
    words = ["report", str(links[0].parent), "-o", str(tmp_path / "report.html"), "--no-explain", "--json"]
    report = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert [run["label"] for run in json.loads(report.stdout)["runs"]] == ["easy_ordering=sjf_", "fcfs"]


def test_a_cell_that_fails_stops_no_other(tmp_path: Path) -> None:
    shutil.copy(PLATFORM, tmp_path / "four.xml")
    shutil.copy(WORKLOAD, tmp_path / "delay.json")
    (tmp_path / "mine.py").write_text(FAILING)
    path = written(
        tmp_path,
        "name: bad\nplatforms: {four: four.xml}\n"
        "workloads:\n  delay: delay.json\n"
        "  lost: {generate: sessions, seeds: 0, platform: four, options: {jobs: 9, load: 1}}\n"
        "dispatchers: {crash: 'mine.py:Crash', wrong: 'mine.py:Wrong', EASY: easy}\n",
    )
    done = CALLS.run(path, "--jobs", "1", check=False)
    assert done.returncode == 1, done.stderr
    lines = done.stderr.splitlines()
    failed = {line.partition(" failed: ")[0]: line.partition(" failed: ")[2] for line in lines if " failed: " in line}
    wrong = failed["batdispatch: all / four / delay / wrong"]
    assert wrong.endswith("dispatcher Wrong failed at 0.000000 s: ValueError: seven is no time (mine.py, line 10)")
    assert failed["batdispatch: all / four / delay / crash"].startswith("its process died")
    lost = failed["batdispatch: workload lost,jobs=9,load=1,seed=0"]
    assert "capacity" in lost
    assert "5 of 6 runs failed" in lines[-1]
    # The end of its log: what it printed, and where from.
    log = lines.index(next(line for line in lines if line.startswith("all / four / delay / wrong: ")))
    assert lines[log + 1] == "  about to fail"
    rows = pq.read_table(tmp_path / "campaigns" / "bad" / "results.parquet").to_pylist()
    assert [row["dispatcher"] for row in rows if row["failure"] is None] == ["EASY"]
    assert all(lost in row["failure"] for row in rows if row["workload"] == "lost")
    assert [row["makespan"] is None for row in rows] == [row["failure"] is not None for row in rows]
    # What failed is tried again, the rest is kept.
    told = json.loads(CALLS.forecast(path, "--json"))
    assert (told["kept"], told["pending"]) == (1, 5)


def test_two_calls_of_one_campaign_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, SMALL)
    with Claim(tmp_path / "campaigns" / "small"), pytest.raises(InputError, match="is being written by process"):
        CALLS.here(path)
    assert not list((tmp_path / "campaigns").glob("cells/*"))


def test_snakemake_says_what_it_does_not_understand(tmp_path: Path) -> None:
    done = CALLS.run(written(tmp_path, SMALL), "--executor", "nowhere", check=False)
    assert done.returncode == 1
    assert "Snakemake ran no task: " in done.stderr
    assert "nowhere" in done.stderr


def test_killed_while_cells_are_made_it_goes_on(tmp_path: Path) -> None:
    hurt = written(tmp_path / "hurt", SMALL)
    calm = planned(tmp_path / "calm", SMALL)
    make(calm)
    process = CALLS.start(hurt, "--jobs", "1", "--batch", "4")
    CALLS.wait_for_cells(hurt, 1, process)
    CALLS.kill(process)
    whole = CALLS.cells(hurt)
    assert (hurt.parent / "campaigns" / "small" / MARK).exists()
    done = CALLS.run(hurt)
    assert f"kept {whole} runs of 4" in done.stderr or whole == 4
    assert not list((hurt.parent / "campaigns" / "small").glob("work-*"))
    results = hurt.parent / "campaigns" / "small" / "results.parquet"
    assert results.read_bytes() == (calm.places.own / "results.parquet").read_bytes()


def test_interrupted_it_stops_in_order_also_in_the_background_of_a_script(tmp_path: Path) -> None:
    path = written(tmp_path, MANY)
    # A shell lets what it starts in the background ignore interrupts, and Snakemake would inherit that.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = CALLS.start(path, "--jobs", "1", "--batch", "10")
    finally:
        signal.signal(signal.SIGINT, before)
    CALLS.wait_for_cells(path, 1, process)
    process.terminate()
    assert process.wait() == 128 + signal.SIGTERM
    own = tmp_path / "campaigns" / "many"
    assert not (own / MARK).exists()
    # Nothing of it goes on.
    (work,) = own.glob("work-*")
    assert "cells-19" in (work / "plan.json").read_text()
    assert subprocess.run(["pgrep", "-f", str(tmp_path)], capture_output=True, check=False).stdout == b""
    count = CALLS.cells(path)
    assert 1 <= count < 200


@pytest.mark.slow
def test_200_cells_killed_five_times_give_the_same_bytes(tmp_path: Path) -> None:
    calm, hurt = written(tmp_path / "calm", MANY), written(tmp_path / "hurt", MANY)
    CALLS.run(calm, "--jobs", "2")
    total = 200
    assert CALLS.cells(calm) == total
    chance = random.Random(20)
    # From before the first cell to after most: at so many cells, and then a moment later.
    for goal in sorted(chance.sample(range(0, total - 20), 5)):
        process = CALLS.start(hurt, "--jobs", "2", "--batch", "20")
        CALLS.wait_for_cells(hurt, goal, process)
        time.sleep(chance.uniform(0, 1))
        CALLS.kill(process)
    assert 0 < CALLS.cells(hurt) < total
    CALLS.run(hurt, "--jobs", "2")
    name = Path("campaigns") / "many" / "results.parquet"
    assert (hurt.parent / name).read_bytes() == (calm.parent / name).read_bytes()
