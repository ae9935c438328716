"""Where jobs ran: maps of the network at a few moments of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.topology.doors.map_picture import colours_of, draw
from batdispatch.abilities.topology.networks import Topology, topology_of
from batdispatch.abilities.topology.networks.measures import compactness
from batdispatch.abilities.topology.networks.pieces import Pieces
from batdispatch.abilities.topology.results.free import FreeNodes, free_nodes
from batdispatch.abilities.topology.results.map_layout import Layout, layout_of
from batdispatch.core.machine.machine import Machine
from batdispatch.report.html import Picture
from batdispatch.results.numbers import duration, number
from batdispatch.results.outages import away_at, outages_of
from batdispatch.results.runs import Run, has_network
from batdispatch.results.sites import Sites

Ints = NDArray[np.int64]

#: Most runs whose maps are drawn: a map of 27,648 hosts takes some 200 kB of the page.
MAX_RUNS = 6


@dataclass(frozen=True)
class Atlas:
    """The maps of one run.

    Attributes:
        label: of the run.
        axes: what leads to the right and upwards on them; empty if nothing does.
        maps: in order of time.
    """

    label: str
    axes: str
    maps: Sequence[Picture]


def atlases(runs: Sequence[Run], sites: Sites, begin: float, end: float) -> tuple[list[Atlas], str]:
    """Return the maps of the first `MAX_RUNS` runs on machines with a network, and a note on those that have none.

    Args:
        runs: of a comparison.
        sites: where their machines are.
        begin: the first submission over all runs, seconds.
        end: the last end over all runs.
    """
    found: list[Atlas] = []
    missing = []
    networked = [run for run in runs if has_network(run)]
    for index, run in enumerate(networked[:MAX_RUNS]):
        machine = sites.machine(run)
        topology = None if machine is None else topology_of(machine)
        if machine is None or topology is None:
            missing.append(run.label)
            continue
        found.append(_atlas(run, machine, topology, begin, end, f"m{index}"))
    notes = []
    if missing:
        notes.append(
            f"Maps of {', '.join(missing)} need the platform of the run, which is not where result.json says, or has "
            "changed since."
        )
    if len(networked) > MAX_RUNS:
        notes.append(f"Maps are drawn for the first {MAX_RUNS} runs.")
    return found, " ".join(notes)


def moments(free: FreeNodes, begin: float, end: float) -> list[tuple[float, str]]:
    """Return the moments to draw, in order of time, and why each is drawn.

    A third and two thirds of the time of all runs, so that runs compare; the moment with the fewest free hosts; and the
    one with most free hosts outside of the largest piece, if ever some are. Moments at which the run has ended are left
    out.

    Args:
        free: the run's free hosts over time, at one moment at least.
        begin: of the time of all runs, seconds.
        end: of it.
    """
    chosen = [(begin + (end - begin) * part / 3, name) for part, name in ((1, "a third"), (2, "two thirds"))]
    last = float(free.moments[-1] + free.weight[-1] / 2)
    found = {when: f"{name} of the time" for when, name in chosen if when < last}
    busiest = float(free.moments[int(np.argmin(free.free))])
    outside = free.free - free.piece
    scattered = int(np.argmax(outside))
    special = [(busiest, "the fewest hosts are free")]
    if outside[scattered]:
        special.append((float(free.moments[scattered]), "most free hosts lie outside of the largest piece"))
    for when, why in special:
        found[when] = f"{found[when]}, and {why}" if when in found else why
    return sorted(found.items())


def _atlas(run: Run, machine: Machine, topology: Topology, begin: float, end: float, prefix: str) -> Atlas:
    columns = run.columns
    start, finish = columns.spans
    own_begin, own_end = float(columns.submission_time.min()), float(np.nanmax(finish))
    outages = outages_of(run, machine)
    free = free_nodes(
        machine,
        topology,
        columns.hosts,
        start,
        finish,
        own_begin,
        own_end,
        lambda times: away_at(outages, times.tolist()),
    )
    if not len(free.moments):
        return Atlas(run.label, "", [])
    layout = layout_of(topology)
    colours: dict[int, int] = {}
    maps = []
    chosen = moments(free, begin, end)
    gone = away_at(outages, [when for when, _ in chosen])
    for index, ((when, why), away) in enumerate(zip(chosen, gone, strict=True)):
        running = np.flatnonzero((start <= when) & (when < finish))
        holder = _holders(run, running, len(machine.hosts))
        maps.append(_map(run, machine, topology, layout, holder, away, colours, when, why, f"{prefix}-{index}"))
    return Atlas(run.label, layout.axes, maps)


def _holders(run: Run, running: Ints, size: int) -> Ints:
    """Return the row whose job is on each host, -1 for none, int64 [host]; of several the one that started last."""
    holder = np.full(size, -1, dtype=np.int64)
    order = running[np.argsort(run.columns.starting_time[running], kind="stable")]
    for row, first, last in run.columns.hosts.by_rows(order):
        holder[first : last + 1] = row
    return holder


def _map(
    run: Run,
    machine: Machine,
    topology: Topology,
    layout: Layout,
    holder: Ints,
    away: Ints,
    colours: dict[int, int],
    when: float,
    why: str,
    prefix: str,
) -> Picture:
    rows, counts = np.unique(holder[holder >= 0], return_counts=True)
    sizes = dict(zip(rows.tolist(), counts.tolist(), strict=True))
    places = np.full(layout.shape, -1, dtype=np.int64)
    inside = layout.plane >= 0
    places[layout.plane[inside], layout.row[inside], layout.column[inside]] = holder[inside]
    colours_of(places, sizes, colours)
    compute = (machine.classes >= 0) & inside
    idle = np.flatnonzero(compute & (holder < 0) & ~np.isin(np.arange(len(holder)), away))
    title = f"After {duration(when)}: {why}"
    svg = draw(
        layout,
        holder,
        {row: _told(run, topology, holder, row, when) for row in sizes},
        colours,
        [host.id for host in machine.storage],
        away.tolist(),
        prefix=prefix,
        title=f"Map of {run.label}. {title}",
    )
    return Picture(title, _caption(sizes, int(compute.sum()), idle, len(away), Pieces(topology)), svg)


def _told(run: Run, topology: Topology, holder: Ints, row: int, when: float) -> str:
    """Return what the pointer shows of a job."""
    columns = run.columns
    hosts = np.flatnonzero((holder == row) & (topology.router_of >= 0))
    start, finish = float(columns.starting_time[row]), float(columns.finish_time[row])
    text = f"job {columns.job_id[row]}: {_count(int((holder == row).sum()), 'host')}"
    if len(hosts) > 1:
        text += f", {number(compactness(topology, hosts))} links from one to another on average"
    return f"{text}; runs since {duration(when - start)}, for {duration(finish - start)} in all"


def _caption(sizes: dict[int, int], hosts: int, idle: Ints, away: int, pieces: Pieces) -> str:
    held = sum(sizes.values())
    text = f"{_count(len(sizes), 'job')} on {number(held)} of {_count(hosts, 'host')}. "
    if len(idle):
        found = pieces.sizes(idle)
        text += "One host is free" if len(idle) == 1 else f"{number(len(idle))} hosts are free"
        if len(found) > 1:
            text += f", in {number(len(found))} pieces; the largest has {number(int(found[0]))}"
        elif len(idle) > 1:
            text += ", all in one piece"
    else:
        text += "No host is free"
    return f"{text}; {_count(away, 'host')} away." if away else f"{text}."


def _count(value: int, what: str) -> str:
    return f"{number(value)} {what}" if value == 1 else f"{number(value)} {what}s"
