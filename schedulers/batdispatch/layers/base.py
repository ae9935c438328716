"""What a layer is: a dispatcher around another one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from batdispatch.core.errors import InputError
from batdispatch.core.hosts.allocation import Place
from batdispatch.core.jobs.job import Job, Resumption, Stay
from batdispatch.core.line.dispatcher import Dispatcher, Gap, create
from batdispatch.core.line.events import Event, JobsKilled
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options
from batdispatch.core.line.scene import Scene
from batdispatch.parts.ordering import Ordering
from batdispatch.parts.placement import Placement


class Layer(Dispatcher):
    """Stands between the session and a dispatcher: rewrites what that one is told, and adds decisions of its own.

    The session sees one dispatcher. Whatever a subclass does not override goes to the dispatcher inside as it is.

    Attributes:
        inner: the dispatcher inside, perhaps a layer itself.
    """

    #: A layer keeps jobs of its own.
    heeds_reservations = False
    #: Whether it changes the sizes of running jobs.
    resizes: ClassVar[bool] = False

    def __init__(self, options: Options | None = None, seed: int = 0) -> None:
        super().__init__(options, seed)
        self.inner: Dispatcher = self.make_inner(seed)
        if self.inner.preempts:
            raise InputError("the dispatcher inside preempts jobs, which layers cannot do with: use it without a layer")
        #: How many of the ledger's rejections were looked at.
        self._rejections = 0
        # What the session asks of a class, it asks of the dispatcher inside as well.
        for name in ("registers_jobs", "reuses_profiles", "needs_energy"):
            setattr(self, name, getattr(type(self), name) or getattr(self.inner, name))

    def make_inner(self, seed: int) -> Dispatcher:
        """Return the dispatcher inside, which the option `dispatcher` names; called once, when `options` are set.

        Args:
            seed: of its random choices.
        """
        return create(self.options.dispatcher, seed=seed)

    def begin(self, ledger: Ledger) -> None:
        self.inner.clock = self.clock
        self.inner.begin(ledger)

    def on_submit(self, ledger: Ledger, job: Job) -> None:
        self.inner.on_submit(ledger, job)

    def reshapes(self, ledger: Ledger, job: Job) -> bool:
        return self.inner.reshapes(ledger, job)

    def on_start(self, ledger: Ledger, stay: Stay) -> None:
        self.inner.on_start(ledger, stay)

    def on_end(self, ledger: Ledger, stay: Stay) -> None:
        self.inner.on_end(ledger, stay)

    def on_called_off(self, ledger: Ledger, stay: Stay) -> None:
        self.inner.on_called_off(ledger, stay)

    def on_killed(self, ledger: Ledger, event: JobsKilled) -> None:
        self.inner.on_killed(ledger, event)

    def on_event(self, ledger: Ledger, event: Event) -> None:
        self.inner.on_event(ledger, event)

    def decide(self, ledger: Ledger) -> None:
        self.inner.decide(ledger)

    def gaps(self, ledger: Ledger) -> Iterable[Gap] | None:
        return self.inner.gaps(ledger)

    def planned_starts(self, ledger: Ledger) -> Iterable[tuple[float, int]]:
        return self.inner.planned_starts(ledger)

    def may_lend(self, ledger: Ledger, job: Job, gap: Gap) -> bool:
        return self.inner.may_lend(ledger, job, gap)

    def lend(self, ledger: Ledger, job: Job, gap: Gap, place: Place) -> None:
        self.inner.lend(ledger, job, gap, place)

    def give_way(self, ledger: Ledger, job: Job, place: Place) -> None:
        self.inner.give_way(ledger, job, place)

    def on_withdrawn(self, ledger: Ledger, job: Job) -> None:
        self.inner.on_withdrawn(ledger, job)

    def forget_rejected(self, ledger: Ledger) -> None:
        """Forget the jobs that were rejected since the last call; the dispatcher inside may reject some at any time."""
        for job_id, _ in ledger.rejections[self._rejections :]:
            self.forget(job_id)
        self._rejections = len(ledger.rejections)

    def forget(self, job_id: str) -> None:
        """Forget a job that was rejected; for layers that keep jobs of their own and call `forget_rejected`."""

    def in_order(self, ledger: Ledger, jobs: Iterable[Job]) -> list[Job]:
        """Return waiting jobs by the ordering of the dispatcher inside, or by arrival if it has none."""
        ordering, now, rank = getattr(self.inner, "ordering", None), ledger.now, ledger.rank
        if not isinstance(ordering, Ordering):
            return sorted(jobs, key=rank)
        return sorted(jobs, key=lambda job: (ordering.key(job, now, job.walltime), rank(job)))

    def choose(self, scene: Scene, job: Job) -> Place | None:
        """Return where a job goes by the placement of the dispatcher inside, or the lowest hosts if it has none."""
        placement = getattr(self.inner, "placement", None)
        return placement.place(scene, job) if isinstance(placement, Placement) else scene.lowest(job)

    @property
    def orders_by_time(self) -> bool:
        """Whether `in_order` may be another one without anything having happened."""
        ordering = getattr(self.inner, "ordering", None)
        return isinstance(ordering, Ordering) and ordering.dynamic

    @property
    def chooses_whenever_it_fits(self) -> bool:
        """Whether `choose` finds a place for every job that fits what is free."""
        placement = getattr(self.inner, "placement", None)
        return placement.complete if isinstance(placement, Placement) else True

    def innermost(self) -> Dispatcher:
        return self.inner.innermost()

    def registration_done(self, ledger: Ledger) -> bool:
        return self.inner.registration_done(ledger)

    def resumed(self) -> Mapping[str, Resumption]:
        return self.inner.resumed()

    def report(self) -> dict[str, Any]:
        return self.inner.report()

    def notes(self) -> list[bytes]:
        return self.inner.notes()


def successor_id(ledger: Ledger, first: Job, number: int) -> str:
    """Return an id for the segment of some number, counted from 1, of the logical job that begins with a job."""
    return ledger.roll.free_id(f"{first.id}~{number}")


def successor(
    ledger: Ledger, first: Job, before: Job, name: str, *, walltime: float, profile: str, extra: Mapping[str, Any]
) -> Job:
    """Return the job that continues another one, submitted now.

    Args:
        ledger: the cluster.
        first: asks for what the new one does, and has its user and fields.
        before: the segment that the new one follows.
        name: its id, see `successor_id`.
        walltime: s.
        profile: name of its profile.
        extra: further fields.
    """
    return Job(
        id=name,
        request=first.request,
        submission=ledger.now,
        walltime=walltime,
        profile=profile,
        user=first.user,
        parent=before.id,
        extra={**first.extra, "parent": before.id, **extra},
    )


def rest_name(job_id: str) -> str:
    """Return the name of the profile of what is left of a job; Batsim 5 takes what precedes a "!" for a workload."""
    return f"rest of {job_id}".replace("!", ".")


def chain(dispatcher: Dispatcher) -> Iterable[Dispatcher]:
    """Yield a dispatcher and, where it is a layer, those inside, from the outermost on."""
    yield dispatcher
    while isinstance(dispatcher, Layer):
        dispatcher = dispatcher.inner
        yield dispatcher
