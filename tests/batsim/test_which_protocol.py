"""A first message tells which protocol it is in, so that the wrong choice can be named."""

import json
import struct
from pathlib import Path

import pytest

from batdispatch.batsim import PROTOCOLS, check_spoken, protocol
from batdispatch.core.errors import InputError

RECORDINGS = Path(__file__).parents[1] / "conformance" / "recordings"


def first_frames(version: str) -> list[bytes]:
    """Return the first frame of each recording of a version."""
    wire = protocol(version)
    lines = [path.open().readline() for path in sorted(RECORDINGS.glob(f"batsim{version}/*/exchange.jsonl"))]
    return [wire.unrecord(json.loads(line)["raw"]) for line in lines]


@pytest.mark.parametrize("version", PROTOCOLS)
def test_each_recording_opens_in_its_own_protocol_alone(version: str) -> None:
    frames = first_frames(version)
    assert len(frames) > 5
    for frame in frames:
        assert [other for other in PROTOCOLS if protocol(other).opens(frame)] == [version]
        check_spoken(frame, protocol(version))
        (wrong,) = set(PROTOCOLS) - {version}
        with pytest.raises(InputError, match=f"seems to be that of a Batsim {version}.*--protocol {version}"):
            check_spoken(frame, protocol(wrong))


def test_a_binary_batsim_5_is_one_too() -> None:
    with pytest.raises(InputError, match="--protocol 5"):
        check_spoken(struct.pack("<II", 1, 4) + b"init", protocol("4"))


@pytest.mark.parametrize("frame", [b"", b"{", b"GET / HTTP/1.1", b"\0" * 3, b'{"now": 1, "events": []}', b"\xff" * 9])
def test_what_is_neither_is_left_to_the_protocol(frame: bytes) -> None:
    for version in PROTOCOLS:
        check_spoken(frame, protocol(version))
