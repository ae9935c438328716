"""Where a dispatcher loses: the jobs that make the difference between two means, and the reasons in the report."""

import shutil
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from pathlib import Path
from typing import Any

import pytest

from batdispatch.report import losses
from batdispatch.report.losses import begin_losses
from batdispatch.report.page import render
from batdispatch.results.runs import read_runs
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec
from batdispatch.runs.workers import workers_beside
from sealing import seal

ROOT = Path(__file__).parents[2]
Call = Callable[..., tuple[int, str, str]]
DISPATCHERS = ("easy", "fcfs")
pytestmark = pytest.mark.usefixtures("unillustrated")


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compared")
    for name in DISPATCHERS:
        platform, workload = ROOT / "platforms/flat64.xml", ROOT / "workloads/demo64.json"
        execute(RunSpec(platform=str(platform), workload=str(workload), dispatcher=name), folder / name)
    return folder


@pytest.fixture(scope="module")
def page(compared: Path) -> str:
    return render(read_runs([compared / name for name in DISPATCHERS]))


@pytest.fixture
def folders(compared: Path, tmp_path: Path) -> list[Path]:
    """Runs that a test may damage."""
    return [Path(shutil.copytree(compared / name, tmp_path / name)) for name in DISPATCHERS]


def test_shares_are_of_the_difference_between_the_means(folders: list[Path]) -> None:
    runs = read_runs(folders)
    best, (loser,), _ = begin_losses(runs, most=10_000)()
    assert (best, loser.label) == ("easy", "fcfs")
    # Every job is there, so that together they make up the difference, and more where the others fared better.
    assert loser.share == pytest.approx(sum(loss.share for loss in loser.losses))
    assert loser.share >= 1 - 1e-9
    assert [loss.share for loss in loser.losses] == sorted((loss.share for loss in loser.losses), reverse=True)
    difference = float(runs[1].metrics["mean_bounded_slowdown"] or 0) - float(
        runs[0].metrics["mean_bounded_slowdown"] or 0
    )
    assert float(loser.difference.replace(",", "")) == pytest.approx(difference, rel=0.01)
    _, (few,), _ = begin_losses(runs, most=3)()
    assert few.losses == loser.losses[:3]


def test_the_page_gives_the_reason_of_each(folders: list[Path], page: str) -> None:
    _, (loser,), _ = begin_losses(read_runs(folders))()
    assert '<section id="losses"' in page
    assert '<a href="#losses">' in page
    for loss in loser.losses:
        assert f"<strong>{loss.job.removeprefix('w0!')}</strong>" in page
        assert loss.why.startswith("Waited ")
    assert "explain-wait" in page


@pytest.mark.parametrize("case", ["unrecorded", "alone", "refused", "the best twice"])
def test_no_section_where_nothing_can_be_said(case: str, folders: list[Path]) -> None:
    if case == "unrecorded":
        (folders[1] / "decisions.jsonl").unlink()
    elif case == "alone":
        del folders[0]
    elif case == "the best twice":
        folders[1] = Path(shutil.copytree(folders[0], folders[0].parent / "again"))
    page = render(read_runs(folders), explain=case != "refused")
    assert 'id="losses"' not in page


def test_a_damaged_recording_costs_only_the_reasons(folders: list[Path]) -> None:
    recording = folders[1] / "decisions.jsonl"
    recording.write_bytes(recording.read_bytes()[:5000])
    seal(folders[1])
    _, (loser,), _ = begin_losses(read_runs(folders))()
    assert not loser.losses
    assert "cannot be followed" in loser.note
    assert "cannot be followed" in render(read_runs(folders))


def test_the_recording_of_another_run_is_noticed(folders: list[Path]) -> None:
    shutil.copy(folders[0] / "decisions.jsonl", folders[1])
    seal(folders[1])
    _, (loser,), _ = begin_losses(read_runs(folders))()
    assert loser.note == "Its recorded decisions are not those of its jobs file."


def test_the_commands_can_leave_it_out(folders: list[Path], call: Call, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    status, _, err = call("report", *folders, "-o", page, "--no-explain")
    assert (status, err) == (0, "")
    assert 'id="losses"' not in page.read_text()


def test_workers_beside_find_what_this_process_finds(
    compared: Path, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(losses, "LITTLE", 0)
    runs = read_runs([compared / name for name in DISPATCHERS])
    with workers_beside(0) as nobody:
        assert nobody is None
    with workers_beside(1) as workers:
        assert render(runs, workers=workers) == page


def test_a_worker_that_dies_takes_no_page_with_it(folders: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(losses, "LITTLE", 0)

    class Dead(Executor):
        def submit(self, task: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
            future: Future[Any] = Future()
            future.set_exception(BrokenExecutor())
            return future

    page = render(read_runs(folders), workers=Dead())
    assert "the process that did so died" in page
