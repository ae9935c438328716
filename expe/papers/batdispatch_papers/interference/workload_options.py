"""Jobs that send messages, as people state them; nothing large is imported, so that help is quick."""

from __future__ import annotations

from typing import Annotated

import msgspec

from batdispatch.core.line.settings import Form


class CommunicatingOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Jobs that send messages.

    platform: Read the machine whose hosts the jobs take whole from this SimGrid platform.
    jobs: Generate this many jobs (1 to 100,000).
    load: Choose the arrivals so that jobs that take their nominal run time ask for this share of the machine (0.001 to
        1,000).
    largest: Let the largest jobs ask for this share of the machine's hosts (0 to 1).
    walltime_factor: Give each job a walltime of this many times its nominal run time (1 to 1,000).
    bandwidth: Take this as the bandwidth of a host's link when the bytes of the messages are worked out, such as 1GBps
        (10^9 bytes in a second).
    intensity: Let a job's busiest host send at --bandwidth for this part of the nominal run time (0.001 to 1,000).
    io_share: Pin this share of the jobs to an I/O node each (0 to 1).
    io_load: Let a pinned job keep its I/O node's link busy for this part of the nominal run time (0.001 to 1,000).
    """

    platform: Annotated[str, Form("P.xml", file=True)]
    jobs: Annotated[int, Form("N")] = 200
    load: float = 0.7
    largest: float = 0.25
    walltime_factor: float = 10.0
    bandwidth: Annotated[str, Form("BANDWIDTH")] = "1GBps"
    intensity: float = 1.0
    io_share: float = 0.0
    io_load: float = 0.1
