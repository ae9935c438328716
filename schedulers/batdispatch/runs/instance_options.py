"""What people state of saved dispatching instances; nothing large is imported, so that help is quick."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from batdispatch.core.line.settings import Form
from batdispatch.runs.spec import Seconds, Seed

_Count = Annotated[int, Meta(ge=1)]


class SaveOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Which instances of a run are saved.

    prediction: Expect run times by this prediction. The default is that of the run.
    least: Leave out instances of fewer jobs.
    window: Take at most this many jobs of the queue into an instance.
    most: Keep at most this many instances, evenly chosen.
    """

    prediction: Annotated[str | None, Form("NAME")] = None
    least: _Count = 2
    window: _Count = 100
    most: _Count = 1000


class SolveOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How instances are solved.

    models: Solve with these models.
    work: Give each solve this many seconds of the solver's deterministic time.
    wall: Stop a solve after this many seconds of the wall clock.
    seed: Seed the solver with this number.
    """

    models: str = "search-rule,best-list,positions,node-wise,pooled"
    work: Seconds = 1.0
    wall: Seconds = 16.0
    seed: Seed = 0
