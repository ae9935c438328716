"""Workload files of a few jobs."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def write_workload(path: Path, jobs: Sequence[Mapping[str, Any]], profiles: Mapping[str, Any], hosts: int = 12) -> Path:
    """Write a workload and return its path."""
    path.write_text(json.dumps({"nb_res": hosts, "jobs": list(jobs), "profiles": dict(profiles)}))
    return path
