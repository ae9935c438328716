"""The example notebook runs from top to bottom, and what it shows is right."""

import csv
import statistics
from pathlib import Path
from typing import Any

import matplotlib as mpl
import nbformat
import pytest

from batdispatch.cli.main import cli
from notebooks import show

EXAMPLES = Path(__file__).parents[2] / "docs/examples"
NOTEBOOK = EXAMPLES / "demonstration.ipynb"
#: How an object says that a notebook can show more of it than its text.
RICH = ("_repr_html_", "_repr_png_", "_repr_svg_", "_repr_mimebundle_")


@pytest.fixture(scope="module")
def notebook() -> Any:
    return nbformat.read(NOTEBOOK, as_version=4)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.stem)
def test_every_notebook_is_stored_without_results(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert notebook.metadata.keys() <= {"kernelspec", "language_info"}
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)


def test_it_runs_and_says_what_the_files_say(
    notebook: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "batdispatch demo" in notebook.cells[0].source
    cli.main(["demo"], standalone_mode=False)
    names: dict[str, Any] = {"__name__": "__main__"}
    capsys.readouterr()
    with mpl.rc_context({"backend": "agg"}):
        from matplotlib import pyplot as plt

        # Whatever another test has left open.
        plt.close("all")
        shown = [show(cell.source, names) for cell in notebook.cells if cell.cell_type == "code"]
        plotted = [plt.figure(number).axes for number in plt.get_fignums()]
        plt.close("all")
    runs, metrics, head, chart, gain, by_size, _, loads, _ = shown
    for each in (metrics, head, chart, gain, by_size):
        assert any(hasattr(each, name) for name in RICH), f"a notebook shows {type(each)} as a text"
    assert chart._repr_png_().startswith(b"\x89PNG")
    assert sorted(runs) == ["conservative", "easy", "fcfs"]
    waits: dict[str, dict[str, float]] = {}
    for label in ("fcfs", "easy"):
        with (tmp_path / "demo-results" / label / "jobs.csv").open() as file:
            waits[label] = {row["job_id"]: float(row["waiting_time"]) for row in csv.DictReader(file)}
    assert metrics.loc["easy", "mean_waiting_time"] == round(statistics.mean(waits["easy"].values()), 2)
    gains = {job: wait - waits["easy"][job] for job, wait in waits["fcfs"].items()}
    assert gain.loc["mean", "gain, s"] == round(statistics.mean(gains.values()))
    assert by_size["count"].sum() == len(gains)
    less, more = (sum(sign * one > 0 for one in gains.values()) for sign in (1, -1))
    told = f"{less} jobs wait less under easy than under fcfs, {more} wait longer."
    assert told in capsys.readouterr().out
    by_evalys, ours = loads
    assert by_evalys == pytest.approx(ours)
    # One picture of waits with a curve per run; one by evalys, with a rectangle per stretch of hosts of each job.
    [[curves], [_, by_job]] = plotted
    assert [line.get_label() for line in curves.lines] == ["fcfs", "easy"]
    with (tmp_path / "demo-results" / "easy" / "jobs.csv").open() as file:
        stretches = sum(len(row["allocated_resources"].split()) for row in csv.DictReader(file))
    assert len(by_job.patches) + len(by_job.artists) == stretches
