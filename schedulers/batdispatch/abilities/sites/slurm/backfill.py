"""Slurm's two ways of scheduling: strictly in order when something has happened, and backfilling now and then."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from batdispatch.abilities.sites.slurm.backfill_pass import BackfillPass
from batdispatch.abilities.sites.slurm.clocks import MainLoopClock, PassClock
from batdispatch.abilities.sites.slurm.completions import Completions
from batdispatch.abilities.sites.slurm.main_loop import MainLoop
from batdispatch.abilities.sites.slurm.options import SlurmOptions
from batdispatch.abilities.sites.slurm.partitions import Partitions
from batdispatch.abilities.sites.slurm.preemption import Preemption
from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import Job, JobState, Resumption, Stay
from batdispatch.core.line.concerns.holds import Holds
from batdispatch.core.line.concerns.registration import Registration
from batdispatch.core.line.events import Event, MachinesAvailable, MachinesUnavailable
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options
from batdispatch.core.plans.lateness import TOLERANCE
from batdispatch.core.plans.moments import end_of
from batdispatch.dispatchers.backfilling.queue import Ends, PlanningQueue
from batdispatch.layers.base import successor, successor_id


class SlurmBackfill(PlanningQueue):
    """Starts jobs in order when something has happened. Now and then, a pass lets others run ahead.

    The main loop takes the waiting jobs in order. A job that does not fit holds up all further jobs of its partition,
    and those that need nodes of it, or, if it asks for a reservation, those of that. It runs when slurmctld would have
    a look, see `tick` and `batch_delay`.

    A backfill pass takes the waiting jobs in order, too. A job starts if it can now, and can stay until its expected
    end on nodes that are reserved for nobody in that time. Otherwise the nodes of a later start are reserved for it,
    and always as whole nodes, even if the job would use only a part of each. The next pass makes all reservations anew.

    Typical use: the baseline for clusters that run Slurm, and for papers that compare themselves with Slurm.
    Limits: a job that fits, but stands behind one that does not, waits for the next pass. A job beyond `depth` is not
        looked at while as many jobs are tried before it. It needs walltimes, as Slurm's backfilling does.
    Guarantee: `start(head) <= reserved(head)`, its start in the first pass in which it is the head of the queue, if it
        stays the head, no job outlives its expected end, no host goes away, `tick` is 0, and the placement finds a
        place whenever there is one. There is no guarantee for a job whose reservation would begin at the
        end of `window` or later, nor for the jobs behind the head.
    Time: `O(d k (s + r))` for d jobs tried in a pass, at most `depth`, k starts looked at for each, s records of what
        is reserved and r running jobs. A run of the main loop costs `O(q)` placements for q waiting jobs, at most
        `queue_depth`, and `O(q log q)` more with an ordering that changes over time.
    Deviations:
        - A pass and a run of the main loop take no simulated time. Slurm's take seconds with long queues, and give
          locks back in between (`bf_max_time`, `bf_yield_interval`, `bf_continue`).
        - Jobs start at once: prologs and booting nodes take no time. Epilogs take as long as `notice` says; a
          preempted job has none.
        - A pass reserves nothing for jobs behind the last one that fits now, since nobody could tell.
        - Partitions, qualities of service, arrays and advance reservations are enforced before the dispatcher sees a
          job, as for every dispatcher.
        - A job that is preempted ends at once, or after the `grace_time` of its partition or quality of service. With
          `preempt_mode=requeue` a job is then registered that continues it, and starts from the beginning; with
          `suspend` one that does what is left of it, once its nodes are free. Only jobs of whole nodes whose profile is
          a delay can be suspended, where nodes have nothing but cores; others are not preempted then.
        - Left out: gang scheduling, heterogeneous jobs, topology plugins, limits of associations.
    References:
        [1] SchedMD: Scheduling Configuration Guide, https://slurm.schedmd.com/sched_config.html; slurm.conf,
            https://slurm.schedmd.com/slurm.conf.html; Multifactor Priority Plugin,
            https://slurm.schedmd.com/priority_multifactor.html.
        [2] Slurm 22.05: sched/backfill, select/cons_tres and job_scheduler.c, https://github.com/SchedMD/slurm.
        [3] Yoo, Jette, Grondona: "SLURM: simple Linux utility for resource management", JSSPP 2003, LNCS 2862, pp.
            44-60. doi:10.1007/10968987_3
    """

    #: Id of each job that the last backfill pass reserved nodes for -> when its reservation begins, s.
    reserved: dict[str, float]
    #: Passes so far, and the jobs that they started.
    passes: int
    backfilled: int
    options_type: ClassVar[type[Options]] = SlurmOptions
    effort = 1
    plans_openings = True
    heeds_choices = True

    def __init__(self, options: Options | None = None, seed: int = 0) -> None:
        super().__init__(options, seed)
        if self.options.conf:
            # Whoever decides reads no files: the commands do, before they make a dispatcher.
            raise InputError("option conf is read by batdispatch's commands and functions, and only there")
        if self.options.preempt == "qos" and self.options.preempt_mode == "suspend":
            raise InputError("jobs are suspended for partitions only: preempt_mode=suspend needs preempt=partition")
        # What the session and layers ask of a class.
        self.registers_jobs = self.preempts = self.options.preempt != "none"  # type: ignore[misc]
        #: Kernels, which preempt nobody, ask for a report without a beginning.
        self._preemption: Preemption | None = None

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        options = self.options
        self.ends = Ends()
        self.reserved = {}
        self._partitions = Partitions(ledger, preempt=options.preempt == "partition")
        self._main_clock = MainLoopClock(ledger, options.tick, options.batch_delay, options.full_interval)
        self._pass_clock = PassClock(options.interval, options.phase)
        self._completing = Completions(ledger, options.notice)
        #: Whether the main loop, for the head of the queue or for all of it, and a backfill pass are to come.
        self._head_asked = self._whole_asked = self._pass_asked = False
        #: Jobs for whose successors hosts were held when it decided last.
        self._holders: frozenset[str] = frozenset()
        self.passes = self.backfilled = 0
        if options.preempt != "none":
            by, mode = options.preempt, options.preempt_mode
            self._preemption = Preemption(ledger, by, mode, self.choose, self._partitions)
        #: By id of a job that was queued again: its job as it came and how often it was, its place in the queue, and
        #: when it is looked at again, s.
        self._again: dict[str, tuple[Job, int]] = {}
        self._ranks: dict[str, int] = {}
        self._not_before: dict[str, float] = {}

    def on_submit(self, ledger: Ledger, job: Job) -> None:
        if self._preemption is not None and self._preemption.suspension.is_rest(job):
            return
        if job.id in self._ranks:
            rank = self._ranks.pop(job.id)
            job = ledger.amend(job, submission=self._again[job.id][0].submission, rank=rank)
        super().on_submit(ledger, job)
        self._ask(self.options.notice)

    def on_start(self, ledger: Ledger, stay: Stay) -> None:
        self.ends.add(stay, end_of(stay.start, self.booked(stay.job)))

    def on_end(self, ledger: Ledger, stay: Stay) -> None:
        super().on_end(ledger, stay)
        entry = self.ends.remove(stay.job.id)
        preempted = self._preemption is not None and stay.job.id in self._preemption.ending
        if preempted or not self._completing.add(entry):
            self._ask()
        if self._preemption is not None and preempted:
            self._main_clock.hurry()
            mode = self._preemption.ended(stay.job.id)
            # It may have ended by itself at the same moment.
            if stay.state is not JobState.COMPLETED_KILLED:
                return
            if mode == "requeue":
                self._queue_again(ledger, stay)
            elif mode == "suspend":
                self._preemption.suspension.suspend(stay)

    def _queue_again(self, ledger: Ledger, stay: Stay) -> None:
        """Register a job anew that was ended for another one."""
        first, count = self._again.pop(stay.job.id, (stay.job, 0))
        again = successor(
            ledger,
            first,
            stay.job,
            successor_id(ledger, first, count + 1),
            walltime=first.walltime,
            profile=first.profile,
            extra={},
        )
        self._again[again.id] = (first, count + 1)
        self._ranks[again.id] = stay.rank
        if self.options.requeue_delay:
            self._not_before[again.id] = ledger.now + self.options.requeue_delay
            ledger.wake_at(self._not_before[again.id])
        Registration.of(ledger).register_job(again)

    def on_event(self, ledger: Ledger, event: Event) -> None:
        turns = self.prospects.turns
        super().on_event(ledger, event)
        if isinstance(event, MachinesAvailable | MachinesUnavailable) or self.prospects.turns > turns:
            self._ask()

    def _ask(self, notice: float = 0.0) -> None:
        """Let both loops run once they are due, of something that slurmctld hears of after so many seconds."""
        self._head_asked = self._pass_asked = True
        self._main_clock.hear(self.ledger.now + notice)

    def decide(self, ledger: Ledger) -> None:
        if self.correct(self.ends) or self._hold_is_over(ledger) or self._delay_is_over(ledger):
            self._ask()
        if self._completing.conclude():
            self._ask()
        self.fresh = []
        preemption = self._preemption
        if preemption is None:
            self._schedule(ledger)
            return
        preemption.end_graces()
        self.forget_started(self._partitions.as_waiting(preemption.start_promised()))
        if preemption.suspension.is_retry_due():
            self._ask()
            self._main_clock.hurry()
        self._schedule(ledger)
        preemption.resume()

    def _schedule(self, ledger: Ledger) -> None:
        """Run the main loop and make a pass, as far as they are due."""
        if not self.waiting:
            if self._pass_asked:
                self._pass_clock.changed(ledger.now)
            self._main_clock.forget()
            self._head_asked = self._whole_asked = self._pass_asked = False
            return
        if self._head_asked or self._whole_asked:
            self._run_main_loop(ledger)
        if self._pass_asked and self.waiting and self._pass_clock.due(ledger):
            self._backfill(ledger)

    def _hold_is_over(self, ledger: Ledger) -> bool:
        """Return whether hosts that were held for a resized job no longer are, while jobs wait: no event says so."""
        before, self._holders = self._holders, frozenset(Holds.of(ledger).holds)
        return bool(self.waiting) and not before <= self._holders

    def _delay_is_over(self, ledger: Ledger) -> bool:
        """Return whether jobs that were queued again may be looked at from now on."""
        over = [name for name, moment in self._not_before.items() if moment <= ledger.now + TOLERANCE]
        for name in over:
            del self._not_before[name]
        return bool(over)

    def _run_main_loop(self, ledger: Ledger) -> None:
        due = self._main_clock.due(ledger, whole=not self._head_asked)
        if due == "no":
            return
        most = None if due == "whole" else self.options.queue_depth
        loop = MainLoop(
            ledger,
            self.choose,
            self._partitions,
            self._completing,
            licenses_hold_up=self.options.licenses,
            min_age=self.options.min_age,
            starts=self.options.loop_starts,
            part_jobs=self.options.loop_part_jobs,
            preemption=self._preemption,
        )
        started = self._partitions.as_waiting(loop.run(self.in_order(ledger), most))
        self.forget_started(started)
        self._head_asked, self._whole_asked = False, loop.stopped
        if self._whole_asked:
            self._main_clock.due(ledger, whole=True)

    def _backfill(self, ledger: Ledger) -> None:
        """Start the jobs that may run ahead."""
        self.passes += 1
        self._pass_asked = False
        made = BackfillPass(
            ledger,
            self.options,
            self.choose,
            self._completing.beside(self.ends),
            self.booked,
            self._partitions,
            self._completing,
            self._preemption,
        )
        started = self._partitions.as_waiting(made.run(self.in_order(ledger)))
        self.reserved = made.reserved
        self.forget_started(started)
        self.backfilled += len(started)
        self.call_if_missed(min(self.reserved.values(), default=math.inf))
        # Jobs behind the depth may have come within it.
        if started and made.stopped:
            self._pass_asked = True
            if self.options.interval:
                self._pass_clock.due(ledger)

    def in_order(self, ledger: Ledger) -> list[Job]:
        jobs = super().in_order(ledger)
        if self._not_before:
            jobs = [job for job in jobs if job.id not in self._not_before]
        jobs = self._partitions.in_order(jobs)
        return jobs if self._preemption is None else self._preemption.in_order(jobs)

    def idle_until(self, ledger: Ledger) -> float:
        if not self.predictions.sure:
            return -math.inf
        # Whatever the order is, nobody looks at it before a clock says so.
        loop = self._main_clock.idle_until() if self._head_asked or self._whole_asked else math.inf
        quiet = min(loop, self._pass_clock.idle_until() if self._pass_asked else math.inf)
        completed = self._completing.next
        return quiet if completed is None else min(quiet, completed - TOLERANCE)

    def resumed(self) -> Mapping[str, Resumption]:
        return {} if self._preemption is None else self._preemption.suspension.resumed

    def report(self) -> dict[str, Any]:
        found = {**super().report(), "backfill_passes": self.passes, "backfilled": self.backfilled}
        return found | ({"suspensions": len(self.resumed())} if self.resumed() else {})
