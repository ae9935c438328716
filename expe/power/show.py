"""What the page shows: what sleep, caps and cheap hours save, and what they cost in wait."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from batdispatch.abilities.power.doors.series import read_series
from batdispatch.abilities.power.machine.series import Series
from batdispatch.results.jobs_file import read_columns
from expe.common.tables import interval, table

__all__ = ["SECTIONS", "columns", "others"]

FOLDER = Path(__file__).parent
#: Recordings of batsched's policies in Batsim.
RECORDED = FOLDER.parents[1] / "tests" / "conformance" / "recordings" / "energy" / "batsim4"
POLICIES = ("easy_bf", "energy_bf", "energy_bf_idle_sleeper", "energy_bf_subpart_sleeper", "sleeper")
#: W that a host burns with a job beyond what it burns idle: `batsim-cluster`'s first power state.
_BUSY = 190.738 - 95.0
_JOULES = 3.6e6


def columns(row: Mapping[str, Any], run: Path) -> dict[str, float]:
    """Return the carbon of a run's jobs and the least that they could have, over what they have if they start at once.

    That is for hosts that burn `_BUSY` more with a job. The least lets each job start at its best moment within a day
    of its submission, on a machine of its own; ``reached`` is the share of that saving which was reached. ``hours`` is
    the mean wait, ``turnaround`` the mean time from submission to end in hours, both of logical jobs, ``kwh`` the
    energy of all hosts, and ``switches`` how often one was told to sleep or to wake up.
    """
    jobs, carbon = read_columns(run / "jobs.csv"), read_series([(str(FOLDER / "carbon.csv"), True)])[0]
    ran, sums = jobs.ran, _sums(run)
    size = jobs.requested_number_of_resources[ran] * _BUSY / _JOULES
    length, begin, came = jobs.execution_time[ran], jobs.starting_time[ran], jobs.submission_time[ran]
    at_once = float(size @ _carbon(carbon, came, length))
    days = np.array([_carbon(carbon, came + wait, length) for wait in np.arange(0.0, 86_401.0, 900.0)])
    spent, least = float(size @ _carbon(carbon, begin, length)), float(size @ days.min(axis=0))
    return {
        "carbon": spent / at_once,
        "bound": least / at_once,
        "reached": (at_once - spent) / (at_once - least),
        **_times(jobs.job_id[ran], came, begin, begin + length),
        "kwh": float(sums["consumed_joules"]) / _JOULES,
        "switches": float(sums["nb_machine_switches"]),
    }


def _times(
    names: NDArray[np.str_], came: NDArray[np.float64], begin: NDArray[np.float64], end: NDArray[np.float64]
) -> dict[str, float]:
    """Return mean wait and turnaround of logical jobs, in hours; the later segments of one are called ``first~2``."""
    rows = pd.DataFrame({"came": came, "begin": begin, "end": end}).groupby([str(name).split("~")[0] for name in names])
    first = rows["came"].min()
    waits, turnarounds = rows["begin"].min() - first, rows["end"].max() - first
    return {"hours": float(waits.mean()) / 3600, "turnaround": float(turnarounds.mean()) / 3600}


def _sums(run: Path) -> dict[str, str]:
    """Return the row of a run's schedule.csv."""
    with (run / "schedule.csv").open(newline="") as file:
        return next(csv.DictReader(file))


def _carbon(series: Series, begin: NDArray[np.float64], length: NDArray[np.float64]) -> NDArray[np.float64]:
    pairs = zip(begin.tolist(), (begin + length).tolist(), strict=True)
    return np.array([series.integral(first, last) for first, last in pairs])


def others(out: Path, quick: bool) -> list[dict[str, Any]]:
    """Return what Batsim recorded of batsched's policies, on the same machine and workload.

    Args:
        out: makes no difference.
        quick: makes no difference.
    """
    rows = []
    for policy in POLICIES:
        folder = RECORDED / f"{policy}.homo8"
        sums = _sums(folder)
        with (folder / "jobs.csv").open(newline="") as file:
            waits = [float(job["waiting_time"]) for job in csv.DictReader(file) if job["waiting_time"]]
        rows.append(
            {
                **{"part": "batsched", "dispatcher": f"batsched's {policy}", "workload": "mixed8"},
                **{"kwh": float(sums["consumed_joules"]) / _JOULES, "hours": float(np.mean(waits)) / 3600},
                "switches": float(sums["nb_machine_switches"]),
            }
        )
    return rows


def _cell(values: pd.Series, digits: int) -> str:
    return interval(values.astype(float).tolist(), digits)


def ratio_table(rows: pd.DataFrame, column: str) -> str:
    """Return, for each dispatcher, wait in hours and its ratio to the dispatcher without a layer, with intervals."""
    lines = []
    for name, runs in rows.groupby("dispatcher", sort=False):
        base = rows[rows["dispatcher"] == _inside(str(name))]
        ratios = runs[column].to_numpy(float) / base[column].to_numpy(float)
        rejected = _cell(runs["nb_jobs_rejected"], 0)
        lines.append([f"`{name}`", _cell(runs["hours"], 2), interval(ratios.tolist(), 2), rejected])
    return table(["dispatcher", "mean wait, h", "over that without a cap", "rejected jobs"], lines)


def _inside(name: str) -> str:
    return match[1] if (match := re.search(r"dispatcher=(\w+)", name)) else name


def speeds_table(rows: pd.DataFrame) -> str:
    """Return wait, turnaround and energy where jobs may run more slowly, over those where they may only wait."""
    lines = []
    for name, runs in rows[rows["dispatcher"].str.contains("states=lower")].groupby("dispatcher", sort=False):
        base = rows[rows["dispatcher"] == str(name).replace(",states=lower", "")]
        ratios = [runs[each].to_numpy(float) / base[each].to_numpy(float) for each in ("hours", "turnaround", "kwh")]
        rejected = [_cell(each["nb_jobs_rejected"], 0) for each in (base, runs)]
        lines.append([f"`{name}`", *(interval(each.tolist(), 2) for each in ratios), *rejected])
    names = ["dispatcher", "wait", "time from submission to end", "energy", "rejected without", "rejected with"]
    return table(names, lines)


def carbon_table(rows: pd.DataFrame) -> str:
    """Return carbon over that of starts at once, and the bound, for each dispatcher."""
    lines = [
        [f"`{name}`", *(_cell(runs[column], 3) for column in ("carbon", "bound", "reached")), _cell(runs["hours"], 2)]
        for name, runs in rows.groupby("dispatcher", sort=False)
    ]
    return table(["dispatcher", "carbon", "least", "share of the saving", "mean wait, h"], lines)


def boots_table(rows: pd.DataFrame) -> str:
    """Return wait and energy over those without sleep, by how long hosts take to wake up."""
    lines = []
    for platform, there in rows.groupby("platform", sort=False):
        base = there[there["dispatcher"] == "easy"]
        for name, runs in there[there["dispatcher"] != "easy"].groupby("dispatcher", sort=False):
            ratios = [runs[column].to_numpy(float) / base[column].to_numpy(float) for column in ("hours", "kwh")]
            shown = str(platform).replace("kth", "boots in 151.5 s")
            lines.append([shown, f"`{name}`", *(interval(each.tolist(), 3) for each in ratios)])
    return table(["hosts", "dispatcher", "wait", "energy"], lines, 2)


def batsched_table(rows: pd.DataFrame) -> str:
    """Return energy, wait and switches of one workload under our policies and, as recorded, batsched's."""
    runs = [*rows.to_dict("records"), *others(FOLDER, quick=False)]
    lines = [
        [str(run["dispatcher"]), f"{run['kwh']:.3f}", f"{60 * run['hours']:.2f}", f"{run['switches']:.0f}"]
        for run in {run["dispatcher"]: run for run in runs}.values()
    ]
    return table(["dispatcher", "energy, kWh", "mean wait, min", "switches"], lines)


SECTIONS = {
    "caps": (("caps",), partial(ratio_table, column="hours")),
    "caps-hpc2n": (("caps of HPC2N",), partial(ratio_table, column="hours")),
    "speeds": (("speeds",), speeds_table),
    "speeds-hpc2n": (("speeds of HPC2N",), speeds_table),
    "carbon": (("carbon",), carbon_table),
    "boots": (("boots",), boots_table),
    "batsched": (("batsched",), batsched_table),
}
PICTURES: dict[str, Any] = {}
