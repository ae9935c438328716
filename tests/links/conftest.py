"""Recorded exchanges, and a scripted Batsim for the tests of the decision process."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from deciders import connect, decide

__all__ = ["connect", "decide"]
RECORDINGS = Path(__file__).parents[1] / "conformance" / "recordings" / "batsim4"


@pytest.fixture
def recordings() -> Path:
    """Folder of the recorded Batsim 4 exchanges."""
    return RECORDINGS


@pytest.fixture
def said() -> Callable[[str], list[bytes]]:
    """Return what Batsim said in a recording, frame by frame."""

    def read(name: str) -> list[bytes]:
        lines = map(json.loads, (RECORDINGS / name / "exchange.jsonl").read_text().splitlines())
        return [line["raw"].encode() for line in lines if line["dir"] == "batsim->sched"]

    return read
