"""What a run's files say of the energy of its hosts: Batsim's consumed_energy.csv and schedule.csv."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from batdispatch.abilities.power.doors.series import read_series
from batdispatch.abilities.power.engine.energy_files import CHANGES, ENERGY, EnergyTable, PowerRows
from batdispatch.abilities.power.machine.facet import powers_of
from batdispatch.abilities.power.machine.series import Series
from batdispatch.abilities.power.results.rows import read_energy, read_power
from batdispatch.abilities.power.results.split import PowerSplit
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job_table import Floats, JobTable
from batdispatch.core.line.options import parse_named
from batdispatch.core.machine.machine import Machine
from batdispatch.core.numerals import number_of
from batdispatch.inputs.workloads.model import Window
from batdispatch.results.schedule import read_schedule

#: Share of a cap by which joules with six digits may be above it, and the joules of a short time.
_ABOVE, _PRINT = 1 + 1e-6, 2e-6


class RunPower:
    """What the files of a run say of its energy; nothing if it counted none."""

    def __init__(
        self,
        folder: Path | None,
        said: Mapping[str, Any],
        machine: Machine | None = None,
        rows: PowerRows | None = None,
    ) -> None:
        """Read the files.

        Args:
            folder: of the run; None: there is none.
            said: what result.json says of it, of which the dispatcher and its options are read.
            machine: of the run, with the watts of its power states; None: it is not at hand.
            rows: what the files say of energy and power states; None: they are read.

        Raises:
            InputError: consumed_energy.csv or pstate_changes.csv is malformed.
        """
        self._sums: Mapping[str, Any] = {}
        self._series, self._split = series_of(said, machine), None
        # Batsim 5 writes schedule.json.
        names = ("schedule.csv", "schedule.json")
        sums = next((folder / name for name in names if (folder / name).is_file()), None) if folder else None
        if folder is None or sums is None or not (folder / ENERGY).is_file():
            return
        self._sums = read_schedule(sums)
        energy, changes = rows or read_power(folder, changes=machine is not None)
        self._rows = _last_of_moments(energy)
        try:
            self._split = None if machine is None or changes is None else PowerSplit(machine, changes)
        except InputError as problem:
            raise problem.found_in(str(folder / CHANGES)) from None

    def of_run(self, columns: JobTable) -> Mapping[str, float]:
        """Return what metrics of power are made of; nothing if the run counted no energy.

        The keys are ``joules`` from the first submission to the last end, ``joules_of_jobs``, the ``peak`` and ``p95``
        of the watts, ``switches`` of hosts, and ``seconds_asleep``, summed over the hosts. With the machine there are
        the joules of hosts that were ``asleep`` and that were ``switching``. Under `powered` with a price there is the
        ``cost``, with carbon the ``carbon``, and with a cap the share of time ``above`` it, if the series are at hand.
        """
        stated = {"joules": "consumed_joules", "switches": "nb_machine_switches", "seconds_asleep": "time_sleeping"}
        found = {key: value for key, name in stated.items() if isinstance(value := self._sums.get(name), float)}
        if len(found) < len(stated):
            return {}
        of_jobs = float(np.maximum(columns.consumed_energy[columns.ran], 0.0).sum())
        begin = float(columns.submission_time.min()) if len(columns.ran) else 0.0
        split = self._between(begin, float(columns.finish_time[columns.ran].max(initial=begin)))
        parts: dict[str, float] = {key: split[key] for key in ("asleep", "switching") if key in split}
        return {**found, "joules_of_jobs": of_jobs, **parts, **self._of(self._rows)}

    def of_window(self, window: Window) -> Mapping[str, float]:
        """Return the same of a part of the run, whatever runs in its time; joules of jobs are not known there."""
        if not self._sums or len(self._rows[0]) < 2:
            return {}
        times, joules = self._rows
        begin = times[0] if window.begin is None else window.begin
        end = times[-1] if window.end is None else min(window.end, times[-1])
        within = times[(times > begin) & (times < end)]
        rows = np.array([moments := np.concatenate([[begin], within, [end]]), np.interp(moments, times, joules)])
        return {"joules": float(rows[1, -1] - rows[1, 0]), **self._between(begin, end), **self._of(rows)}

    def _between(self, begin: float, end: float) -> dict[str, float]:
        return {} if self._split is None else self._split.between(begin, end)._asdict()

    def _of(self, rows: Floats) -> dict[str, float]:
        peak, most = _watts(rows)
        return {"peak": peak, "p95": most, **_against_series(rows, self._series)}


def series_of(said: Mapping[str, Any], machine: Machine | None) -> dict[str, Series]:
    """Return the price, the cap, in watts, and the carbon that `powered` was given, as far as they are known by now.

    Args:
        said: what result.json says.
        machine: of the run, of which a cap may be a share; None: it is not at hand.
    """
    options = _options_of_powered(said)
    given = {name: text for name in ("price", "cap", "carbon") if (text := str(options.get(name, "none"))) != "none"}
    cap = given.get("cap", "")
    if math.isfinite(number_of(cap.removesuffix("%"))):
        del given["cap"]
    try:
        files = [(text, name != "cap") for name, text in given.items()]
        found = dict(zip(given, read_series(files, str(options.get("origin", ""))), strict=True))
    except InputError:
        return {}
    if cap.endswith("%") and machine is not None:
        found["cap"] = Series.constant(float(cap[:-1]) / 100 * sum(power.most for power in powers_of(machine)))
    elif math.isfinite(number_of(cap)):
        found["cap"] = Series.constant(float(cap))
    return found


def _options_of_powered(said: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options of `powered`, which may stand inside other layers; nothing if it does not."""
    name, options = str(said.get("dispatcher")).partition("[")[0], said.get("options")
    try:
        while name != "powered" and isinstance(options, Mapping) and "dispatcher" in options:
            name, options = parse_named(str(options["dispatcher"]))
    except InputError:
        return {}
    return options if name == "powered" and isinstance(options, Mapping) else {}


def _against_series(rows: Floats, series: Mapping[str, Series]) -> dict[str, float]:
    """Return what `RunPower` tells of price, carbon and cap, by the moments and joules of consumed_energy.csv."""
    found = {}
    begins, seconds, watts = rows[0][:-1].tolist(), np.diff(rows[0]), np.diff(rows[1]) / np.diff(rows[0])
    ends = rows[0][1:].tolist()
    cap = series.get("cap")
    for name, result in (("price", "cost"), ("carbon", "carbon")):
        if name in series:
            paid = [series[name].integral(begin, end) for begin, end in zip(begins, ends, strict=True)]
            found[result] = float((watts * np.array(paid)).sum()) / 3.6e6
    if cap is not None:
        most = np.array([cap.least(begin, math.nextafter(end, 0)) for begin, end in zip(begins, ends, strict=True)])
        over = watts > most * _ABOVE + _PRINT / seconds
        # If no job ran, there is no time to share.
        found["above"] = float(seconds[over].sum() / seconds.sum()) if len(seconds) else math.nan
    return found


def read_joules(path: Path) -> Floats:
    """Return what a run's consumed_energy.csv says: moments, s, and joules of all hosts until then, float64 [2, row].

    Of several rows of one moment, the last one is there.

    Raises:
        InputError: a row is malformed.
    """
    return _last_of_moments(read_energy(path))


def _last_of_moments(energy: EnergyTable) -> Floats:
    is_last = np.append(np.diff(energy.times) > 0, True)[: len(energy.times)]
    return np.array([energy.times[is_last], energy.joules[is_last]])


def _watts(rows: Floats) -> tuple[float, float]:
    """Return the largest mean power between two rows, and the one not exceeded for 95 % of the time, in watts."""
    seconds, joules = np.diff(rows, axis=1)
    if not len(seconds):
        return 0.0, 0.0
    watts = joules / seconds
    order = np.argsort(watts, kind="stable")
    until = np.cumsum(seconds[order])
    return float(watts.max()), float(watts[order][np.searchsorted(until, 0.95 * until[-1])])
