"""What people ask of a job's wait; nothing large is imported, so that help is quick."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from batdispatch.core.questions import Operand, Question


class ExplainWaitOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How much is said.

    limit: Show at most this many phases, and as many later jobs.
    holders: Name at most this many running jobs for each phase.
    """

    limit: Annotated[int, Meta(ge=1)] = 8
    holders: Annotated[int, Meta(ge=0)] = 4


QUESTION = Question(
    "explain-wait",
    (ExplainWaitOptions,),
    "batdispatch.explain.answer:answer",
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
    """,
    operands=(Operand("run", "RUN", Path), Operand("job", "JOB", str, offers="job")),
    as_json="Print everything as JSON: every phase and every job that overtook.",
)
