"""What solvers did: how many plans were proven to be the best, and the plans that one would look at first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from batdispatch.inputs.workloads.dates import LogDates
from batdispatch.report.sections import PageFacts, PageSection, filled_section
from batdispatch.results.decisions import INCUMBENT, NONE, PROVEN, SolvedPlan
from batdispatch.results.numbers import duration, number
from batdispatch.results.runs import Run

#: Plans of a run that are shown.
MOST = 10
_HEADINGS = (
    "At",
    "came to",
    "jobs",
    "variables",
    "constraints",
    "gap",
    "better than at first",
    "built in",
    "solved in",
)
_WORDS = {PROVEN: "proven the best", INCUMBENT: "found", NONE: "none found"}


_TEMPLATE = """{% from "parts.html.j2" import table -%}
<section id="solved" class="fold">
<h2>What the solver did</h2>
{%- for run in solved %}
<h3>{{ run.label }}</h3>
<p>{{ run.lead }}</p>
{{- table("Plans of " ~ run.label, run.headings, run.rows) }}
{%- endfor %}
</section>"""


@dataclass(frozen=True)
class SolvedPlans:
    """The plans of a run, as its page shows them.

    Attributes:
        label: of the run.
        lead: how many came to what, and how far from the best they may be.
        headings: of the table.
        rows: (moment, cells) of the plans without a result, then of those with the largest gap, then of those that
            took longest; at most `MOST`.
    """

    label: str
    lead: str
    headings: Sequence[str]
    rows: list[tuple[str, list[str]]]


def section(facts: PageFacts) -> PageSection | None:
    """Return what the solvers of some runs did; None: no run has plans."""
    found = solved_plans(facts.runs)
    return filled_section("solved", "Plans", _TEMPLATE, after="decisions", solved=found) if found else None


def solved_plans(runs: Sequence[Run]) -> list[SolvedPlans]:
    """Return what the solvers of some runs did; runs without plans are left out."""
    found = []
    for run in runs:
        if plans := run.plans:
            first = sorted(plans, key=_notable)[:MOST]
            rows = [(_moment(plan.now, run.result.workload.dates), _cells(plan)) for plan in first]
            found.append(SolvedPlans(run.label, _lead(plans), _HEADINGS, rows))
    return found


def _notable(plan: SolvedPlan) -> tuple[bool, float, float]:
    took = (plan.build_seconds or 0.0) + (plan.solve_seconds or 0.0)
    return plan.achieved != NONE, -(plan.gap or 0.0), -took


def _lead(plans: Sequence[SolvedPlan]) -> str:
    counts = [(what, sum(plan.achieved == what for plan in plans)) for what in _WORDS]
    told = ", ".join(f"{count:,} {_WORDS[what]}" for what, count in counts if count)
    gaps = [plan.gap for plan in plans if plan.gap is not None]
    far = f" The largest gap is {_share(max(gaps))}." if gaps else ""
    shown = f" These {MOST} are without a plan, or have the largest gap, or took longest." if len(plans) > MOST else ""
    return f"{len(plans):,} {'plan' if len(plans) == 1 else 'plans'}: {told}.{far}{shown}"


def _cells(plan: SolvedPlan) -> list[str]:
    sizes = [_known(value, number) for value in (plan.jobs, plan.variables, plan.constraints)]
    shares = [_known(value, _share) for value in (plan.gap, plan.improvement)]
    times = [_known(value, duration) for value in (plan.build_seconds, plan.solve_seconds)]
    return [_WORDS[plan.achieved], *sizes, *shares, *times]


def _known(value: float | None, shown: Callable[[float], str]) -> str:
    return "n/a" if value is None else shown(value)


def _share(value: float) -> str:
    return f"{number(100 * value)} %"


def _moment(now: float, dates: LogDates | None) -> str:
    return f"{number(now)} s" if dates is None else dates.text(now)
