"""The leaderboard: who meets where, how they stand, and what its page says of them."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from batdispatch.abilities.campaigns.campaign.file import read_campaign
from batdispatch.abilities.campaigns.page.aims import AIMS
from batdispatch.abilities.campaigns.page.pairs import Pair
from batdispatch.abilities.campaigns.page.ranks import NoRanking, Ranking
from batdispatch.cli.kinds import names
from batdispatch.core.line.options import parse_named
from batdispatch.dispatchers.simple import SIMPLE, expand
from expe.common.running import sections_of
from expe.leaderboard import show
from experiments import EXPE, small

FILE = EXPE / "leaderboard" / "campaign.yaml"
#: Dispatchers that let hosts sleep, or change what power costs: expe/power compares them.
OF_POWER = {
    *("powered", "greenfilling"),
    *("energy-bf", "energy-bf-dicho", "energy-bf-idle-sleeper", "energy-bf-subpart-sleeper"),
}


def rows(values: dict[str, list[float]], board: str = "lublin") -> pd.DataFrame:
    """Return the rows of a board: a dispatcher's mean bounded slowdowns on successive replicates."""
    return pd.DataFrame(
        {
            "part": board,
            "workload": board,
            "replicate": f"seed {replicate}",
            "dispatcher": name,
            "mean_bounded_slowdown": value,
            "mean_waiting_time": 60 * value,
            "max_waiting_time": 600 * value,
        }
        for name, each in values.items()
        for replicate, value in enumerate(each)
    )


def standing(values: dict[str, list[float]]) -> show.Standing:
    return show.standing("lublin", rows(values))


def text_of(found: pd.DataFrame) -> str:
    return show.section("lublin")[1](found)


def lines_of(found: show.Standing) -> list[list[str]]:
    """Return the cells of a board's table, its headings first."""
    lines = show.board_table(found).splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in [lines[0], *lines[2:]]]


def parts() -> dict[str, list[str]]:
    """Return board -> the dispatchers that meet there, sets written out."""
    file = yaml.safe_load(FILE.read_text())
    return {name: [text for one in part["dispatchers"] for text in expand(one)] for name, part in file["parts"].items()}


def test_every_registered_dispatcher_is_on_some_board() -> None:
    met = {parse_named(text)[0] for texts in parts().values() for text in texts}
    # A `dmr` is on the board of malleable jobs; a layer stands around another dispatcher.
    assert met | OF_POWER == set(names("dispatchers"))
    assert not met & OF_POWER


def test_boards_of_rigid_jobs_are_parts_of_one_simulation_and_have_the_simple_orderings() -> None:
    file = yaml.safe_load(FILE.read_text())
    for board in ("kth", "lublin", "cpu-gpu"):
        assert {*SIMPLE, "easy[ordering=guarded]", "conservative", "best-list", "slurm-backfill"} <= set(parts()[board])
        assert "windows" in file["workloads"][file["parts"][board]["workloads"]]
    for name in ("last-two", "online-regression", "oracle"):
        assert set(expand(f"simple[prediction={name}]")) <= set(parts()["kth-predicted"])


def test_the_page_names_those_whom_a_board_takes_too_long() -> None:
    rigid, manual = parts()["cpu-gpu"], (EXPE.parent / "docs" / "leaderboard.md").read_text()
    for board in ("kth", "lublin"):
        left = sorted(set(rigid) - set(parts()[board]))
        said = manual.partition(f"measured leaderboard-{board} ")[2].partition("\n## ")[0]
        assert f"so they are not here: {', '.join(f'`{name}`' for name in left)}." in said


def test_each_part_is_a_board_whose_baseline_takes_part() -> None:
    assert list(show.BOARDS.keys()) == sorted(parts(), key=list(show.BOARDS).index)
    for board, (baseline, _) in show.BOARDS.items():
        assert baseline in parts()[board]


def test_who_stands_first_names_the_price() -> None:
    found = rows({"easy": [10.0 + place for place in range(6)], "other": [5.0 + place / 2 for place in range(6)]})
    late = found.assign(max_waiting_time=[1e5] * 6 + [3e5] * 6)
    assert (
        "`other` stands first at a price, against `easy`: 3.00 times the longest wait (95 % interval 3.00"
        in text_of(late)
    )
    assert "at a price" not in text_of(found)


def test_remark_says_from_which_the_best_cannot_be_told_apart() -> None:
    def said(*ties: tuple[str, str]) -> str:
        return show.remark(show.Standing("easy", {}, {}, Ranking(("a", "b", "c"), (1.0, 1.5, 3.0), 10, ties, ())))

    assert said(("a", "b"), ("b", "c")) == "Over 10 replicates, `a` cannot be told apart from `b`."
    assert said(("a", "b"), ("a", "c")).endswith("`a` cannot be told apart from `b`, `c`.")
    assert said(("b", "c")).endswith("`a` can be told apart from all others.")


def test_ranks_and_ratios() -> None:
    easy = [10.0, 20, 30, 40, 50, 60, 70, 80]
    found = standing({"easy": easy, "half": [x / 2 for x in easy], "twice": [x * 2 for x in easy]})
    assert isinstance(found.ranking, Ranking)
    assert found.order() == ["half", "easy", "twice"]
    head, *shown = lines_of(found)
    assert head[:4] == ["dispatcher", "rank", "mean bounded slowdown", "mean bounded slowdown, over easy's"]
    assert shown[0][:4] == ["`half`", "1.00", "22.5", "0.50 (0.50-0.50)\\*"]
    assert shown[1][:4] == ["`easy`", "2.00", "45", "1"]


def test_starved_jobs_are_a_difference_and_are_left_out_without_easy() -> None:
    found = rows({"easy": [10.0] * 6, "other": [5.0] * 6})
    assert "starved jobs, more than" not in text_of(found)
    assert "No column counts starved jobs" in text_of(found)
    more = found.assign(p99_waiting_time=9.0, nb_jobs_starved=3.0 * (found["dispatcher"] == "other"))
    head, *shown = lines_of(show.standing("lublin", more))
    at = head.index("starved jobs, more than easy's")
    assert {line[0]: line[at] for line in shown} == {"`easy`": "0", "`other`": "+3 (+3 to +3)\\*"}
    assert "No column counts" not in text_of(more)


def test_too_few_replicates_are_not_ranked() -> None:
    found = standing({"easy": [10.0, 20], "worse": [11.0, 22], "better": [9.0, 18]})
    assert isinstance(found.ranking, NoRanking)
    assert found.order() == ["better", "easy", "worse"]
    assert lines_of(found)[0][:2] == ["dispatcher", "mean bounded slowdown"]


@pytest.mark.parametrize("place", [0, 1, 3])
def test_a_dispatcher_without_a_value_stands_last(place: int) -> None:
    # How far `without` is from easy is not known, wherever it stands in the table.
    values = [("worse", [30.0] * 6), ("easy", [10.0] * 6), ("better", [5.0] * 6)]
    table = rows(dict([*values[:place], ("without", [1.0] * 6), *values[place:]]))
    table.loc[table["dispatcher"] == "without", "mean_bounded_slowdown"] = float("nan")
    found = show.standing("lublin", table)
    assert isinstance(found.ranking, NoRanking)
    assert found.order() == ["better", "easy", "worse", "without"]
    assert [line[:2] for line in lines_of(found)[1:]] == [
        ["`better`", "5"],
        ["`easy`", "10"],
        ["`worse`", "30"],
        ["`without`", "n/a"],
    ]


def test_a_column_of_values_is_of_means() -> None:
    # Neither median: 10 and 5 are the middle ones, (10 + 10 + 40) / 3 = 20 and (1 + 5 + 12) / 3 = 6 the means.
    found = standing({"easy": [10.0, 10, 40], "other": [1.0, 5, 12]})
    assert [line[:2] for line in lines_of(found)[1:]] == [["`other`", "6"], ["`easy`", "20"]]


def test_two_replicates_stand_by_how_far_they_are_from_the_baseline() -> None:
    # Ratios of all waits: 3 / 1, 1 / 2, 1 and 3 / 4, in no order of the rows.
    found = standing({"c": [30.0, 60], "a": [5.0, 10], "easy": [10.0, 20], "b": [7.5, 15]})
    assert found.order() == ["a", "b", "easy", "c"]


def test_who_has_no_value_is_compared_with_nobody_and_the_baseline_with_itself() -> None:
    ratio, difference = (next(aim for aim in AIMS if aim.way == way) for way in ("ratio", "difference"))
    assert [show.compared(None, aim) for aim in (ratio, difference)] == ["1", "0"]
    assert show.compared(Pair("a", "easy", None, 0, 0, 0), ratio) == "n/a"


def test_workloads_of_several_sizes_are_replicates() -> None:
    runs = pd.DataFrame(
        {"part": "tasks", "workload": kernel, "workload.size": size, "replicate": "", "dispatcher": name, "makespan": m}
        for kernel in ("lu", "qr")
        for size in (4096, 6144)
        for name, m in (("heft", 2.0), ("dada", 1.0))
    )
    assert lines_of(show.standing("tasks", runs))[1] == ["`dada`", "1", "0.50"]


def test_the_dispatchers_that_a_file_adds_stand_on_its_boards(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from batdispatch.abilities.tasks.heft import Heft\n\n\nclass Mine(Heft):\n    '''As heft.'''\n"
    )
    text = (
        FILE.read_text()
        .replace("  - dada\n", "  - dada\n  - mine.py:Mine\n")
        .replace("[dada, ", '[dada, "mine.py:Mine", ')
    )
    (tmp_path / "campaign.yaml").write_text(text)
    found = read_campaign(tmp_path / "campaign.yaml", parts=["tasks"])
    assert {cell.dispatcher.name for cell in found.cells} == {"dada", "heft", "work-stealing", "mine.py:Mine"}


@pytest.mark.slow
def test_the_smallest_boards_from_the_runs_to_the_tables(tmp_path: Path) -> None:
    changes = [
        ("size: [4096, 6144]", "size: [1536, 2048]"),
        ("seeds: 0..1, options: {jobs: 40}", "seeds: 0, options: {jobs: 30}"),
    ]
    found: dict[str, Any] = sections_of(show, small("leaderboard", tmp_path, *changes, parts=["tasks", "malleable"]))
    assert set(found) == {"tasks", "malleable"}
    assert found["tasks"].count("\n| `") == 3
    assert "| `dmr` |" in found["malleable"]
