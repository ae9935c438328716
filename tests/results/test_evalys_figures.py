"""Figures by evalys, as files; and which of evalys' numbers are right."""

import json
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from lxml import etree

from batdispatch.cli.main import cli
from batdispatch.core.errors import InputError
from batdispatch.report import evalys_figures
from batdispatch.report.evalys_bridge import jobset
from batdispatch.results.runs import Run, read_run, read_runs
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec
from browsing import barriers, needs_browser, opened

EXAMPLES = Path(__file__).parents[2] / "schedulers" / "batdispatch" / "examples"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_of(EXAMPLES / "demo64.json", tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run of few jobs: evalys draws one rectangle after the other."""
    folder = tmp_path_factory.mktemp("runs")
    workload = json.loads((EXAMPLES / "demo64.json").read_text())
    (folder / "short.json").write_text(json.dumps({**workload, "jobs": workload["jobs"][:60]}))
    return run_of(folder / "short.json", folder)


def run_of(workload: Path, folder: Path) -> Run:
    execute(RunSpec(platform=str(EXAMPLES / "flat64.xml"), workload=str(workload), dispatcher="easy"), folder / "easy")
    return read_run(folder / "easy")


def free_hosts(run: Run, time: float) -> int:
    jobs = run.columns
    held = jobs.hosts.sizes[(jobs.starting_time <= time) & (time < jobs.finish_time)].sum()
    return (run.hosts or 0) - int(held)


def test_evalys_and_our_metrics_agree_where_the_page_says_so(run: Run) -> None:
    jobs, found = run.columns, jobset(run.frame, run.hosts or 0)
    assert found.mean_utilisation() / (run.hosts or 1) == pytest.approx(run.metrics["utilisation"])
    times, units = found.queue.index.to_numpy(dtype=float), found.queue.load.to_numpy(dtype=float)
    waited = ((jobs.starting_time - jobs.submission_time) * jobs.requested_number_of_resources).sum()
    assert (units[:-1] * np.diff(times)).sum() == pytest.approx(waited)
    free = found.free_intervals()
    for time, intervals in zip(free["time"][::40], free["free_itvs"][::40], strict=True):
        last = free["free_itvs"][free["time"] == time].iloc[-1]
        assert len(last) == free_hosts(run, time), intervals
    assert free["time"].iloc[-1] < jobs.finish_time.max()


def test_evalys_is_wrong_where_the_page_says_so(run: Run) -> None:
    found = jobset(run.frame, run.hosts or 0)
    free = found.free_intervals(100_000.0, 200_000.0)["free_itvs"]
    assert [len(free.iloc[0]), len(free.iloc[-1])] == [64, 0]
    assert [free_hosts(run, time) for time in (100_000.0, 200_000.0)] == [41, 44]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(TypeError):
            found.mean_utilisation(100_000.0, 200_000.0)
        with pytest.raises(AttributeError, match="set_value"):
            found.fragmentation()


def test_a_part_of_two_runs_is_exported(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "figures"
    arguments = ["export", "evalys", str(run.folder), "-o", str(out), "--from", "100000", "--to", "30h"]
    told = CliRunner().invoke(cli, arguments, catch_exceptions=False)
    assert told.exit_code == 0, told.output
    names = {path.name for path in out.iterdir()}
    drawn = {
        f"easy-{figure}.{kind}"
        for figure in ("gantt", "free", "lifecycle", "load", "utilisation", "queue", "machine")
        for kind in ("svg", "png")
    }
    assert names == {"easy.csv", "easy-machine_states.csv", "index.html"} | drawn
    assert (out / "easy-machine_states.csv").read_bytes() == (run.folder / "machine_states.csv").read_bytes()
    assert told.output.split()[-2:] == [str(out / "index.html"), str(out)]
    jobs = run.columns
    inside = jobs.ran & (jobs.finish_time > 100_000) & (jobs.starting_time < 108_000)
    assert len((out / "easy.csv").read_text().splitlines()) == 1 + inside.sum()
    chart = etree.parse(out / "easy-gantt.svg").getroot()
    assert len(chart.findall(".//{*}path")) > inside.sum()
    assert (out / "easy-gantt.png").read_bytes().startswith(b"\x89PNG")


def test_figures_of_more_jobs_than_evalys_draws_are_left_out(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evalys_figures, "MOST_JOBS", 10)
    steps: list[tuple[int, int]] = []
    monkeypatch.setattr(evalys_figures, "FORMATS", ("svg",))
    paths = evalys_figures.write_figures([run], tmp_path, progress=lambda done, total: steps.append((done, total)))
    figures = {"easy-utilisation.svg", "easy-queue.svg", "easy-machine.svg"}
    assert {path.name for path in paths} == {"easy.csv", "easy-machine_states.csv", "index.html"} | figures
    assert steps == [(0, 3), (1, 3), (2, 3), (3, 3)]


@needs_browser
def test_a_page_shows_the_figures_and_says_what_not_to_trust_and_a_report_links_to_it(
    short: Run, tmp_path: Path
) -> None:
    runs = [shutil.copytree(short.folder, tmp_path / name) for name in ("one", "two")]
    report = CliRunner().invoke(cli, ["report", *map(str, runs), "-o", str(tmp_path / "report.html")]).output.strip()
    assert f"-o {tmp_path / 'evalys'}" in Path(report).read_text()
    paths = evalys_figures.write_figures(read_runs(runs), tmp_path / "evalys")
    with opened(paths[-1], tmp_path) as shown:
        wide = shown.evaluate(
            "Promise.all([...document.images].map((one) => one.decode().then(() => one.naturalWidth)))"
        )
        assert len(wide) == len([path for path in paths if path.suffix == ".svg"])
        assert all(wide)
        assert "free_intervals(begin, end) is wrong" in shown.locator("#trust").inner_text()
        assert shown.get_by_role("heading", name="Gantt charts on top of each other").is_visible()
        assert barriers(shown) == []
    report = CliRunner().invoke(cli, ["report", *map(str, runs), "-o", str(tmp_path / "report.html")]).output.strip()
    with opened(Path(report), tmp_path) as shown:
        shown.get_by_role("link", name="Figures by evalys").click()
        assert shown.locator("h1").inner_text() == "Figures by evalys"


def test_hosts_that_sleep_are_drawn_if_they_do(short: Run, tmp_path: Path) -> None:
    path = tmp_path / "pstate_changes.csv"
    assert evalys_figures.asleep_states(path) == set()
    path.write_text("time,machine_id,new_pstate\n0,0-63,0\n")
    assert evalys_figures.asleep_states(path) == set()
    path.write_text("time,machine_id,new_pstate\n0,0-63,0\n5,3-5,-2\n6,4,13\n7,3 5,12\n8,4,-1\n9,4,0\n")
    assert evalys_figures.asleep_states(path) == {12, 13}
    folder = shutil.copytree(short.folder, tmp_path / "easy")
    slept = read_run(folder)
    shutil.copy(path, folder / path.name)
    assert tmp_path / "out" / "easy-power.svg" in evalys_figures.write_figures([slept], tmp_path / "out")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--from", "2026-03-01"], "this workload has no dates"),
        (["--from", "tomorrow"], "is no time"),
        (["--user", "nobody"], "no job of easy is of user nobody"),
        (["--from", "900d"], "no job of easy is left"),
    ],
)
def test_bad_parts_are_refused(run: Run, more: list[str], said: str, tmp_path: Path) -> None:
    told = CliRunner().invoke(cli, ["export", "evalys", str(run.folder), "-o", str(tmp_path / "out"), *more])
    assert isinstance(told.exception, InputError)
    assert said in str(told.exception)
