"""What would other settings have done to a log's jobs: the command ``whatif`` and ``compare --hosts`` as functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import msgspec

from batdispatch.abilities.whatif.changes import Setup, check_changes, conf_of, with_change, with_conf
from batdispatch.api.calls import LOG, RUN, Call
from batdispatch.api.results import Folder
from batdispatch.api.settings import takes
from batdispatch.core import extras
from batdispatch.core.errors import InputError
from batdispatch.inputs.files import write_whole
from batdispatch.results.run_files import WHATIF_PAGE
from batdispatch.runs.compare import entrants_of
from batdispatch.runs.inputs import GivenPlatform, GivenWorkload
from batdispatch.runs.listener import Listener

if TYPE_CHECKING:
    from batdispatch.abilities.whatif.page import WhatIf

#: Name of the page of the runs.
RUNS_PAGE = "runs.html"


class Answers(Folder):
    """What changes of a site would do.

    Attributes:
        folder: of the runs.
        found: what came of them.
        page: the page.
        node_price: of a node and hour; None: not stated.
    """

    def __init__(
        self, folder: Path, found: WhatIf, page: Path, node_price: float | None, keep: TemporaryDirectory[str] | None
    ) -> None:
        super().__init__(folder, keep)
        self.found, self.page, self.node_price = found, page, node_price

    @property
    def grade(self) -> str | None:
        """How faithful the baseline is to the log, from A to D; None: it was not held against one."""
        return None if self.found.grade is None else self.found.grade.grade

    @cached_property
    def answers(self) -> dict[str, Any]:
        """Everything, as ``--json`` prints it."""
        from batdispatch.abilities.whatif.page import as_dict

        return {"report": str(self.page), **as_dict(self.found, self.node_price)}

    def __str__(self) -> str:
        from batdispatch.abilities.whatif.page import text_of

        return text_of(self.found, self.node_price)


@takes(RUN, LOG)
def whatif(
    accounts: GivenWorkload,
    change: str | Sequence[str],
    *,
    dispatcher: str = "slurm-backfill",
    anyway: bool = False,
    node_price: float | None = None,
    platform: GivenPlatform | None = None,
    out: str | PathLike[str] | None = None,
    processes: int | None = None,
    fresh: bool = False,
    words: str = "",
    listener: Listener | None = None,
    **settings: Any,
) -> Answers:
    """Simulate a log as it was, say how faithful that is, and simulate it with changes.

    Args:
        accounts: file of a log.
        change: each as for ``batdispatch whatif --change``; a text is one.
        dispatcher: that stands for the one of the site, with its options in brackets.
        anyway: whether to go on with a baseline of grade D.
        node_price: of a node and hour, for what an hour of waiting saved costs.
        platform: as for `compare`.
        out: folder for the results; None: a temporary one.
        processes: runs at a time.
        fresh: keep no run.
        words: the command that does this, for the page; empty: there is none.
        listener: as for `compare`.
        settings: as for `compare`, such as ``slurm`` and ``time_zone``.

    Raises:
        InputError: something is wrong with an input or a change, or the baseline's grade is D.
        SimulationError: a run failed.
    """
    changes = [change] if isinstance(change, str) else list(change)
    if not changes:
        raise InputError("expected at least one", source="option --change")
    check_changes(changes, dispatcher)
    call = Call(accounts, platform, out, listener, settings, processes=processes, fresh=fresh)

    def variants(setup: Setup) -> dict[str, Setup]:
        from batdispatch.abilities.whatif.variants import with_changes

        # A dispatcher that states a slurm.conf of its own keeps to that.
        if (conf := conf_of(call.inputs)) is not None and not setup.conf.path:
            setup, left = with_conf(setup, conf)
            if left:
                call.listener.warn(f"of slurm.conf, not simulated: {', '.join(left)}; batdispatch slurm-conf says why")
        return with_changes(changes)(setup)

    return _answers(call, variants, dispatcher, node_price, words, graded=True, anyway=anyway)


@takes(RUN, LOG)
def capacities(
    workload: GivenWorkload,
    dispatchers: str,
    hosts: Sequence[int],
    *,
    node_price: float | None = None,
    platform: GivenPlatform | None = None,
    out: str | PathLike[str] | None = None,
    processes: int | None = None,
    fresh: bool = False,
    words: str = "",
    listener: Listener | None = None,
    **settings: Any,
) -> Answers:
    """Compare dispatchers on machines of several sizes; the first of each is the baseline.

    Args:
        workload: as for `compare`.
        dispatchers: with commas between them.
        hosts: numbers of hosts, each kind of node in proportion.
        node_price: as for `whatif`.
        platform: as for `compare`.
        out: as for `whatif`.
        processes: as for `whatif`.
        fresh: as for `whatif`.
        words: as for `whatif`.
        listener: as for `whatif`.
        settings: as for `compare`.

    Raises:
        InputError: something is wrong with an input.
        SimulationError: a run failed.
    """
    entrants = entrants_of(dispatchers)
    twice = next((count for count, times in Counter(hosts).items() if times > 1), None)
    if twice is not None:
        raise InputError(f"{twice} stands twice", source="option --hosts")
    call = Call(workload, platform, out, listener, settings, processes=processes, fresh=fresh)

    def variants(setup: Setup) -> dict[str, Setup]:
        conf = conf_of(call.inputs)
        if conf is not None:
            setup = msgspec.structs.replace(setup, conf=conf)
        return {
            f"{one.text} on {count} hosts": with_change(with_change(setup, f"hosts={count}"), f"dispatcher={one.text}")
            for one in entrants
            for count in hosts
        }

    return _answers(call, variants, entrants[0].text, node_price, words, graded=False, anyway=True)


def _answers(
    call: Call,
    variants: Callable[[Setup], Mapping[str, Setup]],
    dispatcher: str,
    node_price: float | None,
    words: str,
    *,
    graded: bool,
    anyway: bool,
) -> Answers:
    extras.check("report", "the report")
    from batdispatch.abilities.whatif.page import page_of
    from batdispatch.abilities.whatif.variants import what_if
    from batdispatch.report.page import render
    from batdispatch.results.runs import read_runs

    found = what_if(
        call.inputs,
        variants,
        call.base(dispatcher=dispatcher, options={}),
        call.folder,
        graded=graded,
        anyway=anyway,
        processes=call.processes,
        fresh=call.fresh,
        listener=call.listener,
    )
    page = call.folder / WHATIF_PAGE
    runs = [replace(run, label=one.label) for run, one in zip(read_runs(found.folders), found.variants, strict=True)]
    write_whole(call.folder / RUNS_PAGE, render(runs, explain=False, printed=False).encode())
    write_whole(page, page_of(found, runs=RUNS_PAGE, rerun=words, node_hour=node_price).encode())
    return Answers(call.folder, found, page, node_price, call.keep)
