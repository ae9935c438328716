"""What a run was given and says of itself, as far as the rules of the audit need it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from batdispatch.core.capacity import space_of
from batdispatch.core.impossible import why_never
from batdispatch.core.job import Job
from batdispatch.core.machine import Machine
from batdispatch.core.request import Request
from batdispatch.results.audit.outcomes import Outcomes


class Setting:
    """The inputs of a run.

    Attributes:
        machine: of the platform.
        profiles: of the workload, by name.
        result: the run's result.json; empty where there is none, as in a folder that Batsim wrote.
        embedded: whether the embedded engine simulated the run.
        exact: whether decisions take effect, and events are told, at their moments, as in the embedded engine.
    """

    def __init__(
        self, machine: Machine, profiles: Mapping[str, Mapping[str, Any]], result: Mapping[str, Any] | None = None
    ) -> None:
        self.machine = machine
        self.profiles = profiles
        self.result: Mapping[str, Any] = {} if result is None else result
        engine = self.result.get("engine")
        engine = engine if isinstance(engine, dict) else {}
        self.embedded = engine.get("name") == "embedded"
        self.exact = self.embedded and self.result.get("clock") != "batsim"
        self._space = space_of(machine)
        self._never: dict[Request, str] = {}
        self._fits: dict[tuple[Request, int], bool] = {}
        self._outcomes: Outcomes | None = None

    @property
    def reserved(self) -> bool:
        """Whether there are reservations, so that jobs may wait for what nothing but the time brings."""
        return self.machine.site is not None and bool(self.machine.site.windows)

    def outcomes(self, registered: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Outcomes:
        """Return how profiles end; `registered` is the same mapping at every call and may grow."""
        if self._outcomes is None:
            self._outcomes = Outcomes(self.profiles, registered)
        return self._outcomes

    def why_never(self, job: Job) -> str:
        """Return why the idle machine cannot run a job, or its queues do not take it, or an empty text."""
        site, exclusive = self.machine.site, self.machine.exclusive
        if site is not None:
            refused = site.refusal(job, exclusive)
            if refused:
                return refused
            job = site.fitted(job, exclusive)
        return self._why(job)

    def _why(self, job: Job) -> str:
        if job.request not in self._never:
            self._never[job.request] = why_never(self._space, job)
        return self._never[job.request]

    def fits(self, job: Job, away: int) -> bool:
        """Return whether the machine can run a job when nothing runs and the hosts of the mask `away` are gone."""
        if self.machine.site is not None:
            if self.why_never(job):
                return False
            job = self.machine.site.fitted(job, self.machine.exclusive)
        key = (job.request, away)
        if key not in self._fits:
            if len(self._fits) > 4096:
                self._fits.clear()
            space = self._space
            self._fits[key] = not self._why(job) and bool(space.fits(space.only(space.whole(), ~away), job))
        return self._fits[key]

    def reasons(self) -> dict[str, str] | None:
        """Return the reason for each rejection that result.json lists, by ``workload!name``; None without the file."""
        if not self.result:
            return None
        listed: Sequence[Any] = self.result.get("rejected") or []
        return {str(each.get("job", "")): str(each.get("reason", "")) for each in listed}
