"""``batdispatch generate``: workloads from models, for people without a log.

A kind is a function here, or an entry point of another package; `kind_command` makes a command of it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import msgspec

from batdispatch.cli.groups import AnnouncedGroup, Command, option
from batdispatch.cli.logs import read_source, source_option
from batdispatch.cli.messages import conclude, quiet_option, show
from batdispatch.cli.options import options
from batdispatch.cli.outputs import output_option, written_option
from batdispatch.core.errors import InputError
from batdispatch.core.line.settings import RESULTS
from batdispatch.inputs.generator_options import (
    LublinOptions,
    MalleableOptions,
    MalleableRule,
    ResampleOptions,
    SessionOptions,
    SliceOptions,
    WindowOptions,
    WindowsOptions,
    fields_of,
)

if TYPE_CHECKING:
    import numpy as np

    from batdispatch.inputs.workloads import Workload


class Kinds(AnnouncedGroup):
    """The models: those of this package, and what other packages announce."""

    entry_points = "batdispatch.generators"


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
        summary: what stands beside its name; empty: the first sentence of its help.
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
        return click.command(kind, cls=Command, short_help=summary or None)(taken)

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


#: Help of --from, where all that is taken are jobs.
_LOG = "Take the jobs of this log, or of this workload."


@kind_command("lublin", LublinOptions, summary="Rigid jobs as on the parallel machines of the nineties.")
def lublin_command(model: LublinOptions, rng: np.random.Generator) -> GeneratedWorkload:
    """Rigid jobs as on the parallel machines of the nineties (Lublin and Feitelson, JPDC 2003).

    Sizes are mostly powers of two, larger jobs run longer, arrivals follow the time of day (time 0 is midnight).

    \b
    Examples:
      batdispatch generate lublin -o W.json --seed 1 --jobs 1000 --hosts 128
      batdispatch generate lublin -o busy.json --seed 7 --jobs 5000 --hosts 256 --load 0.9 --walltimes factor --factor 3
    """
    from batdispatch.inputs.platforms import read_platform
    from batdispatch.inputs.workloads.drawn_fields import pinned_to, with_users
    from batdispatch.inputs.workloads.lublin import lublin

    stated = fields_of(model, "jobs", "hosts", "load", "classes", "walltimes", "factor")
    workload = lublin(rng, **stated)
    if model.at_once:
        jobs = [msgspec.structs.replace(job, submission=0.0) for job in workload.jobs]
        workload = msgspec.structs.replace(workload, jobs=jobs)
        stated["at_once"] = True
    if model.users is not None:
        workload = with_users(rng, workload, model.users)
        stated["users"] = model.users
    if model.pinned:
        if model.platform is None:
            raise click.UsageError("--pinned needs --platform: the I/O nodes are those of a machine")
        disks = [disk.name for disk in read_platform(model.platform).machine.storage]
        if not disks:
            raise InputError("has no I/O node that jobs could be pinned to", source=str(model.platform))
        workload = pinned_to(rng, workload, disks)
        stated["pinned"] = model.platform.name
    return GeneratedWorkload(workload, stated)


@kind_command(
    "malleable",
    MalleableOptions,
    first="share",
    log=_LOG,
    summary="A log, of which a share of the jobs is made malleable.",
)
def malleable_command(model: MalleableOptions, rng: np.random.Generator, log: Workload) -> GeneratedWorkload:
    """Make a share of a log's jobs malleable, and leave everything else as it is.

    A job can be made malleable if it asks for whole hosts, its run time is known, and it can reach a second size. With
    one seed, the malleable jobs of a share are among those of every larger share.

    \b
    Examples:
      batdispatch generate malleable -o half.json --seed 1 --from kth.json --share 0.5
      batdispatch generate malleable -o all.json --seed 1 --from KTH-SP2-1996-2.1-cln.swf.xz --scalability amdahl:0.05
    """
    from batdispatch.inputs.workloads.malleable import made_malleable

    workload, made = made_malleable(rng, log, share=model.share, hosts=model.hosts, rule=model)
    words = f"{made.malleable:,} jobs malleable of {made.able:,} that can be; {made.unable:,} cannot"
    stated = fields_of(model, "share", "hosts", *MalleableRule.__struct_fields__)
    return GeneratedWorkload(workload, stated, made._asdict(), words)


@kind_command(
    "resample",
    ResampleOptions,
    log="Take the users of this log, or of this workload.",
    summary="A log's users, drawn anew week by week.",
)
def resample_command(model: ResampleOptions, rng: np.random.Generator, log: Workload) -> GeneratedWorkload:
    """Draw users of a log at random, with all they submitted week by week, and let them meet anew.

    Everything is moved by whole weeks, so sessions and the cycles of days and weeks stay. Load and the mix of users
    vary from seed to seed as they do from month to month (after Zakay and Feitelson, 2013).

    \b
    Example:
      batdispatch generate resample -o W.json --seed 1 --from KTH-SP2-1996-2.1-cln.swf.xz --weeks 2
    """
    from batdispatch.inputs.workloads.resampling import resample

    workload, drawn = resample(rng, log, **fields_of(model))
    left_out = f"; {drawn.nameless:,} jobs that name no user are left out" if drawn.nameless else ""
    words = f"{drawn.long_users:,} users all the time, {drawn.other_users:,} who come and go{left_out}"
    return GeneratedWorkload(workload, fields_of(model), drawn._asdict(), words)


@kind_command("sessions", SessionOptions, summary="Users' sessions of similar, mostly short jobs.")
def sessions_command(model: SessionOptions, rng: np.random.Generator) -> GeneratedWorkload:
    """Users' sessions of similar jobs, most of them short, on nodes with several resources.

    Jobs have users, names, demands of each resource a node has, and walltimes.

    \b
    Examples:
      batdispatch platform generate eurora -o eurora.xml
      batdispatch generate sessions -o W.json --seed 1 --platform eurora.xml --jobs 2000
    """
    from batdispatch.inputs.platforms import read_platform
    from batdispatch.inputs.workloads.sessions import sessions

    stated = fields_of(model, "jobs", "short", "load", "users")
    workload = sessions(rng, read_platform(Path(model.platform)).machine, **stated)
    return GeneratedWorkload(workload, {"platform": Path(model.platform).name, **stated})


@kind_command("slice", SliceOptions, log=_LOG, draws=False, summary="So many jobs in a row of a log.")
def slice_command(model: SliceOptions, log: Workload) -> GeneratedWorkload:
    """Take so many jobs in a row of a log, the first of which is submitted at 0.

    Slices are numbered in order of submission, and none has jobs of another one. A job no longer waits for jobs of
    another slice.

    \b
    Examples:
      batdispatch generate slice -o third.json --from kth.json --jobs 1000 --number 2
      batdispatch generate slice -o late.json --from KTH-SP2-1996-2.1-cln.swf.xz --jobs 1000 --gap 2000 --number 8
    """
    from batdispatch.inputs.workloads.slices import take_slice

    return GeneratedWorkload(take_slice(log, **fields_of(model)), fields_of(model))


@kind_command(
    "window", WindowOptions, log=_LOG, draws=False, summary="Jobs in a row of a log, on a machine that is in use."
)
def window_command(model: WindowOptions, log: Workload) -> GeneratedWorkload:
    """Take a window of a log: jobs that count, behind jobs that fill the machine, and before jobs that keep it full.

    The workload says which of its jobs count, and the metrics of its runs are of these. Windows are numbered in order
    of submission, and no job counts in two of them. A job no longer waits for jobs that are left out.

    \b
    Examples:
      batdispatch generate window -o second.json --from KTH-SP2-1996-2.1-cln.swf.xz --number 1
      batdispatch generate window -o w.json --from kth.json --jobs 5000 --warm-up 2000 --cool-down 2000 --number 3
    """
    from batdispatch.inputs.workloads.windows import take_window

    if model.number < 0 or model.gap < 0:
        option = "number" if model.number < 0 else "gap"
        raise InputError(f"{getattr(model, option)}, expected a whole number from 0", source=f"option --{option}")
    numbers = fields_of(model, "jobs", "warm_up", "cool_down")
    workload = take_window(log, model.warm_up + model.number * (model.jobs + model.gap), **numbers)
    return GeneratedWorkload(workload, fields_of(model))


@kind_command("windows", WindowsOptions, log=_LOG, draws=False, summary="A log, parts of which count each by itself.")
def windows_command(model: WindowsOptions, log: Workload) -> GeneratedWorkload:
    """Take a whole log, and say which parts of it count each by itself: windows of one simulation.

    The metrics of a run are of all jobs, and result.json has those of each window beside them. A job that waits for
    longer than a window lasts is seen: it is watched until it starts.

    \b
    Example:
      batdispatch generate windows -o w.json --from KTH-SP2-1996-2.1-cln.swf.xz --count 10
    """
    from batdispatch.inputs.workloads.windows import plan_windows

    if model.count < 1:
        raise InputError(f"{model.count}, expected a whole number from 1", source="option --count")
    sizes = fields_of(model, "jobs", "warm_up", "cool_down")
    plan = plan_windows(len(log.jobs), model.count, **sizes, source=str(log.path))
    if plan.windows < model.count:
        raise InputError(f"{model.count}, and there is room for {plan.windows} windows", source="option --count")
    return GeneratedWorkload(plan.mark(log), fields_of(model))


for _kind in (
    lublin_command,
    malleable_command,
    resample_command,
    sessions_command,
    slice_command,
    window_command,
    windows_command,
):
    command.add_command(_kind)
