"""What a policy does, and what implementations of it are known to do otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Policy = Literal["fcfs", "easy", "conservative", "filling"]

#: Policy -> its definition in one sentence.
POLICIES: dict[str, str] = {
    "fcfs": "Jobs start in order of arrival; while the first one does not fit, all wait.",
    "easy": "When the first job does not fit, it is promised the earliest moment (the shadow time) at which enough "
    "running jobs have reached their requested ends. A job behind it starts if it fits and either ends by then as "
    "requested, or takes no more than the processors that the first job leaves over at that moment.",
    "conservative": "Each job is promised the earliest start that delays no promise made before. When a job ends, "
    "each waiting job in order of arrival takes the earliest start that it could now have, while the others "
    "keep theirs.",
    "filling": "Whatever fits starts, in the queue's order, and nothing is promised to anybody.",
}


@dataclass(frozen=True)
class Rules:
    """How a simulation decides. The defaults are the textbook's; where a text leaves something open, the field says so.

    Attributes:
        policy: a key of `POLICIES`.
        hosts: processors of the machine.
        order: of the queue. ``submission``: by arrival; at one moment by number. ``shortest``: by requested time, then
            by arrival. ``number``: by the job's number, whenever it came.
        among_equal: which of several jobs submitted at one moment is first: by number (``9`` before ``10``), by the
            number as text (``10`` before ``9``), or as they stand in the file. No text says.
        told: what happens at one moment. ``together``: all ends and submissions, then one decision.
            ``submissions-first`` and ``ends-first``: one decision after each. No text says.
        freed: when a job's processors count as free: at its end, or at its requested end even if the news of its end
            comes later in the same moment.
        overrun: a job that runs longer than it asked for is killed then (``kill``), or runs on (``extend``).
        shadow: by which ends of the running jobs the shadow time is found.
        candidates: by which time a job behind the first one is judged.
        spare: the processors left over at the shadow time. ``used-up``: a job that takes some leaves fewer to others.
            ``kept``: it does not. ``none``: there are none, so that only jobs that end by the shadow time go ahead.
            ``first-end``: those of other jobs that end at the shadow time as well are forgotten.
        exact: whether a job that ends exactly at the shadow time may go ahead.
        reserved: when the first job has its promise. ``always``; ``once``: it is not found anew when a job ends early;
            ``unless-started``: not at the moments at which another job was started from the head of the queue;
            ``never``.
        searched: how far is looked behind the first job: through the whole queue, or up to the first job that may not
            start.
        ahead: in which order the jobs behind the first one go ahead: the queue's, or the shortest first.
        plan: what a conservative plan does when a job ends. ``compress``: as `POLICIES` says. ``compress-early``: the
            same, but only when a job ends early. ``keep``: nothing. ``anew``: it forgets all promises and makes them
            again in order.
    """

    policy: Policy
    hosts: int
    order: Literal["submission", "shortest", "number"] = "submission"
    among_equal: Literal["number", "text", "file"] = "number"
    told: Literal["together", "submissions-first", "ends-first"] = "together"
    freed: Literal["end", "requested-end"] = "end"
    overrun: Literal["kill", "extend"] = "kill"
    shadow: Literal["walltime", "runtime"] = "walltime"
    candidates: Literal["walltime", "runtime"] = "walltime"
    spare: Literal["used-up", "kept", "none", "first-end"] = "used-up"
    exact: bool = True
    reserved: Literal["always", "once", "unless-started", "never"] = "always"
    searched: Literal["all", "first-refused"] = "all"
    ahead: Literal["queue", "shortest"] = "queue"
    plan: Literal["compress", "compress-early", "keep", "anew"] = "compress"
