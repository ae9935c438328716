"""What Python calls to look at results: the report."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

from batdispatch.core import extras
from batdispatch.core.abilities import missing_ability
from batdispatch.core.errors import InputError
from batdispatch.core.line import registry

#: Entry-point group of pages over folders that hold runs of many replicates: a function that writes the page of a
#: folder into a file, with a title and a baseline, and returns what it shows.
PAGES = "batdispatch.pages"


class Page:
    """A page of HTML; as a path it is its file.

    Attributes:
        path: of the file.
        facts: what it shows, as ``batdispatch report --json`` prints it.
    """

    def __init__(self, path: Path, facts: dict[str, Any]) -> None:
        self.path, self.facts = path, facts

    def __fspath__(self) -> str:
        return str(self.path)

    __str__ = __fspath__

    def __repr__(self) -> str:
        return f"<page {self.path}>"

    def _repr_html_(self) -> str:
        return f'<a href="{escape(self.path.absolute().as_uri())}">{escape(str(self.path))}</a>'


def report(
    *folders: str | PathLike[str],
    page: str | PathLike[str] | None = None,
    title: str | None = None,
    baseline: str | None = None,
    explain: bool = True,
) -> Page:
    """Write one HTML page over runs, or over a campaign or a comparison with replicates.

    Args:
        folders: of runs, or of folders that hold several.
        page: the file, or a folder that gets an index.html; None: ``report/index.html`` in the folder, or here if there
            are several.
        title: its heading.
        baseline: of a campaign or a comparison with replicates: compare the other dispatchers with this one.
        explain: whether it says why jobs waited.

    Raises:
        InputError: a folder holds no run, a file in it is malformed, or a library is not installed.
    """
    extras.check("report", "a report")
    from batdispatch.report.comparison import warnings
    from batdispatch.report.page import link_to_figures, render, write_page
    from batdispatch.report.page_sections import beside
    from batdispatch.results.run_files import has_replicates
    from batdispatch.results.runs import find_runs, read_runs
    from batdispatch.results.starvation import beside_easy

    paths = [Path(folder) for folder in folders]
    output = (paths[0] if len(paths) == 1 else Path()) / "report" if page is None else Path(page)
    output = output if output.suffix else output / "index.html"
    if len(paths) == 1 and has_replicates(paths[0]):
        write: Callable[..., dict[str, Any]] | None = registry.load(PAGES, "replicates", "page over runs")
        if write is None:
            raise missing_ability("campaigns", str(paths[0]))
        return Page(output, write(paths[0], output, title, baseline))
    if baseline is not None:
        raise InputError(
            "is for the folder of a campaign or of a comparison with replicates", source="option --baseline"
        )
    runs = beside_easy(read_runs(find_runs(paths)))
    link = link_to_figures(beside(runs), output)
    path = write_page(render(runs, title=title, explain=explain, figures=link), output)
    shown = [{"label": run.label, "folder": str(run.folder), "metrics": run.metrics} for run in runs]
    return Page(path, {"report": str(path), "warnings": warnings(runs), "runs": shown})
