"""Slurm's priority/multifactor."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

import msgspec

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job import Job, Stay
from batdispatch.core.jobs.request import Request
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options
from batdispatch.parts.ordering.fair_tree import Association, fair_tree, plain_sum
from batdispatch.parts.ordering.priority import TOP, Priority
from batdispatch.parts.ordering.usage import DecayedUsage, Holding

DAY = 86_400.0
#: The resource that Slurm calls CPUs; on nodes without it, the first one that they have.
CPU = "core"
#: How far a job's `nice` may go, up and down: Slurm's own limit.
MAX_NICE = 2_147_483_645
Weight = Annotated[int, msgspec.Meta(ge=0, le=2**32 - 1)]


class MultifactorOptions(Options, frozen=True, kw_only=True):
    """Options of multifactor. The names in brackets are Slurm's.

    age: Add this weight, times the job's age factor, to a job's priority (PriorityWeightAge). 0 switches the factor
        off.
    size: Add this weight, times the job's size factor, to a job's priority (PriorityWeightJobSize). 0 switches the
        factor off.
    fairshare: Add this weight, times the job's fair-share factor, to a job's priority (PriorityWeightFairshare). 0
        switches the factor off.
    partition: Add this weight, times the factor of the job's partition, to a job's priority (PriorityWeightPartition).
        0 switches the factor off.
    qos: Add this weight, times the factor of the job's quality of service, to a job's priority (PriorityWeightQOS). 0
        switches the factor off.
    max_age: Let a job's age factor reach 1 once the job has waited for this many seconds (PriorityMaxAge).
    favor_small: Give small jobs the large size factors (PriorityFavorSmall). `false`: large jobs have them.
    relative: Divide a job's share of the cores by its walltime in minutes, for the size factor (PriorityFlags=
        SMALL_RELATIVE_TO_TIME).
    period: Work out the age of waiting jobs and their users' shares anew only once in this many seconds, as they were
        when the period began (PriorityCalcPeriod, which is 5 minutes). 0: at each decision.
    fair_tree: Rank users by Slurm's Fair Tree for the fair share, over the accounts that jobs name. `false`: weigh
        users by Slurm's classic formula, whatever their accounts (PriorityFlags=NO_FAIR_TREE).
    half_life: Count what a user has used half after this many seconds, for the fair share (PriorityDecayHalfLife). 0
        switches forgetting off: all use counts in full for ever.
    """

    age: Weight = 0
    size: Weight = 0
    fairshare: Weight = 0
    partition: Weight = 0
    qos: Weight = 0
    max_age: Annotated[float, msgspec.Meta(gt=0)] = 7 * DAY
    favor_small: bool = False
    relative: bool = False
    period: Annotated[float, msgspec.Meta(ge=0, le=1e9)] = 0.0
    fair_tree: bool = False
    half_life: Annotated[float, msgspec.Meta(ge=0)] = 7 * DAY


class Multifactor(Priority):
    """Puts the job with the largest sum of weight x factor first, as Slurm's priority/multifactor does.

    The priority of a job is this sum minus its `nice`, and at least 1. All weights are 0 unless given, as in Slurm.
    Each job then has the priority 1, and ties go by arrival. The sum is rounded down, as in Slurm, so weights should be
    large: with `age=1000` a job gains 1 in ten minutes.

    Each factor is between 0 and 1. The age factor is (now - submission) / `max_age`. The size factor is the mean of the
    share of the nodes and of the share of the cores that the job asks for. A job that names no number of nodes counts
    as asking for one. With `period`, a new job of whole nodes counts with the cores of its tasks only, until the next
    period begins. The fair-share factor is that of Slurm's classic algorithm: 2^(-U / S), where U is the user's
    part of all use, in core-seconds of ended and running jobs, and S is one over the number of users who have jobs that
    wait, run, or have run. With `fair_tree`, users are ranked from 1 down to 1 / n for n users: first those of the
    account that has used least of its share, and within it those who have used least of theirs. The factors of the
    partition and of the quality of service are the priority of the job's own
    over the largest one of the site (`core.machine.site`), and 0 where the job has none.

    A job may lower its own priority by its field `nice`, a whole number, and raise it by a negative one.

    Typical use: to compare with a Slurm whose `PriorityType` is `priority/multifactor`.
    Deviations:
        - The factors of associations, sites and TRES are left out, and so are unequal shares and accounts in accounts.
        - `fair_tree` is off by default. Slurm's default is Fair Tree since 19.05.
        - Slurm counts a job's age from when its dependencies are met. Here it counts from the job's submission.
    References:
        [1] SchedMD: "Multifactor Priority Plugin". https://slurm.schedmd.com/priority_multifactor.html
        [2] SchedMD: "Classic Fairshare Algorithm". https://slurm.schedmd.com/classic_fair_share.html
        [3] SchedMD: "Fair Tree Fairshare Algorithm". https://slurm.schedmd.com/fair_tree.html
    """

    options_type = MultifactorOptions
    dynamic: ClassVar[bool] = True

    def begin(self, ledger: Ledger) -> None:
        super().begin(ledger)
        machine = ledger.machine
        totals = machine.total().tolist()
        named = machine.resources.index(CPU) if CPU in machine.resources else -1
        #: Where cores stand on the resource axis, and how many the machine has.
        self.axis = named if named >= 0 and totals[named] else next(i for i, total in enumerate(totals) if total)
        self._cores = totals[self.axis]
        self._sizes: dict[tuple[Request, bool], float] = {}
        self._usage = DecayedUsage(self.options.half_life or math.inf)
        #: Fair-share factor of each user, and of what moment: now, and without a period how many jobs wait and run.
        self._factors: dict[Association, float] = {}
        self._moment: tuple[float, ...] = (-1.0,)

    def value(self, job: Job, now: float) -> int:
        options = self.options
        if options.period:
            now = now // options.period * options.period
        total = -float(nice_of(job))
        if options.age:
            total += options.age * min(max(now - job.submission, 0.0) / options.max_age, 1.0)
        total += self.for_size(job, untried=options.period > 0.0 and now < job.submission)
        if options.fairshare:
            total += options.fairshare * self._fair_share(job, now)
        total += self.for_queues(job)
        return min(max(math.floor(total), 1), TOP)

    def for_size(self, job: Job, *, untried: bool = False) -> float:
        """Return what a job's size adds to its priority; `untried`: in the period in which it came."""
        options = self.options
        if not options.size:
            return 0.0
        size = self._size(job, untried=untried)
        return float(options.size * (1.0 - size if options.favor_small else size))

    def for_queues(self, job: Job) -> float:
        """Return what a job's partition and quality of service add to its priority."""
        options, site = self.options, self.ledger.machine.site
        if site is None or not (options.partition or options.qos):
            return 0.0
        return float(options.partition * site.partition_factor(job) + options.qos * site.qos_factor(job))

    def ended(self, stay: Stay, now: float) -> None:
        if self.options.fairshare:
            self._usage.ended(self._holding(stay), now)

    def _size(self, job: Job, *, untried: bool) -> float:
        """Return a job's share of the machine: the mean of its shares of the nodes and of the cores.

        That a job gets all cores of its nodes (--exclusive) is known only once it was tried, and counts from the next
        period on. Until then, its share of the cores is that of its tasks.

        Or, with `relative`, its share of the cores per minute of its walltime.
        """
        if self.options.relative:
            # Without a walltime, the share is that of no minute.
            minutes = max(job.walltime // 60.0, 1.0) if math.isfinite(job.walltime) else math.inf
            return min(self._share_of_cores(job) / minutes, 1.0)
        size = self._sizes.get((job.request, untried))
        if size is None:
            ledger = self.ledger
            need, request = ledger.space.need(job), job.request
            size = nodes = need.least / ledger.machine.size
            # Units that are whole nodes have as large a share of the cores as of the nodes.
            if not ledger.machine.units_are_hosts(request):
                cores = need.sums[self.axis] / self._cores
                size = (nodes + (cores if untried or not request.whole_nodes else max(cores, nodes))) / 2
            size = self._sizes[job.request, untried] = min(size, 1.0)
        return size

    def _share_of_cores(self, job: Job) -> float:
        """Return a job's share of the cores; its nodes count as whole ones if that is more."""
        ledger = self.ledger
        need = ledger.space.need(job)
        nodes = need.least / ledger.machine.size
        counts = ledger.machine.units_are_hosts(job.request)
        return nodes if counts else max(nodes, need.sums[self.axis] / self._cores)

    def _fair_share(self, job: Job, now: float) -> float:
        """Return the fair-share factor of a job's user."""
        ledger = self.ledger
        moment = (now, *(() if self.options.period else (len(ledger.queue), len(ledger.running))))
        if moment != self._moment:
            self._moment = moment
            used = self._usage.at(now, map(self._holding, ledger.running.values()))
            total = plain_sum(used.values())
            for waiting in ledger.queue.values():
                if waiting.submission <= now:
                    used.setdefault(self.owner(waiting), 0.0)
            users = len(used)
            self._factors = (
                fair_tree(used)
                if self.options.fair_tree
                else {one: math.exp2(-part / total * users) if part else 1.0 for one, part in used.items()}
            )
        return self._factors.get(self.owner(job), 1.0)

    def owner(self, job: Job) -> Association:
        """Return a job's account and user, whose share it is; the classic formula knows no accounts."""
        return str(job.extra.get("account", "")) if self.options.fair_tree else "", job.user

    def _holding(self, stay: Stay) -> Holding:
        used = self.ledger.space.use(stay.job, stay.allocation)
        cores, job = float(used[:, self.axis].sum()), stay.job
        return Holding(self.owner(job), cores, stay.start, stay.rank, job.submission)


def nice_of(job: Job) -> int:
    """Return a job's field `nice`.

    Raises:
        InputError: it is no whole number, or beyond what Slurm allows.
    """
    nice = job.extra.get("nice", 0)
    if type(nice) is not int or abs(nice) > MAX_NICE:
        raise InputError(
            f"found {str(nice)[:60]!r}, expected a whole number from -{MAX_NICE} to {MAX_NICE}",
            place=f"job {job.id}, field 'nice'",
        )
    return nice
