"""Jobs of a log that ran longer than they had asked for."""

from __future__ import annotations

import msgspec
import numpy as np

#: An overrun up to this long, s, says more of how a site rounds and ends jobs than of the job.
SLIGHT = 120.0
#: Share of a log's jobs from which on killing them would change the workload.
MANY = 0.01


class Overruns(msgspec.Struct):
    """By how much each job that is killed at its walltime had run over it, s."""

    seconds: list[float] = []

    def proposal(self, jobs: int) -> str:
        """Return a sentence that proposes ``--overrun extend``, or nothing.

        It is proposed where at least 1 % of the jobs ran over, and half of these by at most two minutes: the log's
        walltimes are rounded, or its site lets jobs go on for a while, so the jobs ended by themselves.

        Args:
            jobs: how many jobs the workload has.
        """
        count = len(self.seconds)
        if count < 1 or count < MANY * jobs:
            return ""
        median = float(np.median(self.seconds))
        if median > SLIGHT:
            return ""
        return (
            f"{count:,} of {jobs:,} jobs ({count / jobs:.1%}) ran longer than their walltime, half of these by at most "
            f"{median:,.0f} s. Simulated, they die at it. If they ended by themselves, --overrun extend lets them"
        )
