"""Records a small simulation as a run would."""

from pathlib import Path

from batdispatch.batsim import protocol
from batdispatch.links.recorder import Recorder
from simulating import Result


def record(result: Result, path: Path, version: str = "4") -> Path:
    """Write the exchange of a finished simulation in a protocol's form and return the path."""
    wire = protocol(version)
    with Recorder(path, wire) as recorder:
        for message, reply in result.exchanges:
            recorder.message(wire.encode_message(message))
            recorder.reply(wire.encode_reply(reply))
    return path
