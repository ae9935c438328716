"""Why a job of a recorded run waited, for people and for programs."""

from __future__ import annotations

from pathlib import Path

import msgspec

from batdispatch.core.questions import Answer
from batdispatch.explain.question import ExplainWaitOptions
from batdispatch.explain.run_parts import placement_of, predictions_of
from batdispatch.explain.wait_causes import explain, find_recording
from batdispatch.explain.witness import witness_of
from batdispatch.explain.words import dates_of_job, in_words
from batdispatch.results.runs import read_result
from batdispatch.results.sites import machine_of


def answer(shown: ExplainWaitOptions, run: Path, job: str) -> Answer:
    """Return what held a job.

    Args:
        shown: how much is said.
        run: its folder.
        job: an id, with or without its workload.

    Raises:
        InputError: the run has no recording, or no such job.
    """
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
