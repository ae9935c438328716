"""Every place that shows metrics counts a job once, however many attempts it took.

The workload is one on which both readings contradict each other: counted by attempt, the dispatcher that tries often
waits less; counted by job, it waits more.
"""

import importlib.util
import json
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from batdispatch.core.machine.machine import Machine
from batdispatch.inputs.workloads import read_workload
from batdispatch.report import pictures
from batdispatch.report.comparison import metric_rows
from batdispatch.results.metrics.compute import compute
from batdispatch.results.metrics.sample import sample_of
from batdispatch.results.runs import Run, read_runs
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec

ROOT = Path(__file__).parents[2]
PLATFORM = ROOT / "platforms" / "flat8.xml"
ONCE, OFTEN = "stochastic-easy[requests=hpc]", "stochastic-easy[requests=factor]"
Call = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def workload(tmp_path_factory: pytest.TempPathFactory) -> Path:
    jobs = [
        {"id": "1", "subtime": 0, "res": 8, "profile": "d60", "runtime_law": "texp:0,100,20"},
        {"id": "2", "subtime": 1, "res": 8, "walltime": 61, "profile": "d60"},
        {"id": "3", "subtime": 2, "res": 8, "walltime": 61, "profile": "d60"},
    ]
    profiles = {"d60": {"type": "delay", "delay": 60}}
    path = tmp_path_factory.mktemp("tried") / "tried.json"
    path.write_text(json.dumps({"nb_res": 8, "jobs": jobs, "profiles": profiles}))
    return path


@pytest.fixture(scope="module")
def runs(workload: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    out = tmp_path_factory.mktemp("runs")
    folders = []
    for text in ("hpc", "factor"):
        spec = RunSpec(
            platform=str(PLATFORM), workload=str(workload), dispatcher="stochastic-easy", options={"requests": text}
        )
        folders.append(out / spec.label)
        execute(spec, folders[-1])
    return read_runs(folders)


def by_hand(run: Run) -> dict[str, float]:
    """Mean wait and turnaround of the three jobs, from the rows of jobs.csv; attempts are told by their names."""
    waits, turnarounds = [], []
    for job in ("1", "2", "3"):
        rows = run.frame[run.frame["job_id"].str.split("~").str[0] == job]
        turnaround = float(rows["finish_time"].max() - rows["submission_time"].min())
        turnarounds.append(turnaround)
        waits.append(turnaround - float((rows["finish_time"] - rows["starting_time"]).sum()))
    return {"mean_waiting_time": float(np.mean(waits)), "mean_turnaround_time": float(np.mean(turnarounds))}


def test_the_readings_contradict_each_other(runs: list[Run]) -> None:
    once, often = runs
    assert len(often.frame) > 5
    for name in ("mean_waiting_time", "mean_turnaround_time"):
        attempts = [compute(sample_of(run.columns))[name] for run in runs]
        assert attempts[1] < 0.8 * attempts[0], "by attempt, trying often seems better"  # type: ignore[operator]
        assert by_hand(often)[name] > 1.1 * by_hand(once)[name], "by job, it is worse"
        for run in runs:
            assert run.metrics[name] == pytest.approx(by_hand(run)[name])


@pytest.mark.parametrize("dispatcher", [ONCE, OFTEN])
def test_run_prints_them_by_job(call: Call, runs: list[Run], workload: Path, tmp_path: Path, dispatcher: str) -> None:
    truth = by_hand(runs[dispatcher == OFTEN])
    command = ["run", "--platform", PLATFORM, "--workload", workload, "--dispatcher", dispatcher, "--out", tmp_path]
    status, out, _ = call(*command)
    assert status == 0
    assert terminal(out, "mean wait") == pytest.approx([truth["mean_waiting_time"]], rel=5e-3)
    assert terminal(out, "mean turnaround") == pytest.approx([truth["mean_turnaround_time"]], rel=5e-3)
    _, out, _ = call(*command, "--json")
    metrics = json.loads(out)["metrics"]
    assert {name: metrics[name] for name in truth} == pytest.approx(truth)
    assert metrics["nb_jobs"] == 3


def test_compare_prints_them_by_job(
    call: Call, runs: list[Run], workload: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Wide enough for a row per metric.
    monkeypatch.setenv("COLUMNS", "200")
    truths = [by_hand(run) for run in runs]
    command = ["compare", "--platform", PLATFORM, "--workload", workload, "--dispatchers", f"{ONCE},{OFTEN}"]
    command += ["--no-record", "--no-explain"]
    status, out, _ = call(*command, "--out", tmp_path, "--jobs", "1")
    assert status == 0
    for label, name in (("mean wait", "mean_waiting_time"), ("mean turnaround", "mean_turnaround_time")):
        assert terminal(out, label) == pytest.approx([truth[name] for truth in truths], rel=5e-3)
    # What --json prints.
    found = [json.loads((tmp_path / run.label / "result.json").read_text())["metrics"] for run in runs]
    assert [{name: each[name] for name in truths[0]} for each in found] == [pytest.approx(truth) for truth in truths]


def terminal(out: str, label: str) -> list[float]:
    """Return the seconds in a line of the terminal's table, which has the unit that reads best."""
    (found,) = re.finditer(rf"^{label} \((s|min|h|d)\) (.*)$", out, re.MULTILINE)
    scale = {"s": 1, "min": 60, "h": 3600, "d": 86400}[found[1]]
    return [scale * float(text.rstrip("*").replace(",", "")) for text in found[2].split()]


def test_the_report_shows_them_by_job(runs: list[Run]) -> None:
    for name, row in zip(
        ("mean_waiting_time", "mean_turnaround_time"),
        metric_rows(runs, only=["mean_waiting_time", "mean_turnaround_time"]),
        strict=True,
    ):
        assert [cell.value for cell in row.cells] == pytest.approx([by_hand(run)[name] for run in runs])
        assert [cell.best for cell in row.cells] == [True, False]


def test_the_curves_are_of_jobs(runs: list[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    distributions, loads = [], []

    def distribution(values, **options):  # type: ignore[no-untyped-def]
        distributions.append({name: sorted(found.tolist()) for name, found in values.items()})
        return draw(values, **options)

    def load(spans, **options):  # type: ignore[no-untyped-def]
        loads.append((options["label"], spans))
        return draw_load(spans, **options)

    draw, draw_load = pictures.distribution_figure, pictures.load_figure
    monkeypatch.setattr(pictures, "distribution_figure", distribution)
    monkeypatch.setattr(pictures, "load_figure", load)
    pictures.compared_curves(runs, {})
    waits, slowdowns = distributions
    for run in runs:
        assert len(waits[run.label]) == len(slowdowns[run.label]) == 3
        assert np.mean(waits[run.label]) == pytest.approx(by_hand(run)["mean_waiting_time"])
        (spans,) = [spans[run.label] for label, spans in loads if label == "waiting jobs"]
        begin, end, counted = spans
        assert ((end - begin) * counted).sum() == pytest.approx(3 * by_hand(run)["mean_waiting_time"], abs=0.01)


def benchmark(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", ROOT / "benchmarks" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_benchmark_is_by_job(runs: list[Run], workload: Path) -> None:
    made = benchmark("constraint")
    for run, text in zip(runs, ("hpc", "factor"), strict=True):
        found = made.simulate(Machine.flat(8), read_workload(workload), "stochastic-easy", {"requests": text})
        assert len(found.wait) == len(found.slowdown) == 3
        assert found.wait.mean() == pytest.approx(by_hand(run)["mean_waiting_time"])


def test_what_is_per_attempt_says_so(runs: list[Run]) -> None:
    result = json.loads((runs[1].folder / "result.json").read_text())
    attempts = len(runs[1].frame)
    assert result["attempts"]["failures_per_job"] == (attempts - 3) / 3
    assert result["report"]["failed_attempts"] == attempts - 3
