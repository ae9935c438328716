"""The metrics of the network, and its measure of a run's rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from batdispatch.abilities.topology.results.table import FILE, differences, write_table
from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.job_table import Floats, JobTable
from batdispatch.core.machine.machine import Machine
from batdispatch.results.metrics.measure import Difference, Measure
from batdispatch.results.metrics.metric import Metric, Value, register
from batdispatch.results.metrics.sample import Sample

if TYPE_CHECKING:
    from batdispatch.abilities.topology.results.use import NetworkUse

#: Of the measure.
NAME = "network"
METRICS: dict[str, Metric] = {}
metric = partial(register, METRICS, group="Network")


def _use(sample: Sample) -> NetworkUse | None:
    use: NetworkUse | None = sample.measured.get(NAME)
    return use


def _mean(values: Floats) -> Value:
    return float(values.mean()) if len(values) else None


class _Measure(NamedTuple):
    """What an allocation measures in the network."""

    #: Of the metrics, behind mean_ and weighted_.
    name: str
    #: Of `NetworkUse`.
    field: str
    label: str
    unit: str
    what: str
    symbol: str
    formula: str


_MEASURES = (
    _Measure(
        name="compactness",
        field="compactness",
        label="compactness",
        unit="links",
        what="distance between two hosts of an allocation (gamma)",
        symbol="g_i",
        formula="""g_i = 1 / (h_i (h_i - 1)) times the sum of dist(a, b) over all ordered pairs of hosts of segment i; 0
        for one host (Bleuse 2017)""",
    ),
    _Measure(
        name="proximity",
        field="proximity",
        label="proximity",
        unit="links/host",
        what="distance to the I/O nodes that a job asks for, divided by its number of hosts (rho)",
        symbol="d_i",
        formula="""d_i = the maximum over the I/O nodes b that the job asks for of (1 / h_i) (min dist(a, b) + max
        dist(a, b)), min and max over the hosts a of segment i (Bleuse 2017); over the segments whose job asks for an
        I/O node""",
    ),
    _Measure(
        name="locality_factor",
        field="locality",
        label="locality factor",
        unit="",
        what="number of routers that an allocation uses, as a multiple of the least possible number",
        symbol="l_i",
        formula="""l_i = routers on which hosts of segment i stand / least number of routers on which h_i compute hosts
        stand; in a fat tree the lowest switches are the routers""",
    ),
    _Measure(
        name="shared_links",
        field="shared",
        label="shared links",
        unit="",
        what="share of the links within an allocation that another job uses at the same moment",
        symbol="c_i",
        formula="""c_i = the mean over the run time of n_i(t) / L_i, with L_i the directed links on the routes between
        hosts of segment i, and n_i(t) those of them that are also on a route between hosts of another segment that
        runs at t; 0 for L_i = 0; over the segments with p_i > 0""",
    ),
    _Measure(
        name="shared_time",
        field="busy",
        label="time with shared links",
        unit="",
        what="share of its run time in which a job shares at least one link with another job",
        symbol="b_i",
        formula="""b_i = the share of the run time of segment i with n_i(t) > 0, n_i(t) as in shared_links; over the
        segments with p_i > 0""",
    ),
)


def _measured(measure: _Measure) -> None:
    """Register the means of a measure over segments and over node-seconds."""

    def values(sample: Sample) -> Floats:
        return np.zeros(0) if (use := _use(sample)) is None else getattr(use, measure.field)

    def mean(sample: Sample) -> Value:
        found = values(sample)
        return _mean(found[~np.isnan(found)])

    def weighted(sample: Sample) -> Value:
        found = values(sample)
        known = np.flatnonzero(~np.isnan(found))
        weight = (sample.held * sample.segment_run)[known]
        return float(found[known] @ weight / weight.sum()) if weight.any() else None

    mean.__name__, weighted.__name__ = f"mean_{measure.name}", f"weighted_{measure.name}"
    mean.__doc__ = f"""Mean {measure.what}.

    (1/m) sum_i {measure.symbol} over the m segments, with {measure.formula}."""
    weighted.__doc__ = f"""Mean {measure.what}, where larger and longer jobs count for more.

    sum_i h_i p_i {measure.symbol} / sum_i h_i p_i, with {measure.symbol} as in mean_{measure.name}."""
    metric(f"mean {measure.label}", unit=measure.unit)(mean)
    metric(f"weighted {measure.label}", unit=measure.unit)(weighted)


for _measure in _MEASURES:
    _measured(_measure)


@metric("free fragmentation")
def free_fragmentation(sample: Sample) -> Value:
    """Share of the free node-seconds that lie outside of the largest connected piece of free nodes.

    1 - integral of L(t) / integral of F(t), from the first submission to the last end, with F(t) the hosts that carry
    no job and L(t) those of them in the largest connected piece. Two hosts are connected if they stand on one router,
    or if links between routers with free hosts join them. This is external fragmentation, 1 - largest block / free
    memory (as in Wilson et al. 1995), on the network. Exact for up to 1,000 stretches between changes; beyond, at 1,000
    equally spaced moments. Hosts that are away count as free.
    """
    return None if (use := _use(sample)) is None else use.free.outside(use.free.piece)


@metric("line fragmentation")
def line_fragmentation(sample: Sample) -> Value:
    """Share of the free node-seconds that lie outside of the longest run of free nodes with consecutive ids.

    1 - integral of R(t) / integral of F(t), as free_fragmentation, with R(t) the length of the longest run.
    """
    return None if (use := _use(sample)) is None else use.free.outside(use.free.run)


def _network_use(columns: JobTable, machine: Machine, jobs: Sequence[Job | None] | None) -> NetworkUse | None:
    if machine.topology is None:
        return None
    # Most machines have no network, and its measures take a while to import.
    from batdispatch.abilities.topology.results.use import network_use

    return network_use(columns, machine, jobs)


def _write(use: NetworkUse | None, columns: JobTable, folder: Path) -> None:
    write_table(use, columns, folder / FILE)


def _differences(use: NetworkUse | None, columns: JobTable, folder: Path) -> Iterator[Difference]:
    if (folder / FILE).is_file():
        yield from differences(use, columns, folder / FILE)


#: Announced as a measure.
MEASURE = Measure(
    name=NAME, of=_network_use, metrics=METRICS, after="fragmentation", write=_write, differences=_differences
)
