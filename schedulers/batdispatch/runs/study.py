"""The experiments of PCP'20's paper on one machine: `expe/eurora` and `expe/kit` say which, this file runs them.

Parts:
- `log`: simulate a real log, or its first jobs, with every dispatcher and prediction (tables 1 and 2, figures 4 and 5
  of the paper).
- `generated`: the same with generated workloads (see `batdispatch.inputs.workloads.sessions`), one per seed.
- `instances`: count the variables of PCP'20 over those of PCP'19 (figure 6) and compare the times to solve (figure 7),
  on instances saved from those runs of the first two parts that are there.
- `decision-time`: simulate the generated workloads again, with decisions that take simulated time (section 6).

Reference: C. Galleguillos, Z. Kiziltan, R. Soto. A constraint programming-based job dispatcher for modern HPC systems
and applications. 2020.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np

from batdispatch.core.errors import BatdispatchError, InputError
from batdispatch.inputs.files import replacing
from batdispatch.inputs.platforms import Platform, read_platform
from batdispatch.inputs.workloads.importing import import_log
from batdispatch.inputs.workloads.logs import Selection
from batdispatch.inputs.workloads.sessions import sessions
from batdispatch.inputs.workloads.writer import write_workload
from batdispatch.results.report.ratios import ratio_picture
from batdispatch.results.report.spreads import spread_picture
from batdispatch.results.runs import read_result
from batdispatch.runs.grid import Cell, Row, publish, refusal, run_grid
from batdispatch.runs.instances import Compared, compare_models, save_instances
from batdispatch.runs.study_tables import (
    MODELS,
    Table,
    by_group,
    decision_time_tables,
    grid_table,
    times_table,
    variables_table,
)

PARTS = ("log", "generated", "instances", "decision-time")
#: The dispatchers that call a solver.
CONSTRAINT = ("hcp19", "pcp19", "pcp20")
#: Name of a row -> dispatcher and the options that make it up.
DISPATCHERS: dict[str, tuple[str, dict[str, str]]] = {
    "easy": ("easy", {}),
    "conservative": ("conservative", {}),
    "filler[ordering=sjf]": ("filler", {"ordering": "sjf"}),
    "best-list": ("best-list", {}),
    **{name: (name, {}) for name in CONSTRAINT},
}
#: The baseline of the runs whose decisions take time.
BASELINE = "easy"
#: Constant times that a decision of pcp20 takes, s, to see how slow it may be.
SLOW = (0.1, 1.0, 10.0, 60.0)
#: Makes the tables of some dispatchers on workloads of a platform.
Tables = Callable[[Platform, list[Path], Sequence[str]], str]
#: Safety net of a search for an instance, s of wall-clock time.
WALL = 3600.0


class Study(msgspec.Struct, kw_only=True, frozen=True):
    """What differs between the machines.

    Attributes:
        name: the machine's name.
        platform: bytes of its platform file.
        log_platform: bytes of the platform file for the real log.
        log_predictions, predictions: for the real log, and for the generated workloads.
        published: (dispatcher, prediction) -> line of the paper's table.
        jobs, seeds: of a generated workload, and how many, unless asked otherwise.
        solver: options of the dispatchers that call a solver.
        instances_from: dispatchers whose runs instances are saved from.
    """

    name: str
    platform: bytes
    log_platform: bytes
    log_predictions: Sequence[str]
    predictions: Sequence[str]
    published: Table
    jobs: int = 500
    seeds: int = 10
    solver: dict[str, str] = {}
    instances_from: Sequence[str] = ("pcp19", "pcp20")

    def cells(self, dispatchers: Sequence[str], predictions: Sequence[str]) -> list[Cell]:
        """Return the grid: dispatchers x predictions."""
        return [
            Cell(
                dispatcher=dispatcher,
                options={**options, "prediction": prediction, **(self.solver if name in CONSTRAINT else {})},
            )
            for name, (dispatcher, options) in DISPATCHERS.items()
            for prediction in predictions
            if name in dispatchers
        ]


def main(study: Study, here: Path, arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for and print the tables; with ``--write`` they go to ``results.md`` in `here`."""
    asked = _parser(study).parse_args(arguments)
    try:
        _Campaign(study, here, asked).run()
    except BatdispatchError as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2 if isinstance(problem, InputError) else 1
    return 0


def _parser(study: Study) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=f"The experiments of PCP'20's paper on {study.name}.")
    add = parser.add_argument
    add("--log", type=Path, help="simulate this real log, in a format that `batdispatch convert` reads")
    add("--first", type=int, help="take only so many jobs of the log, the first ones")
    add("--parts", default=",".join(PARTS), help="run these parts (%(default)s); log needs --log")
    add("--dispatchers", default=",".join(DISPATCHERS), help="compare these dispatchers (%(default)s)")
    add("--jobs", type=int, default=study.jobs, help="generate so many jobs per workload (%(default)s)")
    add("--load", type=float, default=0.6, help="let jobs use this share of the scarcest resource (%(default)s)")
    add("--seeds", type=int, default=study.seeds, help="generate a workload for each seed from 0 to N-1 (%(default)s)")
    add("--pcp19-seeds", type=int, default=1, help="run pcp19, which is slow, on so many of them (%(default)s)")
    add("--count", type=int, default=1000, help="save at most so many instances of each run (%(default)s)")
    add("--solve", type=int, default=40, help="solve so many instances of each kind of workload (%(default)s)")
    add("--work", type=float, default=0.05, help="search an instance for so many deterministic seconds (%(default)s)")
    add("--processes", type=int, default=1, help="run so many simulations at a time (%(default)s)")
    add("--out", type=Path, default=Path("runs") / study.name.lower(), help="keep runs in this folder (%(default)s)")
    add("--write", action="store_true", help="write tables and pictures into the folder of run.py")
    return parser


class _Campaign:
    """One call of a run.py."""

    def __init__(self, study: Study, here: Path, asked: argparse.Namespace) -> None:
        self.study, self.here, self.asked = study, here, asked
        self.parts = [part.strip() for part in asked.parts.split(",")]
        self.dispatchers = [name.strip() for name in asked.dispatchers.split(",")]
        for option, chosen, known in (("parts", self.parts, PARTS), ("dispatchers", self.dispatchers, DISPATCHERS)):
            if wrong := [name for name in chosen if name not in known]:
                raise InputError(
                    f"found {wrong[0]!r}, expected some of {', '.join(known)}", source=f"option --{option}"
                )
        if self.parts == ["log"] and asked.log is None:
            raise InputError("the part log needs a log, named by --log", source="option --parts")
        for option in ("jobs", "seeds", "pcp19_seeds", "count", "solve", "processes"):
            if getattr(asked, option) < 1:
                raise InputError(
                    f"{getattr(asked, option)}, expected at least 1", source=f"option --{option.replace('_', '-')}"
                )
        self.out: Path = asked.out
        try:
            self.out.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise InputError(f"cannot be made: {problem.strerror}", source=str(self.out)) from None
        self.sections: dict[str, str] = {}

    def run(self) -> None:
        if "log" in self.parts and self.asked.log is not None:
            self._log()
        if {"generated", "decision-time"} & set(self.parts):
            platform = self._platform("machine.xml", self.study.platform)
            workloads = [self._generated(platform, seed) for seed in range(self.asked.seeds)]
            if "generated" in self.parts:
                self.sections["generated"] = self._grouped(platform, workloads, self._grid)
            if "decision-time" in self.parts:
                self.sections["decision-time"] = self._grouped(platform, workloads, self._decision_time)
        if "instances" in self.parts:
            self._instances()
        publish(self.here / "results.md", self.sections, write=self.asked.write)

    def say(self, text: str) -> None:
        """Tell how far the campaign is."""
        print(text, file=sys.stderr, flush=True)

    def _platform(self, name: str, content: bytes) -> Platform:
        path = self.out / name
        with replacing(path) as file:
            file.write(content)
        return read_platform(path)

    def _rows(self, platform: Platform, workloads: list[Path], cells: list[Cell]) -> list[Row]:
        runs, processes = self.out / "runs", self.asked.processes
        path, machine = Path(platform.path), platform.machine
        return run_grid(path, machine, workloads, cells, runs, processes=processes, say=self.say)

    def _generated(self, platform: Platform, seed: int) -> Path:
        path = self.out / f"generated-{seed}.json"
        rng = np.random.default_rng(seed)
        write_workload(sessions(rng, platform.machine, jobs=self.asked.jobs, load=self.asked.load), path)
        return path

    def _log(self) -> None:
        platform = self._platform("machine-of-the-log.xml", self.study.log_platform)
        path = self.out / "log.json"
        selection = Selection(first=self.asked.first)
        workload, report = import_log(self.asked.log, selection=selection, machine=platform.machine)
        write_workload(workload, path)
        self.say(report.as_text())
        cells = self.study.cells(self.dispatchers, self.study.log_predictions)
        rows = self._rows(platform, [path], cells)
        self.sections["log"] = grid_table(rows, self.study.published)
        self._draw_spreads("log", rows)

    def _grouped(self, platform: Platform, workloads: list[Path], tables: Tables) -> str:
        """Return tables over all workloads, and with pcp19 over the first ones, where it runs at all."""
        few = workloads[: self.asked.pcp19_seeds]
        runs = "pcp19" in self.dispatchers and not refusal(Cell(dispatcher="pcp19"), platform.machine)
        if not runs or len(few) == len(workloads):
            return tables(platform, workloads, self.dispatchers)
        others = [name for name in self.dispatchers if name != "pcp19"]
        texts = [tables(platform, workloads, others)] if others else []
        names = ", ".join(str(seed) for seed in range(len(few)))
        return "\n\n".join([*texts, f"With pcp19, seed {names} alone:", tables(platform, few, self.dispatchers)])

    def _grid(self, platform: Platform, workloads: list[Path], dispatchers: Sequence[str]) -> str:
        cells = self.study.cells(dispatchers, self.study.predictions)
        rows = self._rows(platform, workloads, cells)
        if set(self.dispatchers) <= {*dispatchers, "pcp19"}:
            self._draw_spreads("generated", rows)
        return grid_table(rows, self.study.published)

    def _draw_spreads(self, name: str, rows: list[Row]) -> None:
        """Draw what figures 4 and 5 show."""
        folder = self.here if self.asked.write else self.out
        panels = {"slowdown": by_group(rows, "slowdowns"), "wait (s)": by_group(rows, "waits")}
        title = f"Slowdown and waiting time, mean and standard deviation over the jobs, {self.study.name}, {name}"
        spread_picture(folder / f"quality-{name}.svg", panels, title=title)

    def _decision_time(self, platform: Platform, workloads: list[Path], dispatchers: Sequence[str]) -> str:
        """Return tables for decisions that take no time, measured time, the paper's mean time, and constant times."""
        timed: list[tuple[Cell, float]] = []
        for cell in self.study.cells(dispatchers, self.study.predictions):
            published = self.study.published.get((cell.dispatcher, cell.options["prediction"]))
            if cell.dispatcher == BASELINE:
                timed.append((cell, 0.0))
            elif published is not None and published.decision_ms is not None:
                timed.append((cell, published.decision_ms / 1000))
        ways = {
            "no time": [cell for cell, _ in timed],
            "measured": [msgspec.structs.replace(cell, decision_time=None) for cell, _ in timed],
            "the paper's mean": [msgspec.structs.replace(cell, decision_time=fixed) for cell, fixed in timed],
        }
        options = {"prediction": self.study.predictions[0], **self.study.solver}
        slow = [Cell(dispatcher="pcp20", options=options, decision_time=seconds) for seconds in SLOW]
        columns = {name: self._rows(platform, workloads, cells) for name, cells in ways.items()}
        return decision_time_tables(columns, self._rows(platform, workloads, slow), BASELINE)

    def _instances(self) -> None:
        """Count and solve the instances of those runs whose decisions took no simulated time."""
        found: dict[str, list[Compared]] = {}
        recorded = list(self._recorded())
        kinds = Counter(kind for kind, _ in recorded)
        for workload, folder in recorded:
            prediction = read_result(folder).options["prediction"]
            name = f"{workload}, {folder.name.partition(',')[0]}, {prediction}"
            path = self.out / f"instances-{folder.parent.parent.name}-{folder.name}.jsonl"
            # As in the paper, also the instances of one job.
            kept, total = save_instances(folder, path, least=1, most=self.asked.count)
            self.say(f"{name}: {kept} of {total} instances saved")
            share = math.ceil(self.asked.solve / kinds[workload])
            compared = compare_models(path, list(MODELS), work=self.asked.work, wall=WALL, most=share)
            found.setdefault(name, []).extend(compared)
        if not found:
            raise InputError("holds no recorded run: run the part `generated` or `log` first", source=str(self.out))
        joined: dict[str, list[Compared]] = {}
        for name, rows in found.items():
            joined.setdefault(name.partition(",")[0], []).extend(rows)
        self.sections["variables"] = variables_table(found)
        self.sections["times"] = times_table(joined, list(MODELS), self.asked.work)
        folder = self.here if self.asked.write else self.out
        ratio_picture(
            folder / "variables.svg",
            {name: [one.ratio for one in rows] for name, rows in joined.items()},
            label="variables, PCP'20 / PCP'19",
            marks=(0.1,),
            title=f"Variables of PCP'20 over PCP'19, {self.study.name}",
        )
        solved = [one.solved for rows in joined.values() for one in rows if one.solved]
        if solved:
            ratio_picture(
                folder / "times.svg",
                {
                    label: [one[model].seconds / one["node-wise"].seconds for one in solved]
                    for model, label in MODELS.items()
                    if model != "node-wise"
                },
                label="CPU time / that of PCP'19",
                marks=(1.0, 0.01),
                title=f"Time to solve of PCP'20 over PCP'19, {self.study.name}",
            )

    def _recorded(self) -> Iterator[tuple[str, Path]]:
        """Yield (kind of workload, folder) of the runs to save instances from."""
        for kind, pattern in (("log", "log"), ("generated", "generated-*")):
            for name in self.study.instances_from:
                for result in sorted((self.out / "runs").glob(f"{pattern}/0s/{name},*/result.json")):
                    yield kind, result.parent
