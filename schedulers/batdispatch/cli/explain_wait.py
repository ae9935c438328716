"""``batdispatch explain-wait``: what held a job of a recorded run while it waited."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import click
import msgspec
from msgspec import Meta

from batdispatch.cli.completion import complete_job
from batdispatch.cli.groups import OTHER_OPTIONS, Command
from batdispatch.cli.messages import echo, json_text
from batdispatch.cli.options import options
from batdispatch.cli.outputs import json_option


class ExplainWaitOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How much is said.

    limit: Show at most this many phases, and as many later jobs.
    holders: Name at most this many running jobs for each phase.
    """

    limit: Annotated[int, Meta(ge=1)] = 8
    holders: Annotated[int, Meta(ge=0)] = 4


@click.command(cls=Command)
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@click.argument("job", metavar="JOB", shell_complete=complete_job)
@options(ExplainWaitOptions)
@json_option("Print everything as JSON: every phase and every job that overtook.", section=OTHER_OPTIONS)
def command(shown: ExplainWaitOptions, run: Path, job: str, as_json: bool) -> None:
    """Say what held a job while it waited, from the recorded decisions of whatever dispatcher.

    RUN is a run's folder with decisions.jsonl, JOB an id such as w0!17, or 17 where only one workload has it. The wait
    falls into phases: which resources or licences were short and which running jobs held them, that there was room but
    not where the job may run or where the run's placement would put it, that the job waited for others it depends on,
    or that there was room and the dispatcher did not start the job, and whether it would then have delayed the first in
    line. Then come the jobs that were submitted later and started earlier. Some dispatchers add why each of their
    decisions left the job waiting.

    \b
    Examples:
      batdispatch explain-wait comparison/easy 17
      batdispatch explain-wait results 'w0!17~2' --json
    """
    from batdispatch.explain.run_parts import placement_of, predictions_of
    from batdispatch.explain.wait_causes import explain, find_recording
    from batdispatch.explain.witness import witness_of
    from batdispatch.explain.words import dates_of_job, in_words
    from batdispatch.results.runs import read_result
    from batdispatch.results.sites import machine_of

    result = read_result(run)
    recording = find_recording(run)
    (explanation,) = explain(
        recording,
        [job],
        holders=shown.holders,
        placement=placement_of(result),
        machine=machine_of(run, result) if placement_of(result) else None,
        witness=witness_of(run, result),
        predictions=predictions_of(result),
    )
    if explanation.outcome == "rejected":
        # Batsim's protocols have no field for a dispatcher's reason.
        known = {rejection.job: rejection.reason for rejection in result.rejected}
        reason = known.get(explanation.job) or explanation.reason
        explanation = msgspec.structs.replace(explanation, reason=reason)
    dates = result.workload.dates
    if as_json:
        told = {} if dates is None else {"dates": {"zone": dates.zone, **dates_of_job(explanation, dates)}}
        echo(json_text({"recording": str(recording), **msgspec.to_builtins(explanation), **told}))
    else:
        echo("\n".join(in_words(explanation, limit=shown.limit, dates=dates)))
