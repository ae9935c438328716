"""``batdispatch generate``: workloads from models, for people without a log. A kind is one file and one
line here, or one entry point of another package."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import msgspec

from batdispatch.cli.announced_group import AnnouncedGroup
from batdispatch.cli.groups import Command, LazyGroup, option
from batdispatch.cli.logs import read_source, source_option
from batdispatch.cli.messages import conclude, quiet_option, show
from batdispatch.cli.options import options
from batdispatch.cli.outputs import output_option, written_option
from batdispatch.core.line.settings import RESULTS

if TYPE_CHECKING:
    from batdispatch.inputs.workloads import Workload


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


class GeneratedWorkload(NamedTuple):
    """What a kind made.

    Attributes:
        workload: the workload.
        stated: the options that made it, as its file says them.
        found: what there is to say of it, for --json.
        words: the same for people.
    """

    workload: Workload
    stated: Mapping[str, Any]
    found: Mapping[str, Any] = {}
    words: str = ""


def kind_command(
    kind: str, struct: type[msgspec.Struct], *, first: str = "", log: str = "", draws: bool = True, summary: str = ""
) -> Callable[[Callable[..., GeneratedWorkload]], click.Command]:
    """Make the command of a kind from a function whose docstring is its help.

    The function is called with the options, then with a generator of random numbers if the kind draws any, then with
    the log's workload if it takes one.

    Args:
        kind: its name.
        struct: of its options.
        first: the option that stands before the others.
        log: help of --from, which names a log or a workload; empty: it takes none.
        draws: whether it draws at random.
        summary: what stands beside its name, for a command of another package.
    """

    def decorate(make: Callable[..., GeneratedWorkload]) -> click.Command:
        @functools.wraps(make)
        def run(
            model: msgspec.Struct, *, output: Path, as_json: bool, seed: int | None = None, log: Path | None = None
        ) -> None:
            given, read, stated = list[Any](), dict[str, Any](), dict[str, Any]()
            if seed is not None:
                import numpy as np

                given.append(np.random.default_rng(seed))
            if log is not None:
                source, read = read_source(log, quiet=as_json)
                given.append(source)
                stated = {"from": log.name}
            made = make(model, *given)
            if made.words and not as_json:
                show(made.words)
            _finish(made, output, as_json, kind=kind, seed=seed, stated={**stated, **made.stated}, read=read)

        taken: Callable[..., Any] = options(struct, first=first)(run)
        for add in ([source_option(log)] if log else []) + ([_SEED] if draws else []) + _OUTPUT:
            taken = add(taken)
        return click.command(cls=Command, short_help=summary or None)(taken)

    return decorate


_SEED = option(
    "--seed",
    section=RESULTS,
    metavar="N",
    type=click.IntRange(0, 2**63 - 1),
    required=True,
    help="Seed all random choices with this number. The same seed gives the same bytes.",
)
_OUTPUT = [
    quiet_option,
    written_option,
    output_option("W.json", "Write the workload into this file.", section=RESULTS),
]


def _finish(
    made: GeneratedWorkload,
    output: Path,
    as_json: bool,
    *,
    kind: str,
    seed: int | None,
    stated: Mapping[str, Any],
    read: Mapping[str, Any],
) -> None:
    """Write a generated workload with the options that made it, and print what it is; as JSON, also what was found.

    Raises:
        InputError: it cannot be written.
    """
    import numpy as np

    from batdispatch import __version__
    from batdispatch.inputs.workloads.model import WINDOW_FIELD, WINDOWS_FIELD
    from batdispatch.inputs.workloads.writer import write_workload
    from batdispatch.results.numbers import count_of

    workload = made.workload
    # numpy may change a distribution's draws between versions, so its version belongs to the recipe.
    made_with = {"batdispatch": __version__, "numpy": np.__version__}
    drawn = {} if seed is None else {"seed": seed}
    windows = {name: value for name, value in workload.about.items() if name in (WINDOW_FIELD, WINDOWS_FIELD)}
    workload.about = {"origin": {"model": kind, **drawn, **stated, "made_with": made_with}, **windows}
    digest = write_workload(workload, output)
    span = workload.jobs[-1].submission - workload.jobs[0].submission
    load = workload.offered_load()
    facts: dict[str, Any] = {
        "sha256": digest,
        "jobs": len(workload.jobs),
        "hosts": workload.nb_res,
        "span": span,
        "offered_load": load,
        **made.found,
        **read,
    }
    shown = "" if load is None else f", offered load {load:.3f}"
    jobs, hosts = count_of(len(workload.jobs), "job"), count_of(workload.nb_res or 0, "host")
    when = f"in {span / 86400:.2f} days" if span else "all at once"
    conclude(output, facts, as_json=as_json, words=f"{kind}: {jobs} {when}, {hosts}{shown}")
