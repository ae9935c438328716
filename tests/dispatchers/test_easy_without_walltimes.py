"""Without walltimes EASY has nothing to plan with: it starts what fits, as filler does, and says so."""

from pathlib import Path

from batdispatch.inputs.platforms.generate import flat
from sites import simulated


def test_easy_without_walltimes_schedules_as_filler(tmp_path: Path) -> None:
    sizes = [3, 4, 1, 2, 1, 4, 1, 2, 3, 1]
    jobs = [{"id": str(i), "subtime": i, "res": res, "profile": f"p{i % 3}"} for i, res in enumerate(sizes)]
    profiles = {f"p{i}": {"type": "delay", "delay": 7 + 5 * i} for i in range(3)}
    rows = {}
    for dispatcher, options in (("easy", {}), ("filler", {}), ("bounded", {"default_walltime": "20"})):
        name = "easy" if dispatcher == "bounded" else dispatcher
        folder = simulated(tmp_path, name, flat(4), jobs, profiles, out=dispatcher, options=options)
        rows[dispatcher] = (folder / "jobs.csv").read_text()
    assert rows["easy"] == rows["filler"]
    assert rows["bounded"] != rows["filler"]
