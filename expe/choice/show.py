"""What the runs say about who should choose which dispatcher: for each kind of work, in a table and in short.

A dispatcher is recommended for an aim only if it is *patient*: on each workload of the kind, its longest wait and its
99 % wait are at most `PATIENCE` times those of the baseline. Of the patient ones, that with the best figure is
recommended if it is better than the baseline beyond chance, else the baseline. Impatient ones that are better still
stand beside it with their price.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from batdispatch.abilities.campaigns.campaign.table import read_rows
from batdispatch.abilities.campaigns.page.aims import AIMS, Aim
from batdispatch.abilities.campaigns.page.answers import Answer, answer, not_beside, worse
from batdispatch.abilities.campaigns.page.pairs import Pair, pair
from batdispatch.abilities.campaigns.page.ranks import by_workload
from batdispatch.abilities.campaigns.page.table import metric_of
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
SEARCHES = ("best-list", "hcp19", "ipsched")
#: Most that the longest wait and the 99 % wait of a recommended dispatcher may be of the baseline's, on each workload.
PATIENCE = 1.5
#: Windows differ in length, so that starved jobs are told of each thousand.
_STARVED = replace(AIMS[4], words="starved of 1,000 jobs", unit=("starved of 1,000 jobs", 1.0))
_WAITS = (*AIMS[:4], _STARVED)
#: Part that claims are about.
COMPARED = "walltimes"
#: What a patient dispatcher keeps within bounds.
_LONGEST, _LATE = AIMS[2:4]
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
    aims: Sequence[Aim] = _WAITS
    advises: bool = True


_LOGS = "KTH-SP2, CTC-SP2, CEA-Curie and a model's workload of 30,000 jobs, each in ten windows"
_BATCH = (_MAKESPAN, AIMS[0], *_WAITS[2:])
#: Part of the campaign -> what it stands for.
KINDS = {
    "walltimes": Kind("jobs with walltimes, on whole hosts", _LOGS),
    "conservative": Kind("the same, with plans for all jobs", "the same without CEA-Curie", advises=False),
    "predictions": Kind("the same, with predictions", "KTH-SP2 and CTC-SP2, each in ten windows", advises=False),
    "searches": Kind("the same, with searches", "KTH-SP2 in ten windows", advises=False),
    "searches on windows": Kind(
        "the same, with searches that a whole log takes too long",
        "4 windows of 1,000 jobs of KTH-SP2, each simulated by itself behind 300 jobs of warm-up",
        advises=False,
    ),
    "gpus": Kind(
        "nodes with GPUs and memory, which jobs share",
        "4 windows of 500 jobs of Eurora's log, each simulated by itself, and 6 draws of its users' sessions",
    ),
    "at once": Kind("a batch of jobs that are all there", "10 draws of a model", aims=_BATCH),
    "no walltimes": Kind("jobs without walltimes", "a model's workload of 5,000 jobs in ten windows"),
    "torus": Kind(
        "a torus",
        "7 windows of 1,000 jobs of KTH-SP2, each simulated by itself, on 5 x 5 x 4 hosts",
        aims=(_SPREAD, AIMS[0], *_WAITS[2:]),
    ),
    "laws": Kind("jobs of unknown run time, whose law is known", "10 draws of a paper's scenario", "stochastic-easy"),
    "malleable": Kind(
        "jobs of which half can be resized", "10 windows of 1,500 jobs of KTH-SP2, each simulated by itself"
    ),
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
    """Return the rows of a part; workloads of several sizes are replicates of their own, and starved are of 1,000."""
    runs = rows[rows["part"] == part]
    if STARVATION.name in runs:
        runs = runs.assign(**{STARVATION.name: 1000 * runs[STARVATION.name].astype(float) / runs["nb_jobs"]})
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


def worst_ratios(part: str, rows: pd.DataFrame, aim: Aim) -> dict[str, float]:
    """Return dispatcher -> its figure over the baseline's on the workload of a part where this is largest."""
    table = by_workload(metric_of(of_part(part, rows), aim.metric), aim)
    base = table.of(KINDS[part].baseline)
    apart = {name: aim.apart(table.of(name), base) for name in table.dispatchers}
    return {name: float(np.exp(values.max())) for name, values in apart.items()}


def patient(part: str, rows: pd.DataFrame) -> list[str]:
    """Return the dispatchers that keep the longest wait and the 99 % wait within `PATIENCE` on each workload."""
    names = dict.fromkeys(of_part(part, rows)["dispatcher"])
    for aim in (aim for aim in (_LONGEST, _LATE) if aim in KINDS[part].aims):
        worst = worst_ratios(part, rows, aim)
        names = {name: None for name in names if worst[name] <= PATIENCE}
    return list(names)


def recommendation(part: str, rows: pd.DataFrame, aim: Aim) -> Answer:
    """Return what the runs of a part say about an aim if impatient dispatchers are left out."""
    table = metric_of(of_part(part, rows), aim.metric)
    keep = set(patient(part, rows))
    return answer(table.only([name for name in table.dispatchers if name in keep]), aim, KINDS[part].baseline, "runs")


def short(rows: pd.DataFrame) -> str:
    """Return what to choose for what, at what price, and how sure that is."""
    head = ["you have", "you want", "choose", "by how much, at what price, and what would do as well"]
    lines = []
    for part, kind in ((part, kind) for part, kind in KINDS.items() if kind.advises and part in set(rows["part"])):
        found = answers(part, rows)
        for place, one in enumerate(one for one in found if one.aim.goal):
            choice, why = _choice(part, rows, one, found)
            lines.append([f"**{kind.have}**" if place == 0 else "", WANTS[one.aim.metric], f"`{choice}`", why])
    return table(head, lines, len(head))


def _choice(part: str, rows: pd.DataFrame, found: Answer, others: Sequence[Answer]) -> tuple[str, str]:
    """Return who is chosen for an aim, and why, in words."""
    allowed, aim, base = recommendation(part, rows, found.aim), found.aim, found.baseline
    chosen = None if allowed.chosen in (None, base) or base in allowed.rivals else _plain(allowed)
    compared = None if chosen is None else found.of(chosen)
    said = []
    if compared is None or chosen is None:
        chosen = base
        said.append("Nothing is better beyond chance that lets nobody wait for much longer.")
    else:
        words = f"{ratio(compared, aim, star=False)} times the {aim.words} of `{base}`; "
        said.append(f"{words}better in {compared.wins} of {compared.n}.")
        if unseen := not_beside(found.table.dispatchers):
            said.append(f"The best of those compared ({unseen}).")
        if price := _price(chosen, others):
            said.append(f"Price: {price}.")
        if rivals := [name for name in (allowed.chosen, *allowed.rivals) if name != chosen]:
            said.append(f"As well: {', '.join(f'`{name}`' for name in rivals)}.")
    if starving := _impatient(part, rows, found, _effect(compared)):
        said.append(f"Less, but some wait for much longer: {starving}.")
    return chosen, "<br>".join(said)


def _impatient(part: str, rows: pd.DataFrame, found: Answer, least: float) -> str:
    """Return those that are better than the choice but not patient, each with its figure and its longest wait.

    Whoever is beaten in both by another one of them is left out.
    """
    if _LONGEST not in KINDS[part].aims:
        return ""
    keep, longest = set(patient(part, rows)), worst_ratios(part, rows, _LONGEST)
    late = worst_ratios(part, rows, _LATE)
    better = [one for one in found.pairs if one.ours not in keep and one.apart and _effect(one) < least]
    told, bound = [], np.inf
    for one in sorted(better, key=_effect):
        if longest[one.ours] < bound:
            bound = longest[one.ours]
            told.append(
                f"`{one.ours}` {_effect(one):.2f} (longest wait {_times(bound)}, 99 % {_times(late[one.ours])})"
            )
    return ", ".join(told)


def _times(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.1f}"


def _plain(found: Answer) -> str | None:
    """Return who is chosen; of those that cannot be told apart, the best that searches no plan."""
    equals = [name for name in (found.chosen, *found.rivals) if name is not None]
    plain = [name for name in equals if not name.startswith(SEARCHES)]
    return min(plain or equals, key=lambda name: _effect(found.of(name)), default=None)


def _price(chosen: str, found: Sequence[Answer]) -> str:
    """Return where a dispatcher is worse than the baseline: beyond chance, or for those who wait longest."""
    return "; ".join(
        f"{one.aim.words} {ratio(pair, one.aim, star=False)}{'' if pair.apart else ', may be chance'}"
        for one, pair in worse(chosen, found)
    )


def others(out: Path, quick: bool) -> list[dict[str, Any]]:
    """Return the figures of whole workloads over the baseline's, which claims are about.

    Args:
        out: folder of the campaign.
        quick: makes no difference.
    """
    rows = pd.DataFrame(read_rows(out))
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for aim in _WAITS[:4] if COMPARED in set(rows["part"]) else ():
        for place, ratio in _over_baseline(COMPARED, rows, aim).items():
            found.setdefault(place, {})[aim.metric] = ratio
    return [
        {"part": f"{COMPARED}, over easy", "workload": workload, "dispatcher": dispatcher, **ratios}
        for (workload, dispatcher), ratios in found.items()
    ]


def _over_baseline(part: str, rows: pd.DataFrame, aim: Aim) -> Mapping[tuple[str, str], float]:
    table = by_workload(metric_of(of_part(part, rows), aim.metric), aim)
    base = table.of(KINDS[part].baseline)
    return {
        (workload, name): float(value)
        for name in table.dispatchers
        for workload, value in zip(table.workloads, np.exp(aim.apart(table.of(name), base)), strict=True)
    }


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
    """Return how those that are recommended, and the best whatever it costs, do on each workload of a kind."""
    head = ["workload", "dispatcher", *(aim.words for aim in _WAITS)]
    lines = []
    for part in ("walltimes",):
        runs, kind = of_part(part, rows), KINDS[part]
        found = [one for one in answers(part, rows) if one.aim.goal]
        best = [_plain(one) for all_of in found for one in (all_of, recommendation(part, rows, all_of.aim))]
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
    head = ["you have", "measured on", "runs", "jobs that count in a run", "CPU s"]
    lines = []
    for part, kind in ((part, kind) for part, kind in KINDS.items() if part in set(rows["part"])):
        # Windows of one simulation have a row each.
        runs = of_part(part, rows).groupby("cell").agg({"nb_jobs": "sum", "cpu_seconds": "first"})
        jobs = sorted({int(value) for value in runs["nb_jobs"]})
        many = f"{jobs[0]:,}" if len(jobs) == 1 else f"{jobs[0]:,} to {jobs[-1]:,}"
        lines.append([kind.have, kind.on, f"{len(runs)}", many, f"{float(np.sum(runs['cpu_seconds'])):,.0f}"])
    return table(head, lines, 2)


SECTIONS = {
    "short": (tuple(part for part, kind in KINDS.items() if kind.advises), short),
    **{part.replace(" ", "-"): whole(part) for part in KINDS},
    "where": (("walltimes",), where),
    "runs": (tuple(KINDS), measured_on),
}
PICTURES: dict[str, object] = {}
