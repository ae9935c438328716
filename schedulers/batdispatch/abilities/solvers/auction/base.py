"""What the dispatchers have in common that start the best jobs of a window together: window, period, decisions."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Any, ClassVar

import msgspec

from batdispatch.abilities.solvers.auction.problem import Choice, Problem
from batdispatch.abilities.solvers.auction.regrets import why_waited
from batdispatch.abilities.solvers.solving import Account, Limits, SolverResult
from batdispatch.core.jobs.job import Job, Stay
from batdispatch.core.line.dispatcher import Dispatcher
from batdispatch.core.line.events import Event
from batdispatch.core.line.hindsight import Hindsight, Reason
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options
from batdispatch.core.plans.pace import Pace
from batdispatch.parts.ordering.priority import make_priority
from batdispatch.parts.ordering.window import Window


class AuctionOptions(Options, frozen=True, kw_only=True):
    """Options of every dispatcher that starts the best jobs of a window together.

    Each has two more, with its own values: `window` and `period`.

    priorities: Take the priorities of jobs from this ordering, which must know priorities: `basic` or `multifactor`.
    work: Stop the solver after this much of its deterministic time at each decision. 0: do not call the solver.
    wall: Stop the solver after this many seconds of wall-clock time at each decision. This is a safety net: a stop
        makes the run depend on the machine, so each one is counted as a fallback.
    """

    priorities: str = "basic"
    work: Annotated[float, msgspec.Meta(ge=0)] = 3.0
    wall: Annotated[float, msgspec.Meta(gt=0)] = 30.0


class AuctionDispatcher(Dispatcher):
    """Starts the jobs of a window that an integer program chooses; the others wait for the next one.

    Attributes:
        priorities: the ordering.
        window: how many jobs are decided about.
        account: facts about each decision.
    """

    options_type: ClassVar[type[Options]] = AuctionOptions
    extra = "cp"
    effort = 2

    def __init__(self, options: Options | None = None, seed: int = 0) -> None:
        super().__init__(options, seed)
        self.seed = seed
        self.priorities = make_priority(self.options.priorities)
        self.window = Window(self.options.window)
        self.account = Account()

    def begin(self, ledger: Ledger) -> None:
        self.priorities.begin(ledger)
        self._pace = Pace(self.options.period)
        #: Whether jobs or capacity came since the last decision, so that another one may start something.
        self._changed = False

    def on_submit(self, ledger: Ledger, job: Job) -> None:
        self._changed = True

    def on_end(self, ledger: Ledger, stay: Stay) -> None:
        self.priorities.ended(stay, ledger.now)
        self._changed = True

    def on_event(self, ledger: Ledger, event: Event) -> None:
        self._changed = True

    @property
    def limits(self) -> Limits:
        """When the solver stops."""
        return Limits(work=self.options.work, wall=self.options.wall, seed=self.seed)

    def decide(self, ledger: Ledger) -> None:
        if not ledger.queue or not self._changed or not self._pace.due(ledger):
            return
        self._changed = False
        problem = Problem(ledger, self._waiting(ledger)[: self.window.size])
        counters: dict[str, int] = {}
        found = self.choose(problem, counters)
        started = 0
        # Power that a job asks for and does not take has to be free when it starts, so that most of it goes first. Jobs
        # that fit together in any order fit in this one.
        plan = zip(problem.askings, found.solution, strict=True)
        for asking, allocation in sorted(plan, key=lambda each: -each[0].spare):
            if allocation is not None:
                ledger.start(asking.job, allocation)
                started += 1
        facts = {"jobs": len(problem.askings), "running": len(ledger.running), "started": started, **self.facts()}
        self.account.add(ledger.now, found, facts, counters)
        # The next window holds other jobs than this one, and jobs that were left out may have their turn.
        if ledger.queue and (
            not found.solved or (started and ledger.space.fitting(ledger.free, [*ledger.queue.values()]))
        ):
            self._changed = True
            self._pace.call(ledger)

    def _waiting(self, ledger: Ledger) -> list[tuple[Job, int]]:
        """Return the waiting jobs and their priorities, the highest first."""
        value, rank, now = self.priorities.value, ledger.rank, ledger.now
        queued = sorted(((-value(job, now), rank(job), job) for job in ledger.queue.values()), key=lambda one: one[:2])
        return [(job, -negated) for negated, _, job in queued]

    @abstractmethod
    def choose(self, problem: Problem, counters: dict[str, int]) -> SolverResult[Choice]:
        """Return where each job of a problem starts now, if it does, and how this was found.

        Costs are minus the value that is to be maximised. Counts for the account go into `counters`.
        """

    def facts(self) -> dict[str, float]:
        """Return further figures about the last choice, for the account; always of the same names."""
        return {}

    def report(self) -> dict[str, Any]:
        return self.account.report()

    def notes(self) -> list[bytes]:
        return self.account.lines

    def chance(self, problem: Problem, index: int) -> Reason:
        """Return what chance a plan gave a job that fits by itself, for explain-wait.

        Its first text says why no plan could start the job where that is so, and is empty otherwise.
        """
        return Reason("")

    def why_waited(self, job: Job, decision: Hindsight) -> Reason | None:
        return why_waited(job, decision, self._waiting(decision.ledger), self.options.period, self.chance)
