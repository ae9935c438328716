"""The typed shape of what a decision component answers to Batsim 5.

Batsim reads replies with a schema, so no fields beyond it may be there.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from batdispatch.batsim.shapes import Count, Fields, Name, Nothing, Time
from batdispatch.batsim.v5.shapes import HelloData, JobData, ProfileData, Timed

#: Executors go round the hosts, or fill the cores of one host after the other: alike on hosts of one core.
PREDEFINED = "PredefinedExecutorPlacementStrategyWrapper"
CUSTOM = "CustomExecutorToHostMapping"


class PlacementData(msgspec.Struct, forbid_unknown_fields=True):
    """Executors on hosts: a strategy with a name, or for each executor the index of its host in the allocation."""

    strategy: Literal["SpreadOverHostsFirst", "FillOneHostCoresFirst"] = "SpreadOverHostsFirst"
    mapping: list[Count] | None = None


class AllocationData(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Hosts and how executors are placed on them."""

    host_allocation: str
    executor_placement_type: Literal["PredefinedExecutorPlacementStrategyWrapper", "CustomExecutorToHostMapping"]
    executor_placement: PlacementData = msgspec.field(default_factory=PlacementData)


class OverrideData(AllocationData, forbid_unknown_fields=True, kw_only=True):
    """Other hosts for one profile of a job."""

    profile_id: Name


class StorageData(msgspec.Struct, forbid_unknown_fields=True):
    """The host behind a storage label."""

    storage_name: Name
    host_id: Count = 0


class ExecuteData(msgspec.Struct, forbid_unknown_fields=True):
    """Data of ExecuteJobEvent."""

    job_id: Name
    allocation: AllocationData
    profile_allocation_override: list[OverrideData] = []
    storage_placement: list[StorageData] = []


class RejectData(msgspec.Struct, forbid_unknown_fields=True):
    """Data of RejectJobEvent."""

    job_id: Name


class KillData(msgspec.Struct, forbid_unknown_fields=True):
    """Data of KillJobsEvent."""

    job_ids: list[Name]


class WhenData(msgspec.Struct):
    """A moment in whole units, or (refused) a period."""

    time: int = 0
    time_unit: Literal["Second", "Millisecond"] = "Second"


class CallData(msgspec.Struct, forbid_unknown_fields=True):
    """Data of CallMeLaterEvent."""

    call_me_later_id: str
    when_type: Literal["OneShot", "Periodic"]
    when: WhenData


class StopCallData(msgspec.Struct, forbid_unknown_fields=True):
    """Data of StopCallMeLaterEvent."""

    call_me_later_id: str


class RegisterProfileData(msgspec.Struct, forbid_unknown_fields=True):
    """Data of RegisterProfileEvent."""

    profile: ProfileData


class RegisterJobData(msgspec.Struct, forbid_unknown_fields=True):
    """Data of RegisterJobEvent."""

    job_id: Name
    job: JobData


class PStateData(msgspec.Struct, forbid_unknown_fields=True):
    """Data of ChangeHostsPStateEvent."""

    host_ids: str
    pstate: Count = 0


class OnOffData(msgspec.Struct, forbid_unknown_fields=True):
    """Data of TurnOnOffHostsEvent: state 0 is on, 1 is off."""

    host_ids: str
    state: Literal[0, 1] = 0


class ExecuteJob(Timed, tag="ExecuteJobEvent", kw_only=True):
    """ExecuteJobEvent."""

    event: ExecuteData


class RejectJob(Timed, tag="RejectJobEvent", kw_only=True):
    """RejectJobEvent."""

    event: RejectData


class KillJobs(Timed, tag="KillJobsEvent", kw_only=True):
    """KillJobsEvent."""

    event: KillData


class CallMeLater(Timed, tag="CallMeLaterEvent", kw_only=True):
    """CallMeLaterEvent."""

    event: CallData


class StopCallMeLater(Timed, tag="StopCallMeLaterEvent", kw_only=True):
    """StopCallMeLaterEvent."""

    event: StopCallData


class RegisterProfile(Timed, tag="RegisterProfileEvent", kw_only=True):
    """RegisterProfileEvent."""

    event: RegisterProfileData


class RegisterJob(Timed, tag="RegisterJobEvent", kw_only=True):
    """RegisterJobEvent."""

    event: RegisterJobData


class FinishRegistration(Timed, tag="FinishRegistrationEvent"):
    """FinishRegistrationEvent."""

    event: Nothing = Nothing()


class ForceStop(Timed, tag="ForceSimulationStopEvent"):
    """ForceSimulationStopEvent."""

    event: Nothing = Nothing()


class ChangeHostsPState(Timed, tag="ChangeHostsPStateEvent", kw_only=True):
    """ChangeHostsPStateEvent."""

    event: PStateData


class TurnOnOffHosts(Timed, tag="TurnOnOffHostsEvent", kw_only=True):
    """TurnOnOffHostsEvent."""

    event: OnOffData


class CreateProbe(Timed, tag="CreateProbeEvent"):
    """CreateProbeEvent, which is refused."""

    event: Fields = {}


class StopProbe(Timed, tag="StopProbeEvent"):
    """StopProbeEvent, which is refused."""

    event: Fields = {}


class TriggerProbe(Timed, tag="TriggerProbeEvent"):
    """TriggerProbeEvent, which is refused."""

    event: Fields = {}


class ResetProbe(Timed, tag="ResetProbeEvent"):
    """ResetProbeEvent, which is refused."""

    event: Fields = {}


class Hello(Timed, tag="EDCHelloEvent", kw_only=True):
    """EDCHelloEvent, which belongs to the handshake."""

    event: HelloData


EdcEvent = (
    ExecuteJob
    | RejectJob
    | KillJobs
    | CallMeLater
    | StopCallMeLater
    | RegisterProfile
    | RegisterJob
    | FinishRegistration
    | ForceStop
    | ChangeHostsPState
    | TurnOnOffHosts
    | CreateProbe
    | StopProbe
    | TriggerProbe
    | ResetProbe
    | Hello
)


class EdcFrame(msgspec.Struct):
    """A frame from a decision component."""

    events: list[EdcEvent]
    now: Time = 0.0
