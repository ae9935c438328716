"""Compares dispatchers on slices of four logs, and on generated workloads, that no tuning saw.

Use: python expe/heldout/run.py --logs FOLDER [--expectations requested,last-two,oracle] [--tuning] [--slow]
[--minutes 40] [--out expe/heldout/runs] [--write]. One process. Runs stay in `--out`, which is not under version
control, and are taken as they are when they are there. Each is audited. A dispatcher that takes long is stopped after
so many minutes of CPU time on a slice, which has no figures then; the page says how far it came. With --write the
tables and the picture go into results.md and beside it. grid.py says what is compared, slices.py on what, and
results.md by which rules.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from grid import ENTRIES, SLOW_SLICES, Entry, Expectation
from show import Served, decisions_table, picture, ratios_table, slices_table
from slices import Part, parts
from within import Stopped, execute_within

from batdispatch.core.errors import SimulationError
from batdispatch.results.runs import read_result
from batdispatch.runs.grid import Row, publish, refusal, run_grid

HERE = Path(__file__).parent
EXPECTATIONS: tuple[Expectation, ...] = ("requested", "last-two", "oracle")
#: What each dispatcher did, by expectation, name, log and slice.
Found = dict[Expectation, dict[str, dict[tuple[str, str], Served]]]


def measure(
    made: list[Part], entries: list[Entry], expectations: list[Expectation], out: Path, minutes: float
) -> tuple[Found, dict[str, Stopped]]:
    """Return what each dispatcher did on each slice that it runs on, and how far those came that were stopped.

    Raises:
        SimulationError: the audit found something wrong with a run, or a job did not start.
    """
    found: Found = {expectation: {entry.name: {} for entry in entries} for expectation in expectations}
    stopped: dict[str, Stopped] = {}
    for part in made:
        for expectation in expectations:
            if expectation == "last-two" and not part.users:
                continue
            chosen = [entry for entry in entries if expectation in entry.expectations]
            chosen = [entry for entry in chosen if not refusal(entry.cell(expectation), part.platform.machine)]
            for index, path in enumerate(part.slices):
                here = [entry for entry in chosen if not entry.slow]
                for entry in chosen if index < SLOW_SLICES else []:
                    if entry.slow:
                        cell = entry.cell(expectation)
                        spec = cell.spec(Path(part.platform.path), path)
                        came = execute_within(spec, out / path.stem / cell.folder / spec.label, minutes)
                        if came is None:
                            here.append(entry)
                        else:
                            stopped[f"{entry.name} on {path.stem}"] = came
                cells = [entry.cell(expectation) for entry in here]
                rows = run_grid(Path(part.platform.path), part.platform.machine, [path], cells, out, say=_say)
                for entry, row in zip(here, rows, strict=True):
                    found[expectation][entry.name][part.name, path.stem] = served(row)
    return found, stopped


def served(row: Row) -> Served:
    """Return what came of a run on one slice.

    Raises:
        SimulationError: the audit found something wrong with it, or a job did not start.
    """
    result = read_result(row.folders[0])
    if row.violations or len(row.waits) != result.metrics["nb_jobs"]:
        raise SimulationError(f"{row.folders[0]}: {row.violations} findings, or a job did not start")
    return Served(
        slowdown=float(result.metrics["mean_bounded_slowdown"] or 0),
        wait=float(np.mean(row.waits)),
        high=float(np.quantile(row.waits, 0.99)),
        longest=max(row.waits),
        decision=float(result.decisions["seconds_mean"] or 0),
        slowest=float(result.decisions["seconds_max"] or 0),
        high_decision=float(result.decisions["seconds_p99"] or 0),
    )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    """Run what was asked for, and print or write what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=Path, required=True, help="folder of the logs")
    parser.add_argument("--expectations", default=",".join(EXPECTATIONS))
    parser.add_argument("--tuning", action="store_true", help="run the slices for tuning instead")
    parser.add_argument("--slow", action="store_true", help="run the dispatchers that take long, too")
    parser.add_argument("--minutes", type=float, default=40.0, help="CPU time of each such run at most")
    parser.add_argument("--out", type=Path, default=HERE / "runs")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    kind = "tuning" if asked.tuning else "held-out"
    made = parts(asked.logs, asked.out / kind, tuning=asked.tuning)
    entries = [entry for entry in ENTRIES if asked.slow or not entry.slow]
    expectations = [one for one in EXPECTATIONS if one in asked.expectations.split(",")]
    found, stopped = measure(made, entries, expectations, asked.out / kind / "runs", asked.minutes)
    sections = {
        f"{kind} {expectation}": ratios_table(found[expectation], [part.name for part in made])
        for expectation in expectations
    }
    if asked.slow and "requested" in found:
        sections[f"{kind} slices"] = slices_table(found["requested"])
        sections[f"{kind} stopped"] = "\n".join(f"- {name}: {came}." for name, came in stopped.items()) or "None."
    if "requested" in found:
        sections[f"{kind} decisions"] = decisions_table(found["requested"])
        if asked.write and not asked.tuning:
            picture(HERE / "ratios.svg", found["requested"])
    publish(HERE / "results.md", sections, write=asked.write)


if __name__ == "__main__":
    sys.exit(main())
