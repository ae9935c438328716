"""Forgeries of what comparisons, sizes, changes and campaigns say of themselves: `check` finds each.

What `comparison.json` says is bound to `names.json`. A forger may mend this digest, too (`mended`): then the runs tell.
"""

import csv
import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import batdispatch
import made_up_site
from batdispatch.abilities.campaigns.replicates import table_of
from forged_folders import Forge, both, edit, in_facts, in_needs, in_table, swap
from honest_folders import MACHINE, call, make

pytestmark = [
    pytest.mark.usefixtures("worker_threads"),
    pytest.mark.filterwarnings("ignore:the machine has:UserWarning", "ignore:the log used:UserWarning"),
]


def seeds(folder: Path) -> Path:
    by = ["--replicates", 3, "--replicate-by", "seeds"]
    call("compare", *MACHINE, "--dispatchers", "easy,fcfs", *by, "--out", folder / "seeds")
    return folder / "seeds"


def separate(folder: Path) -> Path:
    by = ["--replicates", 3, "--replicate-by", "separate-windows", "--window", 60]
    call("compare", *MACHINE, "--dispatchers", "easy,fcfs", *by, "--out", folder / "separate")
    return folder / "separate"


def families(folder: Path) -> Path:
    demo = json.loads(Path(MACHINE[3]).read_text())
    (folder / "few.json").write_text(json.dumps({**demo, "jobs": demo["jobs"][:30]}))
    by = ["--dispatchers", "families", "--replicates", 2, "--replicate-by", "slices"]
    call("compare", *MACHINE[:2], "--workload", folder / "few.json", *by, "--out", folder / "families")
    return folder / "families"


def slurm(folder: Path) -> Path:
    site = made_up_site.make(folder / "site", jobs=60, seed=3, dispatcher="slurm-backfill")
    settings: dict[str, Any] = {"slurm": str(site.slurm), "time_zone": "UTC", "anyway": True, "processes": 1}
    changes = [
        "hosts+10%",
        "SchedulerParameters=bf_interval=60",
        "partition.batch.nodes+2",
        "partition.batch.max_time=1:00:00",
    ]
    batdispatch.whatif(site.accounts, changes, dispatcher="slurm-backfill", out=folder / "changes", **settings)
    return folder / "changes"


OWN = {each.__name__: each for each in (seeds, separate, families, slurm)}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return what makes a folder of a kind, once."""
    found: dict[str, Path] = {}

    def folder(kind: str) -> Path:
        if kind not in found:
            at = tmp_path_factory.mktemp(kind)
            found[kind] = OWN[kind](at) if kind in OWN else make(kind, at)
        return found[kind]

    return folder


def mended(*forgeries: Forge) -> Forge:
    """Change comparison.json, and write its digest into the record."""

    def forge(at: Path) -> None:
        both(*forgeries)(at)
        digest = hashlib.sha256((at / "comparison.json").read_bytes()).hexdigest()
        edit(at / "names.json", lambda told: told.update(headings=digest))

    return forge


def in_command(old: str, new: str) -> Forge:
    def change(told: dict[str, Any]) -> None:
        assert old in told["rerun"][0]
        told["rerun"] = [told["rerun"][0].replace(old, new)]

    return lambda at: edit(at / "comparison.json", change)


def in_who(place: int, column: int, text: str) -> Forge:
    return lambda at: edit(at / "comparison.json", lambda told: told["who"][place].__setitem__(column, text))


def renamed(old: str, new: str) -> Forge:
    """Change a name in the record."""

    def change(told: dict[str, Any]) -> None:
        (bound,) = (each for each in told["runs"].values() if each["name"] == old)
        bound["name"] = new

    return lambda at: edit(at / "names.json", change)


def moved(old: str, new: str, *, folders: tuple[str, str]) -> Forge:
    """Change a name in the record, and the folder with it."""

    def forge(at: Path) -> None:
        renamed(old, new)(at)
        (at / folders[0]).rename(at / folders[1])
        edit(at / "names.json", lambda told: told["runs"].update({folders[1]: told["runs"].pop(folders[0])}))

    return forge


def exchanged_replicates(one: str, other: str) -> Forge:
    """Exchange the runs of two replicates, and make record and table anew."""

    def forge(at: Path) -> None:
        swap(at / "runs" / one, at / "runs" / other)
        places = {one: other, other: one}

        def change(told: dict[str, Any]) -> None:
            paths = ((path.split("/", 2), bound) for path, bound in told["runs"].items())
            told["runs"] = {f"runs/{places.get(place, place)}/{name}": bound for (_, place, name), bound in paths}

        edit(at / "names.json", change)
        bound = json.loads((at / "names.json").read_text())["runs"]
        runs = {(path.split("/")[1], each["name"]): at / path for path, each in bound.items()}
        rows = list(csv.DictReader((at / "replicates.csv").open()))
        names, dispatchers = (list(dict.fromkeys(row[key] for row in rows)) for key in ("replicate", "dispatcher"))
        table = [(who, [runs[name.replace(" ", "-"), who] for name in names]) for who in dispatchers]
        (at / "replicates.csv").write_bytes(table_of(rows[0]["workload"], names, table))

    return forge


def dispatcher_that_never_was(at: Path) -> None:
    table = at / "replicates.csv"
    table.write_text("".join(line for line in table.open() if "ordering=sjf" not in line))
    in_command(",easy[ordering=sjf]", "")(at)
    edit(at / "comparison.json", lambda told: told.update(who=[who for who in told["who"] if "sjf" not in who[0]]))
    edit(
        at / "names.json",
        lambda told: [one.update(earlier=True) for one in told["runs"].values() if "sjf" in one["name"]],
    )


def workload_everywhere(at: Path) -> None:
    for name, old, new in (("replicates.csv", "demo64,", "KTH-SP2,"), ("comparison.json", "demo64", "KTH-SP2")):
        (at / name).write_text((at / name).read_text().replace(old, new))


def everywhere(column: str, old: str, new: str) -> Forge:
    """Change a name in both tables of a campaign and in the record of its cells."""

    def change(rows: list[dict[str, Any]]) -> None:
        for row in rows:
            if row.get(column) == old:
                row[column] = new

    return both(
        in_table("results.parquet", change),
        in_table("timings.parquet", change),
        in_needs(lambda named: change([one["names"] for one in named])),
    )


def links_of(old: str, new: str) -> Forge:
    """Rename links, and the record of them."""

    def forge(at: Path) -> None:
        in_needs(lambda named: [one.update(link=one["link"].replace(old, new)) for one in named])(at)
        for path in sorted((at / "small" / "runs").rglob(f"*{old}*"), reverse=True):
            path.rename(path.with_name(path.name.replace(old, new)))

    return forge


COUNTED = "Each counts 62 jobs of one simulation of all"
BOUND = "comparison.json is not what names.json was written with"
FORGERIES: dict[str, tuple[str, Forge, str]] = {
    # -- what a comparison says of itself, without the record
    "another gap between slices": ("slices", in_facts(how="Each has 40 jobs, with 0 between two of them."), BOUND),
    "nothing of how": ("windows", in_facts(how=""), BOUND),
    "another family's words": ("families", in_who(1, 2, "backfilling: EASY backfilling, the baseline"), BOUND),
    "praise": ("families", in_who(0, 2, "backfilling: the best of all"), BOUND),
    "another reason": ("families", in_facts(refused=[["malleable jobs", "slower than easy"]]), BOUND),
    "another baseline without a command": ("windows", in_facts(rerun=[], baseline="easy"), BOUND),
    "a workload everywhere": ("slices", workload_everywhere, BOUND),
    "a dispatcher that never was": ("slices", dispatcher_that_never_was, BOUND),
    "another machine": ("slices", in_command("flat64.xml", "Curie.xml"), BOUND),
    "the record says nothing of it": (
        "slices",
        lambda at: edit(at / "names.json", lambda told: told.pop("headings")),
        BOUND,
    ),
    # -- with the record
    "more jobs of slices": (
        "slices",
        mended(in_facts(how="Each has 4,000 jobs, with 320 between two of them.")),
        "each slice is said to have 4,000 jobs, and the runs have 40",
    ),
    "free words on how": ("slices", mended(in_facts(how="On the real machine.")), "no sentence of this program"),
    "words of another kind": (
        "seeds",
        mended(in_facts(how="Each has 40 jobs, with 320 between two of them.")),
        "no sentence of this program",
    ),
    "more jobs of the whole": (
        "windows",
        mended(in_facts(how=f"{COUNTED} 4,000, of which the first 16 and the last 12 count in none.")),
        "the simulation is said to have 4,000 jobs, and the runs have 400",
    ),
    "windows as separate ones": (
        "windows",
        mended(
            in_facts(
                how="Each counts 62 jobs behind 16 of warm-up and before 12 of cool-down, and is simulated by itself."
            )
        ),
        "no sentence of this program",
    ),
    "a family that is none": (
        "families",
        mended(in_facts(refused=[["wfp3", "too slow"]])),
        "the families are said to be",
    ),
    "no family is left out": ("families", mended(in_facts(refused=[])), "the families are said to be"),
    "one stands for another family": (
        "families",
        mended(
            in_who(0, 2, "programs over jobs and nodes: an integer program"),
            in_who(2, 2, "backfilling: EASY backfilling, the baseline"),
        ),
        "is said to stand for",
    ),
    "one failed that took no part": (
        "windows",
        mended(in_facts(failures=[["windows/conservative", "died"]])),
        "said to have failed, and nothing of that name took part",
    ),
    "a replicate failed that is none": (
        "slices",
        mended(in_facts(failures=[["slice-7/easy", "died"]])),
        "said to have failed, and nothing of that name took part",
    ),
    "the command's seed": (
        "slices",
        mended(in_command("--replicates 2", "--replicates 2 --seed 7")),
        "its seed is 0, by the command 7",
    ),
    "the command's slices": (
        "slices",
        mended(in_command("--slice-jobs 40", "--slice-jobs 4000")),
        "the command says 4000 jobs for each slice",
    ),
    "the command's machine": (
        "slices",
        mended(in_command("flat64.xml", "Curie.xml")),
        "the command's platform is Curie.xml, and the runs have flat64.xml",
    ),
    "the command's way": (
        "slices",
        mended(in_command("--replicate-by slices", "--replicate-by sessions")),
        "the command makes resamples, and the replicates are called slices",
    ),
    "two commands": (
        "slices",
        mended(lambda at: edit(at / "comparison.json", lambda told: told["rerun"].append("rm -rf /"))),
        "another command than one of batdispatch compare",
    ),
    "slices exchanged": ("slices", exchanged_replicates("slice-0", "slice-1"), "on slice-0: its workload is slice-1"),
    "seeds exchanged": ("seeds", exchanged_replicates("seed-0", "seed-2"), "its seed is"),
    "windows exchanged": ("separate", exchanged_replicates("window-0", "window-1"), "its workload is window-1"),
    # -- sizes, changes, logs
    "the folder of a size": (
        "sizes",
        lambda at: (at / "easy-on-48-hosts").rename(at / "easy-on-480-hosts"),
        "the folder is called easy-on-480-hosts, and it ran on 48 hosts",
    ),
    "a size under a free name": (
        "sizes",
        renamed("easy on 48 hosts", "tuned on 48 hosts"),
        "was made for another name",
    ),
    "no size": ("sizes", renamed("easy on 48 hosts", "easy"), "which says no size"),
    "more hosts": ("whatif", renamed("hosts+10%", "hosts+50%"), "was made for another name"),
    "more hosts, and the folder": (
        "whatif",
        moved("hosts+10%", "hosts+50%", folders=("hosts+10", "hosts+50")),
        "hosts, beside the baseline's",
    ),
    "no baseline": ("whatif", renamed("baseline", "today"), "was made for another name"),
    "a setting of slurm.conf": (
        "slurm",
        moved(
            "SchedulerParameters=bf_interval=60",
            "SchedulerParameters=bf_interval=600",
            folders=("SchedulerParameters=bf_interval=60", "SchedulerParameters=bf_interval=600"),
        ),
        "names.json calls it SchedulerParameters=bf_interval=600, and its",
    ),
    "nodes of a partition": (
        "slurm",
        moved(
            "partition.batch.nodes+2",
            "partition.batch.nodes+20",
            folders=("partition.batch.nodes+2", "partition.batch.nodes+20"),
        ),
        "hosts, beside the baseline's",
    ),
    "a partition's limit": (
        "slurm",
        moved(
            "hosts+10%", "partition.batch.max_time=9:00:00", folders=("hosts+10", "partition.batch.max_time=9-00-00")
        ),
        "a partition is not what it differs in",
    ),
    "the log": (
        "log",
        renamed("the-log", "the log, corrected"),
        "names.json calls it the log, corrected, and it is the log",
    ),
    # -- campaigns
    "a dispatcher's name everywhere": (
        "campaign",
        everywhere("dispatcher", "filler", "champion"),
        "its link is called",
    ),
    "a platform's name everywhere": (
        "campaign",
        everywhere("platform", "flat", "Curie"),
        "its link is called otherwise",
    ),
    "a workload's name everywhere": ("campaign", everywhere("workload", "lublin", "KTH-SP2"), "its link is called"),
    "another kind of replicate": (
        "campaign",
        everywhere("replicate", "seed 0", "week 0"),
        "its replicate is called 'week 0'",
    ),
    "links of another workload": ("campaign", links_of("lublin", "KTH-SP2"), "its link is called otherwise"),
    "links of another dispatcher": ("campaign", links_of("filler", "conservative"), "its link is called otherwise"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_heading_is_found(name: str, made: Callable[[str], Path], tmp_path: Path, check: Any) -> None:
    kind, forge, words = FORGERIES[name]
    folder = tmp_path / "copy"
    shutil.copytree(made(kind), folder, symlinks=True)
    forge(folder)
    found = check(folder, "--replay", "never")
    assert found.status == 1, found.text
    assert words in found.text


@pytest.mark.parametrize("kind", OWN)
def test_nothing_is_found_in_folders_that_nobody_forged(kind: str, made: Callable[[str], Path], check: Any) -> None:
    found = check(made(kind), "--replay", "never")
    assert found.status == 0, found.text
