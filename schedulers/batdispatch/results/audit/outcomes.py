"""How the profiles of a run end by themselves, those that were registered while it ran included."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from typing import Any

from batdispatch.core.profiles import Outcome, outcome_of

Profiles = Mapping[str, Mapping[str, Any]]
_UNKNOWN = Outcome(None, None)


class Outcomes:
    """The outcomes of the profiles of a run, each worked out once."""

    def __init__(self, profiles: Profiles, registered: Mapping[str, Profiles]) -> None:
        """Take the profiles of the workload, and the registered ones by workload and name."""
        self._profiles = profiles
        self._registered = registered
        self._known: dict[tuple[str, str], Outcome] = {}

    def of(self, workload: str, name: str) -> Outcome:
        """Return how a job's profile ends; nothing is known of a profile that is not there."""
        mine = self._registered.get(workload, {})
        key = (workload if name in mine else "", name)
        if key not in self._known:
            profiles = ChainMap(dict(mine), dict(self._profiles)) if key[0] else self._profiles
            self._known[key] = outcome_of(profiles[name], profiles) if name in profiles else _UNKNOWN
        return self._known[key]
