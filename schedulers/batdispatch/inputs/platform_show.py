"""What people ask of a platform; nothing large is imported, so that help is quick."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec

from batdispatch.core.line.settings import Form, roles_of
from batdispatch.core.questions import Answer, Question


class ShowOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a platform is read.

    master_host: Keep this host for Batsim itself. The default is master_host, if there is one.
    roles: Give a host a role (storage, compute_node), as Batsim's -r does.
    batsim: Number hosts as this version of Batsim does.
    batsim_arguments: Print only what Batsim needs to see the same roles.
    """

    master_host: Annotated[str | None, Form("NAME")] = None
    roles: Annotated[dict[str, str], Form("HOST:ROLE", name="--role", gather=roles_of)] = {}
    batsim: Literal["4", "5"] = "4"
    batsim_arguments: bool = False


def show(reading: ShowOptions, path: Annotated[Path, Form("P.xml")]) -> Answer:
    """Print what a platform has: hosts, classes with capacities, topology, storage, master, totals.

    \b
    Examples:
      batdispatch platform show eurora.xml
      batdispatch platform show cluster.xml --master-host n0 --role pfs:storage --json
      batsim $(batdispatch platform show torus.xml --batsim-arguments) -w W.json
    """
    import shlex

    from batdispatch.inputs.platforms import read_platform
    from batdispatch.inputs.platforms.summary import as_text, summarise

    platform = read_platform(
        path, master=reading.master_host, roles=reading.roles, batsim=5 if reading.batsim == "5" else 4
    )
    if reading.batsim_arguments:
        return Answer(None, [shlex.join(platform.batsim_arguments())])
    facts = summarise(platform)
    return Answer(facts, [as_text(facts)])


QUESTION = Question("show", show, "Print everything as JSON.")
