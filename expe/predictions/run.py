"""Predictions of run times: how far off they are, and what they do to schedules, on jobs that no tuning saw.

Use: python expe/predictions/run.py --logs FOLDER [--parts tuning,errors,schedules] [--only KTH-SP2,KIT]
[--out expe/predictions/runs] [--write]. One process. Runs stay in `--out`, which is not under version control, and are
taken as they are when they are there. Each is audited. With --write the tables go into results.md beside this file.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import msgspec
import numpy as np
from errors import errors
from grid import BASE, BLOCK, CANDIDATES, DISPATCHERS, LOGS, ONLY_ON, PREDICTIONS, TUNED_ON, TUNING_PART, Log, option
from numpy.typing import NDArray
from show import all_logs_table, errors_table, mean_ratio, ratios, schedules_table, table

from batdispatch.core.errors import SimulationError
from batdispatch.inputs.files import write_whole
from batdispatch.inputs.platforms import Platform, read_platform
from batdispatch.inputs.workloads import Workload, write_workload
from batdispatch.inputs.workloads.importing import import_log
from batdispatch.results.audit.run import Auditor
from batdispatch.results.jobs_file import read_columns
from batdispatch.runs.grid import publish
from batdispatch.runs.run import RunSpec, execute, is_made

HERE = Path(__file__).parent
PARTS = ("tuning", "errors", "schedules")
#: Threshold of the bounded slowdown, s.
THRESHOLD = 10.0
Floats = NDArray[np.float64]


class Case(msgspec.Struct, frozen=True):
    """A log as it is run: the whole of it, and its part for tuning alone."""

    log: Log
    platform: Platform
    whole: Workload
    tuning: Workload
    folder: Path

    def predictions(self) -> list[str]:
        """Return the predictions that can say something about this log's jobs."""
        return [name for name, needs_users in PREDICTIONS.items() if self.log.users or not needs_users]


def read(log: Log, logs: Path, out: Path) -> Case:
    """Read a log, and write its machine and workloads."""
    folder = out / log.name
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "platform.xml", log.platform())
    platform = read_platform(folder / "platform.xml")
    workload, _ = import_log(logs / log.path, machine=platform.machine)
    workload.sort()
    whole = msgspec.structs.replace(workload, jobs=workload.jobs[: log.first])
    tuning = msgspec.structs.replace(workload, jobs=whole.jobs[: len(whole.jobs) // TUNING_PART])
    for name, one in (("whole", whole), ("tuning", tuning)):
        if not (folder / f"{name}.json").exists():
            write_workload(one, folder / f"{name}.json")
    return Case(log, platform, whole, tuning, folder)


def blocks(case: Case, dispatcher: str, prediction: str, *, tuning: bool) -> Floats:
    """Run a dispatcher with a prediction, and return what it is judged by.

    Args:
        case: the log.
        dispatcher: its name in tables.
        prediction: its text.
        tuning: on the part for tuning alone, all of whose jobs count; otherwise on the whole, less that part.

    Returns:
        float64 [block, 3]: mean bounded slowdown, mean wait in s, longest wait in s. What is left at the end of the
        log joins the last block.

    Raises:
        SimulationError: the audit found something.
    """
    part, workload = ("tuning", case.tuning) if tuning else ("whole", case.whole)
    name, options = DISPATCHERS[dispatcher]
    spec = RunSpec(
        platform=str(case.folder / "platform.xml"),
        workload=str(case.folder / f"{part}.json"),
        dispatcher=name,
        options={**options, "prediction": option(prediction)},
        decision_clock="cpu",
    )
    folder = case.folder / part / spec.label
    if not is_made(spec, folder):
        execute(spec, folder)
        if violations := Auditor().run(folder).total:
            # So that it is not taken the next time.
            (folder / "result.json").unlink()
            raise SimulationError(f"{folder}: {violations} findings of the audit")
    columns = read_columns(folder / "jobs.csv")
    place = {job.id.rpartition("!")[2]: index for index, job in enumerate(workload.jobs)}
    order = np.argsort([place[name] for name in columns.job_id])
    wait, ran = columns.waiting_time[order], columns.execution_time[order]
    first = 0 if tuning else len(case.tuning.jobs)
    slowdown = np.maximum((wait + ran) / np.maximum(ran, THRESHOLD), 1.0)
    cuts = [first, *range(first + BLOCK, len(wait) - BLOCK + 1, BLOCK), len(wait)]
    spans = [slice(begin, end) for begin, end in pairwise(cuts)]
    found = np.array([(slowdown[span].mean(), wait[span].mean(), wait[span].max()) for span in spans])
    print(f"{case.log.name} {part} {dispatcher} {prediction}: {found.mean(axis=0).round(2)}", flush=True)
    return found


def tune(cases: Sequence[Case]) -> str:
    """Compare the candidates on the parts for tuning, and return a table."""
    rows = []
    for candidate in CANDIDATES:
        scores = []
        for case in cases:
            for dispatcher in TUNED_ON:
                found = {name: blocks(case, dispatcher, name, tuning=True) for name in (BASE, candidate)}
                scores.append(mean_ratio(ratios(found, candidate)))
        rows.append([f"`{candidate}`", f"{mean_ratio(np.array(scores)):.3f}"])
    return table(["candidate", "ratio to requested times"], rows, 1)


def main() -> None:
    """Run what was asked for, and print or write what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=Path, required=True, help="folder of the logs, see grid.py")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--only", default=",".join(log.name for log in LOGS))
    parser.add_argument("--out", type=Path, default=HERE / "runs")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    cases = [read(log, asked.logs, asked.out) for log in LOGS if log.name in asked.only.split(",")]
    sections = {}
    if "tuning" in asked.parts:
        sections["tuning"] = tune(cases)
    if "errors" in asked.parts:
        sections["errors"] = errors_table(
            {
                case.log.name: errors(
                    case.platform,
                    case.whole,
                    case.predictions(),
                    [job.id.rpartition("!")[2] for job in case.whole.jobs[len(case.tuning.jobs) :]],
                )
                for case in cases
            }
        )
    if "schedules" in asked.parts:
        found = {
            case.log.name: {
                dispatcher: {name: blocks(case, dispatcher, name, tuning=False) for name in case.predictions()}
                for dispatcher in DISPATCHERS
                if case.log.name in ONLY_ON.get(dispatcher, (case.log.name,))
            }
            for case in cases
        }
        sections["schedules"] = schedules_table(found)
        sections["all logs"] = all_logs_table(found)
    publish(HERE / "results.md", sections, write=asked.write)


if __name__ == "__main__":
    sys.exit(main())
