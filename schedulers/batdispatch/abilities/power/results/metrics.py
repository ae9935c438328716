"""The metrics of power, and the measure of what a run's files say of its energy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.abilities.power.results.run_power import RunPower
from batdispatch.core.jobs.job_table import JobTable
from batdispatch.inputs.workloads.model import Window
from batdispatch.results.metrics.measure import Measure, RunFiles
from batdispatch.results.metrics.metric import Metric, Value, register
from batdispatch.results.metrics.sample import Sample
from batdispatch.results.numbers import number
from batdispatch.results.runs import Result

#: Of the measure.
NAME = "power"
JOULES_PER_KWH = 3.6e6
METRICS: dict[str, Metric] = {}
#: Heading of the metrics of runs that count energy.
POWER = "Power"
#: Heading of those of runs that have a price of energy or a cap on power besides.
PRICE_AND_CAP = "Price and cap"

metric = partial(register, METRICS)


def _power(sample: Sample) -> Mapping[str, float]:
    """Return what the run says of its energy, see `RunPower.of_run`; nothing: it counted none."""
    found: Mapping[str, float] = sample.measured.get(NAME, {})
    return found


@metric("energy", unit="kWh", better="lower", group=POWER)
def energy(sample: Sample) -> Value:
    """Energy of all hosts.

    (E(max_j f_j) - E(min_j r_j)) / 3.6e6, with E(t) the joules of all hosts until t.
    """
    return _power(sample)["joules"] / JOULES_PER_KWH if "joules" in _power(sample) else None


@metric("energy under jobs", unit="kWh", group=POWER)
def energy_of_jobs(sample: Sample) -> Value:
    """Energy of hosts while jobs run on them.

    Sum over the segments of the joules of their hosts from start to end / 3.6e6. Only if jobs take whole hosts.
    """
    known = not sample.totals and "joules_of_jobs" in _power(sample)
    return _power(sample)["joules_of_jobs"] / JOULES_PER_KWH if known else None


@metric("energy without jobs", unit="kWh", better="lower", group=POWER)
def energy_without_jobs(sample: Sample) -> Value:
    """Energy of hosts that are idle, switch or sleep.

    Energy less energy under jobs.
    """
    whole, used = energy(sample), energy_of_jobs(sample)
    return None if whole is None or used is None else whole - used


@metric("energy idle", unit="kWh", better="lower", group=POWER)
def energy_idle(sample: Sample) -> Value:
    """Energy of hosts that are awake without a job.

    Energy without jobs, less energy switching and energy asleep.
    """
    parts = energy_without_jobs(sample), energy_switching(sample), energy_asleep(sample)
    rest, switching, asleep = parts
    return None if rest is None or switching is None or asleep is None else rest - switching - asleep


@metric("energy switching", unit="kWh", better="lower", group=POWER)
def energy_switching(sample: Sample) -> Value:
    """Energy of hosts that fall asleep or wake up.

    Sum over the hosts and their virtual power states of the platform's watts, one core at work, x the seconds in it
    from min_j r_j to max_j f_j, by pstate_changes.csv, / 3.6e6.
    """
    return _power(sample)["switching"] / JOULES_PER_KWH if "switching" in _power(sample) else None


@metric("energy asleep", unit="kWh", better="", group=POWER)
def energy_asleep(sample: Sample) -> Value:
    """Energy of hosts that sleep.

    Sum over the hosts and the power states that they sleep in of the platform's watts x the seconds in it from
    min_j r_j to max_j f_j, by pstate_changes.csv, / 3.6e6.
    """
    return _power(sample)["asleep"] / JOULES_PER_KWH if "asleep" in _power(sample) else None


@metric("energy per unit-hour", unit="Wh", better="lower", group=POWER)
def energy_per_unit_hour(sample: Sample) -> Value:
    """Energy of all hosts for each hour that a unit of a job ran.

    3.6e6 energy / sum_j u_j p_j, in Wh: joules / (3600 s) for each unit x 3600 s. Not of windows, in which other jobs
    run than those that count.
    """
    work, joules = float((sample.units * sample.run).sum()), _power(sample).get("joules")
    work *= "joules_of_jobs" in _power(sample)
    return None if joules is None or not work else joules / work


@metric("peak power", unit="kW", better="lower", group=POWER)
def peak_power(sample: Sample) -> Value:
    """Largest power of all hosts.

    Largest (E(t_k+1) - E(t_k)) / (t_k+1 - t_k) / 1000 over the rows k of consumed_energy.csv.
    """
    return _power(sample)["peak"] / 1000.0 if "peak" in _power(sample) else None


@metric("95 % power", unit="kW", better="lower", group=POWER)
def p95_power(sample: Sample) -> Value:
    """Power of all hosts that is not exceeded for 95 % of the time.

    Smallest power with which, and with less, the hosts spent 95 % of the time between the rows of consumed_energy.csv.
    """
    return _power(sample)["p95"] / 1000.0 if "p95" in _power(sample) else None


@metric("time asleep", unit="%", group=POWER)
def time_asleep(sample: Sample) -> Value:
    """Share of the hosts' time in which they slept.

    100 (time_sleeping of schedule.csv) / (H (max_j f_j - min_j r_j)). The sleep of a host counts when it wakes up.
    """
    whole = (sample.hosts or 0) * sample.window
    return 100.0 * _power(sample)["seconds_asleep"] / whole if whole and "seconds_asleep" in _power(sample) else None


@metric("switches per host and day", better="lower", group=POWER)
def switches_per_host_day(sample: Sample) -> Value:
    """How often a host is set to another power state.

    86400 (nb_machine_switches of schedule.csv) / (H (max_j f_j - min_j r_j)).
    """
    whole = (sample.hosts or 0) * sample.window / 86400.0
    return _power(sample)["switches"] / whole if whole and "switches" in _power(sample) else None


@metric("energy cost", better="lower", group=PRICE_AND_CAP)
def energy_cost(sample: Sample) -> Value:
    """What the energy of all hosts cost, in the unit of the price of `powered` (money, carbon or water).

    sum_k P_k (integral of the price from t_k to t_k+1) / 3.6e6, with P_k the mean watts between rows k and k+1 of
    consumed_energy.csv. Only under `powered` with a price.
    """
    return _power(sample).get("cost")


@metric("carbon of energy", better="lower", group=PRICE_AND_CAP)
def energy_carbon(sample: Sample) -> Value:
    """What the energy of all hosts emits, in the unit of the series `carbon` of `powered`.

    As the energy cost, with that series in place of the price. Only under `powered` with `carbon`.
    """
    return _power(sample).get("carbon")


@metric("time above cap", unit="%", better="lower", group=PRICE_AND_CAP)
def time_above_cap(sample: Sample) -> Value:
    """Share of the time in which the hosts burnt more than the cap of `powered`.

    100 (time between rows k and k+1 of consumed_energy.csv in which P_k was above the least cap then) / (all of that
    time). Only under `powered` with a cap. If energy is charged as Batsim does, P_k is not exact.
    """
    above = _power(sample).get("above", np.nan)
    return None if np.isnan(above) else 100.0 * above


class EnergyOfRun(NamedTuple):
    """What the files of a run say of its energy, and its jobs."""

    power: RunPower
    columns: JobTable

    def take(self, rows: NDArray[np.bool_], begin: float, end: float, window: Window | None) -> Mapping[str, float]:
        """Return what metrics are made of, of the whole run or of a window, whatever runs in its time."""
        return self.power.of_run(self.columns) if window is None else self.power.of_window(window)


def _of_files(run: RunFiles) -> EnergyOfRun:
    return EnergyOfRun(RunPower(run.folder, run.said, run.machine, run.known), run.columns)


def _leaves_out(sample: Sample) -> Iterator[str]:
    """Yield the groups of which a run says nothing: most runs count no energy."""
    power = _power(sample)
    if not power:
        yield POWER
    if not {"cost", "carbon", "above"} & {*power}:
        yield PRICE_AND_CAP


def idle_energy(results: Iterable[Result]) -> str:
    """Say that jobs burn no more than idle hosts, if energy was counted and jobs are delays; else return "".

    A delay states how long a job runs, and no work. As in Batsim, its hosts burn the watts of idle ones meanwhile.

    Args:
        results: of the runs, on the same jobs.
    """
    counted = [result.workload for result in results if result.workload.delays]
    if not counted:
        return ""
    most = max(counted, key=lambda workload: workload.delays or 0)
    return (
        f"Energy counts no computation: {number(most.delays or 0)} of {number(most.jobs or 0)} jobs are delays, whose "
        "hosts burn the watts of idle ones, as in Batsim. It tells how long hosts are switched on, and how often they "
        "boot. Jobs with work, such as parallel_homogeneous, burn the watts of load."
    )


#: Announced as a measure.
MEASURE = Measure(
    name=NAME,
    of_files=_of_files,
    metrics=METRICS,
    after="nb_jobs_rejected",
    leaves_out=_leaves_out,
    # The series of prices and caps need not be at hand any more.
    kept=(PRICE_AND_CAP,),
    remark=idle_energy,
)
