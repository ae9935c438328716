"""Tables and the picture of the page, with intervals over the slices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from batdispatch.abilities.campaigns.page.table import Floats
from batdispatch.abilities.campaigns.statistics.bootstrap import Draws, change_of_mean_by_bootstrap, mean_by_bootstrap
from batdispatch.abilities.campaigns.statistics.estimate import Estimate
from batdispatch.core.errors import SimulationError
from batdispatch.inputs.files import write_whole
from batdispatch.inputs.workloads import read_workload
from batdispatch.report import style
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.lineage import FILE as LINEAGE
from batdispatch.results.lineage import logical, read_lineage
from batdispatch.results.runs import read_result
from expe.common.tables import table

#: Bootstrap over slices, each drawn with all that was measured on it.
DRAWS = Draws(seed=7, method="percentile")
#: Threshold of the bounded slowdown, s.
THRESHOLD = 10.0
HOUR = 3600.0
POLICIES = ("dmr", "equal-share", "speed-up")
SHARES = (0.25, 0.5, 1.0)
#: Speed of n hosts. The first one is assumed unless something else is said.
SCALABILITIES = ("power:0.7", "power:0.9", "linear")


class Case(NamedTuple):
    """One way to make a log's jobs malleable and to resize them: who is, and what is assumed of them."""

    dispatcher: str = "dmr"
    share: float = 1.0
    scalability: str = SCALABILITIES[0]
    #: A job's largest size over the size that it asks for.
    expand: int = 2


#: The log without malleable jobs.
AS_IT_IS = Case("easy", 0.0)
#: Case -> the means of its runs over their seeds, a row for each slice.
Found = Mapping[Case, pd.DataFrame]


def columns(row: Mapping[str, Any], run: Path) -> dict[str, float]:
    """Return what came of a run, as means over its jobs: seconds, ratios, resizes a job.

    The slowdown is bounded, by the time that the job takes in the log; the utilisation is the share of the hosts that
    jobs held from the first submission to the last one.

    Raises:
        SimulationError: a job was lost.
    """
    workload = read_workload(run.parents[1] / "inputs" / Path(read_result(run).workload.path).name)
    segments = read_columns(run / "jobs.csv")
    jobs = logical(segments, read_lineage(run / LINEAGE, segments))
    if len(jobs.job_id) != len(workload.jobs):
        raise SimulationError(f"{run}: {len(jobs.job_id)} jobs of {len(workload.jobs)}")
    # On the size that it asks for, as in the log.
    runtimes = {job.id: min(float(workload.profiles[job.profile]["delay"]), job.walltime) for job in workload.jobs}
    usual = np.array([runtimes[str(name)] for name in jobs.job_id])
    begin, end = workload.jobs[0].submission, workload.jobs[-1].submission
    spent = np.minimum(segments.finish_time, end) - np.maximum(segments.starting_time, begin)
    held = float(np.clip(spent, 0.0, None) @ segments.hosts.sizes)
    return {
        "wait": float(jobs.waiting_time.mean()),
        "slowdown": float(np.maximum(1.0, jobs.turnaround_time / np.maximum(usual, THRESHOLD)).mean()),
        "held": held / (row["platform.hosts"] * (end - begin)),
        "execution": float(jobs.execution_time.mean()),
        "turnaround": float(jobs.turnaround_time.mean()),
        "killed": row["nb_jobs_killed"] or 0,
        **{
            f"{kind}s": (row[f"report.resizing.{kind}.count"] or 0) / len(workload.jobs)
            for kind in ("expand", "shrink")
        },
    }


def _found(rows: pd.DataFrame) -> Found:
    """Return what each case did on each slice, with the least and the largest mean wait of its seeds."""
    names = ["dispatcher", "workload.share", "workload.scalability", "workload.expand"]
    measured = ("wait", "slowdown", "held", "execution", "turnaround", "killed", "expands", "shrinks")
    means = {metric: (metric, "mean") for metric in measured}
    return {
        Case(*key): runs.groupby("workload.from.slice").agg(**means, least=("wait", "min"), most=("wait", "max"))
        for key, runs in rows.groupby(names)
    }


def _of(*parts: str) -> Callable[[Callable[..., Any]], tuple[tuple[str, ...], Callable[..., Any]]]:
    """Return what makes a section or picture of parts, and of easy on the log as it is."""
    return lambda make: (("as in the log", *parts), lambda *given: make(*given[:-1], _found(given[-1])))


def ends(change: Estimate) -> tuple[float, float]:
    """Return the ends of an interval; of a single slice, twice its value."""
    return (change.value if change.low is None else change.low, change.value if change.high is None else change.high)


def text_of(change: Estimate, *, points: bool = False) -> str:
    """Return a change in percent, or in percentage points, with its interval."""
    low, high = ends(change)
    digits = 1 if points else 0
    return f"{100 * change.value:+.{digits}f} [{100 * low:+.{digits}f}, {100 * high:+.{digits}f}]"


def column(found: Found, case: Case, metric: str) -> Floats:
    """Return a metric of each slice."""
    return found[case][metric].to_numpy(dtype=np.float64)


def change(found: Found, case: Case, metric: str) -> Estimate:
    """Return by how much the mean of a metric over the slices is larger, as a share of that without malleable jobs."""
    return change_of_mean_by_bootstrap(column(found, case, metric), column(found, AS_IT_IS, metric), DRAWS)


def difference(found: Found, case: Case, metric: str) -> Estimate:
    """Return by how much the mean of a metric over the slices is larger."""
    return mean_by_bootstrap(column(found, case, metric) - column(found, AS_IT_IS, metric), DRAWS)


def base_table(found: Found) -> str:
    """Return what easy does with the log as it is."""
    wait = column(found, AS_IT_IS, "wait") / HOUR
    cells = [
        f"{len(wait)}",
        f"{wait.mean():.2f}",
        f"{wait.min():.2f} to {wait.max():.2f}",
        f"{column(found, AS_IT_IS, 'slowdown').mean():.1f}",
        f"{100 * column(found, AS_IT_IS, 'held').mean():.1f}",
        f"{column(found, AS_IT_IS, 'execution').mean() / HOUR:.2f}",
        f"{column(found, AS_IT_IS, 'killed').sum():.0f}",
    ]
    head = ["slices", "wait (h)", "of a slice", "bounded slowdown", "utilisation (%)", "execution (h)", "killed"]
    return table(head, [cells], 0)


def summary(found: Found) -> str:
    """Return in words what the main table shows."""
    published = Case()

    def by(case: Case, metric: str = "wait") -> str:
        value, interval = text_of(change(found, case, metric)).split(" ", 1)
        return f"{value} % {interval}"

    told = ", ".join(f"{by(Case(share=share))} if {100 * share:.0f} % of them can be resized" for share in SHARES)
    slowdown, execution, turnaround = (by(published, metric) for metric in ("slowdown", "execution", "turnaround"))
    others = ", ".join(f"{by(Case(policy))} under `{policy}`" for policy in POLICIES if policy != published.dispatcher)
    wait = column(found, AS_IT_IS, "wait").mean() / HOUR
    return (
        f"Under `easy`, the jobs of KTH-SP2 wait {wait:.2f} h on average. Suppose that n hosts are n^0.7 times as fast "
        f"as one. Then resizing under the policy `{published.dispatcher}` changes the mean wait by {told}. If all can "
        f"be resized, the mean bounded slowdown changes by {slowdown}, the time that jobs run by {execution}, and the "
        f"time from submission to end by {turnaround}. The other policies then change the mean wait by {others}."
    )


_HEAD = [
    "wait (h)",
    "wait (%)",
    "bounded slowdown (%)",
    "execution (%)",
    "turnaround (%)",
    "utilisation (points)",
    "expansions",
    "shrinks",
]


def _cells(found: Found, case: Case) -> list[str]:
    return [
        f"{column(found, case, 'wait').mean() / HOUR:.2f}",
        *(text_of(change(found, case, metric)) for metric in ("wait", "slowdown", "execution", "turnaround")),
        text_of(difference(found, case, "held"), points=True),
        *(f"{column(found, case, metric).mean():.2f}" for metric in ("expands", "shrinks")),
    ]


def shares_table(found: Found) -> str:
    """Return each policy with each share of malleable jobs."""
    rows = []
    for policy in POLICIES:
        for share in SHARES:
            case = Case(policy, share)
            rows.append([policy, f"{100 * share:.0f} %", *_cells(found, case), _spread(found, case)])
    return table(["policy", "malleable", *_HEAD, "wait by seed (%)"], rows, 2)


def _spread(found: Found, case: Case) -> str:
    """Return how far the seeds of a slice are apart, on average over the slices, as a share of the mean wait."""
    if case.share == 1.0:
        return ""
    apart = column(found, case, "most") - column(found, case, "least")
    return f"{100 * apart.mean() / column(found, AS_IT_IS, 'wait').mean():.0f} apart"


def scalability_table(found: Found) -> str:
    """Return each policy with all jobs malleable, for each assumption about their speed."""
    cases = [Case(policy, scalability=law) for law in SCALABILITIES for policy in POLICIES]
    rows = [[case.scalability, case.dispatcher, *_cells(found, case)] for case in cases]
    return table(["speed of n hosts", "policy", *_HEAD], rows, 2)


def assumptions_table(found: Found) -> str:
    """Return what other walltimes and largest sizes do, with all jobs malleable."""
    rows = {
        "as above": Case(),
        "no job grows beyond what it asks for": Case(expand=1),
        "walltimes are scaled": Case("dmr, walltimes scaled"),
    }
    return table(["assumption", *_HEAD], [[name, *_cells(found, case)] for name, case in rows.items()])


def picture(path: Path, found: Found) -> None:
    """Draw how wait and execution time change with the share of malleable jobs, with 95 % intervals."""
    with style.own_style():
        figure, panels = style.new_figure(5.2, rows=2)
        metrics = {"wait": "mean wait", "execution": "mean execution time"}
        for axes, (metric, heading) in zip(panels, metrics.items(), strict=True):
            axes.axhline(0.0, color=style.FAINT, linewidth=0.8)
            for index, policy in enumerate(POLICIES):
                changes = [change(found, Case(policy, share), metric) for share in SHARES]
                beside = 1.5 * (index - (len(POLICIES) - 1) / 2)
                values = [100 * one.value for one in changes]
                reach = [[100 * abs(ends(one)[side] - one.value) for one in changes] for side in (0, 1)]
                axes.errorbar(
                    [0.0, *(100 * share + beside for share in SHARES)],
                    [0.0, *values],
                    yerr=[[0.0, *low] for low in reach],
                    label=policy,
                    marker="o",
                    markersize=3.5,
                    capsize=2.5,
                    linewidth=1.3,
                    **style.series_style(index),
                )
            axes.set_ylabel(f"{heading} (%)")
            axes.set_xticks([0, *(100 * share for share in SHARES)])
            axes.grid(visible=True, axis="y")
        panels[0].legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2, ncols=3)
        panels[-1].set_xlabel("jobs that can be resized (%)")
    write_whole(
        path, style.alone(figure, path.stem, "change of mean wait and execution time by share of malleable jobs")
    )


SECTIONS = {
    "summary": _of("shares")(summary),
    "base": _of()(base_table),
    "shares": _of("shares")(shares_table),
    "scalability": _of("shares", "scalability")(scalability_table),
    "assumptions": _of("shares", "assumptions", "walltimes")(assumptions_table),
}
PICTURES = {"gain.svg": _of("shares")(picture)}
