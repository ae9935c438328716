"""Machines, jobs and outages of small runs that tests forge."""

from collections.abc import Mapping
from pathlib import Path

import sites
from sites import delays, hosts_of, platform_of

LICENCES = '<prop id="licences" value="matlab=1"/>'
WHOLE = platform_of(LICENCES + hosts_of(8))
SHARED = platform_of(LICENCES + hosts_of(4, '<prop id="capacity" value="core=4 gpu=1"/>'))
PROFILES = {
    **delays(10, 11, 30, 50, 100, 500),
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
        listed = [
            {"id": job, "subtime": at, "res": units, "profile": profile, "walltime": limit} | more
            for job, (at, units, profile, limit, more) in jobs.items()
        ]
        (place / "events.txt").write_text(EVENTS)
        away = {"external_events": str(place / "events.txt")} if events else {}
        sites.simulated(place, dispatcher, platform, listed, PROFILES, options=options, **away)
    return {name: root / name / "run" for name in runs}
