"""A comparison over replicates: every dispatcher on each of them, and the page of what that shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

import msgspec
import pandas as pd

from batdispatch.core import extras
from batdispatch.core.errors import InputError, SimulationError
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.options import did_you_mean, parse_named, split_list
from batdispatch.core.machine.machine import Machine
from batdispatch.inputs.folders import Claim, check_finished
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.workloads import read_workload
from batdispatch.report.page import write_page
from batdispatch.report.replicates.answers import Section, sections
from batdispatch.report.replicates.facts import Facts, read_facts, write_facts
from batdispatch.report.replicates.page import render
from batdispatch.report.replicates.table import DISPATCHER
from batdispatch.report.replicates.tidy import from_campaign
from batdispatch.runs.compare import LabelledProgress, compare
from batdispatch.runs.comparison_options import ComparisonOptions
from batdispatch.runs.families import FAMILIES, Member, members
from batdispatch.runs.from_log import INPUT, Inputs
from batdispatch.runs.replicates import RUNS, TABLE, Replicates, read_runs, write_runs
from batdispatch.runs.run import parse_dispatchers, with_common
from batdispatch.runs.spec import RunSpec

#: The page of a comparison, in its folder.
PAGE = Path("report") / "index.html"
#: The table of a campaign, as `runs.campaign.table` calls it.
RESULTS = "results.parquet"


class ReplicateComparison:
    """A comparison over replicates in a folder.

    Attributes:
        page: the path of what it says, for people.
        sections: what it says, once it is made.
        facts: the rest of its page.
        failures: run -> why it failed.
    """

    sections: list[Section]
    facts: Facts
    failures: dict[str, str]

    def __init__(self, options: ComparisonOptions, base: RunSpec, folder: Path, words: str) -> None:
        """Set up.

        Args:
            options: who is compared, and how replicates are made.
            base: every run, but for its dispatcher, workload and seed; its options are for every dispatcher that knows
                them.
            folder: of the comparison.
            words: the command, to be repeated.
        """
        self._options, self._base, self._folder, self._words = options, base, folder, words
        self.page = folder / PAGE

    @cached_property
    def _replicates(self) -> Replicates:
        options = self._options
        return Replicates(options.replicate_by, options.replicates or 1, options.slice_jobs, options.weeks)

    def make(
        self,
        inputs: Inputs,
        prepare: Callable[[], None] | None,
        processes: int,
        progress: LabelledProgress,
        *,
        fresh: bool,
        on_kept: Callable[[list[str]], None],
    ) -> None:
        """Write replicates, simulate, and write the table and the page.

        Args:
            inputs: the platform and the workload.
            prepare: writes them; None: they are there.
            processes: simulations at a time.
            progress: told how far each run is.
            fresh: keep no run.
            on_kept: told which runs are kept.

        Raises:
            InputError: something is wrong with an option or an input.
            SimulationError: no run finished.
        """
        notes: list[str] = []
        with Claim(self._folder):
            # Who takes part depends on the workload, so inputs are made before runs are named.
            if prepare is not None:
                prepare()
            workload = read_workload(inputs.workload)
            machine = read_platform(inputs.platform, master=self._base.master_host).machine
            who, refused = self._members(workload.jobs, machine)
            (self._folder / INPUT).mkdir(parents=True, exist_ok=True)
            files = self._replicates.files(self._folder / INPUT, inputs.workload)
            self._replicates.write(workload, files, notes.append)
        runs = self._runs(files, [dispatcher for _, dispatcher, _ in who])
        names = list(runs)

        def conclude(folders: list[Path], failures: dict[str, str]) -> None:
            self.failures = failures
            if not folders:
                return
            # A run that failed has no result, even if an earlier one of its name left one.
            places = [self._folder / ("no-such-run" if name in failures else name) for name in names]
            columns = [(row[0], places[index :: len(who)]) for index, row in enumerate(who)]
            write_runs(self._folder, workload.name, self._replicates.names, columns)
            write_facts(self._facts(workload.name, who, refused, notes), self._folder)
            self.sections, self.facts = write_comparison(self._folder, self.page)

        compare(
            list(runs.values()),
            self._folder,
            processes=processes,
            progress=progress,
            fresh=fresh,
            on_kept=lambda kept: on_kept([f"{len(kept)} of {len(runs)} runs"]),
            conclude=conclude,
            names=names,
        )
        if len(self.failures) == len(runs):
            first = next(iter(self.failures.values()))
            raise SimulationError(f"no run finished, so there is nothing to compare; the first: {first}")

    def _runs(self, files: Sequence[Path], dispatchers: Sequence[str]) -> dict[str, RunSpec]:
        """Return every run by its name, which is its folder's: all dispatchers on the first replicate come first."""
        entries = with_common([parse_dispatchers(text)[0] for text in dispatchers], self._base.options)
        replicates = self._replicates
        runs = {}
        for file, name, seed in zip(files, replicates.names, replicates.seeds(self._base.seed), strict=True):
            for dispatcher, options in entries:
                # What compiled kernels may simulate has no recording, and nobody looks into so many runs.
                settings = {"workload": str(file), "dispatcher": dispatcher, "options": options, "seed": seed}
                spec = msgspec.structs.replace(self._base, **settings, record=False)
                runs[f"{RUNS}/{name.replace(' ', '-')}/{spec.label}"] = spec
        return runs

    def _members(
        self, jobs: Sequence[Job], machine: Machine
    ) -> tuple[list[tuple[str, str, str]], list[tuple[str, str]]]:
        """Return (name, dispatcher, what it is) of who takes part, and (name, why) of who cannot."""
        dispatchers, refused = self._options.dispatchers, []
        if dispatchers.strip() == FAMILIES:
            families = [_installed(member) for member in members(jobs, machine)]
            who = [(one.name, one.dispatcher, f"{one.family}: {one.why}") for one in families if one.dispatcher]
            refused = [(one.family, one.why) for one in families if not one.dispatcher]
        else:
            parse_dispatchers(dispatchers)
            who = [(text.strip(), text.strip(), "") for text in split_list(dispatchers)]
        _check_baseline(self._options.baseline, [name for name, _, _ in who])
        return who, refused

    def _facts(
        self, name: str, who: list[tuple[str, str, str]], refused: list[tuple[str, str]], notes: list[str]
    ) -> Facts:
        return Facts(
            title=f"Which dispatcher for {name}?",
            blocks={"slices": "slices", "sessions": "resamples", "seeds": "seeds"}[self._replicates.by],
            how=" ".join(notes),
            baseline=self._options.baseline or "",
            who=who,
            refused=refused,
            failures=[(run.partition("/")[2], why) for run, why in self.failures.items()],
            rerun=[self._words],
        )


def _check_baseline(baseline: str | None, names: list[str]) -> None:
    if baseline and baseline not in names:
        hint = did_you_mean(baseline, names)
        raise InputError(f"{baseline!r} is none of the dispatchers: {hint}", source="option --baseline")


def _installed(member: Member) -> Member:
    """Return a family for which nobody can stand if what its dispatcher needs is not installed."""
    try:
        if member.dispatcher:
            create(*parse_named(member.dispatcher), 0)
    except InputError as problem:
        return member._replace(dispatcher="", why=str(problem))
    return member


def has_replicates(folder: Path) -> bool:
    """Return whether a folder is that of a campaign, or of a comparison with replicates."""
    return any((folder / name).is_file() for name in (RESULTS, TABLE))


def write_comparison(
    folder: Path, page: Path, *, title: str | None = None, baseline: str | None = None
) -> tuple[list[Section], Facts]:
    """Write the page of a comparison or of a campaign from its table, and return what it says.

    Raises:
        InputError: the folder holds none, or none of the dispatchers is called like the baseline.
    """
    runs, facts = _campaign(folder) if (folder / RESULTS).is_file() else _comparison(folder)
    if title is not None or baseline is not None:
        facts = msgspec.structs.replace(facts, title=title or facts.title, baseline=baseline or facts.baseline)
    _check_baseline(facts.baseline, list(dict.fromkeys(runs[DISPATCHER])))
    about = sections(runs, facts.baseline or None, blocks=facts.blocks)
    if not about:
        raise InputError("holds no metric to compare: every run failed", source=str(folder))
    write_page(render(about, facts), page)
    return about, facts


def report_replicates(
    folder: Path, page: Path | None, *, title: str | None, baseline: str | None
) -> tuple[list[Section], Path]:
    """Write the page of a campaign or of a comparison with replicates, and return what it says, and its path.

    Raises:
        InputError: the folder is unfinished or malformed.
    """
    check_finished(folder)
    page = page or folder / PAGE
    return write_comparison(folder, page, title=title, baseline=baseline)[0], page


def _comparison(folder: Path) -> tuple[pd.DataFrame, Facts]:
    return read_runs(folder / TABLE), read_facts(folder)


def _campaign(folder: Path) -> tuple[pd.DataFrame, Facts]:
    extras.check("campaign", "the page of a campaign")
    from batdispatch.runs.campaign.table import read_table

    frame, title = read_table(folder)
    names = ("part", "platform", "workload", "replicate", "dispatcher")
    failed = frame[frame["failure"].notna()] if "failure" in frame else frame[:0]
    failures = [
        (" / ".join(str(row[name]) for name in names if name in row), str(row["failure"]))
        for row in failed.to_dict("records")
    ]
    return from_campaign(frame), Facts(title=title or folder.name, failures=failures)
