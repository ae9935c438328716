"""A folder of each kind that this package writes, made as a user makes it: `make(kind, folder)` returns the folder."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from click.testing import CliRunner

import batdispatch
import fake_batsim
import made_up_site
from batdispatch.abilities.campaigns.campaign.campaign import link
from batdispatch.abilities.campaigns.campaign.leftovers import note_needs
from batdispatch.cli.main import cli
from campaigns import SMALL, planned
from campaigns import make as make_cells

EXAMPLES = Path(batdispatch.__file__).parent / "examples"
MACHINE = ["--platform", str(EXAMPLES / "flat64.xml"), "--workload", str(EXAMPLES / "demo64.json")]
NAMES = ["--dispatchers", "easy,fcfs,easy[ordering=sjf]"]


def call(*words: object) -> None:
    """Call a command as a user does; it must end well."""
    done = CliRunner().invoke(cli, list(map(str, words)))
    assert done.exit_code == 0, done.output


def a_run(folder: Path) -> Path:
    call("run", *MACHINE, "--dispatcher", "easy[ordering=sjf]", "--out", folder / "mine")
    return folder / "mine"


def runs(folder: Path) -> Path:
    call("compare", *MACHINE, *NAMES, "--no-record", "--no-report", "--out", folder / "runs")
    return folder / "runs"


def windows(folder: Path) -> Path:
    call("compare", *MACHINE, *NAMES, "--replicates", 6, "--baseline", "fcfs", "--out", folder / "windows")
    return folder / "windows"


def slices(folder: Path) -> Path:
    by = ["--replicates", 2, "--replicate-by", "slices", "--slice-jobs", 40]
    call("compare", *MACHINE, *NAMES, *by, "--out", folder / "slices")
    return folder / "slices"


def sizes(folder: Path) -> Path:
    call("compare", *MACHINE, "--dispatchers", "easy,fcfs", "--hosts", "48,96", "--out", folder / "sizes")
    return folder / "sizes"


def whatif(folder: Path) -> Path:
    site = made_up_site.make(folder / "site", jobs=120, seed=3, dispatcher="easy")
    changes = ["hosts+10%", "ordering=sjf", "dispatcher=filler"]
    settings: dict[str, Any] = {"slurm": str(site.slurm), "time_zone": "UTC", "anyway": True, "processes": 1}
    batdispatch.whatif(site.accounts, changes, dispatcher="easy", out=folder / "changes", **settings)
    return folder / "changes"


def log(folder: Path) -> Path:
    site = made_up_site.make(folder / "site", jobs=120, seed=3, dispatcher="easy")
    settings: dict[str, Any] = {"slurm": str(site.slurm), "time_zone": "UTC", "processes": 1}
    batdispatch.compare(site.accounts, "easy,fcfs", with_log=True, out=folder / "log", **settings)
    return folder / "log"


def campaign(folder: Path) -> Path:
    text = SMALL.replace("name: small", "name: small\ntitle: Two orders of a queue")
    plan = planned(folder, text.replace("dispatchers: [fcfs,", "dispatchers: [filler,"), folder / "campaigns")
    make_cells(plan)
    note_needs(plan)
    link(plan, {})
    return folder / "campaigns"


def batsim(folder: Path) -> Path:
    program = fake_batsim.install(folder / "bin", 4)
    engine = ["--engine", "batsim4", "--batsim", program]
    four = Path(__file__).parents[1] / "conformance" / "recordings"
    inputs = ["--platform", four / "platforms" / "four.xml", "--workload", four / "workloads" / "delay.json"]
    call("run", *inputs, "--dispatcher", "easy", *engine, "--out", folder / "batsim")
    return folder / "batsim"


def own_class(folder: Path) -> Path:
    name = f"{EXAMPLES / 'smallest_first.py'}:SmallestFirst"
    call("compare", *MACHINE, "--dispatchers", f"easy,{name}", "--replicates", 6, "--out", folder / "own")
    return folder / "own"


def again_on_other_jobs(folder: Path) -> Path:
    """A comparison in whose folder one of other jobs and other dispatchers stood before."""
    old = json.loads((EXAMPLES / "demo64.json").read_text())
    (folder / "few.json").write_text(json.dumps({**old, "jobs": old["jobs"][:50]}))
    before = [*MACHINE[:2], "--workload", folder / "few.json", "--no-record", "--no-report"]
    call("compare", *before, "--dispatchers", "filler,fcfs", "--out", folder / "again")
    call("compare", *MACHINE, *NAMES, "--no-record", "--no-report", "--out", folder / "again")
    return folder / "again"


def again_in_another_way(folder: Path) -> Path:
    """A comparison over slices, in whose folder one over windows and with another dispatcher stood before."""
    call("compare", *MACHINE, "--dispatchers", "easy,filler", "--replicates", 6, "--out", folder / "slices")
    return slices(folder)


def again_one_of_them(folder: Path) -> Path:
    """A comparison of which one run was made anew by itself with another seed."""
    made = runs(folder)
    call("run", *MACHINE, "--dispatcher", "easy", "--seed", 7, "--no-record", "--out", made / "easy")
    return made


def again_and_failed(folder: Path) -> Path:
    """A comparison on other jobs, of which one run failed whose earlier one is there."""
    code = "from batdispatch.examples.smallest_first import SmallestFirst as Base\n"
    (folder / "mine.py").write_text(code + "class Mine(Base):\n    pass\n")
    names = ["--dispatchers", f"easy,{folder / 'mine.py'}:Mine", "--no-record", "--no-report"]
    call("compare", *MACHINE, *names, "--out", folder / "failed")
    broken = "class Mine(Base):\n    def decide(self, *args):\n        raise ValueError\n"
    (folder / "mine.py").write_text(code + broken)
    CliRunner().invoke(cli, ["compare", *MACHINE, *names, "--seed", "3", "--out", str(folder / "failed")])
    names_of_runs = json.loads((folder / "failed" / "names.json").read_bytes())["runs"]
    assert names_of_runs["mine"]["earlier"]
    return folder / "failed"


def renamed(folder: Path) -> Path:
    """A comparison whose folder was renamed, and so were those around it."""
    windows(folder / "before")
    (folder / "before").rename(folder / "fcfs")
    return (folder / "fcfs" / "windows").rename(folder / "fcfs" / "of last week")


def copied(folder: Path) -> Path:
    """A folder of campaigns copied by a program that follows links."""
    made = campaign(folder)
    shutil.copytree(made, folder / "elsewhere")
    shutil.rmtree(made)
    return folder / "elsewhere"


KINDS: dict[str, Callable[[Path], Path]] = {
    each.__name__: each
    for each in (
        a_run,
        runs,
        windows,
        slices,
        sizes,
        whatif,
        log,
        campaign,
        batsim,
        own_class,
        again_on_other_jobs,
        again_in_another_way,
        again_one_of_them,
        again_and_failed,
        renamed,
        copied,
    )
}


def make(kind: str, folder: Path) -> Path:
    """Make a folder of a kind inside a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    here = Path.cwd()
    try:
        return KINDS[kind](folder)
    finally:
        os.chdir(here)
