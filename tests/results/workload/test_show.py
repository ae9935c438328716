"""``workload show``: every format, the terminal, JSON and the page."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from batdispatch.cli.main import cli

SACCT = Path(__file__).parents[2] / "conformance" / "sacct" / "jobs.txt"
SWF = "; MaxProcs: 10\n; UnixStartTime: 947116800\n" + "".join(
    f"{i} {3600 * i} {60 * i} {600 * i} 2 -1 -1 2 3600 -1 1 {i % 3} 1 1 1 -1 -1 -1\n" for i in range(1, 9)
)


def shown(*words: object) -> Result:
    result = CliRunner().invoke(cli, ["workload", "show", *map(str, words)], env={"COLUMNS": "100"})
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.swf"
    path.write_text(SWF)
    return path


def test_the_terminal(log: Path) -> None:
    text = shown(log).stdout
    assert "log.swf (swf): 8 records, 8 jobs kept" in text
    assert re.search(r"^jobs +8$", text, re.MULTILINE)
    # 2 hosts of 10, of 8 jobs 36 times 600 s, and two of these 8 are killed after an hour: (36 - 1 - 2) x 600 s.
    assert re.search(r"^offered load +15.7%$", text, re.MULTILINE)
    assert re.search(r"^size \(hosts\) +2 +2 +2 +2 +2 +2 +2$", text, re.MULTILINE)
    # Jobs 1 to 5 leave 3600 - 600 i s of two hosts: 2 x 9000 s, of 10 hosts in 7 h.
    shares = r"^walltimes +62.5% of these are over-estimated, 25.0% under-estimated$"
    assert re.search(shares, text, re.MULTILINE)
    assert re.search(r"^over-estimated space +1 host-hours on average$", text, re.MULTILINE)
    assert re.search(r"^unused backfilling space +1.71 hours a day of the whole machine", text, re.MULTILINE)
    assert re.search(r"^ +over 100 % +25.0% +█+$", text, re.MULTILINE)
    assert max(map(len, text.splitlines())) <= 100
    assert "\x1b" not in text


def test_json(log: Path) -> None:
    told = json.loads(shown(log, "--json").stdout)
    assert (told["jobs"], told["unit"], told["capacity"], told["span"]) == (8, "host", 10, 7 * 3600)
    assert told["offered_load"] == pytest.approx(2 * 33 * 600 / (10 * 7 * 3600))
    assert told["quantiles"]["run time"]["0.5"] == 2700
    assert told["estimates"] == {
        "over": 5 / 8,
        "under": 2 / 8,
        "mean_space": 2 * 9000 / 5,
        "hours_a_day": pytest.approx(2 * 9000 / 10 / (7 / 24) / 3600),
    }
    assert [user["jobs"] for user in told["users"]] == [3, 3, 2]
    assert told["by_hour"] == [0] + [0.125] * 8 + [0] * 15


def test_a_workload_and_the_log_that_it_is_of(log: Path, tmp_path: Path) -> None:
    made = tmp_path / "log.json"
    assert CliRunner().invoke(cli, ["convert", str(log), "-o", str(made)]).exit_code == 0
    of_log, of_workload = (json.loads(shown(path, "--json").stdout) for path in (log, made))
    assert of_log["quantiles"].pop("waiting time in the log")["mean"] == 270
    for groups in of_log.pop("waits").values():
        assert sum(one["mean"] * one["jobs"] for one in groups) / sum(one["jobs"] for one in groups) == 270
    assert of_workload.pop("waits") == {}
    assert of_log == of_workload


def test_accounts_of_slurm() -> None:
    told = json.loads(shown(SACCT, "--json", "--time-zone", "Europe/Berlin").stdout)
    assert (told["jobs"], told["unit"], told["capacity"], told["clock"]) == (24, "core", 32, "Europe/Berlin")
    assert told["by_weekday"] == [0, 0, 0, 0, 0, 0, 1]
    assert {user["name"] for user in told["users"]} == {"ada", "bob"}
    assert told["demands"] == {"gpu": pytest.approx(2 / 24), "memory": 1}


def test_a_table_and_a_platform(tmp_path: Path) -> None:
    table, platform = tmp_path / "jobs.csv", tmp_path / "p.xml"
    table.write_text("when,took,cpus\n0,60,2\n60,60,4\n")
    words = ["platform", "generate", "flat", "--hosts", "2", "--capacity", "core=4", "-o", str(platform)]
    assert CliRunner().invoke(cli, words).exit_code == 0
    columns = "submit=when,runtime=took,cores=cpus"
    told = json.loads(shown(table, "--columns", columns, "--platform", platform, "--json").stdout)
    assert (told["capacity"], told["offered_load"], told["by_weekday"]) == (8, 0.75, None)


@pytest.mark.parametrize("path", [SACCT, None])
def test_the_page(path: Path | None, log: Path, tmp_path: Path) -> None:
    pages = []
    for name in ("a.html", "b.html"):
        assert shown(path or log, "--html", tmp_path / name).stdout.endswith(f"{tmp_path / name}\n")
        pages.append((tmp_path / name).read_text())
    page = pages[0]
    assert pages[1] == page
    assert len(page) < 300_000
    # Nothing is loaded from elsewhere.
    assert not re.search(r"<script|<link|<img|url\((?!#)|(?:href|src)=\"(?!#)", page)
    titles = re.findall(r"<h3>(.*?)</h3>", page)
    assert titles == [
        "Load over time", "As the log ran", "Queue in the log", "Sizes", "Run times", "Walltime accuracy",
        "Arrivals by hour", "Arrivals by weekday",
    ]  # fmt: skip
    assert page.count("<svg") == len(titles)
    assert len(set(re.findall(r'\bid="([^"]*)"', page))) == len(re.findall(r'\bid="', page))


def test_names_stand_in_the_page_as_they_are(tmp_path: Path) -> None:
    table = tmp_path / "jobs.csv"
    table.write_text("when,took,cpus,who\n0,60,2,<b>&\n60,60,4,[red]x\n")
    columns = "submit=when,runtime=took,cores=cpus,user=who"
    text = shown(table, "--columns", columns, "--html", tmp_path / "p.html").stdout
    assert "[red]x" in text
    page = (tmp_path / "p.html").read_text()
    assert "&lt;b&gt;&amp;" in page
    assert "<b>" not in page


def test_one_job(tmp_path: Path) -> None:
    workload = tmp_path / "w.json"
    job = {"id": "1", "subtime": 0, "res": 1, "profile": "p"}
    for profile in ({"type": "delay", "delay": 5}, {"type": "parallel_homogeneous", "cpu": 1e9, "com": 0}):
        workload.write_text(json.dumps({"nb_res": 1, "jobs": [job], "profiles": {"p": profile}}))
        assert "jobs" in shown(workload, "--html", tmp_path / "p.html").stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["empty.json"], "has no jobs"),
        (["empty.json", "--units", "cores"], "option --units: is for logs"),
        (["none.swf"], "none.swf: cannot be read"),
    ],
)
def test_refusals(words: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty.json").write_text('{"nb_res": 1, "jobs": [], "profiles": {}}')
    result = CliRunner().invoke(cli, ["workload", "show", *words])
    assert told in str(result.exception)
