"""The leaderboard: who meets where, how they stand, and the page."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from batdispatch.abilities.campaigns.page.aims import AIMS
from batdispatch.abilities.campaigns.page.pairs import Pair
from batdispatch.abilities.campaigns.page.ranks import NoRanking, Ranking
from batdispatch.cli.kinds import names
from batdispatch.cli.leaderboard import board_as_dict
from batdispatch.cli.main import cli
from batdispatch.cli.messages import json_text
from batdispatch.core.errors import InputError, SimulationError
from batdispatch.core.line.options import parse_named
from batdispatch.dispatchers.simple import SIMPLE, expand
from batdispatch.runs.leaderboard.boards import BOARDS, SPECIAL, choose, dispatchers_of, document, name_of
from batdispatch.runs.leaderboard.cells import Cell, CellInputs, as_csv
from batdispatch.runs.leaderboard.page import _compared, page, remark, rows_of
from batdispatch.runs.leaderboard.standings import stand

LUBLIN = next(board for board in BOARDS if board.name == "lublin")


def rows(values: dict[str, list[float]], failures: dict[str, str] | None = None) -> list[dict[str, object]]:
    """Return the rows of a campaign's table: a dispatcher's mean bounded slowdowns on successive replicates."""
    return [
        {
            "part": "lublin",
            "workload": "lublin",
            "replicate": f"seed {replicate}",
            "dispatcher": name,
            "mean_bounded_slowdown": value,
            "mean_waiting_time": 60 * value,
            "max_waiting_time": 600 * value,
            "cell": f"{name}{replicate}",
            "failure": (failures or {}).get(name),
        }
        for name, each in values.items()
        for replicate, value in enumerate(each)
    ]


def test_every_registered_dispatcher_is_on_some_board() -> None:
    met = {parse_named(text, "")[0] for board in BOARDS for text in dispatchers_of(board, names("dispatchers"), ())}
    assert met == set(names("dispatchers"))


def test_what_others_register_meets_the_rigid_jobs() -> None:
    registered = [*names("dispatchers"), "somebodys"]
    boards = [board.name for board in BOARDS if "somebodys" in dispatchers_of(board, registered, ())]
    assert boards == ["kth", "lublin", "cpu-gpu"]


def test_a_board_leaves_out_whom_it_takes_too_long_and_says_so() -> None:
    kth = next(board for board in BOARDS if board.name == "kth")
    meet = dispatchers_of(kth, names("dispatchers"), ())
    assert set(kth.slow) <= set(names("dispatchers")) - set(meet)
    assert {"conservative", "best-list", "slurm-backfill", *SIMPLE} <= set(meet)
    values = {"easy": [10.0] * 6, "other": [5.0] * 6}
    found = stand(replace(LUBLIN, slow=("pcp19", "hcp19")), rows(values))
    assert "too long, so they are not here: `pcp19`, `hcp19`." in page([found], [], {}, "leaderboard.csv")
    assert "not here" not in page([stand(replace(LUBLIN, slow=()), rows(values))], [], {}, "leaderboard.csv")


def test_boards_of_rigid_jobs_are_parts_of_one_simulation_and_have_the_simple_orderings() -> None:
    parts = json.loads(document(choose([], [], None), names("dispatchers")))
    assert {"lublin", "sessions"} <= {name for name, entry in parts["workloads"].items() if "windows" in entry}
    assert set(SIMPLE) <= set(parts["parts"]["lublin"]["dispatchers"])
    predicted = next(board for board in BOARDS if board.name == "kth-predicted")
    for name in ("last-two", "online-regression", "oracle"):
        assert set(expand(f"simple[prediction={name}]")) <= set(dispatchers_of(predicted, [], ()))


def test_the_table_says_once_for_each_run_what_it_was_made_from() -> None:
    made = CellInputs({}, {"platform": "p" * 64, "workload": "w" * 64}, "c" * 64, "0.1.0", "3.11", {"numpy": "2"})
    row = {"part": "kth", "workload": "kth", "dispatcher": "easy"}
    cells = [
        Cell({**row, "replicate": f"window {window}", "cell": run, "mean_waiting_time": 7.0}, made)
        for run in ("a", "b")
        for window in range(3)
    ]
    table = list(csv.DictReader(as_csv(cells).splitlines()))
    assert [line["code"] for line in table] == ["c" * 64, "", ""] * 2
    assert [line["cell"] for line in table] == ["a"] * 3 + ["b"] * 3
    assert {line["mean_waiting_time"] for line in table} == {"7"}
    text = page([], cells, {}, "leaderboard.csv")
    assert "each of the 2 runs" in text
    assert f"The digest of the package's code begins with `{'c' * 12}`." in text


def test_who_stands_first_names_the_price() -> None:
    found = rows({"easy": [10.0 + place for place in range(6)], "other": [5.0 + place / 2 for place in range(6)]})
    late = [row | {"max_waiting_time": 3e5 if row["dispatcher"] == "other" else 1e5} for row in found]
    text = page([stand(LUBLIN, late)], [], {}, "leaderboard.csv")
    assert "`other` stands first at a price, against `easy`: 3.00 times the longest wait (95 % interval 3.00" in text
    assert "at a price" not in page([stand(LUBLIN, found)], [], {}, "leaderboard.csv")


def test_remark_says_from_which_the_best_cannot_be_told_apart() -> None:
    def said(*ties: tuple[str, str]) -> str:
        ranking = Ranking(("a", "b", "c"), (1.0, 1.5, 3.0), 10, ties, ())
        return remark(replace(stand(LUBLIN, rows({"easy": [10.0] * 6, "other": [5.0] * 6})), ranking=ranking))

    assert said(("a", "b"), ("b", "c")).endswith("`a` cannot be told apart from `b`.")
    assert said(("a", "b"), ("a", "c")).endswith("`a` cannot be told apart from `b`, `c`.")
    assert said(("b", "c")).endswith("`a` can be told apart from all others.")


def test_special_dispatchers_are_registered() -> None:
    assert {name for group in SPECIAL.values() for name in group} <= set(names("dispatchers"))


def test_boards_without_their_log_are_left_out(tmp_path: Path) -> None:
    assert "The whole log of KTH-SP2" in choose([], [], None).left
    with pytest.raises(InputError, match="board kth needs the log"):
        choose(["kth"], [], tmp_path)
    with pytest.raises(InputError, match="there is no folder"):
        choose([], [], tmp_path / "nowhere")
    (tmp_path / "KTH-SP2-1996-2.1-cln.swf.xz").touch()
    assert [board.name for board in choose(["kth"], [], tmp_path).boards] == ["kth"]
    with pytest.raises(InputError, match="did you mean 'lublin'"):
        choose(["lublim"], [], None)


def test_an_added_dispatcher_meets_rigid_jobs_or_the_board_that_is_named() -> None:
    def parts(*boards: str) -> dict[str, list[str]]:
        content = json.loads(document(choose(boards, ["mine:Mine"], None), ["easy", "dada"]))
        return {name: part["dispatchers"] for name, part in content["parts"].items()}

    rigid = [*SIMPLE, "easy[ordering=guarded]", "mine:Mine"]
    assert parts("lublin", "tasks") == {"lublin": rigid, "tasks": ["dada", "heft", "work-stealing"]}
    assert parts("tasks") == {"tasks": ["dada", "heft", "work-stealing", "mine:Mine"]}


def test_a_file_is_named_without_its_folders() -> None:
    assert name_of("some/where/mine.py:Mine[inside=a/b.py:C,x=1]") == "mine.py:Mine[inside=b.py:C,x=1]"
    with pytest.raises(InputError, match=r"two dispatchers would be called 'mine\.py:Mine'"):
        document(choose(["lublin"], ["a/mine.py:Mine", "b/mine.py:Mine"], None), ["easy"])


def test_ranks_and_ratios() -> None:
    easy = [10.0, 20, 30, 40, 50, 60, 70, 80]
    found = stand(LUBLIN, rows({"easy": easy, "half": [x / 2 for x in easy], "twice": [x * 2 for x in easy]}))
    assert isinstance(found.ranking, Ranking)
    assert found.order == ("half", "easy", "twice")
    assert found.pairs["mean_bounded_slowdown"]["half"].effect.value == pytest.approx(0.5)
    headings, shown = rows_of(found)
    assert headings[:3] == ["rank", "dispatcher", "mean bounded slowdown"]
    assert shown[0][:4] == ["1.00", "half", "22.5", "0.50 (0.50-0.50)*"]
    assert shown[1][:4] == ["2.00", "easy", "45", "1"]


def test_starved_jobs_are_a_difference_and_are_left_out_without_easy() -> None:
    waits = {"easy": [10.0] * 6, "other": [5.0] * 6}
    found = rows(waits)
    text = page([stand(LUBLIN, found)], [], {}, "leaderboard.csv")
    assert "starved" not in text.partition("## Rigid jobs")[2].partition("No column counts starved jobs")[0]
    assert "No column counts starved jobs" in text
    more = [row | {"p99_waiting_time": 9.0, "nb_jobs_starved": 3 * (row["dispatcher"] == "other")} for row in found]
    headings, shown = rows_of(stand(LUBLIN, more))
    at = headings.index("starved jobs, more than easy's")
    assert [row[at] for row in sorted(shown, key=lambda row: row[0])] == ["0", "3 (3-3)*"]


def test_too_few_replicates_are_not_ranked() -> None:
    found = stand(LUBLIN, rows({"easy": [10.0, 20], "worse": [11.0, 22], "better": [9.0, 18]}))
    assert isinstance(found.ranking, NoRanking)
    assert found.order == ("better", "easy", "worse")
    assert rows_of(found)[0][0] == "dispatcher"


def test_one_that_failed_has_no_place() -> None:
    values = {"easy": [10.0] * 6, "other": [5.0] * 6, "broken": [1.0] * 6}
    found = stand(LUBLIN, rows(values, {"broken": "it | broke"}))
    assert "broken" not in found.order
    text = page([found], [], {}, "leaderboard.csv")
    assert "`broken` has no place here, since a run of it failed: it | broke" in text
    with pytest.raises(SimulationError, match="lublin: easy failed"):
        stand(LUBLIN, rows(values, {"easy": "no"}))


def test_json_says_how_each_dispatcher_compares_with_the_baseline() -> None:
    values = {"easy": [4.0, 8.0], "good": [2.0, 4.0], "bad": [8.0, 16.0]}
    told = json.loads(json_text(board_as_dict(stand(LUBLIN, rows(values)))))
    assert [row["dispatcher"] for row in told["dispatchers"]] == ["good", "easy", "bad"]
    assert (told["baseline"], told["replicates"]) == ("easy", 2)
    metric = next(iter(told["dispatchers"][0]["against_baseline"]))
    good, easy, bad = (row["against_baseline"][metric] for row in told["dispatchers"])
    assert easy is None
    assert [good["value"], bad["value"]] == pytest.approx([0.5, 2.0], rel=0.01)


def test_a_board_that_was_not_run_is_on_the_page() -> None:
    text = page([], [], {"Slices": "some.swf"}, "leaderboard.csv")
    assert "## Slices\n\nThis board was not run: the log `some.swf` was not given" in text


@pytest.mark.slow
def test_the_command_and_an_authors_own(tmp_path: Path) -> None:
    mine = tmp_path / "mine.py"
    mine.write_text("from batdispatch.abilities.tasks.heft import Heft\n\n\nclass Mine(Heft):\n    '''As heft.'''\n")
    words = ["leaderboard", "--boards", "tasks", "--jobs", "1", "--out", str(tmp_path / "out"), "--quiet"]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 0, done.output
    own = tmp_path / "out" / "leaderboard"
    first = (own / "leaderboard.md").read_bytes()
    assert b"| `heft` |" in first
    done = CliRunner().invoke(cli, [*words, "--add", f"{mine}:Mine"])
    assert done.exit_code == 0, done.output
    with (own / "leaderboard.csv").open() as file:
        table = list(csv.DictReader(file))
    assert len(table) == 4 * 6
    spans = {(row["workload"], row["dispatcher"]): row["makespan"] for row in table}
    assert all(spans[workload, "mine.py:Mine"] == spans[workload, "heft"] for workload, _ in spans)
    assert len({row["cell"] for row in table}) == len(table)
    done = CliRunner().invoke(cli, [*words, "--json"])
    assert (own / "leaderboard.md").read_bytes() == first
    told = json.loads(done.stdout)
    assert told["output"] == str(own / "leaderboard.md")
    assert "heft" in {row["dispatcher"] for row in told["boards"][0]["dispatchers"]}
    done = CliRunner().invoke(cli, ["check", str(own)])
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("place", [0, 1, 3])
def test_a_dispatcher_without_a_value_stands_last(place: int) -> None:
    # How far `without` is from easy is not known, wherever it stands in the table.
    values = [("worse", [30.0] * 6), ("easy", [10.0] * 6), ("better", [5.0] * 6)]
    table = rows(dict([*values[:place], ("without", [1.0] * 6), *values[place:]]))
    for row in table:
        if row["dispatcher"] == "without":
            row["mean_bounded_slowdown"] = None
    found = stand(LUBLIN, table)
    assert isinstance(found.ranking, NoRanking)
    assert found.order == ("better", "easy", "worse", "without")
    assert [line[:2] for line in rows_of(found)[1]] == [
        ["better", "5"],
        ["easy", "10"],
        ["worse", "30"],
        ["without", "n/a"],
    ]
    assert "NaN" not in json_text(board_as_dict(found))


def test_a_column_of_values_is_of_means() -> None:
    # Neither median: 10 and 5 are the middle ones, (10 + 10 + 40) / 3 = 20 and (1 + 5 + 12) / 3 = 6 the means.
    found = stand(LUBLIN, rows({"easy": [10.0, 10, 40], "other": [1.0, 5, 12]}))
    assert found.values["mean_bounded_slowdown"] == {"easy": 20.0, "other": 6.0}


def test_two_replicates_stand_by_how_far_they_are_from_the_baseline() -> None:
    # Ratios of all waits: 3 / 1, 1 / 2, 1 and 3 / 4, in no order of the rows.
    found = stand(LUBLIN, rows({"c": [30.0, 60], "a": [5.0, 10], "easy": [10.0, 20], "b": [7.5, 15]}))
    assert found.order == ("a", "b", "easy", "c")
    assert found.values["mean_bounded_slowdown"] == {"c": 45.0, "a": 7.5, "easy": 15.0, "b": 11.25}
    assert found.replicates == 2


def test_who_has_no_value_is_compared_with_nobody_and_the_baseline_with_itself() -> None:
    ratio, difference = (next(aim for aim in AIMS if aim.way == way) for way in ("ratio", "difference"))
    assert [_compared(None, aim) for aim in (ratio, difference)] == ["1", "0"]
    assert _compared(Pair("a", "easy", None, 0, 0, 0), ratio) == "n/a"
