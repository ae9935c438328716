"""Machines, jobs and outages of small runs that tests forge."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from batdispatch.runs.run import RunSpec, execute

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="all" routing="Full">
<prop id="licences" value="matlab=1"/>
{hosts}
</zone></platform>
"""
WHOLE = PLATFORM.format(hosts="\n".join(f'<host id="h{i}" speed="1Gf"/>' for i in range(8)))
SHARED = PLATFORM.format(
    hosts="\n".join(f'<host id="h{i}" speed="1Gf"><prop id="capacity" value="core=4 gpu=1"/></host>' for i in range(4))
)
PROFILES = {
    "d10": {"type": "delay", "delay": 10},
    "d11": {"type": "delay", "delay": 11},
    "d30": {"type": "delay", "delay": 30},
    "d50": {"type": "delay", "delay": 50},
    "d100": {"type": "delay", "delay": 100},
    "d500": {"type": "delay", "delay": 500},
    "fails": {"type": "delay", "delay": 30, "ret": 1},
    "both": {"type": "composed", "seq": ["d10", "d30"], "repeat": 2},
}
#: id -> (submission, units, profile, walltime, further fields); x is 50 s of work that the machine can do at any time.
Jobs = dict[str, tuple[float, int, str, float, dict[str, object]]]
ON_HOSTS: Jobs = {
    "a": (0, 4, "d100", 200, {"user": "ada"}),
    "b": (1, 8, "d50", 60, {"user": "bob"}),
    "c": (2, 2, "fails", 40, {}),
    "d": (3, 1, "d500", 80, {}),
    "big": (4, 9, "d10", 20, {}),
    "after": (5, 1, "d10", 20, {"dependencies": ["a"]}),
    "never": (6, 1, "d10", 20, {"dependencies": ["c"]}),
    "e": (200, 3, "both", 100, {}),
    "late": (400, 1, "d10", 20, {}),
}
ON_NODES: Jobs = {
    "a": (0, 6, "d100", 200, {"demand": {"core": 1}}),
    "b": (1, 2, "d50", 60, {"demand": {"core": 2, "gpu": 1}}),
    "c": (2, 8, "d30", 40, {"demand": {"core": 1}}),
    "lic": (3, 1, "d30", 40, {"demand": {"core": 1}, "licences": {"matlab": 1}}),
    "lic2": (3, 1, "d30", 40, {"demand": {"core": 1}, "licences": {"matlab": 1}}),
    "big": (4, 1, "d10", 20, {"demand": {"gpu": 2}}),
    "late": (400, 1, "d10", 20, {"demand": {"core": 3}}),
}
IN_ATTEMPTS: Jobs = {
    "a": (0, 4, "d10", 20, {}),
    "s": (1, 5, "d50", 1000, {"runtime_law": "tnorm:0,80,20,8"}),
    "t": (2, 4, "d30", 1000, {"runtime_law": "tnorm:0,80,20,8"}),
    "late": (400, 1, "d10", 20, {}),
}
EVENTS = """{"timestamp": 20, "type": "machine_unavailable", "resources": "6-7"}
{"timestamp": 300, "type": "machine_available", "resources": "6-7"}
"""
#: A platform, its jobs, a dispatcher, its options, and whether hosts come and go.
Simulated = tuple[str, Jobs, str, dict[str, str], bool]


def simulated(runs: Mapping[str, Simulated], root: Path) -> dict[str, Path]:
    """Simulate runs below a folder, and return the folder of each."""
    for name, (platform, jobs, dispatcher, options, events) in runs.items():
        place = root / name
        place.mkdir()
        (place / "p.xml").write_text(platform)
        listed = [
            {"id": job, "subtime": at, "res": units, "profile": profile, "walltime": limit} | more
            for job, (at, units, profile, limit, more) in jobs.items()
        ]
        (place / "w.json").write_text(json.dumps({"nb_res": 8, "jobs": listed, "profiles": PROFILES}))
        (place / "events.txt").write_text(EVENTS)
        spec = RunSpec(
            platform=str(place / "p.xml"),
            workload=str(place / "w.json"),
            dispatcher=dispatcher,
            options=options,
            external_events=str(place / "events.txt") if events else None,
        )
        execute(spec, place / "run")
    return {name: root / name / "run" for name in runs}
