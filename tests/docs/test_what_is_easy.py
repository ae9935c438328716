"""The page "What is EASY?": its models do what they are said to do, and its cases show what they are said to show."""

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from batdispatch.core.machine.machine import Machine
from batdispatch.testing import Task
from batdispatch.testing import simulate as run_ours

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/what-is-easy.md"
CASES = re.findall(r"<!-- easy: ([a-z-]+) -->", PAGE.read_text())
HOSTS = 4


@pytest.fixture(scope="module")
def hooks() -> Iterator[Any]:
    """The hooks of the build, imported as mkdocs does."""
    sys.path.insert(0, str(ROOT / "docs/hooks"))
    try:
        yield SimpleNamespace(
            models=importlib.import_module("easy_models"),
            cases=importlib.import_module("easy_cases"),
            page=importlib.import_module("what_is_easy"),
        )
    finally:
        sys.path.remove(str(ROOT / "docs/hooks"))


@st.composite
def jobs(draw: st.DrawFn) -> list[tuple[int, int, int, int]]:
    """(submission, hosts, run time, requested time), by submission."""
    made, time = [], 0
    for _ in range(draw(st.integers(1, 8))):
        walltime = draw(st.integers(1, 12))
        made.append((time, draw(st.integers(1, HOSTS)), draw(st.integers(1, walltime)), walltime))
        time += draw(st.integers(0, 4))
    return made


def ours(asked: list[tuple[int, int, int, int]], dispatcher: str) -> list[float]:
    tasks = [Task(f"{number:02}", *job) for number, job in enumerate(asked)]
    starts = run_ours(Machine.flat(HOSTS), tasks, dispatcher).starts()
    return [starts[task.id] for task in tasks]


def modelled(hooks: Any, asked: list[tuple[int, int, int, int]], model: Any) -> Any:
    return hooks.models.simulate([hooks.models.Asked(*job) for job in asked], HOSTS, model)


@given(asked=jobs())
@example([(0, 1, 1, 1), (0, 1, 1, 1), (0, 3, 1, 1), (0, 1, 1, 2)])  # two jobs end at the shadow time
def test_particular_hosts_are_promised_as_our_option_does(hooks: Any, asked: list[tuple[int, int, int, int]]) -> None:
    """And what the option gives is what batsched's easy_bf was recorded to do (tests/conformance)."""
    world = modelled(hooks, asked, hooks.models.on_hosts)
    assert [world.starts[index] for index in range(len(asked))] == ours(asked, "easy[reservation=hosts]")


@given(asked=jobs())
def test_accasims_rule_is_that_of_particular_hosts_where_jobs_take_what_they_ask_for(
    hooks: Any, asked: list[tuple[int, int, int, int]]
) -> None:
    exact = [(time, units, walltime, walltime) for time, units, _, walltime in asked]
    worlds = [modelled(hooks, exact, model) for model in (hooks.models.not_before_the_promise, hooks.models.on_hosts)]
    assert worlds[0].starts == worlds[1].starts


@given(asked=jobs(), name=st.sampled_from(["on_hosts", "at_once_or_never", "not_before_the_promise"]))
def test_a_model_starts_each_job_once_on_idle_hosts_and_keeps_its_promise(
    hooks: Any, asked: list[tuple[int, int, int, int]], name: str
) -> None:
    promised: dict[int, int] = {}
    decide = getattr(hooks.models, name)

    def watched(world: Any) -> None:
        decide(world)
        if world.promise is not None:
            assert promised.setdefault(world.promise[0], world.promise[1]) == world.promise[1]
        held = [host for hosts in world.running.values() for host in hosts]
        assert len(held) == len(set(held))

    world = modelled(hooks, asked, watched)
    assert sorted(world.starts) == list(range(len(asked)))
    for index, (submission, units, _, _) in enumerate(asked):
        assert world.starts[index] >= submission
        assert len(world.places[index]) == units
        if index in promised:
            # AccaSim's head starts at the promised time or when its hosts are free after it, never before.
            early = world.starts[index] < promised[index]
            assert not early if name == "not_before_the_promise" else world.starts[index] <= promised[index]


def test_who_does_not_start_at_once_waits_for_the_head_under_easy_bf_fast(hooks: Any) -> None:
    """Job 2 is promised 10. Job 3 does not fit at 2; at 5 it would, and is not looked at until job 2 has started."""
    asked = [(0, 3, 10, 10), (1, 4, 2, 2), (2, 2, 3, 3)]
    assert modelled(hooks, asked, hooks.models.at_once_or_never).starts == {0: 0, 1: 10, 2: 12}
    longer = [(0, 2, 10, 10), (0, 1, 5, 5), (1, 4, 2, 2), (2, 2, 3, 3)]
    assert modelled(hooks, longer, hooks.models.at_once_or_never).starts == {0: 0, 1: 0, 2: 10, 3: 12}
    assert modelled(hooks, longer, hooks.models.on_hosts).starts == {0: 0, 1: 0, 2: 10, 3: 5}


@pytest.mark.parametrize("name", CASES)
def test_a_case_parts_those_that_the_page_says(hooks: Any, name: str) -> None:
    case = next(one for one in hooks.cases.CASES if one.name == name)
    assert len(case.jobs) == 5
    defined = hooks.cases.starts_of(case, hooks.cases.DEFINED)
    assert hooks.cases.starts_of(case, "easy") == defined
    assert hooks.cases.starts_of(case, case.drawn) != defined
    if case.differ:
        parted = [who for who in hooks.cases.IMPLEMENTATIONS if hooks.cases.starts_of(case, who) != defined]
        assert sorted(parted) == sorted(case.differ)
    for who in (hooks.cases.DEFINED, case.drawn):
        assert [len(hosts) for hosts in hooks.cases.places_of(case, who)] == [job.units for job in case.jobs]


def test_the_page_shows_every_case_with_its_table_and_picture(hooks: Any) -> None:
    assert sorted(CASES) == sorted(case.name for case in hooks.cases.CASES)
    made = hooks.page.on_page_markdown(PAGE.read_text())
    assert "<!-- easy:" not in made
    assert made.count("<svg ") == len(CASES)
    assert "| batsched's easy_bf, AccaSim, `easy[reservation=hosts]` | 0 | 3 | 12 | 22 | **15** |" in made
    for who in hooks.cases.IMPLEMENTATIONS:
        assert who in PAGE.read_text()
