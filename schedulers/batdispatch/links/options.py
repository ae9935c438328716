"""What people state of the two ends of Batsim's socket; nothing large is imported, so that help is quick."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from batdispatch.core.line.settings import BATSIM, Form, roles_of

#: Versions of Batsim's protocol, as `batdispatch.batsim.PROTOCOLS` has them.
Version = Literal["4", "5"]
#: Where a decision process listens, and a simulator connects, unless said.
ENDPOINT = "tcp://127.0.0.1:28000"
#: Default bound of a frame's size, in bytes. The first message lists every host and profile: 12 MB for 93,312 hosts.
MAX_MESSAGE = 256 * 2**20
#: Seconds without a message after which a peer counts as silent, unless said otherwise.
TIMEOUT = 600.0


class MachineFile(msgspec.Struct, frozen=True, kw_only=True):
    """The platform file that tells a dispatcher what Batsim does not.

    platform: Read the platform that Batsim was started with. The dispatcher then also knows what Batsim does not tell:
        coordinates, topology and routes, speeds. The file is checked against what Batsim says.
    master_host: Keep this host of --platform for Batsim itself, as Batsim's -m does; it is no resource. The default is
        master_host, if the platform has one.
    roles: Give a host of --platform a role (storage, compute_node), as Batsim's -r does.
    """

    platform: Annotated[Path | None, Form("P.xml")] = None
    master_host: Annotated[str | None, Form("NAME")] = None
    roles: Annotated[dict[str, str], Form("HOST:ROLE", name="--role", gather=roles_of)] = {}


class ServeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a dispatcher is served to a simulator.

    socket: Listen here: tcp://ADDRESS:PORT, where port * takes a free one, or ipc://PATH. Batsim connects to it.
    protocol: Speak this version of Batsim's protocol.
    timeout: Give up if Batsim says nothing for this many seconds. With 0, wait for ever. If Batsim dies, this is
        noticed at once.
    max_message: Accept messages of at most this many MiB.
    allow_remote: Let other machines connect. The protocol has no authentication.
    record: Write the exchange to a file for `replay`; after a failure it is called FILE.partial.
    """

    socket: Annotated[str, Form("ENDPOINT")] = ENDPOINT
    protocol: Annotated[Version, Form(section=BATSIM)] = "4"
    timeout: Annotated[Annotated[float, Meta(ge=0)], Form("SECONDS", BATSIM)] = TIMEOUT
    max_message: Annotated[Annotated[int, Meta(ge=1, le=2**20)], Form("MIB")] = MAX_MESSAGE >> 20
    allow_remote: bool = False
    record: Annotated[Path | None, Form("FILE", file=True)] = None


class ReplayOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a recorded exchange is answered again.

    pybatsim: Answer with a scheduler of pybatsim instead, such as easyBackfill.
    times: Compare the times of decisions, too.
    protocol: Speak this version of Batsim's protocol. The default is the recording's own.
    partial: Accept a recording that ends before the simulation does.
    """

    pybatsim: Annotated[str | None, Form("NAME")] = None
    times: bool = False
    protocol: Version | None = None
    partial: bool = False


class EngineInPlace(msgspec.Struct, frozen=True, kw_only=True):
    """The engine in Batsim's place, with Batsim's options.

    socket: Connect to the scheduler here, as Batsim does.
    protocol: Speak this version of Batsim's protocol.
    timeout: Wait at most this many seconds for an answer.
    enable_dynamic_jobs: Let the scheduler register jobs.
    acknowledge_dynamic_jobs: Tell the scheduler of each job that it registered, once the job is known.
    enable_compute_sharing: Let jobs share hosts.
    forward_profiles_on_submission: Send each job's profile to the scheduler when the job is submitted.
    forward_unknown_events: Send external events of any type to the scheduler.
    sched_cfg: Hand this text to the scheduler as its configuration.
    """

    socket: Annotated[str, Form("ENDPOINT")] = ENDPOINT
    protocol: Annotated[Version, Form(section=BATSIM)] = "4"
    timeout: Annotated[Annotated[float, Meta(gt=0)], Form("SECONDS", BATSIM)] = TIMEOUT
    enable_dynamic_jobs: bool = False
    acknowledge_dynamic_jobs: bool = False
    enable_compute_sharing: bool = False
    forward_profiles_on_submission: bool = False
    forward_unknown_events: bool = False
    sched_cfg: Annotated[str, Form("TEXT")] = ""


#: What a scheduler of Batsim 5 asks for itself.
ASKED_FOR = ("enable_dynamic_jobs", "acknowledge_dynamic_jobs", "forward_profiles_on_submission")
