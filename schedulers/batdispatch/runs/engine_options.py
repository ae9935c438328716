"""How the embedded engine stands in Batsim's place, as people state it; nothing large is imported."""

from __future__ import annotations

from typing import Annotated

import msgspec

from batdispatch.core.line.settings import BATSIM, Form
from batdispatch.links.options import ENDPOINT, Version
from batdispatch.runs.spec import Seconds


class EngineInPlace(msgspec.Struct, frozen=True, kw_only=True):
    """The engine in Batsim's place, with Batsim's options.

    socket: Connect to the scheduler here, as Batsim does.
    protocol: Speak this version of Batsim's protocol.
    timeout: Wait at most this many seconds for an answer.
    enable_dynamic_jobs: Let the scheduler register jobs.
    acknowledge_dynamic_jobs: Tell the scheduler of each job that it registered, once the job is known.
    enable_compute_sharing: Let jobs share hosts.
    forward_profiles_on_submission: Send each job's profile to the scheduler when the job is submitted.
    forward_unknown_events: Send external events of any type to the scheduler.
    sched_cfg: Hand this text to the scheduler as its configuration.
    """

    socket: Annotated[str, Form("ENDPOINT")] = ENDPOINT
    protocol: Annotated[Version, Form(section=BATSIM)] = "4"
    timeout: Annotated[Seconds, Form("SECONDS", BATSIM)] = 600.0
    enable_dynamic_jobs: bool = False
    acknowledge_dynamic_jobs: bool = False
    enable_compute_sharing: bool = False
    forward_profiles_on_submission: bool = False
    forward_unknown_events: bool = False
    sched_cfg: Annotated[str, Form("TEXT")] = ""


#: What a scheduler of Batsim 5 asks for itself.
ASKED_FOR = ("enable_dynamic_jobs", "acknowledge_dynamic_jobs", "forward_profiles_on_submission")
