"""``batdispatch compare --replicates``: every dispatcher on several replicates, and the page of what that shows."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click
import msgspec

from batdispatch.cli.completing import complete_one_of_them
from batdispatch.cli.groups import REPLICATES, Choice, option
from batdispatch.cli.telling import show
from batdispatch.core.errors import InputError, SimulationError

if TYPE_CHECKING:
    import pandas as pd

    from batdispatch.report.replicates.answers import Section
    from batdispatch.report.replicates.facts import Facts
    from batdispatch.runs.families import Member
    from batdispatch.runs.inputs import Inputs
    from batdispatch.runs.replicates import By, Replicates
    from batdispatch.runs.run import RunSpec

F = TypeVar("F", bound=Callable[..., Any])
#: Options that do not change what comes out.
_SILENT = ("processes", "fresh", "as_json", "explain", "record", "report", "quiet")
#: Name of the folder of the page.
REPORT = "report"
#: Tables of replicates: of a campaign, and of a comparison; as `runs.campaign.table` and `runs.replicates` call them.
RESULTS, TABLE = "results.parquet", "replicates.csv"
_option = functools.partial(option, section=REPLICATES)
_OPTIONS = (
    _option(
        "--replicates",
        metavar="N",
        type=click.IntRange(1, 1000),
        help="Compare on N replicates of the workload, and say how sure the differences are.",
    ),
    _option(
        "--replicate-by",
        type=Choice(["slices", "sessions", "seeds"]),
        default="slices",
        show_default=True,
        help="Make replicates in this way. slices: parts of the workload, evenly spread. sessions: its users' weeks, "
        "drawn anew. seeds: the whole workload, with other seeds of the dispatchers.",
    ),
    _option(
        "--slice-jobs",
        metavar="N",
        type=click.IntRange(1),
        help="Put N jobs into each slice. By default, at most 1,000.",
    ),
    _option(
        "--weeks",
        metavar="N",
        type=click.IntRange(1),
        default=2,
        show_default=True,
        help="Draw N weeks for each replicate (sessions).",
    ),
    _option(
        "--baseline",
        metavar="NAME",
        shell_complete=complete_one_of_them,
        help="Compare the other dispatchers with this one of --dispatchers. The default is easy, else the first.",
    ),
)


def replicate_options(command: F) -> F:
    """Add the options of replicates to a command."""
    for add in reversed(_OPTIONS):
        command = add(command)
    return command


def replicates_of(
    count: int | None, by: str, jobs: int | None, weeks: int, baseline: str | None, dispatchers: str
) -> Replicates | None:
    """Return how replicates are made; None: the comparison has none.

    Raises:
        InputError: an option is given that needs others.
    """
    from click.core import ParameterSource

    from batdispatch.runs.families import FAMILIES, check_names

    check_names(dispatchers)
    if count is not None:
        # It imports pandas, which a plain installation has not.
        from batdispatch.runs.replicates import Replicates

        context = click.get_current_context()
        for option, name, way in (("slice_jobs", "slice-jobs", "slices"), ("weeks", "weeks", "sessions")):
            if context.get_parameter_source(option) is ParameterSource.COMMANDLINE and by != way:
                raise InputError(f"is for --replicate-by {way}, and this is {by}", source=f"option --{name}")
        return Replicates(cast("By", by), count, jobs, weeks)
    context = click.get_current_context()
    for option in ("replicate_by", "slice_jobs", "weeks", "baseline"):
        if context.get_parameter_source(option) is ParameterSource.COMMANDLINE:
            raise InputError("needs --replicates N", source=f"option --{option.replace('_', '-')}")
    if dispatchers.strip() == FAMILIES:
        raise InputError(f"{FAMILIES} needs --replicates N", source="option --dispatchers")
    return None


def given_words() -> str:
    """Return the command as it was given, without what does not change what comes out."""
    from click.core import ParameterSource

    context = click.get_current_context()
    words = ["batdispatch", context.info_name or ""]
    for param in context.command.params:
        name = param.name or ""
        value = context.params.get(name)
        if name in _SILENT or context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        if isinstance(param, click.Argument):
            words.append(str(value))
        elif isinstance(param, click.Option) and param.is_flag:
            words += [param.opts[0]] if value else list(param.secondary_opts[:1])
        else:
            option = max(param.opts, key=len)
            for one in value if isinstance(value, tuple) else (value,):
                words += [option, "=".join(one) if isinstance(one, tuple) else str(one)]
    return shlex.join(words)


class Replicated:
    """A comparison over replicates in a folder.

    Attributes:
        sections: what it says, once it is made.
        facts: the rest of its page.
        failures: run -> why it failed.
    """

    sections: list[Section]
    facts: Facts
    failures: dict[str, str]

    def __init__(
        self,
        replicates: Replicates,
        base: RunSpec,
        folder: Path,
        dispatchers: str,
        common: dict[str, str],
        baseline: str,
        words: str,
    ) -> None:
        """Set up.

        Args:
            replicates: how they are made.
            base: every run, but for its dispatcher, workload and seed.
            folder: of the comparison.
            dispatchers: as on the command line.
            common: options of every dispatcher that knows them.
            baseline: name of a dispatcher; empty: chosen.
            words: the command, to be repeated.
        """
        self._replicates, self._base, self._folder = replicates, base, folder
        self._dispatchers, self._common, self._baseline, self._words = dispatchers, common, baseline, words

    def make(
        self,
        inputs: Inputs,
        prepare: Callable[[], None] | None,
        processes: int,
        progress: Callable[[str, int, int], None],
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
        from batdispatch.inputs.folders import Claim
        from batdispatch.inputs.platforms import read_platform
        from batdispatch.inputs.workloads import read_workload
        from batdispatch.runs.compare import compare
        from batdispatch.runs.inputs import INPUT
        from batdispatch.runs.replicates import RUNS, write_runs
        from batdispatch.runs.run import parse_dispatchers, with_common

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
        entries = with_common([parse_dispatchers(text)[0] for _, text, _ in who], self._common)
        specs, names = [], []
        for file, name, seed in zip(
            files, self._replicates.names, self._replicates.seeds(self._base.seed), strict=True
        ):
            for dispatcher, options in entries:
                spec = msgspec.structs.replace(
                    self._base,
                    workload=str(file),
                    dispatcher=dispatcher,
                    options=options,
                    seed=seed,
                    # What compiled kernels may simulate has no recording, and nobody looks into so many runs.
                    record=False,
                )
                specs.append(spec)
                names.append(f"{RUNS}/{name.replace(' ', '-')}/{spec.label}")

        def conclude(folders: list[Path], failures: dict[str, str]) -> None:
            self.failures = failures
            if not folders:
                return
            places = [self._folder / name for name in names]
            columns = [
                # A run that failed has no result, even if an earlier one of its name left one.
                (
                    row[0],
                    [
                        self._missing if names[at] in failures else places[at]
                        for at in range(index, len(names), len(who))
                    ],
                )
                for index, row in enumerate(who)
            ]
            table = write_runs(self._folder, workload.name, self._replicates.names, columns)
            self._conclude(table, workload.name, who, refused, notes)

        compare(
            specs,
            self._folder,
            processes=processes,
            progress=progress,
            fresh=fresh,
            on_kept=lambda kept: on_kept([f"{len(kept)} of {len(specs)} runs"]),
            conclude=conclude,
            names=names,
        )
        if len(self.failures) == len(specs):
            first = next(iter(self.failures.values()))
            raise SimulationError(f"no run finished, so there is nothing to compare; the first: {first}")

    @property
    def _missing(self) -> Path:
        return self._folder / "no-such-run"

    def _members(self, jobs: Any, machine: Any) -> tuple[list[tuple[str, str, str]], list[tuple[str, str]]]:
        """Return (name, dispatcher, what it is) of who takes part, and (name, why) of who cannot."""
        from batdispatch.core.line.options import split_list
        from batdispatch.runs.families import FAMILIES, members
        from batdispatch.runs.run import parse_dispatchers

        if self._dispatchers.strip() == FAMILIES:
            found: list[Member] = [_installed(one) for one in members(jobs, machine)]
            who = [(one.name, one.dispatcher, f"{one.family}: {one.why}") for one in found if one.dispatcher]
            refused = [(one.family, one.why) for one in found if not one.dispatcher]
        else:
            parse_dispatchers(self._dispatchers)
            who = [(text.strip(), text.strip(), "") for text in split_list(self._dispatchers)]
            refused = []
        names = [name for name, _, _ in who]
        if self._baseline and self._baseline not in names:
            from batdispatch.core.line.options import did_you_mean

            hint = did_you_mean(self._baseline, names)
            raise InputError(f"{self._baseline!r} is none of the dispatchers: {hint}", source="option --baseline")
        return who, refused

    def _conclude(
        self,
        table: Path,
        name: str,
        who: list[tuple[str, str, str]],
        refused: list[tuple[str, str]],
        notes: list[str],
    ) -> None:
        from batdispatch.report.replicates.facts import Facts, write_facts

        word = {"slices": "slices", "sessions": "resamples", "seeds": "seeds"}[self._replicates.by]
        facts = Facts(
            title=f"Which dispatcher for {name}?",
            blocks=word,
            how=" ".join(notes),
            baseline=self._baseline,
            who=who,
            refused=refused,
            failures=[(run.partition("/")[2], why) for run, why in self.failures.items()],
            rerun=[self._words],
        )
        write_facts(facts, self._folder)
        self.sections, self.facts = write_comparison(self._folder, self._folder / REPORT / "index.html")

    def tell(self, *, as_json: bool) -> None:
        """Print what came of it, and the path of the page.

        Raises:
            SimulationError: a run failed.
        """
        from batdispatch.report.replicates.page import text_of

        for run, why in self.failures.items():
            click.echo(f"batdispatch: {run} failed: {why}", err=True)
        page = self._folder / REPORT / "index.html"
        if as_json:
            click.echo(as_answers(self.sections, page))
        else:
            show(text_of(self.sections, self.facts))
            for name, why in self.facts.refused:
                show(f"Not compared, {name}: {why}.")
            click.echo(str(page))
        if self.failures:
            raise SimulationError(f"{len(self.failures)} runs failed")


def _installed(one: Member) -> Member:
    """Return a family for which nobody can stand if what its dispatcher needs is not installed."""
    from batdispatch.core.line.dispatcher import create
    from batdispatch.core.line.options import parse_named

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
    from batdispatch.core.line.options import did_you_mean
    from batdispatch.report.page import write_page
    from batdispatch.report.replicates.answers import sections
    from batdispatch.report.replicates.page import render
    from batdispatch.report.replicates.table import DISPATCHER

    runs, facts = _campaign(folder) if (folder / RESULTS).is_file() else _comparison(folder)
    if title is not None or baseline is not None:
        facts = msgspec.structs.replace(facts, title=title or facts.title, baseline=baseline or facts.baseline)
    names = list(dict.fromkeys(runs[DISPATCHER]))
    if facts.baseline and facts.baseline not in names:
        raise InputError(
            f"{facts.baseline!r} is none of the dispatchers: {did_you_mean(facts.baseline, names)}",
            source="option --baseline",
        )
    found = sections(runs, facts.baseline or None, blocks=facts.blocks)
    if not found:
        raise InputError("holds no metric to compare: every run failed", source=str(folder))
    write_page(render(found, facts), page)
    return found, facts


def has_replicates(folder: Path) -> bool:
    """Return whether a folder is that of a campaign, or of a comparison with replicates."""
    return any((folder / name).is_file() for name in (RESULTS, TABLE))


def report_replicates(
    folder: Path, page: Path | None, *, title: str | None, baseline: str | None, as_json: bool
) -> None:
    """Write the page of a campaign or of a comparison with replicates, and print its path.

    Raises:
        InputError: the folder is unfinished or malformed.
    """
    from batdispatch.inputs.folders import check_finished

    check_finished(folder)
    page = page or folder / REPORT / "index.html"
    found, _ = write_comparison(folder, page, title=title, baseline=baseline)
    click.echo(as_answers(found, page) if as_json else str(page))


def _comparison(folder: Path) -> tuple[pd.DataFrame, Facts]:
    from batdispatch.report.replicates.facts import read_facts
    from batdispatch.runs.replicates import read_runs

    return read_runs(folder / TABLE), read_facts(folder)


def _campaign(folder: Path) -> tuple[pd.DataFrame, Facts]:
    from batdispatch.core import extras

    extras.check("campaign", "the page of a campaign")
    from batdispatch.report.replicates.facts import Facts
    from batdispatch.report.replicates.tidy import from_campaign
    from batdispatch.runs.campaign.table import read_table

    frame, title = read_table(folder)
    names = ("part", "platform", "workload", "replicate", "dispatcher")
    failed = frame[frame["failure"].notna()] if "failure" in frame else frame[:0]
    failures = [
        (" / ".join(str(row[name]) for name in names if name in row), str(row["failure"]))
        for row in failed.to_dict("records")
    ]
    return from_campaign(frame), Facts(title=title or folder.name, failures=failures)


def as_answers(sections: list[Section], page: Path) -> str:
    """Return what a comparison says as JSON."""
    from batdispatch.report.replicates.answers import sentence

    answer = {
        "report": str(page),
        "workloads": [
            {
                "workload": one.name,
                "blocks": one.blocks,
                "answers": [
                    {
                        "metric": found.aim.metric,
                        "n": found.n,
                        "choose": found.chosen,
                        "cannot_be_told_apart": found.rivals,
                        "sentence": sentence(found, one.blocks),
                        "baseline": found.baseline,
                        "against_baseline": [
                            {
                                "dispatcher": pair.ours,
                                "way": found.aim.way,
                                "value": None if pair.effect is None else pair.effect.value,
                                "low": None if pair.effect is None else pair.effect.low,
                                "high": None if pair.effect is None else pair.effect.high,
                                "n": pair.n,
                                "wins": pair.wins,
                                "ties": pair.ties,
                                "p_holm": pair.adjusted,
                            }
                            for pair in found.pairs
                        ],
                    }
                    for found in one.answers
                ],
            }
            for one in sections
        ],
    }
    return msgspec.json.format(msgspec.json.encode(answer), indent=2).decode()
