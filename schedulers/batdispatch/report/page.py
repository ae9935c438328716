"""One self-contained HTML page that compares runs."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path

from batdispatch.inputs.files import write_whole
from batdispatch.inputs.workloads.workload_file import WorkloadFile
from batdispatch.report import comparison, style
from batdispatch.report.curves import in_panels
from batdispatch.report.html import page_text
from batdispatch.report.losses import Losses, begin_losses
from batdispatch.report.opening import opening
from batdispatch.report.page_sections import SECTIONS, beside
from batdispatch.report.pictures import compared_curves
from batdispatch.report.sections import PageFacts, sections
from batdispatch.results.metrics.compute import STARVATION
from batdispatch.results.metrics.rows import page_unit
from batdispatch.results.numbers import amount, count_of, duration
from batdispatch.results.runs import Run, display_name, has_network, read_runs
from batdispatch.results.sites import Sites
from batdispatch.results.starvation import NO_EASY, beside_easy, starved_in_words
from batdispatch.results.units import read_units
from batdispatch.results.usage import MachineUse, asking_jobs, licences_of, slots_of

#: Said where fairness stands in the first table.
FAIRNESS = (
    "Fairness over users is Jain's index of the users' mean bounded slowdowns, from 1 divided by the number of users "
    "(one has all the slowdown) to 1: a high one says that users fare alike, well or badly, so none is marked best."
)
#: Of more runs, paper has only what matters most: all of it takes more than four sheets.
MAX_WHOLE = 3
_DASHES = {"-": "", "--": "6 3", ":": "2 3", "-.": "6 3 2 3"}


def write_report(
    run_dirs: Sequence[Path],
    out: Path,
    *,
    explain: bool = True,
    printed: bool = True,
    workers: Executor | None = None,
    figures: Path | None = None,
    workload: WorkloadFile | None = None,
) -> Path:
    """Compare runs in one HTML page that needs nothing but itself, and return its path.

    The same runs give the same bytes.

    Args:
        run_dirs: run folders, in the order of the page.
        out: the page, or a folder that exists, which then gets an index.html.
        explain: whether to say where a dispatcher loses, for which recorded decisions are gone through.
        printed: whether curves are drawn for paper and for browsers without scripts, too.
        workers: who goes through these while the pictures are drawn; None: this process does, one after the other.
        figures: the folder where evalys' figures of these runs may be; None: that beside the runs.
        workload: that of the runs if it is at hand, so that it need not be read.

    Raises:
        InputError: a folder is no run, or a file in it is malformed; nothing is written.
    """
    runs = read_runs(run_dirs)
    link = link_to_figures(figures or beside(runs), out)
    return write_page(
        render(runs, explain=explain, printed=printed, workers=workers, figures=link, workload=workload), out
    )


def link_to_figures(figures: Path, out: Path) -> str:
    """Return the address of the page of a folder of figures for a page that will be `out`; empty: there is none."""
    shown = figures / "index.html"
    return Path(os.path.relpath(shown, _page_path(out).parent)).as_posix() if shown.is_file() else ""


def write_page(page: str, out: Path) -> Path:
    """Write a page in one piece and return its path."""
    path = _page_path(out)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, page.encode())
    return path


def _page_path(out: Path) -> Path:
    return out / "index.html" if out.is_dir() else out


def render(
    runs: Sequence[Run],
    *,
    title: str | None = None,
    explain: bool = True,
    printed: bool = True,
    workers: Executor | None = None,
    figures: str = "",
    workload: WorkloadFile | None = None,
) -> str:
    """Return the page that compares some runs; `title` is its heading, `figures` the address of evalys'.

    The rest is as for `write_report`.
    """
    runs = beside_easy(
        [replace(run, label=display_name(run.result)) if run.label == run.result.label else run for run in runs]
    )
    losses = begin_losses(runs, workers=workers) if explain else lambda: Losses("", [], {})
    sites = Sites(workload)
    shared, use_note = shared_runs(runs, sites)
    curves = compared_curves(runs, shared) if printed else []
    # Only now: workers go through the recordings while the pictures are drawn.
    metrics = comparison.group_rows([*comparison.attempt_rows(runs), *comparison.metric_rows(runs)])
    facts = PageFacts(runs, without_prefix(losses(), runs), sites, shared, use_note, metrics, curves, figures)
    return page_text(
        "report.html.j2",
        title=title or _title(runs),
        lead=_lead(runs),
        opening=opening(runs),
        warnings=comparison.warnings(runs),
        many=len(runs) > 1,
        crowd=len(runs) > MAX_WHOLE or (len(runs) > 1 and any(map(has_network, runs))),
        labels=facts.labels,
        # Where each run has a panel of its own, no colour stands for it.
        keys=[_key(index) for index in range(len(runs))] if len(runs) > 1 and not in_panels(len(runs)) else [],
        overview=comparison.metric_rows(runs, only=comparison.KEY_METRICS),
        overview_notes=_notes(runs),
        sections=sections(facts, SECTIONS),
        figures=figures,
    )


def without_prefix(lost: Losses, runs: Sequence[Run]) -> Losses:
    """Return losses whose jobs are called by their ids alone, if all jobs are of one workload."""
    workloads = {name for run in runs for name in set(run.columns.workload_name.tolist())}
    if len(workloads) != 1:
        return lost
    prefix = re.compile(rf"\b{re.escape(workloads.pop())}!")

    def plain(text: str) -> str:
        return prefix.sub("", text)

    losers = [
        replace(loser, losses=[replace(loss, job=plain(loss.job), why=plain(loss.why)) for loss in loser.losses])
        for loser in lost.losers
    ]
    reasons = {label: {job: plain(why) for job, why in found.items()} for label, found in lost.reasons.items()}
    return lost._replace(losers=losers, reasons=reasons)


def _title(runs: Sequence[Run]) -> str:
    names = [run.label for run in runs]
    shown = names if len(names) <= 5 else [*names[:4], f"{len(names) - 4} more"]
    listed = shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
    workloads = {Path(run.result.workload.path).name.removesuffix(".json") for run in runs if run.result.workload.path}
    return f"{listed} on {workloads.pop()}" if len(workloads) == 1 else listed


def _lead(runs: Sequence[Run]) -> str:
    run = runs[0]
    sentence = count_of(len(run.logical), "job") if len({len(r.logical) for r in runs}) == 1 else "Jobs"
    hosts = {r.hosts for r in runs}
    if len(hosts) == 1 and run.hosts:
        sentence += f" on {count_of(run.hosts, 'host')}"
        platform = Path(run.result.platform.path).name
        sentence += f" of {platform}" if platform else ""
        held = ", ".join(amount(value, name) for name, value in run.result.platform.resources.items())
        sentence += f" ({held})" if held else ""
    span = run.metrics.get("makespan")
    if span:
        shared = page_unit("makespan", [one.metrics.get("makespan") for one in runs])
        sentence += f", over {duration(float(span), shared)} of simulated time"
    many = f"; {len(runs)} runs compared" if len(runs) > 1 else ""
    return f"{sentence}{many}."


def _notes(runs: Sequence[Run]) -> list[str]:
    """Return what some columns of the first table mean, a sentence each."""
    starved = NO_EASY
    if len(runs) == 1 or any(STARVATION.name in run.metrics for run in runs):
        starved = starved_in_words(runs) if len(runs) > 1 else ""
    known = any(run.metrics.get("user_fairness") is not None for run in runs)
    return list(filter(None, [starved, FAIRNESS if known else ""]))


def _key(index: int) -> dict[str, str]:
    chosen = style.series_style(index)
    return {"color": str(chosen["color"]), "dash": _DASHES[str(chosen["linestyle"])]}


def shared_runs(runs: Sequence[Run], sites: Sites) -> tuple[dict[str, MachineUse], str]:
    """Load what is needed to draw shared nodes and licences; also say why some runs cannot be drawn."""
    found: dict[str, MachineUse] = {}
    missing = []
    for run in runs:
        # On whole hosts, too, a machine may have licences: their utilisation is among the metrics.
        named = any(name.startswith("utilisation_") for name in run.metrics)
        if not run.result.platform.resources and not named:
            continue
        machine, workload = sites.machine(run), sites.workload(run)
        if machine is None or workload is None:
            missing.append(run.label)
            continue
        intervals = run.columns.hosts
        units = read_units(run.folder / "units.csv", run.columns, intervals.sizes)
        jobs = asking_jobs(run.columns, workload.jobs, run.lineage)
        slots = slots_of(intervals, units, machine, jobs)
        found[run.label] = MachineUse(machine, slots, licences_of(machine, jobs))
    if not missing:
        return found, ""
    return found, (
        f"Utilisation curves and charts of {', '.join(missing)} need the platform and workload of the run, which are "
        "not where result.json says, or have changed since."
    )
