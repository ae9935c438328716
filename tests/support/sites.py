"""Platforms and workloads that tests make, as files, and the runs of dispatchers on them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec

HEAD = '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'


def platform_of(content: str) -> str:
    """Return a platform of one zone with this content."""
    return f'{HEAD}<platform version="4.1"><zone id="all" routing="Full">\n{content}\n</zone></platform>\n'


def hosts_of(count: int, content: str = "") -> str:
    """Return hosts h0, h1, ... of a platform, with the same content each."""
    return "\n".join(f'<host id="h{number}" speed="1Gf">{content}</host>' for number in range(count))


def delays(*seconds: float) -> dict[str, dict[str, Any]]:
    """Return profiles that take their time and nothing else; that of 10 s is called d10."""
    return {f"d{each}": {"type": "delay", "delay": each} for each in seconds}


def simulated(
    folder: Path,
    dispatcher: str,
    platform: Path | bytes | str,
    jobs: Sequence[Mapping[str, Any]],
    profiles: Mapping[str, Any],
    *,
    out: str = "run",
    **fields: Any,
) -> Path:
    """Let a dispatcher run jobs, and return the run's folder in this one.

    Args:
        folder: for the platform's file p.xml, the workload's file, called as the run, and the run.
        dispatcher: name.
        platform: a file that is there, or what is in one.
        jobs: as in a workload's file.
        profiles: as in a workload's file.
        out: name of the run's folder.
        fields: further ones of `RunSpec`.
    """
    place = platform if isinstance(platform, Path) else folder / "p.xml"
    if not isinstance(platform, Path):
        place.write_bytes(platform if isinstance(platform, bytes) else platform.encode())
    workload = folder / f"{out}.json"
    workload.write_text(json.dumps({"jobs": jobs, "profiles": profiles}))
    execute(RunSpec(platform=str(place), workload=str(workload), dispatcher=dispatcher, **fields), folder / out)
    return folder / out
