"""``batdispatch whatif``: what other settings would have done to the jobs of a log."""

from __future__ import annotations

from pathlib import Path

import click
from msgspec.structs import asdict

from batdispatch.abilities.whatif.options import WhatIfOptions
from batdispatch.cli.compare import given_words, print_answers
from batdispatch.cli.groups import Command
from batdispatch.cli.logs import log_options
from batdispatch.cli.messages import Terminal, quiet_option
from batdispatch.cli.options import options
from batdispatch.cli.outputs import fresh_option, json_option, out_option, processes_option
from batdispatch.cli.pipe import InputPath
from batdispatch.inputs.log_options import LogReading
from batdispatch.runs.spec import RunSpec

#: The options that people use first, which --help shows.
_COMMON = (
    "change",
    "dispatcher",
    "platform",
    "slurm",
    "select",
    "anyway",
    "node_price",
    "out",
    "as_json",
)


@click.command(cls=Command, common=_COMMON)
@click.argument("accounts", metavar="ACCOUNTS", type=InputPath())
@options(WhatIfOptions)
@options(RunSpec, only=("seed", "platform"), needed=False)
@out_option("whatif")
@log_options
@fresh_option("command and inputs")
@processes_option("Run this many simulations at a time.")
@json_option("Print the answers as JSON instead of a table.")
@quiet_option
def command(
    what: WhatIfOptions,
    typed: RunSpec,
    reading: LogReading,
    *,
    accounts: str,
    out: Path,
    fresh: bool,
    processes: int,
    as_json: bool,
) -> None:
    """Say what changes of a site would do to the waits of its jobs, by the accounts of what it ran.

    First the site is simulated as it was, and graded from A to D by how near that comes to what really happened. Grade
    D ends the command, unless --anyway is given. Then each change is simulated beside it. One table says what it does
    to all jobs, another one to whom, both with intervals, and DIR/whatif.html holds both. ACCOUNTS may be - for what is
    piped in.

    \b
    Examples:
      batdispatch whatif accounts.txt --slurm site --change hosts+10% --change walltimes=last-two
      sacct --allusers --parsable2 --format=ALL | batdispatch whatif - --slurm site --change hosts+10%
      batdispatch whatif accounts.txt --change partition.busy.nodes+2 --change SchedulerParameters=bf_interval=60
    """
    from batdispatch.abilities.whatif.whatif import whatif
    from batdispatch.cli.progress import ProgressDisplay

    with ProgressDisplay() as progress:
        answers = whatif(
            accounts,
            what.change,
            dispatcher=what.dispatcher,
            anyway=what.anyway,
            node_price=what.node_price,
            platform=typed.platform or None,
            seed=typed.seed,
            **asdict(reading),
            out=out,
            processes=processes,
            fresh=fresh,
            words=given_words(),
            listener=Terminal(progress.tell),
        )
    print_answers(answers, as_json=as_json)
