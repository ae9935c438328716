"""Jobs and profiles that the dispatcher registers while the simulation runs.

Invariant: a registered job that the simulator has yet to acknowledge is not known otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from batdispatch.core.errors import ImpossibleDecision
from batdispatch.core.jobs.job import Job
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.core.line.concern import Concern
from batdispatch.core.line.ledger import Ledger


class Registration(Concern):
    """What a dispatcher registers. It only decides, and no start or end asks it.

    Attributes:
        on_registered: called with a job that enters the queue and that the simulator will not announce; None: nobody is
            told.
    """

    offers = ("continue_registration", "finish_registration", "on_registered", "register_job", "register_profile")
    ledger: Ledger

    def __init__(self, ledger: Ledger) -> None:
        super().__init__(ledger)
        self.on_registered: Callable[[Job], None] | None = None
        #: Whether it was said that no further job will be registered.
        self._finished = False

    def register_profile(self, workload: str, name: str, profile: dict[str, Any]) -> None:
        """Add a profile to a workload."""
        ledger = self.ledger
        self._may_register("profiles", f"profile {workload}!{name}")
        if profile.get("type") == "composed":
            raise ledger.refusal(
                f"profile {workload}!{name}: Batsim 4.2 crashes on composed profiles registered dynamically: flatten it"
            )
        known = ledger.profiles.setdefault(workload, {})
        if known.get(name, profile) != profile:
            raise ledger.refusal(f"profile {workload}!{name} is registered already and is another")
        known[name] = profile
        ledger.decisions.append(d.RegisterProfile(ledger.now, workload, name, profile))

    def register_job(self, job: Job) -> None:
        """Submit a job from the dispatcher.

        It enters the queue when the simulator acknowledges it or, where it does not, at once.

        Raises:
            ImpossibleDecision: registration is not enabled, the id is taken or malformed, the job that it continues is
                unknown, or the job can never run.
        """
        ledger = self.ledger
        self._may_register("jobs", f"job {job.id}")
        if "!" not in job.id:
            raise ledger.refusal(f"job {job.id}: its id must be workload!name")
        if ledger.roll.knows(job.id):
            raise ledger.refusal(f"job {job.id} cannot be registered: it is {ledger.state_of(job.id)}")
        if job.units < 1 or not job.walltime > 0:
            raise ledger.refusal(
                f"job {job.id} cannot be registered: it has {job.units} units and a walltime of {job.walltime:g} s, "
                "expected at least 1 and more than 0"
            )
        reason = ledger.why_impossible(job)
        if reason:
            raise ledger.refusal(f"job {job.id} cannot be registered: it {reason}")
        ledger.decisions.append(d.RegisterJob(ledger.now, job))
        ledger.roll.register(job)
        if not ledger.config.get("dynamic-jobs-acknowledged"):
            entered = ledger.apply_submitted(e.JobSubmitted(ledger.now, job))
            if self.on_registered is not None:
                self.on_registered(entered)

    def finish_registration(self) -> None:
        """Say that no further job will be registered."""
        self._need("finishing registration")
        self._finished = True
        self.ledger.roll.may_grow = False
        self.ledger.decisions.append(d.FinishRegistration(self.ledger.now))

    def continue_registration(self) -> None:
        """Say that jobs may be registered again."""
        self._need("continuing registration")
        self._finished = False
        self.ledger.roll.may_grow = True
        self.ledger.decisions.append(d.ContinueRegistration(self.ledger.now))

    def _need(self, what: str) -> None:
        if not self.ledger.config.get("dynamic-jobs-enabled"):
            raise self.ledger.refusal(
                f"{what} is not enabled in this simulation: Batsim 4 needs --enable-dynamic-jobs, 5 the handshake"
            )

    def _may_register(self, kind: str, what: str) -> None:
        """Check that something of a kind can be registered.

        Raises:
            ImpossibleDecision: it is not enabled, or it was said that nothing more will be registered.
        """
        self._need(f"registering {kind}")
        if self._finished:
            problem: ImpossibleDecision = self.ledger.refusal(
                f"{what} cannot be registered: it was said that the registration is finished, expected "
                "continue_registration before"
            )
            raise problem

    def check(self, idle: Any) -> Any:
        roll = self.ledger.roll
        assert not roll.registered.keys() & (roll.ranks.keys() | roll.ended.keys()), "a registered job came already"
        return idle
