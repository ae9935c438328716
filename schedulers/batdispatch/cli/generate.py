"""``batdispatch generate``: workloads from models, for people without a log. A kind is one file and one
line here, or one entry point of another package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from batdispatch.cli.announced_group import AnnouncedGroup
from batdispatch.cli.groups import LazyGroup, option
from batdispatch.cli.messages import answer, quiet_option, show
from batdispatch.cli.outputs import json_option, output_option
from batdispatch.core.line.settings import RESULTS

if TYPE_CHECKING:
    from batdispatch.inputs.workloads import Workload

F = TypeVar("F", bound=Callable[..., Any])


class Kinds(AnnouncedGroup, LazyGroup):
    """The models: those of this package, and what other packages announce."""

    entry_points = "batdispatch.generators"
    table = {
        "lublin": ("batdispatch.cli.generate_lublin", "Rigid jobs as on the parallel machines of the nineties."),
        "malleable": ("batdispatch.cli.generate_malleable", "A log, of which a share of the jobs is made malleable."),
        "resample": ("batdispatch.cli.generate_resample", "A log's users, drawn anew week by week."),
        "sessions": ("batdispatch.cli.generate_sessions", "Users' sessions of similar, mostly short jobs."),
        "slice": ("batdispatch.cli.generate_slice", "So many jobs in a row of a log."),
        "window": ("batdispatch.cli.generate_window", "Jobs in a row of a log, on a machine that is in use."),
        "windows": ("batdispatch.cli.generate_windows", "A log, parts of which count each by itself."),
    }


@click.group(cls=Kinds)
def command() -> None:
    """Generate a workload from a model; same options and seed, same bytes.

    \b
    Example:
      batdispatch generate lublin -o W.json --seed 1 --jobs 1000 --hosts 128 --load 0.8
    """


def output_options(command: F) -> F:
    """Add ``--out --seed --json --quiet``, which every kind has that draws at random."""
    seed = option(
        "--seed",
        section=RESULTS,
        metavar="N",
        type=click.IntRange(0, 2**63 - 1),
        required=True,
        help="Seed all random choices with this number. The same seed gives the same bytes.",
    )
    return unseeded_options(seed(command))


def unseeded_options(command: F) -> F:
    """Add ``--out --json --quiet``, which every kind has."""
    for add in (
        quiet_option,
        json_option("Print what was written as JSON."),
        output_option("W.json", "Write the workload into this file.", section=RESULTS),
    ):
        command = add(command)
    return command


def finish(
    workload: Workload,
    output: Path,
    as_json: bool,
    *,
    kind: str,
    seed: int | None,
    options: dict[str, Any],
    found: Mapping[str, Any] | None = None,
) -> None:
    """Write a generated workload with the options that made it, and print what it is; as JSON, also what was found.

    `seed` is None for a kind that draws nothing.

    Raises:
        InputError: it cannot be written.
    """
    import msgspec
    import numpy as np

    from batdispatch import __version__
    from batdispatch.inputs.workloads.model import WINDOW_FIELD, WINDOWS_FIELD
    from batdispatch.inputs.workloads.writer import write_workload

    # numpy may change a distribution's draws between versions, so its version belongs to the recipe.
    made_with = {"batdispatch": __version__, "numpy": np.__version__}
    drawn = {} if seed is None else {"seed": seed}
    counted = {name: value for name, value in workload.about.items() if name in (WINDOW_FIELD, WINDOWS_FIELD)}
    workload.about = {"origin": {"model": kind, **drawn, **options, "made_with": made_with}, **counted}
    digest = write_workload(workload, output)
    span = workload.jobs[-1].submission - workload.jobs[0].submission
    load = workload.offered_load()
    facts: dict[str, Any] = {
        "output": str(output),
        "sha256": digest,
        "jobs": len(workload.jobs),
        "hosts": workload.nb_res,
        "span": span,
        "offered_load": load,
        **(found or {}),
    }
    if as_json:
        answer(msgspec.json.format(msgspec.json.encode(facts), indent=2).decode())
    else:
        shown = "" if load is None else f", offered load {load:.3f}"
        jobs, hosts = _many(len(workload.jobs), "job"), _many(workload.nb_res or 0, "host")
        when = f"in {span / 86400:.2f} days" if span else "all at once"
        show(f"{kind}: {jobs} {when}, {hosts}{shown}")
        answer(str(output))


def _many(count: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
