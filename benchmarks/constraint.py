"""CPU time and quality of dispatchers on workloads of units with several resources, in the peers' layout.

Usage: ``python benchmarks/constraint.py LOG.swf SYSTEM.json [--first N] [--report] NAME[key=value,...] ...``

LOG has SWF's 18 columns, then units, cores, memory, GPUs, MICs a unit, and a name; SYSTEM the node groups. CPU time is
that of the calls of `decide`, by `time.process_time`; the mean is over all calls, and over those with waiting jobs.
Slowdown is (wait + run) / run without a bound, as the authors of the constraint-programming dispatchers count it.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from batdispatch.core.jobs.job import Job
from batdispatch.core.jobs.request import Request, amounts
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.session import Session
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.records import EngineOptions
from batdispatch.inputs.workloads import Workload
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.lineage import lineage_of
from batdispatch.results.metrics.sample import sample_of
from batdispatch.runs.compare import entrants_of

#: Columns behind SWF's own that hold a unit's demand.
COLUMNS = ("core", "mem", "gpu", "mic")


def machine_of(path: Path) -> Machine:
    """Return the machine that a peer's system file describes."""
    system = json.loads(path.read_text())
    hosts: list[Host] = []
    for group, count in system["resources"].items():
        capacity = " ".join(f"{name}={amount}" for name, amount in system["groups"][group].items())
        for _ in range(count):
            hosts.append(Host(id=len(hosts), name=f"{group}-{len(hosts)}", properties={"capacity": capacity}))
    return Machine(hosts)


def workload_of(path: Path, machine: Machine, first: int | None) -> Workload:
    """Return the log's first jobs; what the machine does not have is not asked for."""
    rows = [line.split() for line in path.read_text().splitlines() if not line.startswith(";")][:first]
    jobs = []
    for row in rows:
        asked = zip(COLUMNS, row[19:23], strict=True)
        demand = {name: int(amount) for name, amount in asked if int(amount) and name in machine.resources}
        jobs.append(
            Job(
                id=row[0],
                request=Request(units=int(row[18]), per_unit=amounts(demand)),
                submission=float(row[1]),
                walltime=float(row[8]),
                profile=f"d{row[3]}",
                user=row[11],
                extra={"demand": demand, "executable": row[23], "queue": row[14]},
            )
        )
    profiles = {f"d{row[3]}": {"type": "delay", "delay": float(row[3])} for row in rows}
    workload = Workload(path=path, name=path.stem, jobs=jobs, profiles=profiles)
    workload.sort()
    return workload


class Meter(Session):
    """A session that notes at which calls jobs waited."""

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)  # type: ignore[arg-type]
        self.waited: list[bool] = []
        decide = self.dispatcher.decide

        def noted(ledger: Ledger) -> None:
            self.waited.append(bool(ledger.queue))
            decide(ledger)

        self.dispatcher.decide = noted  # type: ignore[method-assign]


class Run(NamedTuple):
    """What came of a run: slowdown and wait (s) of each job, CPU ms of all decisions and of those with waiting jobs."""

    slowdown: NDArray[np.float64]
    wait: NDArray[np.float64]
    spent: NDArray[np.float64]
    busy: NDArray[np.float64]
    report: dict[str, Any]


def simulate(machine: Machine, workload: Workload, name: str, options: dict[str, str]) -> Run:
    """Run a dispatcher on a workload in the embedded engine."""
    session = Meter(create(name, options), clock=time.process_time)
    with tempfile.TemporaryDirectory() as folder:
        asked = EngineOptions(dynamic_jobs=session.dispatcher.registers_jobs)
        EmbeddedEngine(machine, workload, Outputs(Path(folder), machine.size), options=asked).run(session)
        columns = read_columns(Path(folder) / "jobs.csv")
    assert session.ledger is not None
    sample = sample_of(columns, lineage=lineage_of(columns, session.ledger.roll.parents))
    spent = 1000 * np.array(session.decision_seconds)
    busy = spent[np.array(session.waited)]
    return Run(sample.slowdown, sample.wait, spent, busy, session.dispatcher.report())


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", type=Path)
    parser.add_argument("system", type=Path)
    parser.add_argument("--first", type=int)
    parser.add_argument("--report", action="store_true", help="print the dispatcher's report too")
    parser.add_argument("dispatchers", nargs="+")
    arguments = parser.parse_args()
    print(
        f"{'dispatcher':60} {'calls':>6} {'ms/call':>8} {'waiting':>8} {'ms':>7} "
        f"{'max ms':>7} {'slowdown':>9} {'wait s':>8}"
    )
    for _, name, options, _ in entrants_of(arguments.dispatchers):
        machine = machine_of(arguments.system)
        workload = workload_of(arguments.log, machine, arguments.first)
        run = simulate(machine, workload, name, options)
        label = name + "".join(f" {key}={value}" for key, value in options.items())
        print(
            f"{label:60} {len(run.spent):6} {run.spent.mean():8.2f} {len(run.busy):8} {run.busy.mean():7.2f} "
            f"{run.spent.max():7.0f} {run.slowdown.mean():9.3f} {run.wait.mean():8.1f}",
            flush=True,
        )
        if arguments.report:
            print(json.dumps(run.report, indent=1))


if __name__ == "__main__":
    main()
