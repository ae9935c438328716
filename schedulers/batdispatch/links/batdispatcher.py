"""Any dispatcher inside pybatsim's own launcher.

``pybatsim`` takes the path of this file and finds the class of the same name in it::

    pybatsim "$(python -m batdispatch.links.batdispatcher_path)" -o '{"dispatcher": "easy"}'

This module imports pybatsim, so only the launcher (or who has it) can import it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, NoReturn

from batsim.batsim import BatsimScheduler, Job

from batdispatch.batsim import v4
from batdispatch.batsim.v4.jobs import write_job
from batdispatch.batsim.v4.replies import execute_fields
from batdispatch.core.errors import BatdispatchError, InputError
from batdispatch.core.line import decisions as d
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.messages import Peer
from batdispatch.core.line.session import Session
from batdispatch.links.platform_peer import informed_by


class Batdispatcher(BatsimScheduler):  # type: ignore[misc]
    """A pybatsim scheduler that asks one of our dispatchers.

    Options (pybatsim's ``-o``): ``dispatcher`` (name, module:Class or file.py:Class), ``options`` (of the dispatcher),
    ``seed``, ``decision_time`` ("none", "measured" or seconds), ``platform`` (the file that Batsim was started with,
    for what Batsim does not tell), ``master_host`` and ``roles`` (host -> role), as Batsim was told.

    Events are read from the frames themselves, decoded as `serve` decodes them: pybatsim's callbacks tell neither the
    time of each event nor jobs that ended before a kill. Decisions go through pybatsim's methods, so that its counters
    and job objects stay right. pybatsim's ``--protect`` forwards only some callbacks and cannot be used (the ledger
    checks more than it does).
    """

    def __init__(self, options: dict[str, Any] | None = None) -> None:
        super().__init__(options or {})
        self._frame: bytes | None = None
        self._batsim: Any = None
        try:
            self._peer = _peer(self.options)
        except BatdispatchError as problem:
            _stop(problem)

    @property
    def bs(self) -> Any:
        """Pybatsim's side of the exchange."""
        return self._batsim

    @bs.setter
    def bs(self, batsim: Any) -> None:
        self._batsim = batsim
        receive: Callable[..., str | None] = batsim.network.recv_string

        def receive_and_keep(blocking: bool = False) -> str | None:
            text = receive(blocking=blocking)
            self._frame = None if text is None else text.encode()
            return text

        # pybatsim assigns `bs` before it reads the first message, so no frame is missed.
        batsim.network.recv_string = receive_and_keep

    def onSimulationBegins(self) -> None:
        """Refuse a launcher that hides the frames."""
        if self._frame is None:
            _stop(InputError("pybatsim's --protect hides events from schedulers: run without it"))

    def onNoMoreEvents(self) -> None:
        """Decide: called once a message, after its events."""
        assert self._frame is not None
        try:
            reply = self._peer.handle(v4.decode_message(self._frame))
            # Refuses what Batsim would refuse, before pybatsim writes it without looking.
            v4.encode_reply(reply)
        except BatdispatchError as problem:
            _stop(problem)
        for decision in reply.decisions:
            self._advance(decision.time)
            _CARRY_OUT[type(decision)](self._batsim, decision)
        self._advance(reply.now)

    def _advance(self, time: float) -> None:
        if time > self._batsim.time():
            self._batsim.consume_time(time - self._batsim.time())

    def _heard(self, *told: Any) -> None:
        """Ignore a callback: its event is read from the frame."""

    onJobSubmission = onJobCompletion = onJobMessage = onJobsKilled = onMachinePStateChanged = _heard
    onReportEnergyConsumed = onRequestedCall = onNoMoreJobsInWorkloads = onNoMoreExternalEvents = _heard
    onNotifyEventMachineUnavailable = onNotifyEventMachineAvailable = onNotifyGenericEvent = _heard


def _peer(options: dict[str, Any]) -> Peer:
    known = ("dispatcher", "options", "seed", "decision_time", "platform", "master_host", "roles")
    for name in options:
        if name not in known:
            raise InputError(f"option {name!r}: expected {', '.join(known)}", source="pybatsim's --options")
    name, settings, seed = options.get("dispatcher", "fcfs"), options.get("options", {}), options.get("seed", 0)
    if type(name) is not str or type(settings) is not dict or type(seed) is not int or seed < 0:
        raise InputError(
            'expected {"dispatcher": name, "options": {...}, "seed": whole number}', source="pybatsim's --options"
        )
    decision_time = _decision_time(options.get("decision_time", "none"))
    session = Session(create(name, settings, seed), decision_time=decision_time, clock=perf_counter)
    platform, master, roles = options.get("platform"), options.get("master_host"), options.get("roles", {})
    if platform is None:
        if master is not None or roles:
            raise InputError("options master_host and roles need platform", source="pybatsim's --options")
        return session
    if type(platform) is not str or type(master) not in (str, type(None)) or type(roles) is not dict:
        raise InputError(
            'expected {"platform": file, "master_host": name, "roles": {name: role}}', source="pybatsim's --options"
        )
    return informed_by(Path(platform), session, master=master, roles=roles)


def _decision_time(value: Any) -> float | None:
    if value == "measured":
        return None
    if value == "none":
        return 0.0
    if type(value) in (int, float) and 0 <= value < math.inf:
        return float(value)
    raise InputError(
        f"option decision_time: found {value!r}, expected none, measured or seconds", source="pybatsim's --options"
    )


def _stop(problem: BatdispatchError) -> NoReturn:
    # pybatsim's launcher catches nothing: without this a wrong option would end in a traceback.
    print(f"batdispatch: error: {problem}", file=sys.stderr)
    raise SystemExit(2 if isinstance(problem, InputError) else 1)


def _execute(batsim: Any, decision: d.Execute) -> None:
    job = batsim.jobs[decision.job_id]
    job.allocation = decision.allocation.hosts
    fields = execute_fields(decision)
    for name in ("mapping", "storage_mapping"):
        if name in fields:
            setattr(job, name, fields[name])
    io_job = fields.get("additional_io_job")
    batsim.execute_jobs([job], None if io_job is None else {job.id: io_job})


def _register_job(batsim: Any, decision: d.RegisterJob) -> None:
    job = decision.job
    walltime = -1 if job.walltime == math.inf else job.walltime
    registered = batsim.register_job(job.id, job.units, walltime, job.profile, job.submission)
    # The dict that pybatsim is about to send: it has no parameter for further fields.
    registered.json_dict.update(write_job(job))
    if walltime == -1:
        del registered.json_dict["walltime"]


_CARRY_OUT: dict[type, Callable[[Any, Any], Any]] = {
    d.Execute: _execute,
    d.Reject: lambda batsim, one: batsim.reject_jobs_by_id([one.job_id]),
    d.Kill: lambda batsim, one: batsim.kill_jobs([batsim.jobs[job_id] for job_id in one.job_ids]),
    d.CallMeLater: lambda batsim, one: batsim.wake_me_up_at(one.at),
    d.RegisterProfile: lambda batsim, one: batsim.register_profiles(one.workload, {one.name: one.profile}),
    d.RegisterJob: _register_job,
    d.SetResourceState: lambda batsim, one: batsim.set_resource_state(one.hosts.hosts, one.state),
    d.QueryEnergy: lambda batsim, one: batsim.request_consumed_energy(),
    d.SetMetadata: lambda batsim, one: batsim.set_job_metadata(one.job_id, one.metadata),
    d.SendMessage: lambda batsim, one: batsim.send_message_to_job(batsim.jobs[one.job_id], one.message),
    d.ChangeState: lambda batsim, one: batsim.change_job_state(batsim.jobs[one.job_id], Job.State[one.state]),
    d.FinishRegistration: lambda batsim, one: batsim.notify_registration_finished(),
    d.ContinueRegistration: lambda batsim, one: batsim.notify_registration_continue(),
}
