"""What really happened stands beside simulations: the log as a run, and its dates."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import made_up_site
from batdispatch import compare, report
from batdispatch.cli.main import cli
from batdispatch.core.errors import InputError
from batdispatch.results.jobs_file import read_columns


def test_the_log_is_a_column_and_a_folder(tmp_path: Path) -> None:
    site = made_up_site.make(tmp_path / "site", jobs=200, seed=3, dispatcher="easy")
    out = tmp_path / "out"
    settings = {"slurm": str(site.slurm), "time_zone": "UTC"}
    comparison = compare(site.accounts, "easy,fcfs", with_log=True, out=out, **settings)
    figures = comparison.figures
    assert list(figures) == ["easy", "fcfs", "the-log"]
    assert figures["the-log"]["mean_waiting_time"] == pytest.approx(figures["easy"]["mean_waiting_time"], rel=0.02)
    truth, log = (read_columns(folder / "jobs.csv") for folder in (site.run, out / "the-log"))
    names = dict(zip(truth.job_id.tolist(), truth.allocated_resources.tolist(), strict=True))
    assert dict(zip(log.job_id.tolist(), log.allocated_resources.tolist(), strict=True)) == names
    audited = CliRunner().invoke(cli, ["check", "--replay", "never", str(out)])
    assert audited.exit_code == 0, audited.output
    assert "the-log" not in audited.output
    report(out, explain=False)
    page = (out / "report" / "index.html").read_text()
    # It is held to be no simulation, and does not make those beside it incomparable.
    assert "the-log is no simulation" in page
    assert "under easy" in page.partition('class="answer"')[2].partition("</p>")[0]
    assert "do not compare" not in page
    assert "made on different machines" not in page


SWF = "".join(f"{row} {row} {wait} 50 {size} -1 -1 {size} 100 -1 1 1 1 1 1 -1 -1 -1\n" for row, wait, size in
              [(1, 0, 3), (2, 0, 1), (3, 60, 4), (4, 5, 2)])  # fmt: skip


def test_a_log_without_nodes_gets_free_hosts(tmp_path: Path) -> None:
    """Job 4 ran beside jobs 1 and 2 on a machine of four hosts, so it gets hosts that are in use."""
    (tmp_path / "log.swf").write_text(
        "; MaxProcs: 4\n; UnixStartTime: 1772438400\n; TimeZoneString: Europe/Berlin\n" + SWF
    )
    compare(tmp_path / "log.swf", "easy", with_log=True, out=tmp_path / "out")
    columns = read_columns(tmp_path / "out" / "the-log" / "jobs.csv")
    hosts = dict(zip(columns.job_id.tolist(), columns.allocated_resources.tolist(), strict=True))
    assert (hosts["1"], hosts["2"], hosts["3"]) == ("0-2", "3", "0-3")
    assert np.sort(columns.waiting_time).tolist() == [0.0, 0.0, 5.0, 60.0]
    said = CliRunner().invoke(cli, ["explain-wait", str(tmp_path / "out" / "easy"), "3"]).output
    assert "by the site's clock, Europe/Berlin: submitted 2026-03-02 09:00:03+01:00" in said
    told = json.loads(CliRunner().invoke(cli, ["explain-wait", str(tmp_path / "out" / "easy"), "3", "--json"]).output)
    assert told["dates"]["submitted"] == "2026-03-02 09:00:03+01:00"


def test_what_is_no_log_is_refused_and_so_are_replicates(tmp_path: Path) -> None:
    (tmp_path / "w.json").write_text('{"nb_res": 1, "jobs": [], "profiles": {}}')
    (tmp_path / "log.swf").write_text(SWF)
    with pytest.raises(InputError, match="is for logs"):
        compare(tmp_path / "w.json", "easy", with_log=True)
    with pytest.raises(InputError, match="does not go with --replicates"):
        compare(tmp_path / "log.swf", "easy", with_log=True, replicates=2)
