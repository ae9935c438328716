"""Forgeries of names, headings and links in every kind of folder: `check` finds each of them."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import batdispatch
from forged_folders import Forge, both, edit, in_facts, in_needs, in_table, own, swap
from honest_folders import make

pytestmark = [
    pytest.mark.usefixtures("worker_threads"),
    pytest.mark.filterwarnings("ignore:the machine has:UserWarning", "ignore:the log used:UserWarning"),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return what makes a folder of a kind, once."""
    found: dict[str, Path] = {}

    def folder(kind: str) -> Path:
        if kind not in found:
            found[kind] = make(kind, tmp_path_factory.mktemp(kind))
        return found[kind]

    return folder


def in_names(change: Callable[[dict[str, Any]], object]) -> Forge:
    return lambda at: edit(at / "names.json", lambda told: change(told["runs"]))


def exchange(table: dict[str, Any], one: str, other: str) -> None:
    table[one], table[other] = table[other], table[one]


def swap_with_record(one: str, other: str) -> Forge:
    """Exchange two runs and what the record says of them."""

    def forge(at: Path) -> None:
        swap(at / one, at / other)
        in_names(lambda runs: exchange(runs, one, other))(at)
        in_names(lambda runs: _exchange_names(runs[one], runs[other]))(at)

    return forge


def _exchange_names(one: dict[str, Any], other: dict[str, Any]) -> None:
    one["name"], other["name"] = other["name"], one["name"]


def in_result(run: str, change: Callable[[dict[str, Any]], object]) -> Forge:
    return lambda at: edit(at / run / "result.json", change)


def another_version(run: str, label: str) -> Forge:
    """Let a run of another version say that it has another label: what other versions wrote is not compared."""
    return in_result(run, lambda told: told.update(label=label, dispatcher=label, batdispatch="9.9"))


def stripped_to_a_log(at: Path) -> None:
    """Let a run say that it is what really happened."""
    (at / "fcfs").rename(at / "the-log")

    def change(told: dict[str, Any]) -> None:
        told["label"] = "the-log"
        for name in ("made_from", "files", "batdispatch"):
            told.pop(name)

    edit(at / "the-log" / "result.json", change)


def in_headings(**headings: str) -> Forge:
    def forge(at: Path) -> None:
        for name in ("results.parquet", "timings.parquet"):
            table = pq.read_table(own(at) / name)
            known = {key.decode(): text.decode() for key, text in (table.schema.metadata or {}).items()}
            told = {f"batdispatch:{what}": text for what, text in headings.items()}
            pq.write_table(table.replace_schema_metadata(known | told), own(at) / name)

    return forge


def of_both(name: str, one: Any, other: Any) -> Callable[[list[dict[str, Any]]], None]:
    """Exchange two values of a column."""

    def change(rows: list[dict[str, Any]]) -> None:
        for row in rows:
            row[name] = {one: other, other: one}.get(row[name], row[name])

    return change


def needs_of_both(name: str, one: str, other: str) -> Forge:
    return in_needs(lambda named: of_both(name, one, other)([each["names"] for each in named]))


def link(at: Path, which: str) -> Path:
    return sorted((own(at) / "runs").rglob(which))[0]


def swapped_links(at: Path) -> None:
    swap(link(at, "filler"), link(at, "easy_*"))


def renamed_link(at: Path) -> None:
    link(at, "filler").rename(link(at, "filler").with_name("conservative"))


def link_of_another_workload(at: Path) -> None:
    one, other = sorted((own(at) / "runs").rglob("filler"))
    one.unlink()
    one.symlink_to(Path("..") / other.parent.name / "filler")


def swapped_cells(at: Path) -> None:
    one, other = sorted((at / "cells").iterdir())[:2]
    swap(one, other)


def seeds_exchanged_everywhere(at: Path) -> None:
    """The table and the record of cells say seed 0 for seed 1."""
    for name in ("results.parquet", "timings.parquet"):
        both(in_table(name, of_both("replicate", "seed 0", "seed 1")), in_table(name, of_both("workload.seed", 0, 1)))(
            at
        )
    both(needs_of_both("replicate", "seed 0", "seed 1"), needs_of_both("workload.seed", "0", "1"))(at)


def cells_exchanged_everywhere(at: Path) -> None:
    """The table, its figures and the record give each dispatcher the runs of the other one, under other names."""
    names = {"filler": "new", "easy[ordering=sjf]": "old"}

    def change(rows: list[dict[str, Any]]) -> None:
        for row in rows:
            row["dispatcher"] = names[row["dispatcher"]]

    in_table("results.parquet", change)(at)


def stale_row(at: Path) -> None:
    """A run of another comparison stands in the place of one that was made anew."""
    before = at / "few"
    made = make("again_on_other_jobs", before)
    shutil.rmtree(at / "fcfs")
    shutil.copytree(made / "filler", at / "fcfs")


def moved_in(name: str) -> Forge:
    """A run on other jobs is put beside those of a comparison."""

    def forge(at: Path) -> None:
        shutil.copytree(make("again_on_other_jobs", at.parent / "others") / "filler", at / name)

    return forge


def moved_between_replicates(at: Path) -> None:
    swap(at / "runs/slice-0/easy", at / "runs/slice-1/easy")


def workload_of_the_table(at: Path) -> None:
    table = at / "replicates.csv"
    table.write_text(table.read_text().replace("demo64,", "CTC-SP2,"))


def renamed_in_table(at: Path) -> None:
    """Table, facts and record call fcfs by a name of the forger's."""
    for name, mark in (("replicates.csv", ",fcfs,"), ("comparison.json", '"fcfs"'), ("names.json", '"fcfs"')):
        path = at / name
        path.write_text(path.read_text().replace(mark, mark.replace("fcfs", "best")))


def who_is_renamed(at: Path) -> None:
    edit(at / "comparison.json", lambda told: told["who"][0].__setitem__(1, "conservative"))


FORGERIES: dict[str, tuple[str, Forge, str]] = {
    # -- comparisons
    "swapped runs and record": ("runs", swap_with_record("easy", "fcfs"), "and it is the run"),
    "swapped, and the record is gone": (
        "runs",
        both(lambda at: swap(at / "easy", at / "fcfs"), lambda at: (at / "names.json").unlink()),
        "and it is the run",
    ),
    "capitals": ("runs", lambda at: (at / "fcfs").rename(at / "EASY"), "calls it EASY, and it is a run of fcfs"),
    "an addition": ("runs", lambda at: (at / "fcfs").rename(at / "easy (tuned)"), "and it is a run of fcfs"),
    "a number": ("runs", lambda at: (at / "fcfs").rename(at / "easy-2"), "calls it easy-2, and it is a run of fcfs"),
    "an invisible letter": ("runs", lambda at: (at / "fcfs").rename(at / "ea\u200bsy"), "and it is a run of fcfs"),
    "wide letters": (
        "runs",
        lambda at: (at / "fcfs").rename(at / "\uff45\uff41\uff53\uff59"),
        "and it is a run of fcfs",
    ),
    "an ordering": ("runs", lambda at: (at / "easy").rename(at / "sjf"), "calls it sjf, and it is a run of easy"),
    "another ordering": ("runs", lambda at: (at / "easy").rename(at / "easy-wfp3"), "and it is a run of easy"),
    "a run of other jobs in a place": ("runs", stale_row, "made from other inputs or settings"),
    "a run of other jobs beside": ("runs", moved_in("filler"), "it has other inputs than all that it names"),
    "of another version": ("runs", another_version("fcfs", "easy"), "and it is a run of fcfs"),
    "a run as the log": ("runs", stripped_to_a_log, "knows no such run"),
    "the log changed": (
        "log",
        in_result("the-log", lambda told: told["metrics"].update(utilisation=0.99)),
        "made from other inputs or settings",
    ),
    "the log and a run swapped": ("log", lambda at: swap(at / "the-log", at / "fcfs"), "and it is the run"),
    # -- sizes and changes
    "swapped sizes": (
        "sizes",
        lambda at: swap(at / "easy-on-48-hosts", at / "easy-on-96-hosts"),
        "it is the run easy-on-96-hosts",
    ),
    "swapped sizes and record": (
        "sizes",
        swap_with_record("easy-on-48-hosts", "easy-on-96-hosts"),
        "calls it easy on 48 hosts, and it ran on 96",
    ),
    "swapped dispatchers of sizes": (
        "sizes",
        swap_with_record("easy-on-48-hosts", "fcfs-on-48-hosts"),
        "and it is a run of fcfs",
    ),
    "sizes without a record": ("sizes", lambda at: (at / "names.json").unlink(), "names.json, which binds"),
    "swapped changes": ("whatif", lambda at: swap(at / "baseline", at / "hosts+10"), "and it is the run"),
    "swapped changes and record": ("whatif", swap_with_record("baseline", "hosts+10"), "names.json calls it"),
    "an option of another change": (
        "whatif",
        swap_with_record("ordering=sjf", "dispatcher=filler"),
        "names.json calls it ordering=sjf",
    ),
    # -- replicates
    "swapped replicates": (
        "slices",
        lambda at: swap(at / "runs/slice-0", at / "runs/slice-1"),
        "and it is the run runs/slice-1/",
    ),
    "a run of another replicate": ("slices", moved_between_replicates, "easy: name: "),
    "a table of windows over slices": (
        "slices",
        lambda at: (at / "replicates.csv").write_text((at / "replicates.csv").read_text().replace("slice", "window")),
        "the replicates are called slices",
    ),
    "windows that count for more": ("slices", in_facts(independent=2), "and these are no windows"),
    "windows that count for less": ("windows", in_facts(independent=3), "are said to be independent"),
    "the table's workload": ("windows", workload_of_the_table, "names no such workload"),
    "another baseline": ("windows", in_facts(baseline="easy"), "the baseline is 'easy', and the command says 'fcfs'"),
    "a baseline that took no part": ("windows", in_facts(baseline="filler"), "which the table has not"),
    "another word for the replicates": ("windows", in_facts(blocks="years"), "the replicates are called years"),
    "refused without a reason to": ("windows", in_facts(refused=[["pcp20", "too slow"]]), "names each dispatcher"),
    "failed though it is there": ("windows", in_facts(failures=[["windows/easy", "died"]]), "its run is there"),
    "another dispatcher's options": ("windows", who_is_renamed, "easy is said to be conservative"),
    "no word of a dispatcher": ("windows", in_facts(who=[["easy", "easy", ""]]), "nothing says what"),
    "a name for a row": ("windows", renamed_in_table, "dispatcher best: the table has it, and the command has not"),
    "replicates without a record": ("windows", lambda at: (at / "names.json").unlink(), "names.json, which binds"),
    # -- campaigns
    "swapped labels": (
        "campaign",
        in_table("results.parquet", of_both("dispatcher", "filler", "easy[ordering=sjf]")),
        "calls it easy[ordering=sjf], and it is a run of filler",
    ),
    "free labels": ("campaign", cells_exchanged_everywhere, "dispatcher is new, needs.json says filler"),
    "the platform's name": (
        "campaign",
        in_table("results.parquet", lambda rows: [row.update(platform="Curie") for row in rows]),
        "platform is Curie, needs.json says flat",
    ),
    "the workload's name": (
        "campaign",
        in_table("results.parquet", lambda rows: [row.update(workload="KTH-SP2") for row in rows]),
        "workload is KTH-SP2, needs.json says lublin",
    ),
    "what is stated of a workload": (
        "campaign",
        in_table("results.parquet", lambda rows: [row.update({"workload.jobs": 30000}) for row in rows]),
        "workload.jobs is 30000, needs.json says 20",
    ),
    "what is stated of a platform, everywhere": (
        "campaign",
        both(
            in_table("results.parquet", lambda rows: [row.update({"platform.hosts": 800}) for row in rows]),
            in_table("timings.parquet", lambda rows: [row.update({"platform.hosts": 800}) for row in rows]),
            in_needs(lambda named: [one["names"].update({"platform.hosts": "800"}) for one in named]),
        ),
        "platform.hosts is 800, and the platform was made with 8",
    ),
    "seeds, everywhere": ("campaign", seeds_exchanged_everywhere, "and the workload was drawn with seed"),
    "another title": ("campaign", in_headings(title="Which dispatcher for Curie?"), "is headed"),
    "another campaign's name": ("campaign", in_headings(campaign="large"), "is headed"),
    "swapped names of times": (
        "campaign",
        in_table("timings.parquet", of_both("dispatcher", "filler", "easy[ordering=sjf]")),
        "dispatcher is easy[ordering=sjf], needs.json says filler",
    ),
    "a failure that was none": (
        "campaign",
        in_table("results.parquet", lambda rows: rows[0].update(failure="died")),
        "it is said to have failed, and its run is there",
    ),
    "swapped links": ("campaign", swapped_links, "which needs.json binds to that name"),
    "a link of another name": ("campaign", renamed_link, "needs.json names no such run"),
    "a link to another workload": ("campaign", link_of_another_workload, "which needs.json binds to that name"),
    "swapped cells": ("campaign", swapped_cells, "results.parquet: table: "),
    "no record of cells": ("campaign", lambda at: (own(at) / "needs.json").unlink(), "needs.json, which binds"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_name_is_found(name: str, made: Callable[[str], Path], tmp_path: Path, check: Any) -> None:
    kind, forge, words = FORGERIES[name]
    folder = tmp_path / "copy"
    shutil.copytree(made(kind), folder, symlinks=True)
    forge(folder)
    found = check(folder, "--replay", "never")
    assert found.status == 1, found.text
    assert words in found.text


@pytest.mark.parametrize(
    ("kind", "one", "other", "named"),
    [
        ("runs", "easy", "fcfs", {"easy (in fcfs)", "fcfs (in easy)"}),
        ("sizes", "easy-on-48-hosts", "easy-on-96-hosts", {"easy on 48 hosts (in easy-on-96-hosts)"}),
        ("whatif", "baseline", "hosts+10", {"hosts+10% (in baseline)", "baseline (in hosts+10)"}),
        ("log", "the-log", "easy", {"the-log (in easy)", "easy (in the-log)"}),
    ],
)
def test_what_prints_a_name_takes_it_from_what_ran(
    kind: str, one: str, other: str, named: set[str], made: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(made(kind), folder)
    before = {run.folder.name: run.metrics for run in batdispatch.load(folder).values()}
    swap(folder / one, folder / other)
    loaded = batdispatch.load(folder)
    assert named <= set(loaded)
    for label, run in loaded.items():
        name, _, place = label.partition(" (in ")
        assert run.metrics == before[{one: other, other: one}[place[:-1]] if place else name]
    page = Path(str(batdispatch.report(folder, explain=False).path)).read_text()
    assert all(label in page for label in named)
