"""How runs are checked, as people state it; nothing large is imported, so that help is quick."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from batdispatch.core.line.settings import Form, roles_of

#: When a run's dispatcher decides again; ``auto``: unless that runs a source file, which may be a stranger's.
When = Literal["auto", "always", "never"]


class CheckOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How runs are checked.

    platform: Read this platform. The default is the one that result.json names.
    workload: Read this workload. The default is the one that result.json names.
    master_host: Take this host for the one that carries Batsim. The default is what result.json says.
    roles: Give a host a role (storage, compute_node), as Batsim's -r does.
    events: Read these external events. The default is the file that result.json names.
    replay: Make each run again, and compare: its dispatcher answers the recorded messages, or the run is simulated
        again. auto: unless that runs a source file. always: source files, too, and without a budget if none is given.
    budget: Make runs again for this long at most, all together, by the wall's clock. The default is 600; with --replay
        always there is none.
    sample: Look at N runs only, drawn at random. Tables over all runs are checked in any case.
    seed: Draw the sample with this number. By default it is drawn anew each time, so that nobody can foresee it, and
        printed.
    limit: Show at most this many violations of each kind.
    """

    platform: Annotated[Path | None, Form("P.xml")] = None
    workload: Annotated[Path | None, Form("W.json")] = None
    master_host: Annotated[str | None, Form("NAME")] = None
    roles: Annotated[dict[str, str], Form("HOST:ROLE", name="--role", gather=roles_of)] = {}
    events: Annotated[Path | None, Form("FILE")] = None
    replay: When = "auto"
    budget: Annotated[Annotated[float, Meta(ge=0)] | None, Form("SECONDS")] = None
    sample: Annotated[Annotated[int, Meta(ge=1)] | None, Form("N")] = None
    seed: Annotated[Annotated[int, Meta(ge=0)] | None, Form("N")] = None
    limit: Annotated[int, Meta(ge=1)] = 20
