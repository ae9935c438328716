"""Files that appear whole or not at all: a reader, or the next run, never sees half of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec


def write_whole(path: Path, data: bytes) -> None:
    """Write a file in one piece; a failure leaves what was there before."""
    partial = path.with_name(path.name + ".partial")
    try:
        partial.write_bytes(data)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """Write a JSON file, indented for readers."""
    write_whole(path, msgspec.json.format(msgspec.json.encode(data), indent=2) + b"\n")


def write_lines(path: Path, lines: Sequence[bytes]) -> None:
    """Write lines; no file is left where there are none."""
    if lines:
        write_whole(path, b"\n".join(lines) + b"\n")
    else:
        path.unlink(missing_ok=True)
