"""The sections of a page that the base brings, below the overview."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from batdispatch.report import comparison
from batdispatch.report.html import breakable, template_text
from batdispatch.report.sections import MakeSection, PageFacts, PageSection, filled_section
from batdispatch.results import rejections
from batdispatch.results.numbers import durations, number
from batdispatch.results.runs import Run, has_network
from batdispatch.results.sites import Sites

#: Most reasons for rejections listed a run, and most jobs named a reason.
MAX_REASONS = 8
_DECISION_COLUMNS = (
    ("total", "seconds_total"),
    ("mean", "seconds_mean"),
    ("50 %", "seconds_p50"),
    ("90 %", "seconds_p90"),
    ("99 %", "seconds_p99"),
    ("max", "seconds_max"),
)


def _filled(anchor: str, title: str, **values: Any) -> PageSection:
    return filled_section(anchor, title, template_text(f"sections/{anchor}.html.j2"), **values)


def _lacking(facts: PageFacts) -> PageSection | None:
    notes = [note for note in (facts.use_note, _map_note(facts.runs, facts.sites)) if note]
    return PageSection("", "", Markup("\n").join(Markup('<p class="note">{}</p>').format(note) for note in notes))


def _curves(facts: PageFacts) -> PageSection | None:
    return _filled("curves", "Curves", curves=facts.curves) if facts.curves else None


def _losses(facts: PageFacts) -> PageSection | None:
    lost = facts.losses
    if not lost.losers:
        return None
    best_price = comparison.best_price(facts.runs, lost.best)
    title = "Where a dispatcher loses"
    return _filled("losses", title, best=lost.best, losers=lost.losers, best_price=best_price)


def _metrics(facts: PageFacts) -> PageSection:
    return _filled("metrics", "All metrics", labels=facts.labels, groups=facts.metrics)


def _definitions(facts: PageFacts) -> PageSection:
    return _filled("definitions", "Definitions", groups=facts.metrics)


def _inputs(facts: PageFacts) -> PageSection:
    listed = comparison.inputs(facts.runs)
    same, different = ([fact for fact in listed if fact.same is which] for which in (True, False))
    many = len(facts.runs) > 1
    return _filled("inputs", "Inputs", labels=facts.labels, many=many, same=same, different=different)


def _rejected(facts: PageFacts) -> PageSection | None:
    entries = []
    for run in facts.runs:
        count = int((~run.logical.ran).sum())
        if not count:
            continue
        ordered = rejections.group_reasons(run.result.rejected)
        entries.append(
            {
                "label": run.label,
                "count": count,
                "more": sum(len(jobs) for _, jobs in ordered[MAX_REASONS:]),
                "reasons": [
                    {"text": reason, "count": len(jobs), "jobs": rejections.name_jobs(jobs)}
                    for reason, jobs in ordered[:MAX_REASONS]
                ],
            }
        )
    return _filled("rejected", "Rejected jobs", rejected=entries) if entries else None


def _decisions(facts: PageFacts) -> PageSection | None:
    timed = [run.result.decisions for run in facts.runs]
    if not any(each.get("count") for each in timed):
        return None
    counts = [each.get("count") for each in timed]
    headings, columns = ["Run", "decisions"], [["n/a" if count is None else number(count) for count in counts]]
    for name, key in _DECISION_COLUMNS:
        texts, unit = durations([each.get(key) for each in timed])
        headings.append(f"{name} ({unit})" if unit else name)
        columns.append(texts)
    rows = list(zip(map(breakable, facts.labels), zip(*columns, strict=True), strict=True))
    return _filled("decisions", "Decision time", headings=headings, rows=rows)


def _reports(facts: PageFacts) -> PageSection | None:
    """Return what dispatchers say of their runs; facts within facts are named by their path."""
    # Warnings stand above all else.
    said = [{key: value for key, value in run.result.report.items() if key != "warnings"} for run in facts.runs]
    told = [(breakable(label), dict(_leaves(own))) for label, own in zip(facts.labels, said, strict=True) if own]
    names = dict.fromkeys(name for _, found in told for name in found)
    rows = [(name, [found.get(name, "n/a") for _, found in told]) for name in names]
    return _filled("dispatchers", "", headings=["", *(label for label, _ in told)], rows=rows) if rows else None


def _leaves(facts: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    for name, value in facts.items():
        label = f"{path}{name}".replace("_", " ")
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{label}, ")
        elif isinstance(value, bool) or not isinstance(value, int | float):
            yield label, "none" if value is None else str(value)
        else:
            yield label, number(value)


def _rerun(facts: PageFacts) -> PageSection | None:
    commands = [(run.label, text) for run in facts.runs if (text := _command(run))]
    if not commands:
        return None
    folders = [str(run.folder) for run in facts.runs]
    where = str(beside(facts.runs))
    return _filled("rerun", "Rerun", commands=commands, folders=folders, beside=where, figures=facts.figures)


def _command(run: Run) -> str:
    command = run.result.command
    return command if isinstance(command, str) else " ".join(command)


def beside(runs: Sequence[Run]) -> Path:
    """Return the folder beside some runs where evalys' figures of them may be."""
    return runs[0].folder.parent / "evalys"


def _map_note(runs: Sequence[Run], sites: Sites) -> str:
    """Say which runs on a network have no maps, since their platform is not at hand; empty: none."""
    machines = {run.label: sites.machine(run) for run in runs if has_network(run)}
    missing = [label for label, machine in machines.items() if machine is None or machine.topology is None]
    if not missing:
        return ""
    return (
        f"Maps of {', '.join(missing)} need the platform of the run, which is not where result.json says, or has "
        "changed since."
    )


#: By anchor, in the order of the page.
SECTIONS: Mapping[str, MakeSection] = {
    "lacking": _lacking,
    "curves": _curves,
    "losses": _losses,
    "metrics": _metrics,
    "inputs": _inputs,
    "rejected": _rejected,
    "decisions": _decisions,
    "dispatchers": _reports,
    "rerun": _rerun,
    "definitions": _definitions,
}
