"""A recorded exchange, of Batsim 4 or 5, as messages and replies in Batsim 4's words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from batdispatch.audit.findings import TOLERANCE
from batdispatch.audit.hosts import Ints
from batdispatch.audit.workload import read_extra
from batdispatch.core.errors import InputError

#: Batsim 5's events of machines in the data of a generic external event -> Batsim 4's notifications.
_OUTAGES = {"machine_unavailable": "event_machine_unavailable", "machine_available": "event_machine_available"}


class Event(msgspec.Struct):
    """An event or a decision: ``{timestamp, type, data}``."""

    timestamp: float
    type: str
    data: dict[str, Any] = {}


class Frame(msgspec.Struct):
    """A message or a reply; times in seconds."""

    now: float
    events: list[Event]


class Exchange(NamedTuple):
    """A message and the reply to it, by the line of the message, from 1."""

    line: int
    #: None: it is the handshake of Batsim 5, whose answer says which features were asked for.
    message: Frame | None
    #: None: the recording ends before it.
    reply: Frame | None


class Clock(NamedTuple):
    """Whether what is decided happens at its moment (`exact`), and what happens is told at its moment."""

    exact: bool

    def slack(self, told: int) -> float:
        """Return by how many seconds something may happen later than it was decided, or be told later than it was.

        Batsim's messages take time on the platform's links, each event and each decision of a message some more.

        Args:
            told: number of events, or of decisions, in the message.
        """
        return TOLERANCE if self.exact else 0.05 + 2e-3 * told


class Outage(NamedTuple):
    """Hosts that went away, or came back, from `earliest` to `latest`, in seconds."""

    earliest: float
    latest: float
    back: bool
    mask: int

    def __str__(self) -> str:
        hosts = [bit for bit in range(self.mask.bit_length()) if self.mask >> bit & 1]
        shown = ", ".join(map(str, hosts[:10])) + (", ..." if len(hosts) > 10 else "")
        return f"that hosts {shown} {'came back' if self.back else 'went away'} at {self.latest:.6f} s"


class Silence(NamedTuple):
    """A time in which nothing runs, no call is due, and jobs wait: from `since` to `until`, in seconds.

    Attributes:
        waiting: rows of the jobs that wait, in order of arrival.
        away: the hosts that are away, as the bits of a number.
    """

    since: float
    until: float
    waiting: Ints
    away: int


class _Event5(msgspec.Struct):
    event_type: str
    timestamp: float = 0.0
    event: dict[str, Any] = {}


class _Frame5(msgspec.Struct):
    events: list[_Event5]
    now: float = 0.0


class _Line(msgspec.Struct):
    dir: str
    raw: str | dict[str, Any]


_line = msgspec.json.Decoder(_Line).decode
_frame4, _frame5 = msgspec.json.Decoder(Frame).decode, msgspec.json.Decoder(_Frame5).decode


def read_exchanges(path: Path) -> Iterator[Exchange]:
    """Yield the exchanges of a recording, one at a time.

    Raises:
        InputError: a line is no frame, or messages and replies do not alternate.
        OSError: the file cannot be read.
    """
    pending, number = None, 0
    with path.open("rb") as file:
        for number, text in enumerate(file, start=1):
            try:
                sender, frame = _read(text)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, KeyError, TypeError) as problem:
                raise InputError(f"is no frame: {problem!r}", source=str(path), place=f"line {number}") from None
            if (sender == "batsim") != (pending is None):
                raise InputError("messages and replies do not alternate", source=str(path), place=f"line {number}")
            if pending is None:
                pending = Exchange(number, frame, None)
            else:
                yield pending._replace(reply=frame)
                pending = None
    if not number:
        raise InputError("is empty", source=str(path))
    if pending is not None:
        yield pending


def _read(text: bytes) -> tuple[str, Frame | None]:
    """Return who sent a frame, and what it says; the message of a handshake says nothing."""
    line = _line(text)
    sender, _, receiver = line.dir.partition("->")
    if isinstance(line.raw, dict):
        hello = _frame5(str(line.raw["message"])) if "message" in line.raw else None
        return sender, None if hello is None else Frame(0.0, [Event(0.0, "HELLO", one.event) for one in hello.events])
    if "edc" not in (sender, receiver):
        return sender, _frame4(line.raw)
    found = _frame5(line.raw.rstrip("\0"))
    return sender, Frame(found.now, [_FROM_5[one.event_type](one) for one in found.events if one.event_type in _FROM_5])


def told_hosts(begins: Event) -> tuple[list[str], int]:
    """Return the names of the hosts that a simulation begins with by id, and how many of them compute.

    Raises:
        InputError: the ids have holes, or the counts are not those of the lists.
    """
    data = begins.data
    compute, storage = data["compute_resources"], data["storage_resources"]
    listed = sorted([*compute, *storage], key=lambda host: int(host.get("id", 0)))
    if [host.get("id", 0) for host in listed] != list(range(len(listed))):
        raise InputError("the hosts that are told have no ids 0, 1, 2, ...")
    if (data["nb_compute_resources"], data["nb_storage_resources"]) != (len(compute), len(storage)):
        raise InputError("another number of hosts is told than are listed")
    return [str(host["name"]) for host in listed], len(compute)


# ---------------------------------------------------------------------- Batsim 5's words in Batsim 4's


def _begins(data: dict[str, Any]) -> dict[str, Any]:
    profiles: dict[str, dict[str, Any]] = {}
    for one in data.get("profiles", ()):
        workload, _, name = one["id"].partition("!")
        profiles.setdefault(workload, {})[name] = _profile(one)
    return {
        "nb_compute_resources": data.get("computation_host_number", 0),
        "nb_storage_resources": data.get("storage_host_number", 0),
        "compute_resources": data.get("computation_hosts", []),
        "storage_resources": data.get("storage_hosts", []),
        "profiles": profiles,
        "config": {},
    }


def _profile(one: dict[str, Any]) -> dict[str, Any]:
    """Return a profile in the words of Batsim 5's workloads, which the audit reads, too."""
    fields = dict(one.get("profile", {}))
    workload = one["id"].partition("!")[0]
    if "profile_ids" in fields:
        fields["seq"] = [name.removeprefix(f"{workload}!") for name in fields.pop("profile_ids")]
        fields["repeat"] = fields.pop("repetition_count", 1)
    return {"type": one["profile_type"], **fields, **read_extra(one.get("extra_data"))}


def _job(data: dict[str, Any], submission: float) -> dict[str, Any]:
    """Return a job that is submitted or registered, with the fields that Batsim 5 only hands on."""
    told = data["job"]
    workload = data["job_id"].partition("!")[0]
    fields = {
        "id": data["job_id"],
        "subtime": submission,
        "res": told.get("resource_request", 0),
        "profile": told["profile_id"].removeprefix(f"{workload}!"),
        **read_extra(told.get("extra_data")),
    }
    if told.get("walltime") is not None:
        fields["walltime"] = told["walltime"]
    return {"job_id": data["job_id"], "job": fields}


def _completed(data: dict[str, Any]) -> dict[str, Any]:
    """Return the end of a job, in Batsim 4's form."""
    code = data.get("return_code", 0)
    # Batsim 5 writes codes without a sign.
    code = code - 2**32 if code >= 2**31 else code
    return {"job_id": data["job_id"], "job_state": data.get("state", "COMPLETED_SUCCESSFULLY"), "return_code": code}


def _external(event: _Event5) -> Event:
    """Return an event of the file of external events as a notification."""
    fields = read_extra(event.event.get("external_event", {}).get("data"))
    kind = _OUTAGES.get(str(fields.get("type")), "generic")
    return Event(event.timestamp, "NOTIFY", {**fields, "type": kind})


def _execute(data: dict[str, Any]) -> dict[str, Any]:
    where = data["allocation"]
    mapping = where.get("executor_placement", {}).get("mapping")
    found = {"job_id": data["job_id"], "alloc": where["host_allocation"]}
    return found if mapping is None else {**found, "mapping": dict(enumerate(mapping))}


def _registered(data: dict[str, Any]) -> dict[str, Any]:
    workload, _, name = data["profile"]["id"].partition("!")
    return {"workload_name": workload, "profile_name": name, "profile": _profile(data["profile"])}


def _call(when: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": when["time"] / (1000 if when.get("time_unit") == "Millisecond" else 1)}


def _as(kind: str, read: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[_Event5], Event]:
    return lambda event: Event(event.timestamp, kind, read(event.event))


#: Batsim 5's type -> what makes the event one of Batsim 4's.
_FROM_5: dict[str, Callable[[_Event5], Event]] = {
    "SimulationBeginsEvent": _as("SIMULATION_BEGINS", _begins),
    "JobSubmittedEvent": _as("JOB_SUBMITTED", lambda data: _job(data, data.get("submission_time", 0.0))),
    "JobCompletedEvent": _as("JOB_COMPLETED", _completed),
    "RequestedCallEvent": _as("REQUESTED_CALL", dict),
    "AllStaticJobsHaveBeenSubmittedEvent": _as("NOTIFY", lambda _: {"type": "no_more_static_job_to_submit"}),
    "ExternalEventOccurredEvent": _external,
    "SimulationEndsEvent": _as("SIMULATION_ENDS", dict),
    "ExecuteJobEvent": _as("EXECUTE_JOB", _execute),
    "RejectJobEvent": _as("REJECT_JOB", dict),
    "KillJobsEvent": _as("KILL_JOB", dict),
    "CallMeLaterEvent": _as("CALL_ME_LATER", lambda data: _call(data["when"])),
    "RegisterProfileEvent": _as("REGISTER_PROFILE", _registered),
    "RegisterJobEvent": lambda event: Event(event.timestamp, "REGISTER_JOB", _job(event.event, event.timestamp)),
}
