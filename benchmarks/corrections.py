"""What backfilling and plans make of jobs that outlive their predictions.

This makes the table of docs/dispatchers/parts-measured.md.

Usage: ``python benchmarks/corrections.py KTH-SP2-1996-2.1-cln.swf.xz [--hosts 100] [--write]``

The log is cut into quarters of 90 days. Each is simulated by each dispatcher with walltimes, and with the mean of the
user's last two run times under each rule of `correction`. Printed is the mean bounded slowdown in each quarter.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.session import Session
from batdispatch.core.machine.machine import Machine
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.outputs import Outputs
from batdispatch.inputs.workloads import Workload
from batdispatch.inputs.workloads.importers import read_log
from batdispatch.inputs.workloads.logs import Selection
from batdispatch.report.pages import publish
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.lineage import lineage_of
from batdispatch.results.metrics.sample import sample_of

DAY = 86_400.0
DAYS = [(0, 90), (90, 180), (180, 270), (270, 335)]
DISPATCHERS = ["easy", "easy[ordering=sjf]", "conservative", "slurm-backfill", "best-list", "best-list[ahead=10]"]
RULES = ("walltime", "steps", "doubling")
EXPECTED = [
    {"prediction": "requested"},
    *({"prediction": "last-two", "correction": rule} for rule in RULES),
]
PAGE = Path(__file__).parents[1] / "docs" / "dispatchers" / "parts-measured.md"


def bounded_slowdown(machine: Machine, workload: Workload, dispatcher: str, options: dict[str, str]) -> float:
    """Simulate a workload and return the mean bounded slowdown of its jobs."""
    session = Session(create(dispatcher, options))
    with tempfile.TemporaryDirectory() as folder:
        EmbeddedEngine(machine, workload, Outputs(Path(folder), machine.size)).run(session)
        columns = read_columns(Path(folder) / "jobs.csv")
    assert session.ledger is not None
    return float(sample_of(columns, lineage=lineage_of(columns, session.ledger.roll.parents)).bounded_slowdown.mean())


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", type=Path)
    parser.add_argument("--hosts", type=int, default=100)
    parser.add_argument("--write", action="store_true", help="put the table into the manual")
    given = parser.parse_args()
    machine = Machine.flat(given.hosts)
    quarters = [
        read_log(given.log, selection=Selection(start=first * DAY, end=last * DAY), machine=machine)[0]
        for first, last in DAYS
    ]
    lines = [
        "| | walltimes | last-two, `walltime` | last-two, `steps` | last-two, `doubling` |",
        "|---|---|---|---|---|",
    ]
    for name in DISPATCHERS:
        cells = []
        for options in EXPECTED:
            found = [bounded_slowdown(machine, workload, name, options) for workload in quarters]
            cells.append(", ".join(f"{value:.1f}" for value in found))
        lines.append(f"| {name} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    publish(PAGE, {"corrections": "\n".join(lines)}, write=given.write)


if __name__ == "__main__":
    main()
