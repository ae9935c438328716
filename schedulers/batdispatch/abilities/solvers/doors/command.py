"""``batdispatch instance``: dispatching instances, saved from runs and solved by any model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import click
import msgspec
from msgspec import Meta

from batdispatch.cli.groups import OTHER_OPTIONS, Group
from batdispatch.cli.messages import conclude, echo
from batdispatch.cli.options import options
from batdispatch.cli.outputs import json_option, output_option, written_option
from batdispatch.core import extras
from batdispatch.core.errors import InputError
from batdispatch.core.line.settings import Form
from batdispatch.runs.spec import Seconds, Seed

_Count = Annotated[int, Meta(ge=1)]


class SaveOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Which instances of a run are saved.

    prediction: Expect run times by this prediction. The default is that of the run.
    least: Leave out instances of fewer jobs.
    window: Take at most this many jobs of the queue into an instance.
    most: Keep at most this many instances, evenly chosen.
    """

    prediction: Annotated[str | None, Form("NAME")] = None
    least: _Count = 2
    window: _Count = 100
    most: _Count = 1000


class SolveOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How instances are solved.

    models: Solve with these models.
    work: Give each solve this many seconds of the solver's deterministic time.
    wall: Stop a solve after this many seconds of the wall clock.
    seed: Seed the solver with this number.
    """

    models: str = "search-rule,best-list,positions,node-wise,pooled"
    work: Seconds = 1.0
    wall: Seconds = 16.0
    seed: Seed = 0


@click.group(cls=Group)
def command() -> None:
    """Save dispatching instances from a run, and solve them with any of the models.

    Dispatchers that decide differently soon face different queues; on saved instances their models compare.
    """


@command.command()
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@output_option("FILE", "Write the instances into this file, one line of JSON for each.")
@options(SaveOptions)
@written_option
def save(chosen: SaveOptions, run: Path, output: Path, as_json: bool) -> None:
    """Save what a run's dispatcher had to decide: the queued jobs that fitted, the running jobs, the nodes.

    RUN is a run's folder with decisions.jsonl, by whatever dispatcher.

    \b
    Examples:
      batdispatch run --platform P.xml --workload W.json --dispatcher pcp19 --out results
      batdispatch instance save results -o instances.jsonl
    """
    from batdispatch.abilities.solvers.doors.instances import save_instances

    kept, found = save_instances(run, output, **msgspec.structs.asdict(chosen))
    facts = {"instances": kept, "found": found}
    conclude(output, facts, as_json=as_json, words=f"{kept} of {found} instances")


@command.command()
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@options(SolveOptions)
@json_option("Print a line of JSON for every instance and model.", section=OTHER_OPTIONS)
def solve(solving: SolveOptions, file: Path, as_json: bool) -> None:
    """Solve every instance of FILE with every model, and compare sizes, times and objectives.

    search-rule: a list schedule by PCP'20's rule. best-list: the best of five list schedules. positions: PCP'20's boxes
    in time and positions. node-wise: PCP'19. pooled: HCP'19, whose objective no placement may reach. These three are
    searched from scratch, as published. counts: ours, units of each job on each node, with which CP-SAT improves the
    plan of search-rule. Variables are counted the paper's way, and as the solver has them.

    \b
    Examples:
      batdispatch instance solve instances.jsonl
      batdispatch instance solve instances.jsonl --models positions,node-wise --work 5 --json > solved.jsonl
    """
    from batdispatch.abilities.solvers.doors.files import read_instances
    from batdispatch.abilities.solvers.doors.instances import MODELS, WITHOUT_SOLVER, solve_with

    limits: dict[str, Any] = {"work": solving.work, "wall": solving.wall, "seed": solving.seed}
    chosen = [name.strip() for name in solving.models.split(",")]
    for name in chosen:
        if name not in MODELS:
            raise InputError(f"found {name!r}, expected some of {', '.join(MODELS)}", source="option --models")
        extras.check(None if name in WITHOUT_SOLVER else "cp", f"model {name}")
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in chosen}
    for line, instance in read_instances(file):
        for name in chosen:
            facts = {"line": line, "model": name, **solve_with(name, instance, **limits)}
            rows[name].append(facts)
            if as_json:
                echo(msgspec.json.encode(facts).decode())
    if not as_json:
        echo(_table(rows))


def _table(rows: dict[str, list[dict[str, Any]]]) -> str:
    """Return means over the instances, a line a model."""
    columns = ("jobs", "paper_variables", "variables", "constraints", "delay", "gap", "seconds")
    lines = ["  ".join(["model".ljust(14), "  found", "optimal", *(name.rjust(15) for name in columns)])]
    for name, facts in rows.items():
        found = sum(fact["delay"] is not None for fact in facts)
        optimal = sum(fact["status"] in ("OPTIMAL", "BOUND") for fact in facts)
        known = [[fact[column] for fact in facts if fact[column] is not None] for column in columns]
        means = [f"{sum(values) / len(values):15,.4g}" if values else "-".rjust(15) for values in known]
        lines.append("  ".join([name.ljust(14), f"{found:7}", f"{optimal:7}", *means]))
    lines.append("Means over the instances, of delay and gap over those for which a plan was found.")
    lines.append("delay: sum of (start - now) / duration, s/s.")
    return "\n".join(lines)
