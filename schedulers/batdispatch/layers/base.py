"""What a layer is: a dispatcher around another one."""

from __future__ import annotations

from abc import update_abstractmethods
from collections.abc import Callable, Iterable, Mapping
from functools import update_wrapper
from inspect import getmembers, isfunction
from typing import Any, ClassVar

from batdispatch.core.errors import InputError
from batdispatch.core.hosts.allocation import Place
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.dispatcher import Dispatcher, create
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.options import Options
from batdispatch.core.line.scene import Scene
from batdispatch.parts.ordering import Ordering
from batdispatch.parts.placement import Placement

#: What a layer answers by itself, as a dispatcher that says nothing of it, unless a subclass knows better: the
#: dispatcher inside does not know what a layer does to jobs.
OWN = ("idle_until", "why_started", "why_waited")


class Layer(Dispatcher):
    """Stands between the session and a dispatcher: rewrites what that one is told, and adds decisions of its own.

    The session sees one dispatcher. Whatever a subclass does not override goes to the dispatcher inside as it is; the
    end of this class sees to that.

    Attributes:
        inner: the dispatcher inside, perhaps a layer itself.
    """

    #: A layer keeps jobs of its own.
    heeds_reservations = False
    heeds_choices = False
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


def _forwarded(name: str) -> Callable[..., Any]:
    """Return the method of a layer that asks the dispatcher inside for its answer."""

    def forward(self: Layer, *arguments: Any) -> Any:
        return getattr(self.inner, name)(*arguments)

    # Not its attributes: one says that a method is abstract.
    return update_wrapper(forward, getattr(Dispatcher, name), updated=())


# All that anybody asks of a dispatcher goes to the one inside, but for what the layer has just said itself.
for _name, _ in getmembers(Dispatcher, isfunction):
    if not _name.startswith("_") and _name not in vars(Layer) and _name not in OWN:
        setattr(Layer, _name, _forwarded(_name))
update_abstractmethods(Layer)  # type: ignore[type-abstract]


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
