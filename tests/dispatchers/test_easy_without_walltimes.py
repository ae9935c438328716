"""Without walltimes EASY has nothing to plan with: it starts what fits, as filler does, and says so."""

from __future__ import annotations

import json
from pathlib import Path

from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec

PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="AS0" routing="Full">
    <cluster id="c" prefix="n" radical="0-3" suffix="" speed="1Gf" bw="1GBps" lat="1us"/>
  </zone>
</platform>
"""


def test_easy_without_walltimes_schedules_as_filler(tmp_path: Path) -> None:
    (tmp_path / "p.xml").write_text(PLATFORM)
    sizes = [3, 4, 1, 2, 1, 4, 1, 2, 3, 1]
    jobs = [{"id": str(i), "subtime": i, "res": res, "profile": f"p{i % 3}"} for i, res in enumerate(sizes)]
    profiles = {f"p{i}": {"type": "delay", "delay": 7 + 5 * i} for i in range(3)}
    (tmp_path / "w.json").write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": profiles}))
    rows = {}
    for dispatcher, options in (("easy", {}), ("filler", {}), ("bounded", {"default_walltime": "20"})):
        name = "easy" if dispatcher == "bounded" else dispatcher
        spec = RunSpec(
            platform=str(tmp_path / "p.xml"), workload=str(tmp_path / "w.json"), dispatcher=name, options=options
        )
        execute(spec, tmp_path / dispatcher)
        rows[dispatcher] = (tmp_path / dispatcher / "jobs.csv").read_text()
    assert rows["easy"] == rows["filler"]
    assert rows["bounded"] != rows["filler"]
