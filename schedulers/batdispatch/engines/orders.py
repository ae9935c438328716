"""Carries out what the peer decided, or refuses it as Batsim would, with a better message."""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from batdispatch.core.errors import ImpossibleDecision, InputError
from batdispatch.core.hosts import hostset
from batdispatch.core.hosts.allocation import Allocation, IoJob
from batdispatch.core.jobs.job import JobState
from batdispatch.core.jobs.profiles import check_profile, spreads_freely
from batdispatch.core.line import decisions as d
from batdispatch.core.line import events as e
from batdispatch.engines.activities import Placement, io_problem
from batdispatch.engines.execution import Execution, Site, check_timed
from batdispatch.engines.facet import EngineFacet
from batdispatch.engines.records import Record
from batdispatch.engines.ticker import EventMaker
from batdispatch.engines.world import World


class Orders:
    """The decisions an engine knows, by type. Independent of the ledger: a peer behind a socket has none of ours."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._by_type: dict[type[d.Decision], Callable[[Any], None]] = {
            d.Execute: self._execute,
            d.Reject: self._reject,
            d.Kill: self._kill,
            d.CallMeLater: self._call_later,
            d.RegisterProfile: self._register_profile,
            d.RegisterJob: self._register_job,
            d.SetMetadata: self._set_metadata,
            d.SendMessage: self._send_message,
            d.ChangeState: self._change_state,
            d.FinishRegistration: self._finish_registration,
            d.ContinueRegistration: self._continue_registration,
            d.SetResourceState: self._set_state,
            d.QueryEnergy: self._query_energy,
            d.StopSimulation: self._stop,
            d.CallEvery: self._call_every,
            d.StopCalls: lambda decision: self._stop_periodic("call", decision.call_id),
            d.CreateProbe: self._create_probe,
            d.StopProbe: lambda decision: self._stop_periodic("probe", decision.probe_id),
        }

    def carry_out(self, decision: d.Decision) -> None:
        """Carry out one decision now.

        Raises:
            ImpossibleDecision: Batsim would refuse it, or this engine cannot simulate it.
        """
        self._by_type[type(decision)](decision)

    def _waiting(self, job_id: str, what: str) -> Record:
        world = self._world
        record = world.records.get(job_id)
        if record is None or record.state is not JobState.SUBMITTED:
            raise self._refusal(f"{what}: job {job_id} does not wait: it is {self._state_of(job_id)}")
        return record

    def _state_of(self, job_id: str) -> str:
        world = self._world
        if job_id in world.records:
            return world.records[job_id].state.value
        return "ended" if job_id in world.finished else "unknown"

    def _refusal(self, text: str) -> ImpossibleDecision:
        world = self._world
        return ImpossibleDecision(f"at {world.now:.6f} s: {text}")

    def _execute(self, decision: d.Execute) -> None:
        world = self._world
        record = self._waiting(decision.job_id, "EXECUTE_JOB")
        allocation = decision.allocation
        facet = world.facet
        if facet is not None and (problem := facet.why_not_start(allocation.mask)) is not None:
            raise self._refusal(f"EXECUTE_JOB: job {record.id}: {problem}")
        if not world.hosts.occupy(allocation):
            raise self._wrong_hosts(record, allocation)
        mapped = decision.mapping is not None or allocation.counts is not None
        if mapped + (decision.storage is not None) + (decision.io_job is not None) > 1:
            raise self._refusal(
                f"EXECUTE_JOB: job {record.id}: only one of mapping, storage mapping and I/O job is allowed"
            )
        if decision.overrides:
            raise self._refusal(f"EXECUTE_JOB: job {record.id}: this engine runs all of a job on the same hosts")
        if decision.fill:
            decision = msgspec.structs.replace(decision, mapping=self._filled(allocation, record.units), fill=False)
        if decision.mapping is not None or allocation.units != record.units:
            self._check_size(record, allocation, decision.mapping)
        profile = record.profiles[record.profile]
        site = self._site(record, decision)
        record.state = JobState.RUNNING
        record.start = world.now
        record.allocation = allocation
        # Hosts that have begun to compute are entered when they have done.
        world.note_states(())
        if facet is not None:
            facet.begin(record, world.now)
        if profile["type"] == "delay":
            world.plan(record, world.now + profile["delay"])
            return
        record.execution = execution = Execution(record.profiles, site)
        due = execution.begin(record.profile, world.now)
        world.go_on(record, execution, due)

    def _filled(self, allocation: Allocation, executors: int) -> dict[int, int]:
        """Return a mapping of executors that fill the cores of one host after the other, again and again."""
        hosts = self._world.machine.hosts
        cores = [index for index, host in enumerate(allocation.ids) for _ in range(hosts[host].cores)]
        return {executor: cores[executor % len(cores)] for executor in range(executors)}

    def _site(self, record: Record, decision: d.Execute) -> Site | None:
        """Return where the job's activities run, or None when none can be timed."""
        world = self._world
        timer, io_job = world.timer, decision.io_job
        if timer is None:
            if io_job is not None:
                raise self._refusal(
                    f"EXECUTE_JOB: job {record.id}: an I/O job's time depends on the platform, which only SimGrid "
                    "simulates, and this simulation runs without it (--simgrid always)"
                )
            return None
        io = None if io_job is None else self._io_profile(record, io_job)
        try:
            placement = Placement(
                record.id,
                world.machine,
                decision.allocation,
                mapping=decision.executors(),
                storage=decision.storage,
                io=None if io_job is None else io_job.allocation,
            )
        except ImpossibleDecision as problem:
            raise self._refusal(f"EXECUTE_JOB: {problem}") from None
        return Site(timer, placement, record, io, world.traces, world.rank_delay)

    def _io_profile(self, record: Record, io_job: IoJob) -> Mapping[str, Any]:
        profiles = record.profiles
        try:
            if io_job.profile is not None:
                check_profile(io_job.profile_name, io_job.profile)
            elif io_job.profile_name not in profiles:
                raise InputError(f"profile {io_job.profile_name!r} is not in the workload")
        except InputError as problem:
            raise self._refusal(f"EXECUTE_JOB: job {record.id}: I/O job: {problem}") from None
        profile = profiles[io_job.profile_name] if io_job.profile is None else io_job.profile
        problem_text = io_problem(profiles[record.profile], profile, profiles)
        if problem_text:
            raise self._refusal(f"EXECUTE_JOB: job {record.id}: I/O job: {problem_text}")
        return profile

    def _wrong_hosts(self, record: Record, allocation: Allocation) -> ImpossibleDecision:
        """Return why an allocation cannot be taken."""
        world = self._world
        mask, compute = allocation.mask, world.machine.compute
        if not mask or mask & compute != mask:
            host = hostset.ids(mask & ~compute)[0] if mask else None
            return self._refusal(
                f"EXECUTE_JOB: job {record.id}: allocation {str(allocation)!r} "
                + ("is empty" if host is None else f"names host {host}, which is no compute host of the platform")
            )
        taken = allocation.mask & world.hosts.busy
        if taken and not world.hosts.sharing:
            host = hostset.ids(taken)[0]
            holders = [r.id for r in world.records.values() if r.allocation and r.allocation.mask >> host & 1]
            return self._refusal(
                f"EXECUTE_JOB: job {record.id}: host {host} ({world.machine.hosts[host].name}) is busy with "
                f"{', '.join(holders)} and hosts are not shared (--enable-compute-sharing)"
            )
        host = hostset.ids(allocation.mask & world.hosts.away)[0]
        return self._refusal(
            f"EXECUTE_JOB: job {record.id}: host {host} ({world.machine.hosts[host].name}) is unavailable"
        )

    def _check_size(self, record: Record, allocation: Allocation, mapping: Mapping[int, int] | None) -> None:
        placed = allocation.units if mapping is None else len(mapping)
        if placed == record.units:
            return
        profiles = record.profiles
        if mapping is None and spreads_freely(profiles[record.profile], profiles):
            return
        raise self._refusal(
            f"EXECUTE_JOB: job {record.id} asked for {record.units} resources, "
            f"{'the allocation' if mapping is None else 'the mapping'} gives {placed}"
        )

    def _reject(self, decision: d.Reject) -> None:
        world = self._world
        record = self._waiting(decision.job_id, "REJECT_JOB")
        record.state = JobState.REJECTED
        world.outputs.rejected(
            job_id=record.id,
            profile=record.profile,
            submission=record.submission,
            units=record.units,
            walltime=record.walltime,
            metadata=record.metadata,
        )
        world.forget(record)

    def _kill(self, decision: d.Kill) -> None:
        world = self._world
        progress: dict[str, dict[str, Any]] = {}
        killed: list[e.JobCompleted] = []
        unreported = {event.job_id for event in world.untold() if isinstance(event, e.JobCompleted)}
        for job_id in decision.job_ids:
            record = world.records.get(job_id)
            if record is None and job_id in unreported:
                continue  # It ended by itself, and the peer could not know yet.
            if record is None or record.state is not JobState.RUNNING or record.allocation is None:
                raise self._refusal(f"KILL_JOB: job {job_id} does not run: it is {self._state_of(job_id)}")
            execution = record.execution
            code = -1
            if execution is None:
                length = record.profiles[record.profile]["delay"]
                part = min((world.now - record.start) / length, 1.0)
                progress[job_id] = {"profile_name": record.profile, "progress": part}
            else:
                progress[job_id], active = execution.stop(world.now)
                # Batsim's codes: -2 for a parallel task, -1 for anything else.
                code = -2 if active else -1
            killed.append(world.end(record, JobState.COMPLETED_KILLED, code))
        world.tell(*killed, e.JobsKilled(world.now, list(decision.job_ids), progress))

    def _call_later(self, decision: d.CallMeLater) -> None:
        world = self._world
        # Batsim keeps the moment as it was said; without its messages, the engine's clock counts microseconds.
        at = round(decision.at, 6) if world.mail is None else decision.at
        if not world.now < at < math.inf:
            raise self._refusal(f"CALL_ME_LATER: asked for {decision.at:.6f} s, which is not later than now")
        world.calls += 1
        world.schedule(at, world.call, decision.call_id)

    def _need_dynamic(self, what: str) -> None:
        world = self._world
        if not world.options.dynamic_jobs:
            raise self._refusal(f"{what}: dynamic registration is not enabled (--enable-dynamic-jobs)")

    def _register_profile(self, decision: d.RegisterProfile) -> None:
        world = self._world
        self._need_dynamic("REGISTER_PROFILE")
        where = f"{decision.workload}!{decision.name}"
        known = world.profiles.setdefault(decision.workload, {})
        if decision.name in known and known[decision.name] != decision.profile:
            raise self._refusal(f"REGISTER_PROFILE: profile {where} exists already and is another")
        kind = decision.profile.get("type")
        if kind == "composed":
            raise self._refusal(f"REGISTER_PROFILE: profile {where}: Batsim 4.2.1 crashes on dynamic composed profiles")
        try:
            check_profile(decision.name, decision.profile)
            check_timed(
                decision.name,
                ChainMap[str, Any](known, {decision.name: decision.profile}),
                set(),
                traces=world.traces,
                timer=world.timer,
            )
        except InputError as problem:
            raise self._refusal(f"REGISTER_PROFILE: {problem}") from None
        known[decision.name] = decision.profile

    def _register_job(self, decision: d.RegisterJob) -> None:
        world = self._world
        self._need_dynamic("REGISTER_JOB")
        job = decision.job
        workload, mark, _ = job.id.partition("!")
        if not mark or job.id in world.records or job.id in world.finished:
            raise self._refusal(f"REGISTER_JOB: job {job.id} exists already or is not named workload!name")
        if job.profile not in world.profiles.get(workload, {}):
            raise self._refusal(f"REGISTER_JOB: job {job.id}: workload {workload!r} has no profile {job.profile!r}")
        # The peer's object is its own, as it would be behind a socket.
        copy = msgspec.structs.replace(job, walltime=round(job.walltime, 6), extra=dict(job.extra))
        world.submit(copy, tell=world.options.acknowledge_dynamic_jobs)

    def _set_metadata(self, decision: d.SetMetadata) -> None:
        world = self._world
        record = world.records.get(decision.job_id)
        if record is None or '"' in decision.metadata:
            raise self._refusal(
                f"SET_JOB_METADATA: job {decision.job_id} is {self._state_of(decision.job_id)}, or the "
                "text has double quotes"
            )
        record.metadata = decision.metadata

    def _send_message(self, decision: d.SendMessage) -> None:
        world = self._world
        record = world.records.get(decision.job_id)
        if record is None or record.state is not JobState.RUNNING:
            raise self._refusal(
                f"TO_JOB_MSG: job {decision.job_id} does not run: it is {self._state_of(decision.job_id)}"
            )
        if record.execution is not None:
            record.execution.inbox.append(decision.message)
            poll = record.execution.next_poll(world.now)
            if poll < math.inf:
                world.plan(record, poll)

    def _change_state(self, decision: d.ChangeState) -> None:
        world = self._world
        record = world.records.get(decision.job_id)
        if record is None or record.allocation is not None or decision.state not in ("SUBMITTED", "RUNNING"):
            raise self._refusal(
                f"CHANGE_JOB_STATE: job {decision.job_id} ({self._state_of(decision.job_id)}) cannot become "
                f"{decision.state!r}: "
                "only a job that was not executed, and only SUBMITTED or RUNNING"
            )
        record.state = JobState(decision.state)

    def _finish_registration(self, decision: d.FinishRegistration) -> None:
        world = self._world
        self._need_dynamic("NOTIFY registration_finished")
        world.registering = False

    def _continue_registration(self, decision: d.ContinueRegistration) -> None:
        world = self._world
        self._need_dynamic("NOTIFY continue_registration")
        world.registering = True

    def _stop(self, decision: d.StopSimulation) -> None:
        world = self._world
        running = [record.id for record in world.records.values() if record.state is JobState.RUNNING]
        if running:
            raise self._refusal(f"the simulation cannot end while jobs run, of which {running[0]} is one")
        world.stopped = True

    def _call_every(self, decision: d.CallEvery) -> None:
        world, name = self._world, decision.call_id

        def telling(last: bool) -> e.Event:
            return e.RequestedCall(world.now, name, last)

        self._begin_periodic("call", name, decision.period, decision.times, telling)

    def _create_probe(self, decision: d.CreateProbe) -> None:
        world, name, hosts, aggregate = self._world, decision.probe_id, decision.hosts, decision.aggregate
        facet = self._facet(f"probe {name!r}")
        if not hosts.mask or hosts.mask >> len(world.machine.hosts):
            last = len(world.machine.hosts) - 1
            raise self._refusal(f"hosts {str(hosts)!r} of probe {name!r} are not all in the platform: 0-{last}")

        def telling(last: bool) -> e.Event:
            return e.ProbeData(world.now, name, hosts, facet.probed(hosts, aggregate, world.now), aggregate)

        self._begin_periodic("probe", name, decision.period, decision.times, telling)

    def _begin_periodic(self, kind: str, name: str, period: float, times: int | None, telling: EventMaker) -> None:
        ticker = self._world.ticker
        problem = ticker.periods.problem(kind, name, period, times)
        if problem is not None:
            raise self._refusal(problem)
        ticker.begin(kind, name, period, times, telling)

    def _stop_periodic(self, kind: str, name: str) -> None:
        if not self._world.ticker.stop(kind, name):
            raise self._refusal(f"there is no {kind} {name!r} that comes again and again")

    def _set_state(self, decision: d.SetResourceState) -> None:
        world, facet = self._world, self._facet("SET_RESOURCE_STATE")
        problem = facet.why_not_set(world, decision)
        if problem is not None:
            raise self._refusal(f"SET_RESOURCE_STATE: {problem}")
        facet.set_state(world, decision)

    def _query_energy(self, decision: d.QueryEnergy) -> None:
        world = self._world
        world.told.append(e.EnergyAnswer(world.now, self._facet("QUERY").consumed(world.now)))

    def _facet(self, what: str) -> EngineFacet:
        if self._world.facet is None:
            raise self._refusal(f"{what}: energy is not simulated in this run (--energy)")
        return self._world.facet
