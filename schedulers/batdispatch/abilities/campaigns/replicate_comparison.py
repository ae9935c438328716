"""A comparison on replicates: who takes part, the runs, and what the page over all of them says."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec
import pandas as pd

from batdispatch.abilities.campaigns.page.aims import BURNT
from batdispatch.abilities.campaigns.page.answers import Section, sections
from batdispatch.abilities.campaigns.page.facts import Facts, read_facts, title_of, write_facts
from batdispatch.abilities.campaigns.page.page import LinkedPage, render
from batdispatch.abilities.campaigns.page.table import DISPATCHER
from batdispatch.abilities.campaigns.replicate_cost import KeptCount, tell_cost
from batdispatch.abilities.campaigns.replicates import BLOCKS, RUNS, WHOLE, Replicates, read_runs, table_of
from batdispatch.abilities.campaigns.statistics.significance import LEAST
from batdispatch.core import extras
from batdispatch.core.errors import InputError, SimulationError
from batdispatch.core.line.dispatcher import Dispatcher, create
from batdispatch.core.line.options import did_you_mean, parse_named
from batdispatch.core.machine.machine import Machine
from batdispatch.inputs.files import write_whole
from batdispatch.inputs.folders import Claim
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.workloads import Workload
from batdispatch.report.page import write_page, write_report
from batdispatch.results.metrics.measure import remarks_on
from batdispatch.results.run_files import CAMPAIGN_TABLE, REPLICATES_TABLE, RESULT
from batdispatch.results.run_names import FILE, read_names
from batdispatch.results.runs import find_runs, read_result
from batdispatch.runs.compare import Entrant, at_site, compare, entrant_of, entrants_of, with_common
from batdispatch.runs.comparison_options import ComparisonOptions
from batdispatch.runs.families import FAMILIES, Member, members
from batdispatch.runs.inputs import INPUT, Inputs
from batdispatch.runs.listener import SILENT, Listener
from batdispatch.runs.spec import RunSpec

#: Fewest jobs of a window: of fewer, each job's wait is a tenth of the window's mean or more.
LEAST_JOBS = 10
#: Name of the folder of the page, and the most replicates whose runs have pages of their own.
REPORT, MOST_PAGES = "report", 100


@dataclass(frozen=True)
class ReplicateResults:
    """What came of a comparison on replicates.

    Attributes:
        folders: of the runs that are whole.
        failures: run -> why it failed.
        page: the page.
        sections: what it says.
        facts: what it says of how it came about.
    """

    folders: list[Path]
    failures: dict[str, str]
    page: Path
    sections: list[Section]
    facts: Facts


class _Party(NamedTuple):
    """Who takes part in a comparison, what each is, and (name, why) of who cannot."""

    entrants: list[Entrant]
    about: list[str]
    refused: list[tuple[str, str]]


def compare_on_replicates(
    options: ComparisonOptions,
    dispatchers: str | Dispatcher | Sequence[str | Dispatcher],
    base: RunSpec,
    inputs: Inputs,
    out: Path,
    *,
    common: Mapping[str, str] = {},
    words: str = "",
    processes: int = 1,
    fresh: bool = False,
    listener: Listener = SILENT,
) -> ReplicateResults:
    """Write replicates, let each dispatcher serve all of them, and write the table and the page of what that shows.

    Args:
        options: how replicates are made, and who is compared with all others.
        dispatchers: who takes part; `FAMILIES`: one dispatcher for each family that the workload has work for.
        base: every run, but for its files, its dispatcher and its seed.
        inputs: the platform and the workload.
        out: folder of the comparison.
        common: options of every dispatcher that knows them.
        words: the command that does this; empty: there is none.
        processes: simulations at a time.
        fresh: keep no run.
        listener: hears of the work.

    Raises:
        InputError: something is wrong with a setting or an input.
        SimulationError: no run finished.
    """
    baseline = options.baseline or ""
    notes: list[str] = []
    with Claim(out):
        # Who takes part depends on the workload, so inputs are made before runs are named.
        inputs.prepare(listener)
        workload = inputs.read()
        party = _party(dispatchers, baseline, workload, read_platform(inputs.platform, master=base.master_host).machine)
        (out / INPUT).mkdir(parents=True, exist_ok=True)
        replicates = Replicates.of(options, workload)
        _refuse_what_says_nothing(party, replicates, len(workload.jobs))
        files = replicates.files(out / INPUT, inputs.workload)
        replicates.write(workload, files, notes.append)
        for note in () if replicates.plan is None else replicates.plan.notes:
            listener.warn(note)
    if len(replicates.names) < LEAST:
        listener.warn(
            f"fewer than {LEAST} replicates have no intervals: the page counts in how many each one is better"
        )
    entrants = at_site(with_common(party.entrants, common), inputs.site)
    places = replicates.places
    # Windows of one simulation share their runs.
    cells = [
        (place, _spec(base, inputs.platform, file, seed, entrant))
        for place, file, seed in dict.fromkeys(zip(places, files, replicates.seeds(base.seed), strict=True))
        for entrant in entrants
    ]
    names = [f"{RUNS}/{place}/{spec.label}" for place, spec in cells]
    called = [one.text for one in party.entrants] * (len(cells) // len(entrants))
    path = out / REPORT / "index.html"
    told: list[tuple[list[Section], Facts]] = []

    def conclude(folders: list[Path], failures: dict[str, str]) -> None:
        if not folders:
            return
        # A run that failed has no result, even if an earlier one of its name left one.
        runs = {name: out / ("no-such-run" if name in failures else name) for name in names}
        rows = [
            (one.text, [runs[f"{RUNS}/{place}/{spec.label}"] for place in places])
            for one, (_, spec) in zip(party.entrants, cells, strict=False)
        ]
        write_whole(out / REPLICATES_TABLE, table_of(workload.name, replicates.names, rows))
        facts = Facts(
            title=title_of(workload.name),
            blocks=BLOCKS[replicates.by],
            how=" ".join(notes),
            independent=None if replicates.plan is None else replicates.plan.independent,
            baseline=baseline,
            who=[(one.text, one.text, what) for one, what in zip(party.entrants, party.about, strict=True)],
            refused=party.refused,
            failures=[(run.partition("/")[2], why) for run, why in failures.items()],
            rerun=[words] if words else [],
        )
        write_facts(facts, out)
        told.append(write_comparison(out, path))

    carry_out = partial(
        compare,
        processes=processes,
        own={cells[at][1].label: one.own for at, one in enumerate(entrants) if one.own is not None},
    )
    specs, counted = [spec for _, spec in cells], KeptCount(listener, len(cells))
    if replicates.plan is not None and not fresh:
        counted.made = tell_cost(replicates.plan, specs[: len(entrants)], names, out, listener)
    folders, failures = carry_out(
        specs, out, listener=counted, fresh=fresh, conclude=conclude, names=names, called=called
    )
    if not folders:
        first = next(iter(failures.values()))
        raise SimulationError(f"no run finished, so there is nothing to compare; the first: {first}")
    return ReplicateResults(folders, failures, path, *told[0])


def _refuse_what_says_nothing(party: _Party, replicates: Replicates, jobs: int) -> None:
    """Refuse, before anything runs, a comparison that could not say anything.

    Raises:
        InputError: only one dispatcher takes part, or windows have fewer than `LEAST_JOBS` jobs.
    """
    if len(party.entrants) < 2:
        only = party.entrants[0].text if party.entrants else "nothing"
        raise InputError(
            f"only {only} takes part, so it is compared with none; name another one", source="option --dispatchers"
        )
    plan = replicates.plan
    if plan is not None and plan.windows > 1 and plan.jobs < LEAST_JOBS:
        most = max(jobs // (2 * LEAST_JOBS), 1)
        raise InputError(
            f"{plan.windows} windows of {jobs:,} jobs have {plan.jobs} each, and fewer than {LEAST_JOBS} say nothing "
            f"of waits; state {most} or fewer",
            source="option --replicates",
        )


def _spec(base: RunSpec, platform: Path, workload: Path, seed: int, entrant: Entrant) -> RunSpec:
    return msgspec.structs.replace(
        base,
        platform=str(platform),
        workload=str(workload),
        dispatcher=entrant.name,
        options=entrant.all_options,
        seed=seed,
        # What compiled kernels may simulate has no recording, and nobody looks into so many runs.
        record=False,
    )


def _party(
    dispatchers: str | Dispatcher | Sequence[str | Dispatcher], baseline: str, workload: Workload, machine: Machine
) -> _Party:
    if isinstance(dispatchers, str) and dispatchers.strip() == FAMILIES:
        families = [_installed(one) for one in members(workload.jobs, machine)]
        able = [one for one in families if one.dispatcher]
        entrants = [entrant_of(one.dispatcher)._replace(text=one.name) for one in able]
        refused = [(one.family, one.why) for one in families if not one.dispatcher]
        party = _Party(entrants, [f"{one.family}: {one.why}" for one in able], refused)
    else:
        entrants = entrants_of(dispatchers)
        party = _Party(entrants, [""] * len(entrants), [])
    _check_baseline(baseline, [one.text for one in party.entrants])
    return party


def _check_baseline(baseline: str, names: Sequence[str]) -> None:
    if baseline and baseline not in names:
        hint = did_you_mean(baseline, names)
        raise InputError(f"{baseline!r} is none of the dispatchers: {hint}", source="option --baseline")


def _installed(one: Member) -> Member:
    """Return a family for which nobody can stand if what its dispatcher needs is not installed."""
    try:
        if one.dispatcher:
            create(*parse_named(one.dispatcher), 0)
    except InputError as problem:
        return one._replace(dispatcher="", why=str(problem))
    return one


def write_comparison(
    folder: Path, page: Path, *, title: str | None = None, baseline: str | None = None
) -> tuple[list[Section], Facts]:
    """Write the page of a comparison or of a campaign from its table, and return what it says.

    Raises:
        InputError: the folder holds none, or none of the dispatchers is called like the baseline.
    """
    if (folder / CAMPAIGN_TABLE).is_file():
        runs, facts = _campaign(folder)
    else:
        runs, facts = read_runs(folder / REPLICATES_TABLE), read_facts(folder)
    if title is not None or baseline is not None:
        facts = msgspec.structs.replace(facts, title=title or facts.title, baseline=baseline or facts.baseline)
    _check_baseline(facts.baseline, list(dict.fromkeys(runs[DISPATCHER])))
    told = sections(runs, facts.baseline or None, blocks=facts.blocks, independent=facts.independent)
    if not told:
        raise InputError("holds no metric to compare: every run failed", source=str(folder))
    told = _with_doubts_about_energy(told, folder)
    linked, unlinked = _run_pages(folder, page)
    write_page(render(told, facts, linked, unlinked), page)
    return told, facts


def _with_doubts_about_energy(told: list[Section], folder: Path) -> list[Section]:
    """Let the first section say what energy leaves out, if some section shows energy."""
    if not any(answer.aim.metric in BURNT for one in told for answer in one.answers):
        return told
    words = remarks_on(read_result(run) for run in _runs_in(folder))
    return [replace(told[0], warnings=(*told[0].warnings, *words)), *told[1:]]


def _runs_in(folder: Path) -> list[Path]:
    """Return the runs of the last call; a call before it may have left others."""
    runs = [run for run in (folder / RUNS).rglob("*") if (run / RESULT).is_file()]
    if not (folder / FILE).is_file():
        return runs
    current = {folder / path for path in read_names(folder).current}
    return [run for run in runs if run in current]


def _run_pages(folder: Path, page: Path) -> tuple[list[LinkedPage], list[str]]:
    """Write a page of the runs on each of the first replicates, and return them, and the folders of the others."""
    runs = _runs_in(folder)
    groups = {run.parent for run in runs}
    # slice-10 comes behind slice-9.
    ordered = sorted(
        groups, key=lambda group: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", str(group))]
    )
    around = os.path.commonpath(ordered) if len(ordered) > 1 else folder / RUNS
    linked = []
    for place, group in enumerate(ordered[:MOST_PAGES]):
        path = page.parent / "pages" / f"{place}.html"
        drawn = folder / "evalys" / group.relative_to(folder / RUNS)
        write_report(
            [run for run in find_runs([group]) if run in runs], path, explain=False, printed=False, figures=drawn
        )
        name = "all windows" if group.name == WHOLE else group.relative_to(around).as_posix()
        linked.append(LinkedPage(name, path.relative_to(page.parent).as_posix()))
    return linked, [str(group) for group in ordered[MOST_PAGES:]]


def _campaign(folder: Path) -> tuple[pd.DataFrame, Facts]:
    extras.check("campaign", "the page of a campaign")
    from batdispatch.abilities.campaigns.campaign.table import read_table
    from batdispatch.abilities.campaigns.page.tidy import from_campaign

    frame, title = read_table(folder)
    names = ("part", "platform", "workload", "replicate", "dispatcher")
    failed = frame[frame["failure"].notna()] if "failure" in frame else frame[:0]
    failures = [
        (" / ".join(str(row[name]) for name in names if name in row), str(row["failure"]))
        for row in failed.to_dict("records")
    ]
    return from_campaign(frame), Facts(title=title, failures=failures)
