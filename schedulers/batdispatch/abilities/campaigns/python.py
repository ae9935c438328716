"""What Python calls to run a campaign or to compare on replicates, and the results of these."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from batdispatch.api.calls import REPLICATION, Call, compare
from batdispatch.api.listeners import default_listener
from batdispatch.api.results import Folder, LoadedRun, Replication, Runs
from batdispatch.api.settings import takes
from batdispatch.core import extras
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.inputs.folders import check_finished, checked_folder
from batdispatch.results.run_files import CAMPAIGN_TABLE, REPLICATES_TABLE
from batdispatch.runs.comparison_options import PROCESSES, ComparisonOptions
from batdispatch.runs.inputs import GivenWorkload
from batdispatch.runs.listener import Listener

if TYPE_CHECKING:
    import pandas as pd

    from batdispatch.abilities.campaigns.campaign.plan import Plan
    from batdispatch.abilities.campaigns.campaign.task import Outcome
    from batdispatch.abilities.campaigns.replicate_comparison import ReplicateResults

#: Called with a campaign's plan and the CPU seconds that each pending cell is expected to take; returns what outcomes
#: are told to.
Watch = Callable[["Plan", dict[str, float | None]], Callable[["Outcome"], None]]


class CampaignResults(Folder):
    """What came of a campaign.

    Attributes:
        folder: of the campaign.
        path: of the table results.parquet.
        failures: key of a cell -> why it failed.
        logs: folder of what cells printed.
    """

    def __init__(self, path: Path, failures: Mapping[str, str], logs: Path, cells: Path) -> None:
        super().__init__(path.parent)
        self.path, self.failures, self.logs, self._cells = path, dict(failures), logs, cells

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """The rows of the table as dictionaries, those of failed runs too."""
        from batdispatch.abilities.campaigns.campaign.table import read_all_rows

        return read_all_rows(self.folder)

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row for each run: names, what the file states, metrics, and why it failed; times in seconds."""
        from batdispatch.abilities.campaigns.campaign.table import read_table

        return read_table(self.folder)[0]

    @cached_property
    def runs(self) -> Runs:
        """The runs that did not fail, by the keys in the table's column `cell`."""
        keys = dict.fromkeys(str(row["cell"]) for row in self.rows if row["failure"] is None)
        return Runs({key: LoadedRun(self._cells / key, key) for key in keys})


class ReplicatedComparison(Replication):
    """A comparison on replicates, and what came of it."""

    def __init__(
        self,
        folder: Path,
        came: ReplicateResults,
        notes: Sequence[str] = (),
        keep: TemporaryDirectory[str] | None = None,
    ) -> None:
        super().__init__(folder, came.folders, came.failures, notes, keep)
        self.page, self.sections, self.facts = came.page, came.sections, came.facts

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row for each replicate and dispatcher, with its metrics; times in seconds."""
        from batdispatch.abilities.campaigns.replicates import read_runs

        return read_runs(self.folder / REPLICATES_TABLE)

    @property
    def answers(self) -> dict[str, Any]:
        """Which dispatcher to choose for which aim, and how sure that is, as ``--json`` prints it."""
        from batdispatch.abilities.campaigns.page.answers import as_dict

        return as_dict(self.sections, self.page)

    def __str__(self) -> str:
        from batdispatch.abilities.campaigns.page.page import text_of

        return text_of(self.sections, self.facts)


@takes(REPLICATION)
def replicate(
    workload: GivenWorkload, dispatchers: str | Dispatcher | Sequence[str | Dispatcher], count: int, **more: Any
) -> Replication:
    """Compare dispatchers on replicates of a workload, and say which one to choose, and how sure that is.

    Args:
        workload: as for `run`.
        dispatchers: as for `compare`, or ``families``: one dispatcher for each family that the workload has work for.
        count: how many replicates, 1 to 1000.
        more: as for `compare`.

    Raises:
        InputError: as `run`, or the workload has too few jobs for a window or so many slices, or names no users.
        SimulationError: no run finished.
    """
    return compare(workload, dispatchers, replicates=count, **more)


def compare_on_replicates(
    call: Call,
    dispatchers: str | Dispatcher | Sequence[str | Dispatcher],
    replication: ComparisonOptions,
    common: Mapping[str, str],
    words: str,
) -> Replication:
    """Compare on replicates.

    Args:
        call: what was given, and where results go.
        dispatchers: as for `batdispatch.compare`.
        replication: how replicates are made.
        common: options of every dispatcher that knows them.
        words: the command that does this, for the page; empty: there is none.

    Raises:
        InputError: as `batdispatch.compare`.
        SimulationError: no run finished.
    """
    extras.check("report", "the report")
    from batdispatch.abilities.campaigns.replicate_comparison import compare_on_replicates as carry_out

    came = carry_out(
        replication,
        dispatchers,
        call.base(dispatcher="", options={}),
        call.inputs,
        call.folder,
        common=common,
        words=words,
        processes=call.processes,
        fresh=call.fresh,
        listener=call.listener,
    )
    for label, why in came.failures.items():
        call.listener.failed(label, why)
    return ReplicatedComparison(call.folder, came, call.listener.notes, call.keep)


def page_over_runs(folder: Path, output: Path, title: str | None, baseline: str | None) -> dict[str, Any]:
    """Write the page over a campaign or a comparison with replicates, and return what it shows.

    Args:
        folder: of the campaign or the comparison.
        output: file of the page.
        title: its heading; None: the usual one.
        baseline: compare the other dispatchers with this one; None: with the usual one.

    Raises:
        InputError: the folder is unfinished, or a file in it is malformed.
    """
    # Only these need pandas and SciPy.
    from batdispatch.abilities.campaigns.page.answers import as_dict
    from batdispatch.abilities.campaigns.replicate_comparison import write_comparison

    check_finished(folder)
    told, _ = write_comparison(folder, output, title=title, baseline=baseline)
    return as_dict(told, output)


def campaign(
    file: str | PathLike[str],
    *,
    out: str | PathLike[str] = "campaigns",
    parts: Sequence[str] | None = None,
    quick: bool = False,
    logs: str | PathLike[str] | None = None,
    processes: int | None = None,
    executor: str = "local",
    batch: int | None = None,
    fresh: bool = False,
    more: Sequence[str] = (),
    listener: Listener | None = None,
    watch: Watch | None = None,
) -> CampaignResults:
    """Run a campaign: platforms, workloads, dispatchers, options and seeds from a file, here or on a cluster.

    Whole runs of the same inputs and code are kept. Runs that fail are among the `failures`.

    Args:
        file: the campaign's file.
        out: folder of campaigns, which share their runs.
        parts: run only these parts of the file.
        quick: run the quick version that the file describes.
        logs: folder of logs that do not stand where the file says.
        processes: tasks at a time; None: one for each processor, and at most 8.
        executor: of Snakemake: ``local``, or an executor plug-in that is installed.
        batch: most runs of a task; None: some minutes' worth.
        fresh: keep no run.
        more: further words for Snakemake.
        listener: as for `run`.
        watch: follows the work; None: the listener does.

    Raises:
        InputError: the file or an input is wrong, or another process works on this campaign.
        SimulationError: Snakemake could not run it.
    """
    extras.check("campaign", "a campaign")
    from batdispatch.abilities.campaigns.campaign.campaign import carry_out_campaign
    from batdispatch.abilities.campaigns.campaign.file import read_campaign
    from batdispatch.abilities.campaigns.campaign.plan import Places, Plan
    from batdispatch.abilities.campaigns.campaign.snakemake import Orders

    read = read_campaign(Path(file), quick=quick, parts=parts, logs=None if logs is None else Path(logs))
    root = checked_folder(out)
    places = Places(root, read.name)
    orders = Orders(processes or PROCESSES, executor, batch, more)
    failures = carry_out_campaign(
        lambda: Plan(read, root, fresh=fresh),
        places.own,
        orders,
        fresh=fresh,
        begin=watch or _watch(listener or default_listener()),
    )
    return CampaignResults(places.own / CAMPAIGN_TABLE, failures, places.logs, places.cells)


def _watch(listener: Listener) -> Watch:
    def begin(plan: Plan, costs: dict[str, float | None]) -> Callable[[Outcome], None]:
        ended: set[str] = set()

        def hear(outcome: Outcome) -> None:
            if outcome.failure:
                listener.failed(plan.label(outcome.key), outcome.failure)
            if outcome.key in costs:
                ended.add(outcome.key)
                listener.progress(plan.campaign.name, len(ended), len(costs))

        return hear

    return begin
