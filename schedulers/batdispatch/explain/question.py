"""Why a job of a recorded run waited: what people ask, and the answer for them and for programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from batdispatch.core.line.settings import Form
from batdispatch.core.questions import Answer, Question


class ExplainWaitOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How much is said.

    limit: Show at most this many phases, and as many later jobs.
    holders: Name at most this many running jobs for each phase.
    """

    limit: Annotated[int, Meta(ge=1)] = 8
    holders: Annotated[int, Meta(ge=0)] = 4


def explain_wait(
    shown: ExplainWaitOptions,
    run: Annotated[Path, Form("RUN")],
    job: Annotated[str, Form("JOB", offers="job")],
) -> Answer:
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
    placement = placement_of(result)
    (explanation,) = explain(
        recording,
        [job],
        holders=shown.holders,
        placement=placement,
        machine=machine_of(run, result) if placement else None,
        witness=witness_of(run, result),
        predictions=predictions_of(result),
    )
    if explanation.outcome == "rejected":
        # Batsim's protocols have no field for a dispatcher's reason.
        known = {rejection.job: rejection.reason for rejection in result.rejected}
        reason = known.get(explanation.job) or explanation.reason
        explanation = msgspec.structs.replace(explanation, reason=reason)
    dates = result.workload.dates
    told = {} if dates is None else {"dates": {"zone": dates.zone, **dates_of_job(explanation, dates)}}
    facts = {"recording": str(recording), **msgspec.to_builtins(explanation), **told}
    return Answer(facts, list(in_words(explanation, limit=shown.limit, dates=dates)))


QUESTION = Question("explain-wait", explain_wait, "Print everything as JSON: every phase and every job that overtook.")
