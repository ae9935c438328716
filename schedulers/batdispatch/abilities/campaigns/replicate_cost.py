"""What a comparison on windows will cost, told before it is begun: who may take long has a few seconds to show it."""

from __future__ import annotations

import resource
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from batdispatch.abilities.campaigns.statistics.significance import LEAST
from batdispatch.inputs.workloads.windows import WindowPlan
from batdispatch.runs.compare import execute_named
from batdispatch.runs.listener import Listener
from batdispatch.runs.provenance import others_names
from batdispatch.runs.run import build, clear, is_made
from batdispatch.runs.spec import RunSpec
from batdispatch.runs.workers import carry_out

#: Jobs of a run from which its dispatcher is tried, seconds that it has, and CPU seconds of all runs that are much.
LONG, TRIAL, MUCH = 2_000, 5.0, 60.0
#: How many times as long it has beyond these, as long as it has told nothing.
BUSY = 3.0


def tell_cost(plan: WindowPlan, specs: Sequence[RunSpec], names: Sequence[str], out: Path, listener: Listener) -> int:
    """Say what runs on windows will take if that is much, and what would take less; return how many runs were made.

    Each dispatcher whose decisions take long (see `Dispatcher.effort`) begins its first run, and is ended after
    `TRIAL` seconds, or later if it has told nothing by then: how far it came tells what all of its jobs take. A run
    that came to its end is kept. Code of others is left out: its runs are never kept.

    Args:
        plan: of the windows.
        specs: the first run of each dispatcher.
        names: of all runs, the first ones first.
        out: folder of the comparison.
        listener: hears what it will cost.
    """
    length = plan.warm_up + plan.jobs + plan.cool_down if plan.separate else plan.total
    each = plan.windows if plan.separate else 1
    made, seconds = 0, {}
    for name, spec in zip(names, specs, strict=False):
        strange = bool(others_names(spec.dispatcher, *spec.options.values()))
        if length < LONG or strange or not build(spec).innermost().effort or is_made(spec, out / name):
            continue
        spent, share = _trial(name, spec, out)
        made += share == 1.0
        seconds[spec.label] = each * spent / share
    if (total := sum(seconds.values())) > MUCH:
        slowest = max(seconds, key=lambda label: seconds[label])
        fewer = int(length * each * MUCH / total / (LEAST * (1 + (plan.warm_up + plan.cool_down) / plan.jobs)))
        less = f"--replicate-by separate-windows --replicates {LEAST} --window {fewer}" if fewer >= 100 else ""
        listener.warn(
            f"This takes about {total:,.0f} s of CPU time or more, {seconds[slowest]:,.0f} s of it {slowest}: so tell "
            f"the first {TRIAL:g} s of each dispatcher that takes long. To take about {MUCH:,.0f} s, interrupt this "
            f"and {f'state {less}' if less else 'leave out who takes longest'}."
        )
    return made


def _trial(name: str, spec: RunSpec, out: Path) -> tuple[float, float]:
    """Begin a run; return the CPU seconds that it took, and the share of its jobs that ended by then, above 0."""
    ends, shares = time.monotonic() + TRIAL, [1.0 / 200]

    def left() -> float:
        # On a busy machine a run may not have got far enough to say anything.
        return ends + (0.0 if len(shares) > 1 else BUSY * TRIAL) - time.monotonic()

    def told(run: tuple[str, RunSpec], what: tuple[int, int]) -> None:
        shares.append(what[0] / what[1])

    def ended(run: tuple[str, RunSpec], problem: str | None) -> None:
        # One that fails does so again, and is told then.
        shares.append(1.0)

    before = _cpu_of_workers()
    carry_out(
        partial(execute_named, out),
        [(name, spec)],
        processes=1,
        began=lambda run: None,
        told=told,
        ended=ended,
        left=left,
    )
    clear(out / name, recording=False, folder=True)
    return _cpu_of_workers() - before, shares[-1]


def _cpu_of_workers() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class KeptCount(Listener):
    """Passes on how far runs are, and how many of all are kept.

    Attributes:
        made: runs that this comparison has made itself.
    """

    def __init__(self, listener: Listener, runs: int) -> None:
        self._listener, self._runs, self.made = listener, runs, 0

    def progress(self, label: str, done: int, total: int) -> None:
        self._listener.progress(label, done, total)

    def kept(self, labels: Sequence[str]) -> None:
        if len(labels) > self.made:
            self._listener.kept([f"{len(labels) - self.made} of {self._runs} runs"])
