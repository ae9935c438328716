"""Keys of a campaign's cells, what is kept, and how cells are cut into batches."""

import shutil
from itertools import chain, pairwise
from pathlib import Path

import msgspec
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.campaigns.campaign import cell
from batdispatch.abilities.campaigns.campaign import plan as planning
from batdispatch.abilities.campaigns.campaign.cell import make_input
from batdispatch.abilities.campaigns.campaign.plan import MOST, Plan, batches
from batdispatch.cli.main import cli
from batdispatch.core.errors import InputError
from batdispatch.runs import provenance
from campaigns import PLATFORM, SMALL, WORKLOAD, make, planned

FILES = """
name: files
platforms: {four: four.xml}
workloads: {delay: delay.json}
dispatchers: {EASY: easy, mine: "mine.py:Mine"}
"""
MINE = "from batdispatch.dispatchers.backfilling.easy import Easy\nclass Mine(Easy):\n    '''Mine.'''\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with the files that FILES names."""
    shutil.copy(PLATFORM, tmp_path / "four.xml")
    shutil.copy(WORKLOAD, tmp_path / "delay.json")
    (tmp_path / "mine.py").write_text(MINE)
    return tmp_path


def keys(plan: Plan) -> set[str]:
    return set(plan.tasks)


@pytest.fixture(autouse=True)
def _nothing_remembered() -> None:
    planning.digest.cache_clear()
    provenance._digest.cache_clear()


def test_code_that_changes_while_a_cell_is_made_lets_it_be_made_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = planned(tmp_path, SMALL)
    make(plan)
    made: list[Path] = []
    monkeypatch.setattr(cell, "is_kept", lambda *_: False)
    monkeypatch.setattr(cell, "execute", lambda spec, place, files: made.append(place))
    monkeypatch.setattr(cell, "_audit", lambda *_: None)
    for task in plan.tasks.values():
        cell.simulate(msgspec.structs.replace(task, audit=True), plan.places)
    assert len(made) == len(plan.tasks) == 4


def test_an_option_changes_the_cells_that_it_concerns(tmp_path: Path) -> None:
    before = keys(planned(tmp_path, SMALL))
    assert len(before) == 4
    assert keys(planned(tmp_path, SMALL)) == before
    # Another name, title, folder and order are the same cells.
    renamed = SMALL.replace("name: small", "name: other\ntitle: Other").replace("lublin:", "l:").replace("flat:", "f:")
    assert keys(planned(tmp_path / "b", renamed, tmp_path / "c")) == before
    assert len(keys(planned(tmp_path, SMALL.replace("sjf", "ljf"))) & before) == 2
    assert len(keys(planned(tmp_path, SMALL.replace("0..1", "1..2"))) & before) == 2
    assert not keys(planned(tmp_path, SMALL.replace("jobs: 20", "jobs: 21"))) & before
    assert not keys(planned(tmp_path, SMALL.replace("{hosts: 8}", "{hosts: 9}"))) & before
    assert not keys(planned(tmp_path, SMALL + "settings: {decision-time: 1}\n")) & before
    real = keys(planned(tmp_path, SMALL + "settings: {engine: batsim5}\n"))
    assert not keys(planned(tmp_path, SMALL + "settings: {engine: batsim5, batsim-option: --energy-host}\n")) & real
    # A default that is stated is the same command.
    assert keys(planned(tmp_path, SMALL.replace("jobs: 20", "jobs: 20, walltimes: modal"))) == before


def test_slices_run_and_the_table_says_which_one_each_run_is_of(tmp_path: Path) -> None:
    text = SMALL.replace("seeds: 0..1", "seeds: 0\n    slices: {count: 2, jobs: 6, gap: 3}")
    plan = planned(tmp_path, text + "parts: {once: {dispatchers: [fcfs]}, more: {dispatchers: [fcfs], seeds: 0..1}}\n")
    make(plan)
    rows = pq.read_table(plan.places.own / "results.parquet").to_pylist()
    assert [row["replicate"] for row in rows] == [
        *(f"seed 0, slice {n}" for n in (0, 1)),
        *(f"seed 0, slice {n}" for n in (0, 1) for _ in (0, 1)),
    ]
    assert [row["workload.slice"] for row in rows[:2]] == [0, 1]
    assert {row["nb_jobs"] for row in rows} == {6}
    page = tmp_path / "page.html"
    done = CliRunner().invoke(cli, ["report", str(plan.places.own), "-o", str(page)], standalone_mode=False)
    assert done.exception is None, done.exception
    assert "once / lublin" in page.read_text()
    assert "more / lublin" in page.read_text()
    # The log that was cut is an input, and no workload that is run.
    assert len({row["cell"] for row in rows}) == 4
    assert len(list(plan.places.inputs.glob("*.json"))) == 3


def test_files_count_by_their_content(folder: Path) -> None:
    before = planned(folder, FILES).planned
    moved = folder / "moved"
    shutil.copytree(folder, moved)
    assert [one.task.key for one in planned(moved, FILES).planned] == [one.task.key for one in before]
    (moved / "delay.json").write_bytes(WORKLOAD.read_bytes() + b"\n")
    planning.digest.cache_clear()
    assert not keys(planned(moved, FILES)) & {one.task.key for one in before}


def test_what_an_input_is_made_from_counts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = FILES.replace("delay: delay.json", "made: {generate: malleable, seeds: 0, options: {from: delay.json}}")
    mix = SMALL.replace("generate: lublin", "generate: esp\n    platform: flat").replace(
        "{jobs: 20, hosts: 8}", "{spread: 0}"
    )
    mix = mix.replace("{hosts: 8}", "{hosts: 8, capacity: core=4}")

    def workloads(campaign: str) -> list[str]:
        return [one.cell.workload.key for one in planned(folder, campaign).planned]

    before, other = workloads(text), workloads(mix)
    assert workloads(mix.replace("core=4", "core=8"))[0] != other[0]
    (folder / "delay.json").write_bytes(WORKLOAD.read_bytes() + b"\n")
    assert workloads(text)[0] != before[0]
    monkeypatch.setattr("batdispatch.abilities.campaigns.campaign.inputs.environment", lambda: {"code": "another"})
    assert workloads(mix)[0] != other[0]


def test_the_code_of_an_author_counts(folder: Path) -> None:
    before = [one.task.key for one in planned(folder, FILES).planned]
    (folder / "mine.py").write_text(MINE + "    reserve = 1\n")
    provenance._digest.cache_clear()
    after = [one.task.key for one in planned(folder, FILES).planned]
    assert (before[0] == after[0], before[1] == after[1]) == (True, False)


def test_the_code_of_the_package_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = keys(planned(tmp_path, SMALL))
    monkeypatch.setattr(planning, "_environment", lambda: {"code": "another"})
    assert not keys(planned(tmp_path, SMALL)) & before


def test_whole_cells_are_kept_and_others_are_made(folder: Path) -> None:
    text = FILES.replace(', mine: "mine.py:Mine"', ", FCFS: fcfs") + "settings: {audit: true}\n"
    plan = planned(folder, text)
    assert len(plan.pending) == 2
    make(plan)
    assert not planned(folder, text).pending
    # Two campaigns of one folder share cells, and a folder may be moved.
    (folder / "out").rename(folder / "elsewhere")
    other = planned(folder, text.replace("name: files", "name: other"), folder / "elsewhere")
    assert not other.pending
    assert other.places.own.name == "other"
    first, second = (other.places.cell(task.key) for task in other.tasks.values())
    (first / "jobs.csv").write_text("job_id\n")
    (second / "audited").unlink()
    assert len(planned(folder, text, folder / "elsewhere").pending) == 2
    assert len(planned(folder, text.replace("true", "false"), folder / "elsewhere").pending) == 1


def test_a_file_that_changes_after_the_plan_is_refused(folder: Path) -> None:
    plan = planned(folder, FILES)
    platform, workload = plan.recipes().values()
    (folder / "delay.json").write_text("{}")
    make_input(platform, lambda words: None)
    with pytest.raises(InputError, match="has changed since the campaign began"):
        make_input(workload, lambda words: None)
    assert Path(platform.output).is_file()
    assert not Path(workload.output).exists()


@given(st.lists(st.none() | st.floats(0, 1e4), max_size=600), st.integers(1, 64), st.none() | st.integers(1, 50))
def test_batches_hold_every_task_once_in_order(costs: list[float | None], processes: int, most: int | None) -> None:
    found = list(batches(costs, processes, most))
    assert list(chain.from_iterable(found)) == list(range(len(costs)))
    assert all(0 < len(batch) <= (most or MOST) for batch in found)


def test_batches_share_the_work() -> None:
    # Nothing is known: two for each process. Known: some minutes each, but no more than an eighth of a process's share.
    assert [len(batch) for batch in batches([None] * 100, 2)] == [25] * 4
    assert [len(batch) for batch in batches([100.0] * 100, 2)] == [6] * 16 + [4]
    assert [len(batch) for batch in batches([0.02] * 1000, 2)] == [MOST] * 4
    assert [len(batch) for batch in batches([4000.0, None, 1.0, 1.0], 2)] == [1, 1, 2]
    assert all(first.stop == second.start for first, second in pairwise(batches([1.0, None, 2.0], 1)))


def test_what_a_clock_measured_stands_apart_from_the_results(tmp_path: Path) -> None:
    text = (
        "name: solvers\n"
        "platforms: {nodes: {generate: flat, options: {hosts: 8, capacity: core=4}}}\n"
        "workloads: {users: {generate: sessions, seeds: 0, platform: nodes, options: {jobs: 30, load: 2}}}\n"
        "dispatchers: [easy, best-list, ipsched, 'attempts[dispatcher=easy]']\n"
    )
    tables = []
    for name in ("a", "b"):
        plan = planned(tmp_path / name, text)
        make(plan)
        tables.append(plan.places.own)
    first, second = ((own / "results.parquet").read_bytes() for own in tables)
    assert first == second
    measured = pq.read_table(tables[0] / "timings.parquet").to_pylist()
    assert [row["report.means.solve_seconds"] is not None for row in measured] == [False, True, True, False]
    assert all(row["cpu_seconds"] > 0 and row["decisions_seconds_max"] > 0 for row in measured)
