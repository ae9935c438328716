"""The tables beside the jobs file: units.csv and machine_states.csv."""

from __future__ import annotations

import csv
from pathlib import Path

from batdispatch.results.audit.findings import Violation
from batdispatch.results.audit.rows import Rows
from batdispatch.results.audit.setting import Setting

UNITS = "units.csv"
STATES = "machine_states.csv"


def check_units_file(rows: Rows, folder: Path) -> None:
    """units.csv names each job once, with the hosts that the jobs file gives it.

    Its form, and its numbers of units, are checked where it is read.
    """
    path = folder / UNITS
    if not path.is_file():
        return
    rows.findings.checked.append("units file")
    row_of = {name: row for row, name in enumerate(rows.ids)}
    seen: set[str] = set()
    with path.open(encoding="utf-8", newline="") as file:
        for fields in csv.DictReader(file):
            name, hosts = fields["job_id"], fields.get("allocated_resources")
            if name in seen:
                rows.add("units file", f"stands in {UNITS} twice", row_of[name])
            seen.add(name)
            if hosts is not None and hosts != rows.hosts[row_of[name]]:
                found = rows.hosts[row_of[name]]
                rows.add("units file", f"is on {hosts[:80]} by {UNITS}, on {found[:80]} by the jobs file", row_of[name])


def check_states(rows: Rows, setting: Setting, folder: Path, *, away: bool) -> None:
    """machine_states.csv has one row per change: each start and end, with as many hosts as there are.

    Args:
        rows: of the jobs file.
        setting: of the run; only what the embedded engine wrote is checked.
        folder: of the run.
        away: whether hosts went away during the run.
    """
    if not setting.embedded:
        return
    path = folder / STATES
    rows.findings.checked.append("machine states")

    def wrong(message: str) -> None:
        rows.findings.add(Violation("machine states", f"{STATES}: {message}"))

    if not path.is_file():
        wrong("the run wrote it, and it is not there")
        return
    size, changes, before, computing = setting.machine.size, 0, 0.0, 0
    try:
        with path.open(encoding="utf-8", newline="") as file:
            for fields in csv.DictReader(file):
                time, idle, computing = float(fields["time"]), int(fields["nb_idle"]), int(fields["nb_computing"])
                changes += 1
                if time < before:
                    wrong(f"row {changes} goes back in time, to {time:g} s")
                    return
                if idle < 0 or not 0 <= computing <= size or (idle + computing != size and not away):
                    wrong(f"row {changes} has {idle} idle and {computing} computing hosts, the machine has {size}")
                    return
                before = time
    except (ValueError, KeyError, TypeError, csv.Error) as problem:
        wrong(f"row {changes + 1} cannot be read: {problem!r}")
        return
    if changes != 2 * int(rows.ran.sum()):
        wrong(f"has {changes} changes, the jobs that ran make {2 * int(rows.ran.sum())}")
    elif computing:
        wrong(f"ends with {computing} hosts that compute")
