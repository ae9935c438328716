"""The options of slurm-backfill, with the names that Slurm gives them."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from batdispatch.dispatchers.backfilling.queue import PlanOptions

Seconds = Annotated[float, msgspec.Meta(ge=0)]


class SlurmOptions(PlanOptions, frozen=True, kw_only=True):
    """Options of slurm-backfill. The names in brackets are Slurm's.

    ordering: Take the waiting jobs in this order: Slurm's `basic`, or `multifactor` with weights (PriorityType), or any
        other ordering. Jobs of partitions with a larger tier go first in any case.
    placement: Choose the hosts of a job by this rule (SelectType). `consecutive` is what Slurm does.
    tick: Look once in this many seconds of simulated time whether something has happened that the main loop should act
        on. 0: the main loop runs at each event.
    loop_starts: Start at most this many jobs in a run of the main loop (sched_max_job_start). 0: any number.
    loop_part_jobs: Try at most this many jobs of a partition in a run of the main loop (partition_job_depth). 0: any
        number.
    batch_delay: Run the main loop at most once in this many seconds (batch_sched_delay).
    full_interval: Run the main loop for the whole queue once in this many seconds (sched_interval).
    queue_depth: Try at most this many jobs in the main loop (default_queue_depth).
    interval: Make one backfill pass in this many seconds of simulated time (bf_interval). 0: a pass at each event.
    phase: Make the first backfill pass at this time of the simulation, in seconds.
    clock: Let the clock that the times of reservations are multiples of show this many seconds at time 0.
    depth: Try at most this many jobs in a backfill pass (bf_max_job_test). Jobs that are skipped do not count.
        `none`: 500, and 100 with a `version` before 21.08.
    starts: Start at most this many jobs in a backfill pass (bf_max_job_start). 0: any number.
    user_jobs: Try at most this many jobs of a user in a backfill pass (bf_max_job_user). 0: any number.
    part_jobs: Try at most this many jobs of a partition in a backfill pass (bf_max_job_part). 0: any number.
    reservations: Reserve nodes for this many jobs of a partition that cannot start, in each pass
        (bf_job_part_count_reserve). 0 (the default): for all that the pass tries.
    min_age: Reserve nothing for a job that has waited for less than this many seconds, and let it hold up no others of
        its partition in the main loop (bf_min_age_reserve).
    array_tasks: Reserve nodes for at most this many tasks of an array in a pass (bf_max_job_array_resv). 0: for all.
    window: Reserve nothing for a job that could only start more than this many seconds from now (bf_window, which is in
        minutes).
    resolution: Round the times of reservations down to multiples of this many seconds (bf_resolution). 0: do not round.
    end_window: Take the ends of running jobs together that lie in windows, of which the first is this many seconds
        wide and each further one twice as wide. 0: each end is looked at by itself, which Slurm cannot do.
    window_linear: Let each window be this many seconds wider than the one before, and not twice as wide
        (bf_window_linear). 0: twice as wide.
    notice: Let slurmctld hear this many seconds later that a job has come or ended. Until then, an ended job keeps its
        nodes, as one that Slurm calls COMPLETING. For a site that is read from its files (--slurm), the default is
        0.15 s, as was measured.
    version: Take the defaults of this version of Slurm.
    conf: Read the options from this slurm.conf; those that are given beside it go first. `batdispatch slurm-conf FILE`
        lists what is understood.
    preempt: Let jobs of a partition with a larger tier preempt those of others (`partition`), or jobs of a quality of
        service those of others that it names (`qos`); `none`: no job is preempted (PreemptType).
    preempt_mode: If neither partition nor quality of service says what becomes of a preempted job, `cancel` it,
        `requeue` it, `suspend` it until its nodes are free again, or preempt no job: `off` (PreemptMode).
    requeue_delay: Let a preempted job wait for this many seconds before it is looked at again.
    licenses: Reserve licences as well as nodes in a backfill pass, and let a job that lacks one hold up the main loop
        (bf_licenses).
    """

    ordering: str = "basic"
    placement: str = "consecutive"
    tick: Seconds = 1.0
    loop_starts: Annotated[int, msgspec.Meta(ge=0)] = 0
    loop_part_jobs: Annotated[int, msgspec.Meta(ge=0)] = 0
    batch_delay: Seconds = 3.0
    full_interval: Annotated[float, msgspec.Meta(gt=0)] = 60.0
    queue_depth: Annotated[int, msgspec.Meta(ge=1)] = 100
    interval: Seconds = 30.0
    phase: Seconds = 0.0
    clock: Seconds = 0.0
    depth: Annotated[int, msgspec.Meta(ge=1)] | None = None
    starts: Annotated[int, msgspec.Meta(ge=0)] = 0
    user_jobs: Annotated[int, msgspec.Meta(ge=0)] = 0
    part_jobs: Annotated[int, msgspec.Meta(ge=0)] = 0
    reservations: Annotated[int, msgspec.Meta(ge=0)] = 0
    min_age: Seconds = 0.0
    array_tasks: Annotated[int, msgspec.Meta(ge=0)] = 20
    window: Seconds = 86_400.0
    resolution: Seconds = 60.0
    end_window: Seconds = 30.0
    window_linear: Seconds = 0.0
    notice: Annotated[float, msgspec.Meta(ge=0, le=1e6)] = 0.0
    version: Annotated[str, msgspec.Meta(pattern=r"^\d{2}\.\d{2}(\.\d{1,2})?$")] = "22.05"
    conf: str = ""
    preempt: Literal["none", "partition", "qos"] = "none"
    preempt_mode: Literal["off", "cancel", "requeue", "suspend"] = "requeue"
    requeue_delay: Seconds = 121.0
    licenses: bool = False

    @property
    def most_tried(self) -> int:
        """Return how many jobs a backfill pass tries at most."""
        year, month = self.version.split(".")[:2]
        return self.depth or (500 if (int(year), int(month)) >= (21, 8) else 100)
