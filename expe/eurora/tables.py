"""Tables and pictures of the experiments of PCP'20's paper, for whichever machine: expe/eurora and expe/kit.

Reference: C. Galleguillos, Z. Kiziltan, R. Soto. A constraint programming-based job dispatcher for modern HPC systems
and applications. 2020. Tables 1 and 2, figures 4 to 7, section 6.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from batdispatch.abilities.campaigns.campaign.table import read_rows
from batdispatch.abilities.solvers.doors.instances import save_instances
from batdispatch.core.errors import InputError
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.events import SimulationBegins
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.machine.machine import Machine
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.lineage import FILE as LINEAGE
from batdispatch.results.lineage import read_lineage
from batdispatch.results.metrics.sample import sample_of
from expe.common.tables import table
from expe.eurora.instances import compare_models
from expe.eurora.pictures import ratio_picture, spread_picture

#: Models of figure 7, as `instance solve` names them, and what they are.
MODELS = {
    "node-wise": "PCP'19, node-wise",
    "positions": "PCP'20, positions",
    "best-list": "best-list, no solver",
}
#: Of an instance's search: the limit in deterministic seconds, and in seconds of wall-clock time, a safety net.
WORK, WALL = 0.05, 3600.0
#: At most so many instances of a run.
MOST = 1000
#: Part of a campaign's rows that are instances, see `instances`.
INSTANCES = "instances"
#: In the runs whose decisions take time, the dispatcher for which the paper has no figure.
BASELINE = "easy"


class Published(NamedTuple):
    """A line of table 1 or 2: mean ms per decision, total s; None: the run does not finish."""

    decision_ms: float | None
    total_seconds: float | None


class Study(NamedTuple):
    """What differs between the machines.

    Attributes:
        machine: its name.
        published: (dispatcher, expected run times) -> line of the paper's table.
        sources: kind of workload -> the part of the campaign from whose runs instances are saved.
        searched: by these dispatchers.
        solve: how many instances to solve of each kind of workload.
        refused: (dispatcher, expected run times) -> why the dispatcher does not run on this machine.
    """

    machine: str
    published: Mapping[tuple[str, str], Published]
    sources: Mapping[str, str]
    searched: Sequence[str]
    solve: int
    refused: Mapping[tuple[str, str], str] = {}

    def grid(self, part: str) -> dict[str, tuple[str, Callable[[pd.DataFrame], str]]]:
        """Return the section of a part of the campaign: every dispatcher with the paper's figures (tables 1 and 2)."""
        return {part: (part, lambda rows: _grid_table(rows, self))}

    def quality(self, part: str) -> dict[str, tuple[str, Callable[[Path, pd.DataFrame], None]]]:
        """Return the picture of a part of the campaign: what figures 4 and 5 show."""
        title = f"Slowdown and waiting time, mean and standard deviation over the jobs, {self.machine}, {part}"

        def draw(path: Path, rows: pd.DataFrame) -> None:
            panels = {"slowdown": _by_group(rows, "slowdowns"), "wait (s)": _by_group(rows, "waits")}
            spread_picture(path, panels, title=title)

        return {f"quality-{part}.svg": (part, draw)}

    def instances(self, out: Path, quick: bool) -> list[dict[str, Any]]:
        """Return a row for each instance saved from the runs, some of them solved by each model.

        Args:
            out: folder of the campaign.
            quick: makes no difference.
        """
        return [dict(row) for row in _instances(self, out)]


def refusal(dispatcher: str, machine: Machine) -> str:
    """Return why a dispatcher does not run on a machine; empty if it does."""
    try:
        create(dispatcher, {}).begin(Ledger(SimulationBegins(time=0.0, machine=machine)))
    except InputError as problem:
        return str(problem)
    return ""


@cache
def _instances_of(run: Path, path: Path, share: int) -> tuple[Any, ...]:
    # As in the paper, also the instances of one job.
    save_instances(run, path, least=1, most=MOST)
    return tuple(compare_models(path, list(MODELS), work=WORK, wall=WALL, most=share))


def _instances(study: Study, out: Path) -> list[dict[str, Any]]:
    rows = pd.DataFrame([{**row, **_named(row)} for row in read_rows(out)])
    rows = rows[rows["name"].isin(study.searched)]
    found: list[dict[str, Any]] = []
    kinds = Counter(rows["part"])
    for kind, part in study.sources.items():
        for row in rows[rows["part"] == part].sort_values(["name", "expected"]).to_dict("records"):
            path = out / f"instances-{row['cell']}.jsonl"
            for one in _instances_of(out.parent / "cells" / row["cell"], path, math.ceil(study.solve / kinds[part])):
                solved = {name: one.solved[name] for name in MODELS} if one.solved else {}
                delays = [solved[name].delay for name in ("positions", "node-wise")] if solved else [None]
                found.append(
                    {
                        "part": INSTANCES,
                        "workload": kind,
                        "workload.run": f"{kind}, {row['name']}, {row['expected']}",
                        "workload.line": one.line,
                        "instance_jobs": one.jobs,
                        "pcp20": one.pcp20,
                        "pcp19": one.pcp19,
                        "ratio": one.ratio,
                        "solved": solved,
                        "tried": bool(solved),
                        "compared": None not in delays,
                        "same": None not in delays and bool(np.isclose(*delays)),
                        "time_ratio": solved["positions"].seconds / solved["node-wise"].seconds if solved else None,
                    }
                )
    return found


def columns(row: Mapping[str, Any], run: Path) -> dict[str, Any]:
    """Return what the page shows of a run: who ran with which expected run times, and how each job was served."""
    jobs = read_columns(run / "jobs.csv")
    sample = sample_of(jobs, lineage=read_lineage(run / LINEAGE, jobs))
    decision = 1000 * row["decisions_seconds_total"] / row["decisions_count"]
    return {**_named(row), "slowdowns": sample.slowdown, "waits": sample.wait, "decision_ms": decision}


def _named(row: Mapping[str, Any]) -> dict[str, str]:
    name, _, expected = row["dispatcher"].rpartition(", ")
    return {"name": name, "expected": expected}


def _by_group(rows: pd.DataFrame, metric: str) -> dict[str, dict[str, Sequence[float]]]:
    """Return a metric's values of all jobs by expected run time and dispatcher."""
    # Where a line would not hold the names, they take two.
    names = {name: name.replace("[", "\n[") for name in dict.fromkeys(rows["name"])}
    return {
        str(expected): {
            shown: np.concatenate([np.zeros(0), *runs[runs["name"] == name][metric]]) for name, shown in names.items()
        }
        for expected, runs in rows.groupby("expected", sort=False)
    }


def _spread(values: Sequence[Any], digits: int) -> str:
    """Return mean and standard deviation over all jobs, as the paper's pictures show them."""
    joined = np.concatenate(values)
    return f"{np.mean(joined):,.{digits}f} ± {np.std(joined):,.{digits}f}"


def _decision_ms(runs: pd.DataFrame) -> float:
    return float(1000 * runs["decisions_seconds_total"].sum() / runs["decisions_count"].sum())


def _grid_table(rows: pd.DataFrame, study: Study) -> str:
    """Return what each dispatcher measured beside the paper's figures, one line for each expected run time."""
    lines = []
    for (name, expected), runs in rows.groupby(["name", "expected"], sort=False):
        facts = [f"{int(runs[count].sum()):,}" for count in ("decisions_count", "fallbacks")]
        facts += [f"{_decision_ms(runs):.2f}", f"{runs['cpu_seconds'].sum():,.1f}"]
        facts += [_spread(list(runs["slowdowns"]), 2), _spread(list(runs["waits"]), 0)]
        lines.append([str(name), str(expected), *facts, *_published(study, str(name), str(expected))])
    for name, expected in study.refused:
        if expected in set(rows["expected"]):
            lines.append([name, expected, "refused", *[""] * 5, *_published(study, name, expected)])
    head = ["decisions", "no plan found", "CPU ms a decision", "CPU s", "slowdown", "wait (s)"]
    text = table(["", "expected run time", *head, "paper: ms a decision", "paper: total s"], lines)
    return "\n\n".join([text, *(f"Refused: {why}." for why in dict.fromkeys(study.refused.values()))])


def _published(study: Study, name: str, expected: str) -> list[str]:
    line = study.published.get((name, expected))
    return ["", ""] if line is None else ["∞" if value is None else f"{value:,.0f}" for value in line]


def variables_table(rows: pd.DataFrame) -> str:
    """Return what figure 6 shows, one line per source of instances."""
    lines = []
    for name, found in rows.groupby("workload.run", sort=False):
        ratios = found["ratio"]
        facts = [f"{len(found):,}", f"{found['instance_jobs'].mean():.1f}"]
        facts += [f"{found['pcp19'].median():,.0f}", f"{found['pcp19'].max():,.0f}"]
        facts += [f"{found['pcp20'].median():,.0f}", f"{ratios.median():.4f}", f"{ratios.max():.4f}"]
        lines.append([str(name), *facts, f"{100 * np.mean(ratios < 0.1):.1f} %"])
    head = ["instances of", "number", "jobs, mean", "PCP'19, median", "PCP'19, largest", "PCP'20, median"]
    return table([*head, "ratio, median", "ratio, largest", "below 0.1"], lines)


def times_table(rows: pd.DataFrame) -> str:
    """Return what figure 7 shows and the quality of the solutions, one line per source of instances and model."""
    lines = []
    for name, found in rows.groupby("workload", sort=False):
        solved = [one for one in found["solved"] if one]
        if not solved:
            lines.append([str(name), f"none of {len(found)}: PCP'19 too large", *[""] * 8])
            continue
        base_seconds = np.array([one["node-wise"].seconds for one in solved])
        for model, label in MODELS.items():
            seconds = np.array([one[model].seconds for one in solved])
            pairs = [(one[model].delay, one["node-wise"].delay) for one in solved]
            both = [(mine, base) for mine, base in pairs if mine is not None and base is not None]
            delays, base = np.array(both).reshape(len(both), 2).T
            ratios = seconds / base_seconds
            proved = np.mean([one[model].status in ("OPTIMAL", "BOUND") for one in solved])
            failed = np.mean([one[model].failed for one in solved])
            facts = [f"{len(solved)} of {len(found)}", f"{1000 * seconds.mean():,.1f}", f"{np.median(ratios):.4f}"]
            facts += [_share((ratios <= 1) & (ratios >= 0.01)), _share(ratios < 0.01), _share(proved), _share(failed)]
            quality = [np.isclose(delays, base), delays < base - 1e-9]
            lines.append([f"{name}: {label}", *facts, *(_share(one) if both else "" for one in quality)])
    head = ["instances, model", "tried", "CPU ms, mean", "ratio, median", "ratio 0.01 to 1", "ratio below 0.01"]
    head += ["proved optimal", "solver found nothing", "objective as PCP'19's", "better"]
    limits = f"`work={WORK:g}`. Objectives are compared on the instances for which both found a plan."
    return f"{table(head, lines)}\n\n{limits}"


def _share(values: Any) -> str:
    return f"{100 * np.mean(values):.0f} %"


def variables_picture(path: Path, rows: pd.DataFrame, machine: str) -> None:
    """Draw the ratios of figure 6, one curve for each kind of workload."""
    curves = {str(name): list(found["ratio"]) for name, found in rows.groupby("workload", sort=False)}
    title = f"Variables of PCP'20 over PCP'19, {machine}"
    ratio_picture(path, curves, label="variables, PCP'20 / PCP'19", marks=(0.1,), title=title)


def times_picture(path: Path, rows: pd.DataFrame, machine: str) -> None:
    """Draw the ratios of figure 7, one curve for each model."""
    solved = [one for one in rows["solved"] if one]
    curves = {
        label: [one[model].seconds / one["node-wise"].seconds for one in solved]
        for model, label in MODELS.items()
        if model != "node-wise"
    }
    title = f"Time to solve of PCP'20 over PCP'19, {machine}"
    ratio_picture(path, curves, label="CPU time / that of PCP'19", marks=(1.0, 0.01), title=title)


def decision_time_tables(rows: pd.DataFrame, study: Study) -> str:
    """Return means for each way to count the time of decisions: none, measured, the paper's; and slower and slower."""
    times = rows[rows["part"] == "times"]
    paper = rows[rows["part"].str.startswith("times of the paper")]
    lines = []
    for (name, expected), runs in times.groupby(["name", "expected"], sort=False):
        none, measured = (runs[runs["setting.decision-time"] == way] for way in ("none", "measured"))
        fixed = paper[(paper["name"] == name) & (paper["expected"] == expected)]
        published = study.published.get((str(name), str(expected)))
        told = "" if published is None else f"{published.decision_ms:.0f}"
        shown = [none, measured, none if name == BASELINE else fixed]
        means = ["; ".join((_mean(one, "slowdowns", 2), f"{_mean(one, 'waits', 0)} s")) for one in shown]
        lines.append([str(name), str(expected), f"{_decision_ms(measured):.2f}", told, *means])
    ways = [f"slowdown; wait: {way}" for way in ("no time", "measured", "the paper's mean")]
    first = table(["", "expected run time", "CPU ms measured", "ms in the paper", *ways], lines)
    slow = rows[rows["part"] == "slow"]
    lines = [
        [name, expected, f"{seconds} s", _mean(runs, "slowdowns", 2), _mean(runs, "waits", 0)]
        for (name, expected, seconds), runs in slow.groupby(["name", "expected", "setting.decision-time"], sort=False)
    ]
    head = ["dispatcher", "expected run time", "a decision takes", "slowdown", "wait (s)"]
    return f"{first}\n\n{table(head, lines)}"


def _mean(runs: pd.DataFrame, metric: str, digits: int) -> str:
    return f"{np.mean(np.concatenate(list(runs[metric]))):,.{digits}f}"
