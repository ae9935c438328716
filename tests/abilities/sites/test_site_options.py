"""How a site's slurm.conf comes to slurm-backfill by each door, and what goes before it."""

import json
from pathlib import Path
from typing import Any

import pytest

import batdispatch
from batdispatch import compare, whatif
from batdispatch.abilities.sites.doors.slurm.files import SlurmFiles
from batdispatch.abilities.sites.doors.slurm.scheduling import NOTICE
from batdispatch.core.errors import InputError
from command_line import call

BEGIN = 1_772_438_400
HEAD = "JobID|User|Partition|Submit|Start|ElapsedRaw|TimelimitRaw|State|NNodes|ReqTRES|AllocTRES|NodeList"
NODES = "NodeName=n[1-2] CPUs=2\nPartitionName=p Nodes=ALL Default=YES\n"
SITE = f"SchedulerParameters=bf_interval=60,bf_max_job_test=50\n{NODES}"
OTHER = f"SchedulerParameters=bf_interval=7,default_queue_depth=3\n{NODES}"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return accounts of 20 jobs that fill two nodes; `site` and `other.conf` stand beside them."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "slurm.conf").write_text(SITE)
    (tmp_path / "other.conf").write_text(OTHER)
    rows = [HEAD]
    for number in range(20):
        begin = BEGIN + number // 2 * 600
        tres = "cpu=2,mem=1G,node=1"
        told = (number + 1, "ada", "p", BEGIN, begin, 600, 20, "COMPLETED", 1, tres, tres, f"n{number % 2 + 1}")
        rows.append("|".join(map(str, told)))
    path = tmp_path / "account.txt"
    path.write_text("\n".join(rows) + "\n")
    return path


#: What the files become, with the version that nobody states.
OF_SITE = {"version": "22.05", "interval": "60", "depth": "50", "notice": NOTICE}
OF_OTHER = {"version": "22.05", "interval": "7", "queue_depth": "3"}


#: What its accounts add: the first job came at a full hour, and none ran ahead of another.
CLOCK = {"clock": "0"}


def by_log(options: dict[str, str]) -> dict[str, str]:
    """Return the options of a run that has those of the site with what its accounts add."""
    return {**options, **CLOCK} if "notice" in options else options


def options_of(run: Path) -> dict[str, str]:
    return dict(json.loads((run / "result.json").read_text())["made_from"]["settings"]["options"])


#: What stands in brackets, with {other} for the other file -> the options of the run.
STATED = {
    "": OF_SITE,
    "interval=5": {**OF_SITE, "interval": "5"},
    "notice=0": {**OF_SITE, "notice": "0"},
    "conf={other}": OF_OTHER,
    "conf={other},interval=5": {**OF_OTHER, "interval": "5"},
}


def named(text: str, log: Path) -> str:
    inside = text.format(other=log.parent / "other.conf")
    return f"slurm-backfill[{inside}]" if inside else "slurm-backfill"


@pytest.mark.parametrize("stated", STATED)
def test_comparisons(log: Path, stated: str) -> None:
    settings: dict[str, Any] = {"slurm": str(log.parent / "site"), "out": log.parent / "out", "report": False}
    compare(log, [named(stated, log), "easy"], **settings)
    runs = {run.parent.name: options_of(run.parent) for run in (log.parent / "out").glob("*/result.json")}
    assert runs.pop("easy") == {}
    assert list(runs.values()) == [by_log(STATED[stated])]


@pytest.mark.parametrize(
    ("stated", "notes"),
    [
        ("phase=3", ["slurm-backfill: clock=0 (from when jobs came; sure)"]),
        ("clock=5,phase=3", []),
    ],
)
def test_what_people_state_is_not_said_to_come_from_accounts(log: Path, stated: str, notes: list[str]) -> None:
    class Notes(batdispatch.Listener):
        def note(self, text: str) -> None:
            heard.append(text)

    heard: list[str] = []
    settings: dict[str, Any] = {"slurm": str(log.parent / "site"), "out": log.parent / "out", "report": False}
    compare(log, named(stated, log), listener=Notes(), **settings)
    assert [text for text in heard if text.startswith("slurm-backfill")] == notes


@pytest.mark.parametrize("stated", STATED)
def test_runs(log: Path, stated: str) -> None:
    settings: dict[str, Any] = {"slurm": str(log.parent / "site"), "log": True}
    batdispatch.run(log, named(stated, log), out=log.parent / "in_brackets", **settings)
    assert options_of(log.parent / "in_brackets") == by_log(STATED[stated])
    parts = stated.format(other=log.parent / "other.conf").split(",") if stated else []
    options = dict(part.split("=", 1) for part in parts)
    batdispatch.run(log, "slurm-backfill", options=options, out=log.parent / "apart", **settings)
    assert options_of(log.parent / "apart") == by_log(STATED[stated])


@pytest.mark.parametrize("stated", STATED)
def test_replicates(log: Path, stated: str) -> None:
    settings: dict[str, Any] = {"slurm": str(log.parent / "site"), "out": log.parent / "out", "replicates": 2}
    with pytest.warns(UserWarning, match="fewer than"):
        compare(log, [named(stated, log), "easy"], replicate_by="slices", slice_jobs=10, **settings)
    runs = [options_of(file.parent) for file in (log.parent / "out").rglob("result.json")]
    assert [run for run in runs if run] == [STATED[stated]] * (len(runs) // 2)


@pytest.mark.parametrize("stated", STATED)
def test_what_ifs(log: Path, stated: str) -> None:
    folder, site = log.parent / "out", str(log.parent / "site")
    whatif(log, ["hosts=3"], dispatcher=named(stated, log), slurm=site, out=folder, anyway=True)
    runs = [options_of(file.parent) for file in folder.rglob("result.json")]
    assert runs
    assert all(run == STATED[stated] for run in runs)


def test_changes_of_dispatchers_and_settings(log: Path) -> None:
    """Each change alone: the baseline is easy, which has nothing of the site."""
    folder, site = log.parent / "out", str(log.parent / "site")
    changes = [f"dispatcher={named(stated, log)}" for stated in ("", "interval=5", "conf={other}")]
    whatif(log, changes, dispatcher="easy", slurm=site, out=folder, anyway=True)
    runs = [options_of(file.parent) for file in folder.rglob("result.json")]
    assert sorted(map(str, runs)) == sorted(map(str, [{}, OF_SITE, {**OF_SITE, "interval": "5"}, OF_OTHER]))


def test_settings_are_added_to_those_of_the_file_that_counts(log: Path) -> None:
    folder, site = log.parent / "out", str(log.parent / "site")
    change = "SchedulerParameters=bf_window=60"
    whatif(log, [change], dispatcher=named("conf={other}", log), slurm=site, out=folder, anyway=True)
    runs = [options_of(file.parent) for file in folder.rglob("result.json")]
    assert sorted(map(str, runs)) == sorted(map(str, [OF_OTHER, {**OF_OTHER, "window": "3600"}]))


def test_common_options_go_before_the_site_and_behind_those_of_one(log: Path) -> None:
    words = ["compare", log, "--slurm", log.parent / "site", "--no-report", "--out", log.parent / "out"]
    both = "slurm-backfill,slurm-backfill[interval=5]"
    made = call(*words, "--dispatchers", both, "--set", "interval=9", "--set", "queue_depth=4")
    assert made.status == 0, made.err
    runs = [options_of(file.parent) for file in (log.parent / "out").glob("*/result.json")]
    expected = [{**OF_SITE, **CLOCK, "queue_depth": "4", "interval": each} for each in ("5", "9")]
    assert sorted(runs, key=lambda run: run["interval"]) == expected


def test_a_common_conf_counts_for_each_that_states_none(log: Path) -> None:
    words = ["compare", log, "--slurm", log.parent / "site", "--no-report", "--out", log.parent / "out"]
    both = "slurm-backfill,slurm-backfill[interval=5],easy"
    made = call(*words, "--dispatchers", both, "--set", f"conf={log.parent / 'other.conf'}")
    assert made.status == 0, made.err
    runs = [options_of(file.parent) for file in (log.parent / "out").glob("*/result.json")]
    assert sorted(runs, key=lambda run: run.get("interval", "")) == [{}, {**OF_OTHER, "interval": "5"}, OF_OTHER]


def test_only_dispatchers_that_imitate_the_site_get_its_options(log: Path) -> None:
    files = SlurmFiles(log.parent / "site")
    assert files.options_beside("slurm-backfill", {}, {}) == OF_SITE
    assert files.options_beside("slurm-backfill", {"depth": "9"}, {"depth": "9"}) == {
        name: text for name, text in OF_SITE.items() if name != "depth"
    }
    assert files.options_beside("easy", {}, {}) == files.options_beside("dmr", {}, {}) == {}
    assert files.options_beside("slurm-backfill", {"interval": "7"}, {"conf": "other.conf"}) == {}


def test_the_version_that_is_stated_decides_about_defaults(log: Path) -> None:
    files = SlurmFiles(log.parent / "site")
    older, newer = (files.options_beside("slurm-backfill", {"version": v}, {"version": v}) for v in ("22.05", "24.05"))
    assert "ordering" not in older
    assert newer["ordering"].startswith("multifactor[")


def test_a_site_without_slurm_conf_adds_nothing(log: Path) -> None:
    (log.parent / "site" / "slurm.conf").unlink()
    (log.parent / "site" / "sinfo.txt").write_text("PARTITION AVAIL TIMELIMIT CPUS NODELIST\np up infinite 2 n[1-2]\n")
    assert SlurmFiles(log.parent / "site").options_beside("slurm-backfill", {}, {}) == {}


def test_what_the_site_says_and_nothing_here_does_is_refused_for_those_that_imitate_it(log: Path) -> None:
    (log.parent / "site" / "slurm.conf").write_text(f"SchedulerType=sched/builtin\n{NODES}")
    settings: dict[str, Any] = {"slurm": str(log.parent / "site"), "report": False}
    compare(log, "easy", out=log.parent / "easy", **settings)
    with pytest.raises(InputError, match="sched/builtin is the dispatcher fcfs"):
        compare(log, "slurm-backfill", out=log.parent / "slurm", **settings)
