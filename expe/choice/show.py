"""What the runs say about who should choose which dispatcher: for each kind of work, in a table and in short."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from batdispatch.report.replicates.aims import AIMS, Aim
from batdispatch.report.replicates.answers import Answer, answer, not_beside, worse
from batdispatch.report.replicates.pairs import Pair, pair
from batdispatch.report.replicates.table import metric_of
from batdispatch.results.metrics.compute import STARVATION
from batdispatch.results.starvation import NO_EASY
from expe.common.tables import table

#: A metric -> what one wants who looks at it.
WANTS = {
    "mean_waiting_time": "short waits",
    "mean_bounded_slowdown": "short jobs served soon",
    "max_waiting_time": "nobody waits very long",
    "makespan": "all work done early",
    "weighted_compactness": "hosts of a job near each other",
}
#: Shown on each workload, whatever is chosen.
GUARDED = "easy[ordering=guarded]"
#: How the names of dispatchers begin that search for a plan: they cost more for each decision.
SEARCHES = ("look-ahead", "best-list", "hcp19", "ipsched")
_SPREAD = Aim("weighted_compactness", "spread of a job's hosts")
_MAKESPAN = Aim("makespan", "makespan")


@dataclass(frozen=True)
class Kind:
    """A kind of work.

    Attributes:
        have: who asks has this.
        on: what it was measured on.
        baseline: the dispatcher that others are compared with.
        aims: what one may want, the first one orders the table.
        advises: whether something is recommended for it.
    """

    have: str
    on: str
    baseline: str = "easy"
    aims: Sequence[Aim] = AIMS[:5]
    advises: bool = True


#: Part of the campaign -> what it stands for.
KINDS = {
    "walltimes": Kind(
        "jobs with walltimes, on whole hosts",
        "windows of 10,000 jobs, 2 of KTH-SP2 and 5 of CTC-SP2, and 3 draws of a model",
    ),
    "searches": Kind("the same, with searches beside", "10 windows of 1,500 jobs of KTH-SP2", advises=False),
    "gpus": Kind(
        "nodes with GPUs and memory, which jobs share",
        "10 windows of 500 jobs of Eurora's log, 10 draws of its users' sessions",
    ),
    "at once": Kind("a batch of jobs that are all there", "10 draws of a model", aims=(_MAKESPAN, AIMS[0], *AIMS[2:5])),
    "no walltimes": Kind("jobs without walltimes", "10 draws of a model"),
    "torus": Kind(
        "a torus", "7 windows of 1,000 jobs of KTH-SP2 on 5 x 5 x 4 hosts", aims=(_SPREAD, AIMS[0], *AIMS[2:5])
    ),
    "laws": Kind("jobs of unknown run time, whose law is known", "10 draws of a paper's scenario", "stochastic-easy"),
    "malleable": Kind("jobs of which half can be resized", "10 windows of 1,500 jobs of KTH-SP2"),
    "tasks": Kind("graphs of tasks on cores and GPUs", "9 factorisations of matrices", "heft", (_MAKESPAN,)),
}


#: Part and cells of its runs -> the answers, which several tables show: tests with ties take a second each.
_KNOWN: dict[tuple[str, ...], list[Answer]] = {}


def answers(part: str, rows: pd.DataFrame) -> list[Answer]:
    """Return what the runs of a part say, an answer for each aim."""
    kind, runs = KINDS[part], of_part(part, rows)
    key = (part, *map(str, runs["cell"]))
    if key not in _KNOWN:
        _KNOWN[key] = [
            answer(metric_of(runs, aim.metric), aim, kind.baseline, "replicates")
            for aim in kind.aims
            if aim.metric in runs and runs[aim.metric].notna().any()
        ]
    return _KNOWN[key]


def of_part(part: str, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a part; workloads of several sizes are replicates of their own."""
    runs = rows[rows["part"] == part]
    if "workload.size" in runs and runs["workload.size"].notna().all():
        runs = runs.assign(replicate=runs["workload.size"].astype(str))
    return runs


def ratio(found: Pair | None, aim: Aim, *, star: bool = True) -> str:
    """Return a ratio or a difference with its interval, and a star if it is not chance."""
    if found is None:
        return "1" if aim.way == "ratio" else "0"
    if found.effect is None:
        return ""
    return aim.effect(found.effect) + ("\\*" if star and found.apart else "")


def short(rows: pd.DataFrame) -> str:
    """Return what to choose for what, at what price, and how sure that is."""
    head = ["you have", "you want", "choose", "by how much, at what price, and what would do as well"]
    lines = []
    for part, kind in ((part, kind) for part, kind in KINDS.items() if kind.advises):
        found = answers(part, rows)
        for place, one in enumerate(one for one in found if one.aim.goal):
            choice, why = _choice(one, found)
            lines.append([f"**{kind.have}**" if place == 0 else "", WANTS[one.aim.metric], f"`{choice}`", why])
    return table(head, lines, len(head))


def _choice(found: Answer, others: Sequence[Answer]) -> tuple[str, str]:
    """Return who is chosen for an aim, and why, in words."""
    base = found.baseline
    chosen = None if found.chosen is None or base in found.rivals else _plain(found)
    compared = None if chosen is None else found.of(chosen)
    if compared is None or chosen is None:
        return base, "Nothing is better beyond chance."
    words = f"{ratio(compared, found.aim, star=False)} times the {found.aim.words} of `{base}`; "
    said = [f"{words}better in {compared.wins} of {compared.n}."]
    if unseen := not_beside(found.table.dispatchers):
        said.append(f"The best of those compared ({unseen}).")
    if price := _price(chosen, others):
        said.append(f"Price: {price}.")
    if rivals := [name for name in (found.chosen, *found.rivals) if name != chosen]:
        said.append(f"As well: {', '.join(f'`{name}`' for name in rivals)}.")
    return chosen, "<br>".join(said)


def _plain(found: Answer) -> str | None:
    """Return who is chosen; of those that cannot be told apart, the best that searches no plan."""
    equals = [name for name in (found.chosen, *found.rivals) if name is not None]
    plain = [name for name in equals if not name.startswith(SEARCHES)]
    return min(plain or equals, key=lambda name: _effect(found.of(name)))


def _price(chosen: str, found: Sequence[Answer]) -> str:
    """Return where a dispatcher is worse than the baseline: beyond chance, or for those who wait longest."""
    return "; ".join(
        f"{one.aim.words} {ratio(pair, one.aim, star=False)}{'' if pair.apart else ', may be chance'}"
        for one, pair in worse(chosen, found)
    )


def whole(part: str) -> tuple[str, Callable[[pd.DataFrame], str]]:
    """Return what makes the table of a part: all dispatchers against the baseline, for every aim."""

    def make(rows: pd.DataFrame) -> str:
        runs, found = of_part(part, rows), answers(part, rows)
        first = found[0]
        names = sorted(first.table.dispatchers, key=lambda name: _effect(first.of(name)))
        spent = runs.groupby("dispatcher")[["decisions_seconds_total", "decisions_count"]].sum()
        times = 1000 * spent["decisions_seconds_total"] / spent["decisions_count"]
        timed = bool((spent["decisions_count"] > 0).all())  # Kernels time no decisions.
        head = ["dispatcher", *(one.aim.words for one in found), *(["ms per decision"] if timed else [])]
        lines = [
            [f"`{name}`", *(ratio(one.of(name), one.aim) for one in found), *([f"{times[name]:.2f}"] if timed else [])]
            for name in names
        ]
        missing = "" if any(one.aim.metric == STARVATION.name for one in found) else f"\n\n{NO_EASY}"
        return table(head, lines, 1) + (missing if STARVATION.name in [aim.metric for aim in KINDS[part].aims] else "")

    return part, make


def _effect(found: Pair | None) -> float:
    return 1.0 if found is None or found.effect is None else found.effect.value


def where(rows: pd.DataFrame) -> str:
    """Return how the dispatchers that are chosen somewhere do on each workload of a kind that has several."""
    head = ["workload", "dispatcher", *(aim.words for aim in AIMS[:5])]
    lines = []
    for part in ("walltimes", "gpus"):
        runs, kind = of_part(part, rows), KINDS[part]
        best = [_plain(one) for one in answers(part, rows) if one.chosen and kind.baseline not in one.rivals]
        chosen = dict.fromkeys([name for name in best if name not in (None, kind.baseline)] + [GUARDED])
        for workload in dict.fromkeys(runs["workload"]):
            for name in chosen:
                assert name is not None
                tables = [metric_of(runs, aim.metric).on(workload) for aim in kind.aims]
                cells = [
                    ratio(pair(one, aim, name, kind.baseline), aim, star=False)
                    for one, aim in zip(tables, kind.aims, strict=True)
                ]
                lines.append([workload, f"`{name}`", *cells])
    return table(head, lines, 2)


def measured_on(rows: pd.DataFrame) -> str:
    """Return what each kind was measured on, and in how many runs."""
    head = ["you have", "measured on", "runs", "jobs in a run", "CPU s"]
    lines = []
    for part, kind in KINDS.items():
        runs = of_part(part, rows)
        jobs = sorted({int(value) for value in runs["nb_jobs"]})
        many = f"{jobs[0]:,}" if len(jobs) == 1 else f"{jobs[0]:,} to {jobs[-1]:,}"
        # Windows of one simulation have a row each.
        each = runs.drop_duplicates("cell")
        lines.append([kind.have, kind.on, f"{len(each)}", many, f"{float(np.sum(each['cpu_seconds'])):,.0f}"])
    return table(head, lines, 2)


SECTIONS = {
    "short": (tuple(KINDS), short),
    **{part.replace(" ", "-"): whole(part) for part in KINDS},
    "where": (("walltimes", "gpus"), where),
    "runs": (tuple(KINDS), measured_on),
}
PICTURES: dict[str, object] = {}
