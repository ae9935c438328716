"""What Python calls to look at results: the check and the report."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from batdispatch.api.listeners import default_listener
from batdispatch.core import extras
from batdispatch.core.errors import InputError
from batdispatch.runs.listener import Listener

if TYPE_CHECKING:
    from batdispatch.audit.findings import Violation
    from batdispatch.runs.checks.check import Report
    from batdispatch.runs.checks.options import When

#: Seconds for making runs again, unless said.
BUDGET = 600.0


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


class Audit:
    """What an audit found.

    Attributes:
        findings: what was found about each folder and each table, with what was checked.
    """

    def __init__(self, findings: Report) -> None:
        self.findings = findings

    def __repr__(self) -> str:
        return f"<audit of {len(self.findings.runs)} runs: {len(self.violations)} violations shown>"

    @property
    def violations(self) -> list[tuple[Path, Violation]]:
        """What is wrong, and where; of many of a kind, the first ones."""
        checked = (*self.findings.runs, *self.findings.tables)
        return [(one.path, violation) for one in checked for violation in one.findings.kept]

    @property
    def undone(self) -> dict[Path, str]:
        """Folder of a run that could not be made again -> why; without it nobody knows that all is well."""
        return {one.path: "; ".join(one.findings.undone.values()) for one in self.findings.runs if one.findings.undone}

    @property
    def clean(self) -> bool:
        """Whether nothing is wrong and every run was made again."""
        return not self.violations and not self.undone


def check(
    *folders: str | PathLike[str],
    platform: str | PathLike[str] | None = None,
    workload: str | PathLike[str] | None = None,
    events: str | PathLike[str] | None = None,
    master_host: str | None = None,
    roles: Mapping[str, str] = {},
    replay: When = "auto",
    budget: float | None = None,
    sample: int | None = None,
    seed: int = 0,
    limit: int = 100,
    listener: Listener | None = None,
) -> Audit:
    """Audit every file of runs against workload, platform and decisions, and make the runs again.

    Args:
        folders: of runs, comparisons, campaigns or leaderboards.
        platform: of every run; None: the one that each notes. So are the others.
        workload: of every run.
        events: external events of every run.
        master_host: the host that carries Batsim.
        roles: of hosts that Batsim was told one of.
        replay: whether runs are made again: ``auto``: unless that runs a source file; ``always``; ``never``.
        budget: seconds for making runs again, all together; None: 600, and no limit with ``always``.
        sample: look at so many runs, drawn at random; None: at all.
        seed: of that drawing.
        limit: most violations kept of a kind.
        listener: as for `run`.

    Raises:
        InputError: a folder holds no run, or a file is missing or malformed.
    """
    from batdispatch.runs.checks.again import Budget
    from batdispatch.runs.checks.check import check as audit
    from batdispatch.runs.checks.options import CheckOptions

    how = CheckOptions(
        platform=_path(platform),
        workload=_path(workload),
        events=_path(events),
        master_host=master_host,
        roles=dict(roles),
        replay=replay,
        sample=sample,
        seed=seed,
        limit=limit,
    )
    seconds = BUDGET if budget is None and replay == "auto" else budget
    progress = (listener or default_listener()).progress
    return Audit(audit(list(map(Path, folders)), how, budget=Budget(seconds), progress=progress))


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
    from batdispatch.inputs.folders import check_finished
    from batdispatch.report.comparison import warnings
    from batdispatch.report.page import beside, link_to_figures, render, write_page
    from batdispatch.results.run_files import has_replicates
    from batdispatch.results.runs import find_runs, read_runs
    from batdispatch.results.starvation import beside_easy

    paths = [Path(folder) for folder in folders]
    output = (paths[0] if len(paths) == 1 else Path()) / "report" if page is None else Path(page)
    output = output if output.suffix else output / "index.html"
    if len(paths) == 1 and has_replicates(paths[0]):
        # Only these need pandas and SciPy.
        from batdispatch.report.replicates.answers import as_dict
        from batdispatch.runs.replicate_comparison import write_comparison

        check_finished(paths[0])
        told, _ = write_comparison(paths[0], output, title=title, baseline=baseline)
        return Page(output, as_dict(told, output))
    if baseline is not None:
        raise InputError(
            "is for the folder of a campaign or of a comparison with replicates", source="option --baseline"
        )
    runs = beside_easy(read_runs(find_runs(paths)))
    link = link_to_figures(beside(runs), output)
    path = write_page(render(runs, title=title, explain=explain, figures=link), output)
    shown = [{"label": run.label, "folder": str(run.folder), "metrics": run.metrics} for run in runs]
    return Page(path, {"report": str(path), "warnings": warnings(runs), "runs": shown})


def _path(path: str | PathLike[str] | None) -> Path | None:
    return None if path is None else Path(path)
