"""``batdispatch run``: simulate one dispatcher."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from batdispatch.cli.dispatching import (
    compiled_option,
    decision_clock_option,
    dispatcher_options,
    named_with,
    parse_decision_time,
    parse_settings,
)
from batdispatch.cli.groups import BATSIM, RESULTS, Choice, Command, option
from batdispatch.cli.inputs import clock_option, input_options, timeout_option
from batdispatch.cli.outputs import json_option, record_option
from batdispatch.cli.telling import Terminal, quiet_option, show

if TYPE_CHECKING:
    from batdispatch.runs.run import RunSpec


@click.command(cls=Command)
@input_options()
@dispatcher_options()
@clock_option
@decision_clock_option
@compiled_option
@option(
    "--engine",
    section=BATSIM,
    type=Choice(["embedded", "batsim4", "batsim5"]),
    default="embedded",
    show_default=True,
    help="Simulate with this package's own engine, or start a real Batsim and serve it.",
)
@option(
    "--batsim",
    section=BATSIM,
    metavar="PATH",
    help="Start this program as Batsim. The default is batsim4 or batsim5, or batsim, on PATH.",
)
@option(
    "--nix",
    section=BATSIM,
    metavar="SHELL",
    help="Take Batsim from this shell of Nix: batsim4 or batsim5 of the flake in this folder or above, or FLAKE#SHELL.",
)
@option(
    "--batsim-option",
    section=BATSIM,
    metavar="OPTION",
    multiple=True,
    help="Start Batsim with this option of its own too, such as --batsim-option=--energy. Repeat it for each.",
)
@timeout_option("Give up if a real Batsim says nothing for this many seconds.")
@option(
    "-o",
    "--out",
    section=RESULTS,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Write the results into this folder. The default is runs/LABEL, where LABEL names the dispatcher.",
)
@record_option
@json_option("Print result.json instead of a table.")
@quiet_option
def command(out: Path | None, as_json: bool, **given: Any) -> None:
    """Simulate a workload under one dispatcher, in the embedded engine or a real Batsim.

    Jobs that compute and communicate take the time that SimGrid says; delays need none of it.

    Writes jobs.csv, schedule.csv and machine_states.csv (Batsim's columns), decisions.jsonl and result.json.

    \b
    Examples:
      batdispatch run --platform P.xml --workload W.json --dispatcher easy --out results
      batdispatch run --platform P.xml --workload W.json --dispatcher easy --set ordering=sjf --decision-time measured
      batdispatch run --platform P.xml --workload W.json --dispatcher easy --engine batsim5
    """
    from batdispatch.api.calls import run
    from batdispatch.cli.metrics_table import metrics_table
    from batdispatch.cli.progress import Following
    from batdispatch.results.rejections import in_words, rejections_of

    spec = spec_of(**given)
    folder = out or Path("runs") / spec.label
    with Following() as progress:
        result = run(**msgspec.structs.asdict(spec), out=folder, log=False, listener=Terminal(progress.tell)).result
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(result), indent=2).decode())
        return
    show(metrics_table({spec.label: result["metrics"]}))
    for line in in_words({spec.label: rejections_of(result)}):
        show(line)
    click.echo(str(folder))


def spec_of(
    *,
    dispatcher: str,
    settings: tuple[str, ...],
    decision_time: str,
    events: str | None,
    nix: str | None,
    batsim_option: tuple[str, ...],
    **same: Any,
) -> RunSpec:
    """Return the run that the options of the command describe.

    Args:
        dispatcher: with options in brackets.
        settings: further options of it, KEY=VALUE.
        decision_time: as `parse_decision_time` reads it.
        events: the file of external events.
        nix: a shell of Nix.
        batsim_option: further options of Batsim's.
        same: options that are called as their fields of `RunSpec` are, and have the same values.

    Raises:
        InputError: an option is wrong, or needs another one.
    """
    from batdispatch.core.errors import InputError
    from batdispatch.links.nix import shell_of
    from batdispatch.runs.run import RunSpec

    for word, value in (("--batsim", same["batsim"]), ("--nix", nix)):
        if value is not None and same["engine"] == "embedded":
            raise InputError("needs --engine batsim4 or batsim5", source=f"option {word}")
    name, options = named_with(dispatcher, parse_settings(settings))
    return RunSpec(
        dispatcher=name,
        options=options,
        decision_time=parse_decision_time(decision_time),
        external_events=events,
        nix=None if nix is None else shell_of(nix, Path()),
        batsim_option=" ".join(batsim_option),
        **same,
    )
