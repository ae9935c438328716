"""Attempts: the layer under which any dispatcher runs stochastic jobs."""

from __future__ import annotations

import heapq
import math
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar

import msgspec

from batdispatch.abilities.stochastic.course import Course, Position, course_of
from batdispatch.abilities.stochastic.rate import ArrivalRate, share_of
from batdispatch.abilities.stochastic.requests import make_sequence
from batdispatch.abilities.stochastic.requests.base import MAX_HISTORY, Plan
from batdispatch.abilities.stochastic.speculation import gain, until_first
from batdispatch.core.errors import InputError
from batdispatch.core.hosts.allocation import Place
from batdispatch.core.jobs.job import Job, JobState, Resumption, Stay
from batdispatch.core.line.concerns.registration import Registration
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options
from batdispatch.core.line.roles import Gap
from batdispatch.core.line.scene import Scene
from batdispatch.core.plans.moments import milliseconds
from batdispatch.layers.base import Layer, chain, rest_name, successor, successor_id

#: Seconds by which an attempt's walltime exceeds its limit, so that a job of exactly the limit's length succeeds.
MARGIN = 1e-3

#: A job that runs for more than this many times its law's upper bound does not follow the law.
BEYOND = 2.0

#: How a job ends that nobody stops.
_BY_ITSELF = (JobState.COMPLETED_SUCCESSFULLY, JobState.COMPLETED_FAILED)

#: An option that takes a share of the machine, or nothing.
Rate = Annotated[float, msgspec.Meta(ge=0, le=1)] | None


class AttemptsOptions(Options, frozen=True, kw_only=True):
    """Options of the attempts of stochastic jobs.

    dispatcher: Start the attempts by this dispatcher, with its options in brackets: `pcp20[ordering=sjf]`.
    requests: Ask for the limits of this sequence, attempt after attempt (`batdispatch list requests`).
    rate: Take this share of the machine for the work of small jobs that arrives per second. `none` (the default):
        measure it as small jobs arrive and end. 0: none arrives. Only request sequences that count on small jobs use
        it.
    speculate: Give a gap that no waiting job fits to the stochastic job that is expected to use it best. `false`: leave
        such gaps idle.
    """

    dispatcher: str = "easy"
    requests: str = "toptimal"
    rate: Rate = None
    speculate: bool = False


class Attempts(Layer):
    """Runs each job that states the law of its run time as a sequence of attempts, under any dispatcher.

    A job states its law in the field ``runtime_law``, in seconds. A job without this field is a small job of known run
    time, unless the request sequence learns its law. The walltime with which a job that has a law was submitted is its
    last limit: when the job reaches it, the job is over. Before the dispatcher inside hears of an attempt, the layer
    sets the attempt's walltime to what the request sequence asks for. So every dispatcher plans with it. When an
    attempt has outlived its walltime, the layer registers the job again, with the same profile and the next limit. The
    field `Job.parent` of the new attempt names the attempt that it continues.

    If the request sequence says so, an attempt ends in a checkpoint. The next attempt then has a profile of its own,
    which takes the rest of the run time and the time to read the checkpoint. This needs profiles of type ``delay``.

    Batsim stops registered attempts at their walltime by itself. The layer stops two other kinds of attempts
    (CALL_ME_LATER, then KILL_JOB). One is the job as it was submitted, because neither Batsim 4 nor 5 can change the
    walltime that its user gave it. The other is a speculation, because it ends before its limit.

    With `speculate`, jobs are also tried in gaps that are too short for what they ask for. The dispatcher inside says
    which capacity it leaves free, and until when. If a dispatcher cannot say so, the gap is what is free until the job
    that has waited longest could start. The layer starts the job that is expected to use the largest share of the gap
    well [1], and stops it at the gap's end. If the job has not succeeded by then, it keeps its position and its limits.

    Typical use: to run stochastic jobs under any dispatcher of this package, or under one of your own.
    Limits: Batsim must be started with `--enable-dynamic-jobs` and `--enable-profile-reuse`. The layer plans nothing:
        which job goes first and where is up to the dispatcher inside. Advance reservations are refused.
    Guarantee: each job that states a law succeeds in the end, if the dispatcher inside starts every job and the longest
        walltime that the job's queues allow is enough. A job whose law was learned succeeds if its user's walltime is
        enough. A failed speculation changes neither the job's
        position nor its limits.
    Time: `O(log n)` for an attempt, apart from its request sequence, which is worked out once per law and rate. A
        speculation costs `O(s q)` for s gaps and q waiting jobs.
    Deviations:
        - The paper takes the rate of small work for known. Here it can be measured, and how it is measured is our
          choice.
        - A job may speculate before a later reservation of its own. The paper does not say whether it may.
        - The published code of speculative backfilling leaves the condition on past failures out of its score, and
          cannot be run. The rule here is the paper's.
    References:
        [1] Gainaru, Pallez, Sun, Raghavan: "Speculative scheduling for stochastic HPC applications", ICPP 2019.
            doi:10.1145/3337821.3337890
        [2] Aupy, Gainaru, Honoré, Raghavan, Robert, Sun: "Reservation strategies for stochastic jobs", IPDPS 2019.
    """

    options_type: ClassVar[type[Options]] = AttemptsOptions
    registers_jobs = reuses_profiles = True

    def __init__(self, options: Options | None = None, seed: int = 0) -> None:
        super().__init__(options, seed)
        if any(isinstance(inside, Attempts) for inside in chain(self.inner)):
            raise InputError("dispatcher attempts: there are attempts inside it: both would run the same jobs twice")
        if any(getattr(inside.options, "states", "") == "lower" for inside in chain(self.inner)):
            raise InputError(
                f"dispatcher attempts: found {self.options.dispatcher} inside it, expected one without states=lower: "
                "both would register the same jobs again"
            )
        self.sequence = make_sequence(self.options.requests)
        #: By id of the attempt that is registered, waits or runs.
        self.courses: dict[str, Course] = {}
        self.rate = ArrivalRate()
        #: (time, id of a running attempt that is to be stopped then).
        self._stops: list[tuple[float, str]] = []
        #: Attempts that were stopped here and have not ended yet.
        self._stopped: set[str] = set()
        #: (text of the law, rate) -> limits.
        self._known: dict[tuple[str, float], Plan] = {}
        #: Attempts that went on from a checkpoint.
        self._resumed: dict[str, Resumption] = {}
        #: Run times of the jobs that succeeded, by the text of their law.
        self._history: dict[str, deque[float]] = defaultdict(lambda: deque(maxlen=MAX_HISTORY))
        self._failures = self._failed_speculations = self._speculations = self._checkpoints = 0
        #: Jobs that needed more than `BEYOND` times their law's upper bound; the worst ratio, and the job that had it.
        self._beyond = 0
        self._worst = (0.0, "")

    # ------------------------------------------------------------------ questions of the dispatcher inside

    def is_stochastic(self, job: Job) -> bool:
        """Return whether a waiting or running job is an attempt of a stochastic one."""
        return job.id in self.courses

    def first(self, job: Job) -> str:
        """Return the id under which a waiting or running job was submitted, the same for all attempts."""
        course = self.courses.get(job.id)
        return job.id if course is None else course.job.id

    def refresh(self, ledger: Ledger, job: Job) -> Job:
        """Return a waiting job with the walltime that its request sequence gives as things stand.

        That is the job itself if it was tried before (another rate's sequence would ask for hardly more than what has
        just failed), or if nothing changed; else it is amended.
        """
        course = self.courses[job.id]
        if not self.sequence.uses_rate or course.attempts > 1:
            return job
        self._choose_limits(ledger, course)
        walltime = self.walltime_of(course)
        return job if walltime == job.walltime else ledger.amend(job, walltime=walltime)

    # ------------------------------------------------------------------ limits

    def limit_of(self, course: Course) -> float:
        """Return the run time up to which the current attempt of a job goes, in seconds, with what is saved."""
        limit, last = self.sequence.limit(course.plan.limits, course.index), self.last_limit_of(course)
        # A queue's limit leaves no room for the margin of a walltime just below it.
        return last if limit > last - (MARGIN if last < course.final else 0.0) else limit

    def last_limit_of(self, course: Course) -> float:
        """Return the run time at which a job is over for good, in seconds: for itself, or since no queue allows more.

        What is saved, and the time for checkpoints, count as in `limit_of`.
        """
        return min(course.final, course.longest - course.plan.around(course.index, course.saved) + course.saved)

    def length_of(self, course: Course) -> float:
        """Return what the current attempt of a job asks for, in seconds, checkpoints included."""
        return course.plan.around(course.index, course.saved) + self.limit_of(course) - course.saved

    def walltime_of(self, course: Course) -> float:
        """Return the walltime that goes with the current limit of a job, in seconds.

        The last one of a job that it ends for good is exact. Otherwise in whole milliseconds, so that jobs are stopped
        at the same time by Batsim 4, which counts microseconds, as by Batsim 5, which counts calls in milliseconds.
        """
        length = self.length_of(course)
        if self.limit_of(course) >= self.last_limit_of(course):
            return course.final if length >= course.final and not course.saved else round(length, 6)
        return round(milliseconds(length) + MARGIN, 3)

    def rate_of(self, ledger: Ledger, job: Job) -> float:
        """Return the backfilling rate zeta = Z p / P of a job, 0 to 1, in steps of 0.01 where Z is measured."""
        rate: float | None = self.options.rate
        share = share_of(ledger.space, ledger.space.whole(), job)
        if rate is not None:
            return min(rate * share, 1.0)
        return round(min(self.rate.at(ledger.now) * share, 1.0), 2)

    def _choose_limits(self, ledger: Ledger, course: Course) -> None:
        """Give a job the limits of its request sequence as things stand, beginning with the first that may suffice."""
        sequence, law = self.sequence, course.law
        zeta = self.rate_of(ledger, course.job) if sequence.uses_rate else 0.0
        if sequence.uses_history or course.learned:
            # There are hardly two of the same: nothing to remember.
            history = course.history or (list(self._history.get(law.text, ())) if self._history else [])
            course.plan = sequence.plan(law, zeta, history)
        else:
            key = (law.text, zeta)
            if key not in self._known:
                self._known[key] = sequence.plan(law, zeta)
            course.plan = self._known[key]
        course.index = 0
        self._skip_failed(course)

    def _skip_failed(self, course: Course) -> None:
        """Make the first limit that is not known to be too short the current one."""
        while not self._may_suffice(course) and self.limit_of(course) < self.last_limit_of(course):
            course.index += 1

    def _may_suffice(self, course: Course) -> bool:
        return self.limit_of(course) > course.floor + MARGIN / 2

    # ------------------------------------------------------------------ events

    def on_submit(self, ledger: Ledger, job: Job) -> None:
        self.rate.begin(ledger.now)
        course = self.courses.get(job.id)
        if course is None:
            course = course_of(job) or self._learned(job)
            if course is not None:
                self.courses[job.id] = course
                course.longest = ledger.concerns.longest(job)
                self._choose_limits(ledger, course)
                if any(course.plan.saves):
                    delay_of(ledger, course.job)
        if course is None:
            share = share_of(ledger.space, ledger.space.whole(), job)
            self.rate.arrived(job, share, job.walltime)
        else:
            job = self._enter(ledger, job, course)
        self.inner.on_submit(ledger, job)
        self.forget_rejected(ledger)

    def _learned(self, job: Job) -> Course | None:
        """Return the course of a job whose law the request sequence has learned, or None."""
        law = self.sequence.law_of(job) if self.sequence.learns else None
        if law is None:
            return None
        return Course(job, law, None, learned=True, final=job.walltime if self.sequence.final else math.inf)

    def _enter(self, ledger: Ledger, job: Job, course: Course) -> Job:
        """Amend an attempt that entered the queue, and return it."""
        course.enforced = job.walltime
        walltime = self.walltime_of(course)
        if course.keeps:
            submission, rank = course.position
            job = ledger.amend(job, walltime=walltime, submission=submission, rank=rank)
        elif walltime != job.walltime:
            job = ledger.amend(job, walltime=walltime)
        course.keeps = False
        course.position = Position(job.submission, ledger.rank(job))
        return job

    def on_start(self, ledger: Ledger, stay: Stay) -> None:
        self.inner.on_start(ledger, stay)
        course = self.courses.get(stay.job.id)
        if course is not None and stay.job.walltime < course.enforced:
            self._stop_at(ledger, ledger.now + stay.job.walltime, stay.job.id)

    def _stop_at(self, ledger: Ledger, time: float, job_id: str) -> None:
        heapq.heappush(self._stops, (round(time, 6), job_id))
        ledger.wake_at(round(time, 6))

    def _end_overdue(self, ledger: Ledger) -> None:
        """Stop the attempts whose time is over."""
        late: list[Job] = []
        while self._stops and self._stops[0][0] <= ledger.now:
            _, job_id = heapq.heappop(self._stops)
            stay = ledger.running.get(job_id)
            if stay is None:
                continue
            due = round(stay.start + stay.job.walltime, 6)
            if due > ledger.now:
                # It started later than it was decided.
                self._stop_at(ledger, due, job_id)
            else:
                late.append(stay.job)
                self._stopped.add(job_id)
        ledger.kill(late)

    def on_end(self, ledger: Ledger, stay: Stay) -> None:
        self.inner.on_end(ledger, stay)
        job, state = stay.job, stay.state
        course = self.courses.pop(job.id, None)
        ran = ledger.now - stay.start
        if course is not None and course.saved:
            # The run time of a job that went on is that of all it has done.
            ran += course.saved - course.plan.restart
        last = course is None or (self.limit_of(course) >= self.last_limit_of(course) and self._was_whole(course, job))
        if state in _BY_ITSELF or (state is JobState.COMPLETED_WALLTIME_REACHED and last):
            self.sequence.learn(job if course is None else course.job, ran)
        if course is None:
            self.rate.ended(job, ran)
            return
        stopped = job.id in self._stopped
        self._stopped.discard(job.id)
        if state is JobState.COMPLETED_SUCCESSFULLY and not course.learned:
            self._history[course.law.text].append(ran)
            self._compare_with_law(course, ran)
        if last:
            return
        if state is JobState.COMPLETED_WALLTIME_REACHED or (state is JobState.COMPLETED_KILLED and stopped):
            self._learn(course, job)
            self._register_next(ledger, course, job)

    def _was_whole(self, course: Course, job: Job) -> bool:
        """Return whether an attempt had all the time that it asked for."""
        return min(job.walltime, course.enforced) >= self.walltime_of(course) - MARGIN / 2

    def _compare_with_law(self, course: Course, ran: float) -> None:
        """Remember a job that succeeded after `ran` seconds if that is far beyond what its law allows."""
        ratio = ran / course.law.upper
        if ratio > BEYOND:
            self._beyond += 1
            self._worst = max(self._worst, (ratio, course.job.id))

    def _learn(self, course: Course, job: Job) -> None:
        """Note that an attempt's time did not suffice, and move on to the next limit where the current one failed."""
        whole = self._was_whole(course, job)
        around = course.plan.around(course.index, course.saved)
        if not whole and course.plan.keeps(course.index):
            # It was stopped before it came to write its checkpoint.
            around -= course.plan.checkpoint
        reached = course.saved + min(job.walltime - MARGIN, course.enforced) - around
        course.floor = max(course.floor, reached)
        if self._may_suffice(course):
            # Stopped before its limit: a speculation, or a walltime of the user's below it.
            self._failed_speculations += 1
            course.keeps = True
        else:
            self._failures += 1
            if whole and course.plan.keeps(course.index):
                course.saved = self.limit_of(course)
                self._checkpoints += 1
            self._skip_failed(course)

    def _register_next(self, ledger: Ledger, course: Course, before: Job) -> None:
        """Register the attempt that follows another one."""
        course.attempts += 1
        first = course.job
        name = successor_id(ledger, first, course.attempts)
        extra: dict[str, Any] = {"attempt": course.attempts}
        profile = first.profile
        if course.saved:
            workload, profile = name.partition("!")[0], rest_name(name)
            rest = delay_of(ledger, first) - course.saved + course.plan.restart
            told = ledger.profiles[workload][first.profile]
            Registration.of(ledger).register_profile(workload, profile, {**told, "delay": round(max(rest, 1e-6), 6)})
            self._resumed[name] = Resumption(course.saved, course.plan.restart)
            extra["saved"] = course.saved
        self.courses[name] = course
        walltime = self.walltime_of(course)
        Registration.of(ledger).register_job(
            successor(ledger, first, before, name, walltime=walltime, profile=profile, extra=extra)
        )

    def forget(self, job_id: str) -> None:
        self.courses.pop(job_id, None)
        self.rate.withdrawn(job_id)

    # ------------------------------------------------------------------ decisions

    def decide(self, ledger: Ledger) -> None:
        self._end_overdue(ledger)
        self.inner.decide(ledger)
        self.forget_rejected(ledger)
        if self.options.speculate:
            self._speculate(ledger)

    def _speculate(self, ledger: Ledger) -> None:
        """Start jobs in gaps that no waiting job fits, one gap after the other."""
        waiting = self.in_order(ledger, [job for job in ledger.queue.values() if job.id in self.courses])
        while waiting:
            found = next((best for gap in self._gaps(ledger) if (best := self._best_in(ledger, waiting, gap))), None)
            if found is None:
                return
            job, gap, place = found
            self._speculations += 1
            self.inner.lend(ledger, job, gap, place)
            ledger.start(ledger.amend(job, walltime=min(gap.length, job.walltime)), place)
            waiting.remove(job)

    def _gaps(self, ledger: Ledger) -> Iterable[Gap]:
        gaps = self.inner.gaps(ledger)
        return until_first(ledger) if gaps is None else gaps

    def _best_in(self, ledger: Ledger, jobs: list[Job], gap: Gap) -> tuple[Job, Gap, Place] | None:
        """Return the job of largest gain in a gap, with the gap and a place."""
        seen: set[tuple[Any, ...]] = set()
        candidates: list[tuple[float, int, Job]] = []
        for order, job in enumerate(jobs):
            course = self.courses[job.id]
            kind = (course.law.text, course.floor, job.request)
            if kind in seen or not self.inner.may_lend(ledger, job, gap):
                continue
            seen.add(kind)
            value = gain(course.law, share_of(gap.space, gap.free, job), course.floor, gap.length)
            if value > 0 and gap.space.fits(gap.free, job):
                candidates.append((-value, order, job))
        free = ledger.free if gap.space is not ledger.space else ledger.space.meet(ledger.free, gap.free)
        for _, _, job in sorted(candidates, key=lambda candidate: candidate[:2]):
            place = self.choose(Scene(ledger, free), job)
            if place is not None:
                return job, gap, place
        return None

    # ------------------------------------------------------------------ the run

    def registration_done(self, ledger: Ledger) -> bool:
        return super().registration_done(ledger) and not self.courses

    def resumed(self) -> Mapping[str, Resumption]:
        return self._resumed

    def report(self) -> dict[str, Any]:
        return {
            **super().report(),
            "failed_attempts": self._failures,
            "failed_speculations": self._failed_speculations,
            "speculations": self._speculations,
            **({"checkpoints": self._checkpoints} if self._checkpoints else {}),
            **({"warnings": [self._warning()]} if self._beyond else {}),
        }

    def _warning(self) -> str:
        """Say how many jobs their laws do not describe."""
        ratio, worst = self._worst
        who = "1 job ran" if self._beyond == 1 else f"{self._beyond:,} jobs ran"
        return (
            f"{who} for more than {BEYOND:g} times the upper bound of the law stated, job {worst} for {ratio:.3g} "
            "times: the limits of such jobs are guesses (beyond the bound they grow by the option factor)"
        )


def delay_of(ledger: Ledger, job: Job) -> float:
    """Return the seconds that a job takes by its profile, of which a rest can be registered.

    Raises:
        InputError: the simulator did not tell the profile, or it is no delay.
    """
    profile = ledger.profiles.get(job.id.partition("!")[0], {}).get(job.profile)
    if profile is None or profile.get("type") != "delay":
        found = (
            "is unknown, since the simulator does not forward it" if profile is None else f"is {profile.get('type')}"
        )
        raise InputError(
            f"its attempts are to end in checkpoints, which needs a profile of type delay; its profile {job.profile!r} "
            f"{found}",
            place=f"job {job.id}",
        )
    return float(profile["delay"])
