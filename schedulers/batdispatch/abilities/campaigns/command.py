"""``batdispatch campaign``: a grid of runs, written down in a file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from batdispatch.abilities.campaigns.campaign.options import CampaignOptions
from batdispatch.cli.groups import Command
from batdispatch.cli.messages import Terminal, echo, json_text, note, quiet_option
from batdispatch.cli.options import options
from batdispatch.cli.outputs import fresh_option, json_option, out_option, processes_option
from batdispatch.cli.progress import ProgressDisplay, duration
from batdispatch.core.errors import InputError, SimulationError
from batdispatch.inputs.folders import checked_folder

if TYPE_CHECKING:
    from batdispatch.abilities.campaigns.campaign.plan import Plan
    from batdispatch.abilities.campaigns.campaign.task import Outcome
    from batdispatch.abilities.campaigns.python import CampaignResults

#: Failures that are shown one by one.
_SHOWN = 10
#: The last lines of a log that are shown.
_LINES = 5


@click.command(cls=Command)
@click.argument("file", metavar="FILE.yaml", type=click.Path(path_type=Path))
@click.argument("more", metavar="[-- SNAKEMAKE OPTIONS]", nargs=-1, type=click.UNPROCESSED)
@options(CampaignOptions)
@out_option("campaigns", "Write into this folder of campaigns, which share their runs.")
@fresh_option("inputs and code")
@processes_option("Run this many tasks at a time: processes here, or jobs on a cluster.", 10_000)
@json_option("Print what came of it as JSON.")
@quiet_option
def command(
    call: CampaignOptions,
    file: Path,
    more: tuple[str, ...],
    out: Path,
    processes: int,
    fresh: bool,
    as_json: bool,
) -> None:
    """Run a campaign: platforms, workloads, dispatchers, options and seeds from a file, here or on a cluster.

    Writes DIR/NAME/results.parquet, one row a run; the last line printed is its path. Runs that are there, from the
    same inputs and the same code, are kept, after an interruption too. A run that fails does not stop the others.
    What follows -- goes to Snakemake.

    \b
    Examples:
      batdispatch campaign campaign.yaml --dry-run
      batdispatch campaign campaign.yaml --jobs 8
      batdispatch campaign campaign.yaml --quick --logs logs
      batdispatch campaign campaign.yaml --executor slurm --jobs 100 -- --default-resources runtime=120
      batdispatch campaign campaign.yaml --clean --dry-run
    """
    from batdispatch.core import extras

    extras.check("campaign", "a campaign")
    from batdispatch.abilities.campaigns.python import campaign as run_campaign

    only = None if call.parts is None else [part.strip() for part in call.parts.split(",")]
    chosen: dict[str, Any] = {"quick": call.quick, "parts": only, "logs": call.logs}
    if call.clean or call.dry_run:
        _look(call, file, chosen, out, processes, fresh=fresh, as_json=as_json)
        return
    with CampaignDisplay() as watching:
        done = run_campaign(
            file,
            **chosen,
            out=out,
            processes=processes,
            executor=call.executor,
            batch=call.batch,
            fresh=fresh,
            more=more,
            watch=watching.begin,
        )
    assert watching.plan is not None
    _conclude(watching.plan, done, as_json)


def _look(
    call: CampaignOptions,
    file: Path,
    chosen: dict[str, Any],
    out: Path,
    processes: int,
    *,
    fresh: bool,
    as_json: bool,
) -> None:
    """Say what would be run, or remove what no campaign needs."""
    from batdispatch.abilities.campaigns.campaign.file import read_campaign
    from batdispatch.abilities.campaigns.campaign.plan import Plan

    plan = Plan(read_campaign(file, **chosen), checked_folder(out), fresh=fresh)
    if not call.clean:
        _foretell(plan, processes, as_json)
        return
    if chosen["parts"] is not None:
        raise InputError("what a whole campaign needs is kept: not with --clean", source="option --parts")
    _clean(plan, call.dry_run, as_json)


def _foretell(plan: Plan, processes: int, as_json: bool) -> None:
    """Say what would be run."""
    from batdispatch.abilities.campaigns.campaign.estimate import estimate

    costs = estimate(plan)
    known = [cost for cost in costs.values() if cost is not None]
    unknown = len(costs) - len(known)
    inputs = len(plan.recipes())
    rows = Counter(plan.names[key] for key in costs)
    if as_json:
        answer = {
            "runs": len(plan.tasks),
            "kept": len(plan.kept),
            "pending": len(costs),
            "inputs": inputs,
            "cpu_seconds": sum(known),
            "pending_without_estimate": unknown,
        }
        echo(json_text(answer))
        return
    echo(f"{plan.campaign.name}: {len(plan.tasks):,} runs, of which {len(plan.kept):,} are there")
    for (part, dispatcher), count in rows.items():
        echo(f"  {count:>7,} of {part}: {dispatcher}")
    if inputs:
        echo(f"{inputs:,} platforms and workloads would be made")
    if known:
        total = sum(known)
        wall = "" if processes == 1 else f": about {duration(total / processes)} with {processes} processes"
        echo(f"{len(known):,} of the runs: about {duration(total)} of CPU time, as earlier ones took{wall}")
    if unknown:
        echo(f"{unknown:,} of the runs: nothing like them was run, so how long they take is unknown")


def _clean(plan: Plan, dry_run: bool, as_json: bool) -> None:
    """Remove what no campaign needs, or say what that is."""
    from batdispatch.abilities.campaigns.campaign.leftovers import clean

    found = clean(plan, remove=not dry_run)
    sizes = {kind: sum(one.size for one in found if one.is_run is kind) for kind in (True, False)}
    counts = Counter(one.is_run for one in found)
    if as_json:
        answer = {
            "removed": not dry_run,
            "runs": counts[True],
            "inputs": counts[False],
            "bytes": sum(sizes.values()),
            "paths": [str(one.path) for one in found],
        }
        echo(json_text(answer))
        return
    rows: dict[str, list[int]] = {}
    for one in found:
        rows.setdefault(", ".join(filter(None, (one.label, one.why))), []).append(one.size)
    for name, row in sorted(rows.items(), key=lambda row: -sum(row[1])):
        echo(f"  {len(row):>7,}  {_mebibytes(sum(row)):>12}  {name}")
    echo(
        f"{'would remove' if dry_run else 'removed'} {counts[True]:,} runs ({_mebibytes(sizes[True])}) and "
        f"{counts[False]:,} platforms and workloads ({_mebibytes(sizes[False])}) from {plan.places.root}"
    )


def _mebibytes(size: int) -> str:
    return f"{size / (1 << 20):,.1f} MiB"


class CampaignDisplay:
    """Shows how far a campaign is, in CPU time where that is known, and tells failures as they come."""

    def __init__(self) -> None:
        self.plan: Plan | None = None
        self._following = ProgressDisplay()
        self._weights: dict[str, int] = {}
        self._done: set[str] = set()
        self._failures = 0

    def __enter__(self) -> CampaignDisplay:
        self._following.__enter__()
        return self

    def __exit__(self, *problem: object) -> None:
        self._following.__exit__(None, None, None)

    def begin(self, plan: Plan, costs: dict[str, float | None]) -> CampaignDisplay:
        """Begin with a plan."""
        self.plan = plan
        known = [cost for cost in costs.values() if cost is not None]
        mean = sum(known) / len(known) if known else 1.0
        # In thousandths, at least 1, of a second; what is unknown counts as an average run.
        self._weights = {key: max(1, round(1000 * (mean if cost is None else cost))) for key, cost in costs.items()}
        if plan.kept:
            note(f"kept {len(plan.kept):,} runs of {len(plan.tasks):,}")
        self._tell()
        return self

    def __call__(self, outcome: Outcome) -> None:
        """Hear of an outcome."""
        assert self.plan is not None
        if outcome.key in self._done:
            return
        if outcome.failure:
            self._failures += 1
            if self._failures <= _SHOWN:
                Terminal().failed(self.plan.label(outcome.key), outcome.failure)
        if outcome.key in self._weights:
            self._done.add(outcome.key)
            self._tell()

    def _tell(self) -> None:
        assert self.plan is not None
        if self._weights:
            done = sum(self._weights[key] for key in self._done)
            self._following.tell(
                f"{self.plan.campaign.name}, {len(self._weights):,} runs", done, sum(self._weights.values())
            )


def _conclude(plan: Plan, done: CampaignResults, as_json: bool) -> None:
    """Print what came of it, with the logs of runs that failed.

    Raises:
        SimulationError: a run failed.
    """
    if as_json:
        answer = {
            "results": str(done.path),
            "runs": len(plan.tasks),
            "kept": len(plan.kept),
            "failed": [
                {"run": plan.tasks[key].label, "cell": key, "failure": why} for key, why in done.failures.items()
            ],
        }
        echo(json_text(answer))
    for key in list(done.failures)[:_SHOWN]:
        log = done.logs / f"{key}.txt"
        if log.is_file():
            lines = log.read_text(errors="replace").splitlines()[-_LINES:]
            echo("\n".join([f"{plan.tasks[key].label}: {log}", *(f"  {line}" for line in lines)]), err=True)
    if not as_json:
        echo(str(done.path))
    if done.failures:
        more = len(done.failures) - _SHOWN
        others = f", {more:,} of them not shown: column failure of the table has all" if more > 0 else ""
        raise SimulationError(f"{len(done.failures):,} of {len(plan.tasks):,} runs failed{others}")
