"""Makes the demonstration anew with the manual: its report as a page of the manual, and pictures of it.

The picture of the first page stands in the repository, too, since the README shows it. A build replaces it when it has
come to look different, and a test fails until that is done. The picture that evalys draws is the manual's alone.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from evalys.visu import legacy
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.image import imread, imsave
from mkdocs.structure.files import File, Files
from numpy.typing import NDArray

from batdispatch.api.results import load
from batdispatch.cli.demo import DISPATCHERS
from batdispatch.cli.main import cli
from batdispatch.report import style
from batdispatch.report.gantt import gantt
from batdispatch.report.pictures import curve_figures
from batdispatch.results.runs import read_runs

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs/images/demonstration.png"
#: Folder of the demonstration's results.
RESULTS = "demo-results"
#: What evalys draws of them, in the manual.
BY_EVALYS = "images/demonstration-by-evalys.png"
#: Largest mean difference of two pictures that look the same (another FreeType, say), in shades of 255.
SAME = 1.0


def on_files(files: Files, config: Any) -> Files:
    """Add the report of the demonstration (mkdocs calls this before it reads the pages)."""
    with tempfile.TemporaryDirectory() as folder:
        report = simulate(Path(folder))
        picture = draw(Path(folder))
        files.append(File.generated(config, BY_EVALYS, content=drawn_by_evalys(Path(folder))))
        files.append(File.generated(config, "demonstration/index.html", content=report.read_text(encoding="utf-8")))
    if not PICTURE.exists() or difference(picture, PICTURE) > SAME:
        write(picture, PICTURE)
    return files


def simulate(folder: Path) -> Path:
    """Run the demonstration into a folder and return the path of its report."""
    # The report names its inputs by paths from here, so that it says the same wherever the manual is built.
    quiet = contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO())
    with contextlib.chdir(folder), quiet[0], quiet[1]:
        cli(["demo", "--out", RESULTS], standalone_mode=False)
    return folder / RESULTS / "report" / "index.html"


def draw(folder: Path) -> NDArray[np.uint8]:
    """Return the curves and the Gantt charts (by evalys) of the demonstration, uint8 [row, column, rgb]."""
    runs = read_runs([folder / RESULTS / name for name in DISPATCHERS.split(",")])
    curves = curve_figures(runs, {})
    figures = [(title, make()) for title, _, make in curves[:3]]
    end = max(float(np.nanmax(run.columns.finish_time)) for run in runs)
    figures += [(run.label, gantt(run.columns, run.hosts or 0, begin=0.0, end=end)) for run in runs]
    tiles = [_pixels(title, figure) for title, figure in figures]
    columns = [np.concatenate(tiles[start : start + 3]) for start in (0, 3)]
    height = max(len(column) for column in columns)
    padded = [np.pad(column, ((0, height - len(column)), (0, 0), (0, 0)), constant_values=255) for column in columns]
    return np.concatenate(padded, axis=1)


def drawn_by_evalys(folder: Path, label: str = "easy") -> bytes:
    """Return a PNG that evalys alone draws of a run of the demonstration: its utilisation and its Gantt chart."""
    jobset = load(folder / RESULTS)[label].jobset()
    figure = Figure(figsize=(9, 6), layout="constrained")
    above, below = figure.subplots(2, sharex=True)
    legacy.plot_load(jobset.utilisation, jobset.MaxProcs, legend_label="utilisation", ax=above)
    legacy.plot_gantt(jobset, ax=below, labels=False, title=label)
    below.set_xlabel("time (seconds)")
    with io.BytesIO() as buffer:
        figure.savefig(buffer, dpi=120, metadata={"Software": None})
        return buffer.getvalue()


def difference(picture: NDArray[np.uint8], path: Path) -> float:
    """Return the mean difference between a picture and one in a file, in shades of 255; infinite if sizes differ."""
    known = (imread(path)[..., :3] * 255).round()
    return float(np.abs(known - picture).mean()) if known.shape == picture.shape else float("inf")


def write(picture: NDArray[np.uint8], path: Path) -> None:
    """Write a picture as PNG, without the version of what wrote it."""
    path.parent.mkdir(exist_ok=True)
    imsave(path, picture, metadata={"Software": None})


def _pixels(title: str, figure: Figure) -> NDArray[np.uint8]:
    with style.own_style():
        figure.suptitle(title, x=0.02, ha="left", fontsize=11, fontweight="bold")
        figure.set_dpi(120)
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()
