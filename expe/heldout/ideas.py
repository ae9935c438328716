"""Measures what was tried for look-ahead, one idea after another, on the slices for tuning.

Use: python expe/heldout/ideas.py --logs FOLDER [--each 5] [--out expe/heldout/runs] [--write]. One process. Runs stay
in `--out`, which is not under version control, and are taken as they are when they are there. Each is audited. With
--each the first so many slices of each log run, else all. With --write the table goes into
docs/dispatchers/look-ahead-measured.md, which says by which rule an idea is kept. Nothing held out is touched.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec
import numpy as np
from grid import EASY, ENTRIES, OURS, Entry
from run import served
from show import Served, log_ratios, shown
from slices import Part, parts

from batdispatch.runs.grid import Cell, publish, run_grid
from batdispatch.runs.over_seeds import table

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "dispatchers" / "look-ahead-measured.md"
AMONG = f"{HERE / 'variants.py'}:AmongOrders"
FIXED = f"{HERE / 'variants.py'}:FixedRoom"
BESIDE = f"{HERE / 'beside.py'}:BesideEasy"
QUANTILE = f"{HERE.parent / 'predictions' / 'quantile.py'}:Quantile"
#: What others are compared with: the best published dispatcher on the held-out slices.
BEST = "easy, smallest area first"


class Idea(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A row of the table.

    Attributes:
        kind: which idea it belongs to.
        name: in the table.
        dispatcher: registered name, or a file and a class.
        options: its options.
        of_easy: a job is late after this part of the longest wait that easy has on the slice, which no dispatcher can
            know; 0: as the options say.
    """

    kind: str
    name: str
    dispatcher: str = "look-ahead"
    options: dict[str, str] = {}
    of_easy: float = 0.0

    def cell(self, easy_longest: float) -> Cell:
        """Return the run; `easy_longest`: the longest wait that easy has on the slice, s."""
        late = {"ordering": _late(self.of_easy * easy_longest, 0.0)} if self.of_easy else {}
        return Cell(dispatcher=self.dispatcher, options={"prediction": "requested", **self.options, **late})


def _late(after: float, multiple: float) -> str:
    return f"late-first[after={after:g},multiple={multiple:g}]"


def _entry(name: str) -> Idea:
    """Return a row of the held-out comparison."""
    entry: Entry = next(one for one in ENTRIES if one.name == name)
    return Idea(kind="", name=name, dispatcher=entry.dispatcher, options=entry.options)


def _quantile(q: float) -> dict[str, str]:
    return {"ordering": "smallest-area", "prediction": f"{QUANTILE}[q={q:g}]"}


#: Those that others are compared with stand first.
IDEAS = (
    _entry(EASY),
    _entry(BEST),
    _entry(OURS),
    Idea(kind="(a)", name="a room of 10 % that is always kept", dispatcher=FIXED, options={"room": "0.1"}),
    *(
        Idea(
            kind="(b)",
            name=f"look-ahead, late after {multiple} times the mean wait (6 h at least)",
            options={"ordering": _late(21600.0, multiple)},
        )
        for multiple in (5, 20)
    ),
    Idea(
        kind="(b)",
        name="look-ahead, late after half of the longest wait that easy has on the slice, which nobody can know",
        of_easy=0.5,
    ),
    Idea(kind="(c)", name="orders chosen, no room", dispatcher=AMONG, options={"room": "0"}),
    Idea(kind="(c)", name="orders and room chosen", dispatcher=AMONG),
    *(
        Idea(
            kind="(d)",
            name=f"easy, smallest area first, with the {100 * q:g} % quantile of jobs alike",
            dispatcher="easy",
            options=_quantile(q),
        )
        for q in (0.5, 0.75, 0.95)
    ),
    Idea(
        kind="(d)",
        name="look-ahead with the 75 % quantile of jobs alike",
        options={"prediction": f"{QUANTILE}[q=0.75]"},
    ),
    *(
        Idea(
            kind="(e)",
            name=f"{what}, late after the longest wait so far of easy simulated beside",
            dispatcher=dispatcher,
            options={"ordering": BESIDE},
        )
        for what, dispatcher in (
            (BEST, "easy"),
            ("look-ahead", "look-ahead"),
            ("orders and room chosen", AMONG),
        )
    ),
    Idea(
        kind="(e)",
        name="look-ahead, late once started in easy simulated beside",
        options={"ordering": f"{BESIDE}[own=true]"},
    ),
    Idea(
        kind="real run times",
        name=BEST,
        dispatcher="easy",
        options={"ordering": "smallest-area", "prediction": "oracle"},
    ),
    Idea(kind="real run times", name=OURS, options={"prediction": "oracle"}),
    Idea(
        kind="real run times",
        name="orders and room chosen, late after the longest wait so far of easy simulated beside",
        dispatcher=AMONG,
        options={"prediction": "oracle", "ordering": BESIDE},
    ),
)


#: What an idea did on each (log, slice).
Runs = dict[tuple[str, str], Served]


def measure(made: list[Part], each: int, out: Path) -> dict[Idea, Runs]:
    """Return what each idea did on the first slices of each log, so many, or on all.

    Raises:
        SimulationError: the audit found something wrong with a run, or a job did not start.
    """
    found: dict[Idea, Runs] = {idea: {} for idea in IDEAS}
    # First slices first, so that a campaign that is interrupted has measured a bit of each log.
    for index in range(each or max(len(part.slices) for part in made)):
        for part in made:
            for path in part.slices[index : index + 1]:
                longest = 0.0
                for idea in IDEAS:
                    cell = idea.cell(longest)
                    (row,) = run_grid(Path(part.platform.path), part.platform.machine, [path], [cell], out, say=_say)
                    found[idea][part.name, path.stem] = came = served(row)
                    if idea is IDEAS[0]:
                        longest = came.longest
    return found


def ideas_table(found: Mapping[Idea, Runs]) -> str:
    """Return ratios with their intervals, and decision times, of each idea."""
    by_name = {idea.name: runs for idea, runs in found.items() if not idea.kind}
    body = []
    for idea, runs in found.items():
        ratios = [
            "1" if runs is by_name[base] else shown(log_ratios(runs, by_name[base], metric))
            for base, metric in ((BEST, "slowdown"), (OURS, "slowdown"), (EASY, "longest"))
        ]
        mean = np.mean([run.decision for run in runs.values()])
        high = np.median([run.high_decision for run in runs.values()])
        slowest = max(run.slowest for run in runs.values())
        times = [f"{1000 * value:.2f}" for value in (mean, high, slowest)]
        body.append([f"{idea.kind} {idea.name}".strip(), *ratios, " / ".join(times)])
    head = ["", f"slowdown over {BEST}", f"slowdown over {OURS}", f"longest wait over {EASY}", "decisions (ms)"]
    return table(head, body)


def logs_table(found: Mapping[Idea, Runs], logs: list[str]) -> str:
    """Return the slowdown over the best published dispatcher's by log, without intervals."""
    base = next(runs for idea, runs in found.items() if idea.name == BEST and not idea.kind)
    body = [
        [
            f"{idea.kind} {idea.name}".strip(),
            *(shown(log_ratios(runs, base, "slowdown", log), interval=False) for log in logs),
        ]
        for idea, runs in found.items()
        if runs is not base
    ]
    slices = [sum(key[0] == log for key in base) for log in logs]
    return table(
        [f"slowdown over {BEST}", *(f"{log} ({number})" for log, number in zip(logs, slices, strict=True))], body
    )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    """Run what was asked for, and print or write what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--logs", type=Path, required=True, help="folder of the logs")
    parser.add_argument("--each", type=int, default=0, help="run the first so many slices of each log; 0: all")
    parser.add_argument("--out", type=Path, default=HERE / "runs")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    made = parts(asked.logs, asked.out / "tuning", tuning=True)
    found = measure(made, asked.each, asked.out / "tuning" / "ideas")
    sections = {"ideas": ideas_table(found), "ideas by log": logs_table(found, [part.name for part in made])}
    publish(PAGE, sections, write=asked.write)


if __name__ == "__main__":
    sys.exit(main())
