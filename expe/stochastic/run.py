"""Reruns the scenarios of Gainaru, Pallez, Sun, Raghavan (ICPP 2019); writes results.md and pictures beside this file.

Use: python expe/stochastic/run.py [--seeds 10] [--tables 1,2-rate]. One process. The script keeps what it measured in
results.json, which is not under version control, so that the tables can be measured one after the other. With --tables
none it only writes results.md and the pictures anew. It writes those only once all tables have been measured.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from grid import TABLES, Options, Table
from show import Cells, pictures, results

from batdispatch.core.dispatcher import create
from batdispatch.core.machine import Machine
from batdispatch.core.session import Session
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.records import EngineOptions
from batdispatch.inputs.workloads import Workload
from batdispatch.inputs.workloads.stochastic import scenario
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.lineage import lineage_of
from batdispatch.results.metrics.attempts import attempt_metrics

HERE = Path(__file__).parent
HOUR = 3600.0


def simulate(workload: Workload, options: Options) -> dict[str, float]:
    """Return what a run is judged by.

    ``utilisation``: useful work over the machine's time; ``wasted``: work of failed attempts over it; ``response``:
    mean of the stochastic jobs, h; ``response_all``: of all jobs, h; ``failures``: a stochastic job; ``cpu``: seconds.
    """
    machine = Machine.flat(workload.nb_res or 1)
    told = {key: value for key, value in options.items() if key != "dispatcher"}
    began = time.process_time()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        engine = EmbeddedEngine(
            machine, workload, Outputs(folder, machine.size), options=EngineOptions(dynamic_jobs=True)
        )
        session = Session(create(options.get("dispatcher", "stochastic-batch"), told))
        engine.run(session)
        spent = time.process_time() - began
        columns = read_columns(folder / "jobs.csv")
    assert session.ledger is not None
    everything = attempt_metrics(columns, machine.size, lineage_of(columns, session.ledger.parents))
    large = columns.take(np.array([not name.startswith("small-") for name in columns.job_id]))
    long = attempt_metrics(large, lineage=lineage_of(large, session.ledger.parents))
    if not everything["jobs"] == everything["jobs_succeeded"] == len(workload.jobs):
        raise AssertionError("a job was lost")
    used = float(everything["effective_utilisation"] or 0)
    return {
        "utilisation": used,
        "wasted": used * float(everything["wasted_work"] or 0) / float(everything["useful_work"] or 1),
        "response": float(long["mean_response_time"] or 0) / HOUR,
        "response_all": float(everything["mean_response_time"] or 0) / HOUR,
        "failures": float(long["failures_per_job"] or 0),
        "cpu": spent,
    }


def measure(table: Table, seeds: int) -> Cells:
    """Return value varied -> label of the dispatcher -> metric -> its value for each seed."""
    cells: Cells = {}
    for value, made in table.workloads.items():
        workloads = [scenario(np.random.default_rng(seed), **made) for seed in range(seeds)]
        for label, options in table.dispatchers.items():
            told = options | {"rate": f"{made['rate']:g}"} if options.get("rate") == "told" else options
            runs = [simulate(workload, told) for workload in workloads]
            cells.setdefault(value, {})[label] = {metric: [round(run[metric], 6) for run in runs] for metric in runs[0]}
            shown = {metric: round(float(np.mean(listed)), 3) for metric, listed in cells[value][label].items()}
            print(table.key, value, label, shown, flush=True)
    return cells


def main() -> None:
    """Run what was asked for and write what is known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--tables", default="1,2,3,4", help="beginnings of their keys in grid.py, or none")
    chosen = parser.parse_args()
    path = HERE / "results.json"
    known: dict[str, Cells] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for table in TABLES:
        if table.key.startswith(tuple(chosen.tables.split(","))):
            known[table.key] = measure(table, chosen.seeds)
            path.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    missing = [table.key for table in TABLES if table.key not in known]
    if missing:
        # What stands beside this file has all tables; a part of them must not replace it.
        sys.exit(f"results.md stays as it is: measure these tables, too (--tables): {', '.join(missing)}")
    pictures(known, HERE)
    (HERE / "results.md").write_text(results(known), encoding="utf-8")


if __name__ == "__main__":
    main()
