"""The typed shape of what Batsim 5 sends. Fields beyond these are tolerated."""

from __future__ import annotations

import msgspec

from batdispatch.batsim.shapes import Count, Fields, Name, Nothing, Time
from batdispatch.batsim.v5.shapes import JobData, ProfileData, Timed
from batdispatch.core.jobs.job import JobState


class Property(msgspec.Struct):
    """A property of a host or of its zone."""

    key: str
    value: str = ""


class HostData(msgspec.Struct):
    """One host in SimulationBeginsEvent."""

    name: str
    id: Count = 0
    pstate: Count = 0
    pstate_count: Count = 1
    state: str = "IDLE"
    properties: list[Property] = []
    zone_properties: list[Property] = []
    core_count: Count = 1
    #: Flop/s of a core, by power state.
    computation_speed: list[float] = []


class WorkloadData(msgspec.Struct):
    """A workload and the file it was read from."""

    name: str
    filename: str = ""


class BeginsData(msgspec.Struct):
    """Data of SimulationBeginsEvent."""

    host_number: Count = 0
    computation_host_number: Count = 0
    computation_hosts: list[HostData] = []
    storage_host_number: Count = 0
    storage_hosts: list[HostData] = []
    batsim_arguments: list[str] = []
    batsim_execution_context_json: str = ""
    workloads: list[WorkloadData] = []
    profiles: list[ProfileData] = []
    batsim_version: str = ""
    batsim_commit: str = ""


class SubmittedData(msgspec.Struct):
    """Data of JobSubmittedEvent."""

    job_id: Name
    job: JobData
    submission_time: Time = 0.0
    profile: ProfileData | None = None


class CompletedData(msgspec.Struct):
    """Data of JobCompletedEvent. The return code is unsigned on the wire: -1 reads 4294967295."""

    job_id: Name
    state: JobState = JobState.COMPLETED_SUCCESSFULLY
    return_code: int = 0


class ProgressData(msgspec.Struct):
    """How far a killed job was."""

    job_id: Name
    wrapper: Fields


class KilledData(msgspec.Struct):
    """Data of JobsKilledEvent."""

    job_ids: list[Name]
    progresses: list[ProgressData] = []
    profiles: list[ProfileData] = []


class CalledData(msgspec.Struct):
    """Data of RequestedCallEvent."""

    call_me_later_id: str = ""
    last_periodic_call: bool = False


class ExternalData(msgspec.Struct):
    """Data of ExternalEventOccurredEvent."""

    id: str = ""
    external_event_type: str = "GenericExternalEvent"
    external_event: Fields = {}


class PStateData(msgspec.Struct):
    """Data of HostsPStateChangedEvent."""

    host_ids: str
    pstate: Count = 0


class OnOffData(msgspec.Struct):
    """Data of HostsTurnedOnOffEvent: state 0 is on, 1 is off."""

    host_ids: str
    state: Count = 0


class ErrorData(msgspec.Struct):
    """Data of SimulationErrorEvent."""

    error: str = ""


class SimulationBegins(Timed, tag="SimulationBeginsEvent", kw_only=True):
    """SimulationBeginsEvent."""

    event: BeginsData


class JobSubmitted(Timed, tag="JobSubmittedEvent", kw_only=True):
    """JobSubmittedEvent."""

    event: SubmittedData


class JobCompleted(Timed, tag="JobCompletedEvent", kw_only=True):
    """JobCompletedEvent."""

    event: CompletedData


class JobsKilled(Timed, tag="JobsKilledEvent", kw_only=True):
    """JobsKilledEvent."""

    event: KilledData


class RequestedCall(Timed, tag="RequestedCallEvent"):
    """RequestedCallEvent."""

    event: CalledData = msgspec.field(default_factory=CalledData)


class AllStaticJobs(Timed, tag="AllStaticJobsHaveBeenSubmittedEvent"):
    """AllStaticJobsHaveBeenSubmittedEvent."""

    event: Nothing = Nothing()


class AllExternalEvents(Timed, tag="AllStaticExternalEventsHaveBeenInjectedEvent"):
    """AllStaticExternalEventsHaveBeenInjectedEvent."""

    event: Nothing = Nothing()


class ExternalEvent(Timed, tag="ExternalEventOccurredEvent", kw_only=True):
    """ExternalEventOccurredEvent."""

    event: ExternalData


class HostsPStateChanged(Timed, tag="HostsPStateChangedEvent", kw_only=True):
    """HostsPStateChangedEvent."""

    event: PStateData


class HostsTurnedOnOff(Timed, tag="HostsTurnedOnOffEvent", kw_only=True):
    """HostsTurnedOnOffEvent."""

    event: OnOffData


class ProbeData(Timed, tag="ProbeDataEmittedEvent"):
    """ProbeDataEmittedEvent, which is refused: nothing of ours creates probes."""

    event: Fields = {}


class BatsimHello(Timed, tag="BatsimHelloEvent"):
    """BatsimHelloEvent, with which Batsim 5's pre-releases open an exchange."""

    event: Fields = {}


class SimulationError(Timed, tag="SimulationErrorEvent", kw_only=True):
    """SimulationErrorEvent."""

    event: ErrorData


class SimulationEnds(Timed, tag="SimulationEndsEvent"):
    """SimulationEndsEvent."""

    event: Nothing = Nothing()


BatsimEvent = (
    SimulationBegins
    | JobSubmitted
    | JobCompleted
    | JobsKilled
    | RequestedCall
    | AllStaticJobs
    | AllExternalEvents
    | ExternalEvent
    | HostsPStateChanged
    | HostsTurnedOnOff
    | ProbeData
    | BatsimHello
    | SimulationError
    | SimulationEnds
)


class BatsimFrame(msgspec.Struct):
    """A frame from Batsim."""

    events: list[BatsimEvent]
    now: Time = 0.0
