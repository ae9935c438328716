"""What the waits of a log and of simulations say, as tables and sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from batdispatch.abilities.whatif.fidelity.waits import Waits, apart
from batdispatch.results.numbers import alike, duration, number

#: How the log is called beside the dispatchers.
LOG = "the log"
HEADINGS = ("mean", "median", "90 %", "99 %", "longest", "none")
APART = ("mean, over the log's", "decades", "rank", "weeks", "busy", "idle")


def wait_rows(told: Mapping[str, Waits]) -> list[tuple[str, list[str]]]:
    """Return a row for the log and each dispatcher, under `HEADINGS`: waits, and how many jobs wait less than 1 s."""
    rows = []
    for name, waits in told.items():
        wait = waits.wait
        cells = [duration(float(value)) for value in (wait.mean(), *np.quantile(wait, [0.5, 0.9, 0.99]), wait.max())]
        rows.append((name, [*cells, f"{np.mean(wait < 1):.0%}"]))
    return rows


def apart_rows(told: Mapping[str, Waits]) -> list[tuple[str, list[str]]]:
    """Return a row for the log and each dispatcher, under `APART`: how far it is from the log."""
    log = next(iter(told.values()))
    rows = []
    for name, waits in told.items():
        found = apart(log, waits)
        cells = [_plain(value) for value in (found.ratio, found.decades, found.rank, found.weeks)]
        rows.append((name, [*cells, f"{found.busy:.1%}", _share(waits.idle_share())]))
    return rows


def _plain(value: float) -> str:
    return f"{value:.2f}" if math.isfinite(value) else "n/a"


def _share(value: float) -> str:
    return "n/a" if math.isnan(value) else f"{value:.0%}"


def sentences(told: Mapping[str, Waits]) -> list[str]:
    """Return what can be concluded; the first dispatcher is the one that the site is said to have run."""
    names = list(told)
    log, ran = told[names[0]], told[names[1]]
    found = apart(log, ran)
    means = alike(float(log.wait.mean()), float(ran.wait.mean()))
    same = "Who waits long in the log does so here." if found.rank >= 0.7 else "Who waits long is hardly the same."
    lines = [
        (
            f"In the log a job waits {means[0]} on average, under {names[1]} {means[1]}. The distributions are "
            f"{found.decades:.2f} decades apart: averaged over their quantiles, waits differ by a factor of "
            f"{number(10**found.decades)}."
        ),
        (
            f"The waits of single jobs have a rank correlation of {_plain(found.rank)}, the weekly means "
            f"{_plain(found.weeks)}. {same}"
        ),
        _idle(log, ran, names[1]),
    ]
    others = {name: waits for name, waits in told.items() if name not in names[:2]}
    if others:
        lines.append(_others(log, ran, names[1], others))
    return lines


def _idle(log: Waits, ran: Waits, name: str) -> str:
    in_log, here = log.idle_share(), ran.idle_share()
    if math.isnan(in_log):
        return "Nobody waits in the log."
    text = (
        f"In {_share(in_log)} of the log's waiting time enough hosts were free for the job that waited, under {name} "
        f"in {_share(here)}."
    )
    if math.isnan(here) or in_log > here + 0.1:
        text += (
            " So much of the log's waiting has causes that the log does not tell, such as queues with limits, nodes "
            "that were down or reserved, or jobs held by their users, and no simulation of it can show it."
        )
    return text


def _others(log: Waits, ran: Waits, name: str, others: Mapping[str, Waits]) -> str:
    own = apart(log, ran).decades
    distances = {other: apart(log, waits).decades for other, waits in others.items()}
    nearest = min(distances, key=lambda other: distances[other])
    if distances[nearest] < own:
        text = (
            f"Of these dispatchers not {name} but {nearest} is nearest to the log ({distances[nearest]:.2f} decades)."
        )
    else:
        text = (
            f"Of these dispatchers {name} is nearest to the log; {nearest} follows ({distances[nearest]:.2f} decades)."
        )
    between = {other: apart(ran, waits).decades for other, waits in others.items()}
    closer = [f"{other} ({distance:.2f})" for other, distance in between.items() if distance < own]
    if closer:
        text += (
            f" The log is further from {name} than {', '.join(closer)}: the simulation misses more than the choice "
            "between these changes. Compare them with each other, not with the log, and take no simulated wait for a "
            "forecast."
        )
    else:
        text += f" The log is nearer to {name} than each of these is, so it can tell {name} from them."
    return text
