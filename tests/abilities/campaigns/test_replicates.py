"""compare --replicates: who takes part, what each replicate is, what is kept, and what cannot be compared."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from batdispatch.abilities.campaigns.replicates import Replicates
from batdispatch.abilities.topology.generate import torus
from batdispatch.cli.main import cli
from batdispatch.core.errors import InputError
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.platforms.generate import flat
from batdispatch.inputs.workloads import read_workload
from batdispatch.inputs.workloads.lublin import lublin
from batdispatch.inputs.workloads.malleable import made_malleable
from batdispatch.inputs.workloads.writer import write_workload
from batdispatch.runs.comparison_options import By, ComparisonOptions
from batdispatch.runs.families import members

pytestmark = pytest.mark.usefixtures("worker_threads")
#: Of the workload's 120 jobs, 15 each.
SLICES = ("--replicate-by", "slices", "--slice-jobs", "15")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a platform and a workload of 120 jobs."""
    (tmp_path / "flat.xml").write_bytes(flat(16))
    made = lublin(np.random.default_rng(1), jobs=120, hosts=16, load=1.1, walltimes="modal")
    write_workload(made, tmp_path / "w.json")
    return tmp_path


def run(folder: Path, *words: str) -> Result:
    given = ["--platform", str(folder / "flat.xml"), "--out", str(folder / "out"), "--jobs", "1", *words]
    return CliRunner().invoke(cli, ["compare", str(folder / "w.json"), *given], standalone_mode=False)


def replicates(by: By, count: int) -> Replicates:
    return Replicates(ComparisonOptions(dispatchers="", replicates=count, replicate_by=by))


def test_one_command_compares_the_families_on_slices(folder: Path) -> None:
    done = run(folder, "--dispatchers", "families", "--replicates", "6", *SLICES)
    assert done.exception is None, done.exception
    out = folder / "out"
    lines = done.stdout.splitlines()
    assert lines[-1] == str(out / "report" / "index.html")
    assert any(line.startswith("- For the lowest mean wait") for line in lines)
    refused = [line for line in lines if line.startswith("Not compared, ")]
    assert [line.split(":")[0] for line in refused] == [
        "Not compared, nodes that are near",
        "Not compared, malleable jobs",
    ]
    page = (out / "report" / "index.html").read_text()
    assert "Each has 15 jobs, with 6 between two of them." in page
    assert "batdispatch compare" in page
    assert "--jobs" not in page.partition("How to rerun")[2]
    # Each replicate has a page of its runs.
    linked = re.findall(r'<a href="(pages/\d+\.html)">(slice-\d)</a>', page)
    assert [name for _, name in linked] == [f"slice-{number}" for number in range(6)]
    names = re.findall(r"<option value=\"\d\">([^<]*)", (out / "report" / linked[3][0]).read_text())
    assert {"easy", "hcp19"} <= {name.partition("[")[0] for name in names}
    slices = [read_workload(out / "input" / f"slice-{number}.json").jobs for number in range(6)]
    whole = [job.id for job in read_workload(folder / "w.json").jobs]
    assert [[job.id for job in jobs] for jobs in slices] == [whole[21 * n : 21 * n + 15] for n in range(6)]
    rows = (out / "replicates.csv").read_text().splitlines()
    assert len(rows) == 1 + 6 * 4
    assert rows[1].startswith("w,slice 0,easy,")
    # The same again keeps all runs, and report makes the same page from the table.
    stamp = (out / "runs" / "slice-0" / "easy" / "result.json").stat().st_mtime_ns
    again = run(
        folder,
        "--dispatchers",
        "families",
        "--replicates",
        "6",
        *SLICES,
        "--json",
    )
    assert "kept 24 of 24 runs" in again.stderr
    assert (out / "runs" / "slice-0" / "easy" / "result.json").stat().st_mtime_ns == stamp
    assert (out / "report" / "index.html").read_text().replace(" --json", "") == page
    found = json.loads(again.stdout)["workloads"][0]["answers"]
    assert [one["metric"] for one in found][:2] == ["mean_waiting_time", "mean_bounded_slowdown"]
    assert found[0]["n"] == 6
    other = CliRunner().invoke(cli, ["report", str(out), "-o", str(folder / "page.html")], standalone_mode=False)
    assert other.exception is None, other.exception
    assert (folder / "page.html").read_text() == page
    renamed = ["report", str(out), "--baseline", "hcp19", "--title", "Mine", "-o", str(folder / "mine.html")]
    assert CliRunner().invoke(cli, renamed, standalone_mode=False).exception is None
    assert "Against hcp19" in (folder / "mine.html").read_text()


def test_seeds_of_dispatchers_that_draw_nothing_are_one_replicate(folder: Path) -> None:
    done = run(
        folder, "--dispatchers", "fcfs,easy", "--replicates", "6", "--replicate-by", "seeds", "--baseline", "fcfs"
    )
    assert done.exception is None, done.exception
    assert "All 6 seeds gave the same figures" in done.stdout
    assert "no choice can be recommended" in done.stdout
    seeds = [
        json.loads((folder / "out" / "runs" / f"seed-{number}" / "easy" / "result.json").read_bytes())["seed"]
        for number in range(6)
    ]
    assert seeds == list(range(6))


def test_a_dispatcher_that_fails_is_named_and_the_others_are_compared(folder: Path) -> None:
    (folder / "mine.py").write_text(
        "from batdispatch.dispatchers.backfilling.easy import Easy\n"
        "class Mine(Easy):\n    '''Mine.'''\n    def decide(self, ledger):\n        raise ValueError('seven')\n"
    )
    mine = f"{folder / 'mine.py'}:Mine"
    done = run(
        folder,
        "--dispatchers",
        f"fcfs,easy,easy[ordering=sjf],{mine}",
        "--replicates",
        "6",
        *SLICES,
    )
    assert "6 runs failed" in str(done.exception)
    assert done.stderr.count("seven") == 6
    assert f"{mine} lacks values, so it is neither ranked nor chosen" in done.stdout
    assert "seven" in (folder / "out" / "report" / "index.html").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--dispatchers", "families"], "families needs --replicates N"),
        (["--dispatchers", "easy", "--baseline", "easy"], "option --baseline: needs --replicates N"),
        (["--dispatchers", "easy", "--replicate-by", "seeds"], "option --replicate-by: needs --replicates N"),
        (
            ["--dispatchers", "easy", "--replicates", "6", "--weeks", "3"],
            "option --weeks: is for --replicate-by sessions, and this is windows",
        ),
        (
            ["--dispatchers", "easy,fcfs", "--replicates", "7", "--replicate-by", "slices", "--slice-jobs", "20"],
            "has 120 jobs, too few for 7 slices of 20",
        ),
        (
            ["--dispatchers", "easy,fcfs", "--replicates", "6", "--baseline", "esay"],
            "option --baseline: 'esay' is none of the dispatchers: did you mean 'easy'?",
        ),
        (["--dispatchers", "easy,fcfs", "--replicates", "6", "--replicate-by", "sessions"], "names no user of any job"),
        (["--dispatchers", "easy", "--replicates", "6"], "only easy takes part, so it is compared with none"),
        (
            ["--dispatchers", "easy,fcfs", "--replicates", "60"],
            "option --replicates: 60 windows of 120 jobs have 1 each, and fewer than 10 say nothing of waits; state 6",
        ),
        (["--dispatchers", "esay", "--replicates", "6"], "no dispatcher is called 'esay'"),
    ],
)
def test_what_cannot_be_compared_is_refused(folder: Path, words: list[str], message: str) -> None:
    done = run(folder, *words)
    assert isinstance(done.exception, InputError), done.exception
    assert message in str(done.exception)
    assert not (folder / "out" / "replicates.csv").exists()


def test_all_families_take_part_where_the_workload_has_something_for_each(folder: Path) -> None:
    (folder / "torus.xml").write_bytes(torus([2, 2, 2], hosts_per_router=2))
    near = read_platform(folder / "torus.xml").machine
    plain = read_platform(folder / "flat.xml").machine
    rigid = read_workload(folder / "w.json")
    malleable, _ = made_malleable(np.random.default_rng(0), rigid, hosts=16)
    whole = members(malleable.jobs, near)
    assert [one.dispatcher for one in whole] == [
        "easy",
        "hcp19[work=0.05,wall=3600]",
        "ipsched",
        "stochastic-easy[requests=learned-ratio]",
        "easy[placement=compact]",
        "resizing[dispatcher=easy]",
    ]
    few = members(rigid.jobs, plain)
    assert [one.family for one in few if not one.dispatcher] == ["nodes that are near", "malleable jobs"]
    assert [one.name for one in few] == [one.name for one in whole]


def test_resamples_and_seeds_differ_and_slices_shrink_to_what_there_is() -> None:
    assert replicates("sessions", 2).names == ["resample 0", "resample 1"]
    assert replicates("seeds", 3).seeds(5) == [5, 6, 7]
    assert replicates("slices", 3).seeds(5) == [5, 5, 5]
