"""Shapes of data that both directions of batprotocol have. A field that has its default value may be printed or not."""

from __future__ import annotations

import msgspec

from batdispatch.batsim.shapes import Fields, Name


class JobData(msgspec.Struct):
    """A job; its user's own fields travel as JSON text in `extra_data`."""

    profile_id: Name
    resource_request: int = 0
    walltime: float | None = None
    extra_data: str | None = ""
    rigid: bool = True


class ProfileData(msgspec.Struct):
    """A profile: its id ``workload!name``, its type, and fields that depend on the type."""

    id: Name
    profile_type: Name
    profile: Fields = {}
    extra_data: str | None = ""


class ConstraintData(msgspec.Struct):
    """What a decision component says that it heeds. Batsim 5.0.0-rc2 reads it and checks nothing."""

    compute_sharing: bool = False


class HelloData(msgspec.Struct):
    """Data of EDCHelloEvent."""

    batprotocol_version: str
    decision_component_name: str
    decision_component_version: str
    #: Batsim 5.0.0-rc2 crashes without this and the features.
    decision_component_commit: str
    requested_simulation_features: Fields
    scheduling_constraints: ConstraintData = msgspec.field(default_factory=ConstraintData)
