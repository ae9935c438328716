"""What a page is told of runs, read back in Python and held against the runs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.explorer import data
from batdispatch.abilities.explorer.data import _in_rows, page_data
from batdispatch.abilities.explorer.demands import JobDemand, needs
from batdispatch.core.hosts.hostsets import Intervals
from batdispatch.core.jobs.job_table import SCHEMA, Column, PageForm
from batdispatch.core.jobs.request import Request, amounts
from batdispatch.results.runs import read_runs
from page_streams import Read

Jobs = Callable[..., Path]


def test_each_column_says_what_the_runs_say(write_jobs: Jobs) -> None:
    first = write_jobs(
        {
            "7": {"submission": 100.0, "start": 130.0, "finish": 150.0, "hosts": "0-1 3", "units": 3, "walltime": 30},
            "5": {"submission": 100.0, "start": 100.0, "finish": 160.0, "hosts": "2", "units": 1},
            "9": {"submission": 120.0, "units": 99, "state": "REJECTED", "walltime": 7},
        },
        "one",
    )
    second = write_jobs(
        {
            "5": {"submission": 100.0, "start": 170.0, "finish": 230.0, "hosts": "0", "units": 1},
            "7": {"submission": 100.0, "start": 100.0, "finish": 121.0, "hosts": "1-3", "units": 3, "walltime": 30},
        },
        "two",
    )
    table = page_data(
        read_runs([first, second]),
        {"w0!7": JobDemand("ann", "physics", "long", "thin"), "5": JobDemand("bob", needs="1 gpu")},
    )
    assert table is not None
    assert (table["second"], table["begin"], table["end"], table["hosts"], table["rows"]) == (1, 100, 230, 4, 4)
    assert (table["runs"], table["left_out"], table["names"]) == (["one", "two"], [], None)
    read = Read(table)
    assert read.summed("submission") == [0, 0, 20]
    assert read.next("walltime") == [31, 0, 8]
    assert read.next("usual") == [20, 60, 0]
    assert read.next("units") == [3, 1, 99]
    assert [table["users"][user] for user in read.next("user")] == ["ann", "bob", ""]
    assert [table["accounts"][account] for account in read.next("account")] == ["physics", "", ""]
    assert [table["queues"][queue] for queue in read.next("queue")] == ["long", "", ""]
    assert [table["partitions"][partition] for partition in read.next("partition")] == ["thin", "", ""]
    assert [table["needs"][needs] for needs in read.next("needs")] == ["", "1 gpu", ""]
    assert read.summed("name", signed=True) == [7, 5, 9]
    assert read.summed("job") == [0, 1]
    assert read.signed("start") == [30, 0]
    assert read.signed("run") == [0, 0]
    assert read.signed("held") == [0, 0]
    assert read.next("intervals") == [2, 1]
    assert read.summed("first", signed=True) == [0, 3, 2]
    assert read.next("more") == [1, 0, 0]
    states = read.next("state")
    assert states[0] == states[1] != states[2]
    assert read.summed("job") == [0, 1]
    assert read.signed("start") == [0, 70]
    assert read.signed("run") == [1, 0]
    assert read.signed("held") == [0, 0]
    assert read.next("intervals") == [1, 1]
    assert read.summed("first", signed=True) == [1, 0]
    assert read.next("more") == [2, 0]
    assert read.next("state")[2] == 0
    assert not read.streams


def test_parts_of_a_second_are_kept_to_the_millisecond(write_jobs: Jobs) -> None:
    table = page_data(read_runs([write_jobs({"a": {"start": 0.25, "finish": 10.125}})]), {})
    assert table is not None
    assert (table["second"], table["names"]) == (1000, ["a"])
    read = Read(table)
    values = {name: list(numbers) for name, numbers in read.streams}
    assert values["usual"] == [9875]
    assert values["start"] == [500]


def test_segments_of_one_job_follow_each_other(write_jobs: Jobs) -> None:
    folder = write_jobs(
        {
            "1": {"start": 0.0, "finish": 10.0, "hosts": "0-3", "units": 4},
            "2": {"submission": 1.0, "start": 1.0, "finish": 5.0, "hosts": "5"},
            "1r": {"submission": 10.0, "start": 12.0, "finish": 20.0, "hosts": "0-1", "units": 2},
        }
    )
    (folder / "lineage.csv").write_text("job_id,workload_name,parent\n1r,w0,1\n")
    table = page_data(read_runs([folder]), {})
    assert table is not None
    read = Read(table)
    values = {name: list(numbers) for name, numbers in read.streams}
    assert np.cumsum(values["job"]).tolist() == [0, 0, 1]
    assert values["units"] == [4, 1]
    # Two fewer hosts than the job asked for.
    assert values["held"] == [0, 3, 0]


def test_a_walltime_is_rounded_up_to_whole_seconds(write_jobs: Jobs) -> None:
    """The column has one second more, since 0 says that there is no walltime."""
    table = page_data(read_runs([write_jobs({"a": {"walltime": 59.2}, "b": {"walltime": 60}, "c": {}})]), {})
    assert table is not None
    read = Read(table)
    read.summed("submission")
    assert read.next("walltime") == [61, 61, 0]


def test_runs_that_are_too_many_are_named(write_jobs: Jobs, monkeypatch: Any) -> None:
    folders = [write_jobs({name: {} for name in "ab"}, f"run{number}") for number in range(3)]
    monkeypatch.setattr(data, "MAX_SEGMENTS", 4)
    table = page_data(read_runs(folders), {})
    assert table is not None
    assert (table["runs"], table["left_out"]) == (["run0", "run1"], ["run2"])
    assert page_data(read_runs([write_jobs({}, "empty")]), {}) is None


@given(st.lists(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 9)), max_size=5), max_size=6), st.integers(1, 7))
def test_rows_of_several_hosts_are_those_that_a_host_is_in(sets: list[list[tuple[int, int]]], scale: int) -> None:
    intervals = [(row, first, first + more) for row, parts in enumerate(sets) for first, more in parts]
    columns = [np.array([one[index] for one in intervals], dtype=np.int32) for index in range(3)]
    first, last, count = _in_rows(Intervals(columns[1], columns[2], columns[0], len(sets)), scale)
    place = 0
    for row, many in enumerate(count.tolist()):
        shown: set[int] = set()
        before = -2
        for low, high in zip(first[place : place + many].tolist(), last[place : place + many].tolist(), strict=True):
            assert low > before + 1
            shown |= set(range(low, high + 1))
            before = max(before, high)
        place += many
        assert shown == {host // scale for one, low, high in intervals if one == row for host in range(low, high + 1)}


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (Request(units=4), ""),
        (
            Request(per_unit=amounts({"core": 2, "memory": 2048}), nodes=(2, 4)),
            "2 core and 2,048 MiB memory each, on 2 to 4 nodes",
        ),
        (
            Request(per_node=amounts({"gpu": 2}), nodes=(3, 3), units_per_node=1),
            "2 gpu on each node, on 3 nodes, 1 on each node",
        ),
        (Request(contiguous=True, licences=amounts({"matlab": 2})), "on consecutive nodes, licences: 2 matlab"),
        (Request(whole_nodes=True), ""),
        (Request(per_unit=amounts({"core": 1}), whole_nodes=True), "1 core each, on nodes of its own"),
    ],
)
def test_needs_in_words(request_: Request, words: str) -> None:
    assert needs(request_) == words


def with_page_forms(**forms: PageForm) -> tuple[Column, ...]:
    """Return the columns of jobs.csv, some of which state how the page shows them."""
    return tuple(column._replace(page=forms.get(column.name, column.page)) for column in SCHEMA)


def test_columns_with_a_page_form_are_in_the_page(write_jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    """In tenths of what they count; 0 stands for no number, and negative numbers are folded: -0.5 is -5, thus 9 + 1."""
    folder = write_jobs(
        {
            "1": {"submission": 0.0, "start": 4.26, "finish": 8.0, "hosts": "0"},
            "2": {"submission": 0.5, "start": 0.0, "finish": 8.0, "hosts": "1"},
            "3": {"submission": 2.0, "start": 2.0, "finish": 3.0, "hosts": "2"},
            "4": {"submission": 1.0, "state": "REJECTED"},
        }
    )
    runs = read_runs([folder])
    before = page_data(runs, {})
    forms = {"waiting_time": PageForm("waited", "s", 1), "consumed_energy": PageForm("burnt", "J", 0)}
    monkeypatch.setattr(data, "SCHEMA", with_page_forms(**forms))
    monkeypatch.setitem(vars(runs[0].columns), "consumed_energy", np.array([np.nan, 7.4, 1e300, np.nan]))
    after = page_data(runs, {})
    assert before is not None
    assert after is not None
    assert "shown" not in before
    assert after["shown"] == [("waiting_time", "waited", "s", 10), ("consumed_energy", "burnt", "J", 1)]
    streams = dict(Read(after).streams)
    # In order of submission.
    assert streams["shown_waiting_time"] == [2 * 43 + 1, 9 + 1, 1]
    assert sorted(streams["shown_consumed_energy"]) == [0, 0, 2 * 7 + 1]
    others = [name for name, _ in Read(after).streams if not name.startswith("shown_")]
    assert others == [name for name, _ in Read(before).streams]
