"""What a decision process asks of the simulator before it starts."""

from __future__ import annotations

import msgspec


class Features(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Batsim 5's ``requested_simulation_features``, with its names; Batsim 4 has options for them instead."""

    #: Jobs and profiles may be registered; the simulation then goes on until the registration is finished.
    dynamic_registration: bool = False
    #: A profile stays known when the last job that uses it has ended.
    profile_reuse: bool = False
    #: Registered jobs are announced like all others.
    acknowledge_dynamic_jobs: bool = False
    forward_profiles_on_job_submission: bool = False
    forward_profiles_on_jobs_killed: bool = False
    forward_profiles_on_simulation_begins: bool = False
    #: Asked for by schedulers of Batsim 5's pre-releases; later ones forward every external event.
    forward_unknown_external_events: bool = False


def features_for(*, registers_jobs: bool) -> Features:
    """Return what a dispatcher needs to be told: every profile at the beginning, its own jobs when it registers any."""
    return Features(
        dynamic_registration=registers_jobs,
        profile_reuse=registers_jobs,
        acknowledge_dynamic_jobs=registers_jobs,
        forward_profiles_on_simulation_begins=True,
    )
