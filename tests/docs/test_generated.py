"""What the manual's build makes of a page: commands that can be copied and run."""

import re
from pathlib import Path
from typing import Any

import pytest

from manual import hook_of


@pytest.fixture(scope="module")
def hook() -> Any:
    """The hook of the build."""
    return hook_of("generated")


def test_commands_lose_their_prompts(hook: Any) -> None:
    page = "a\n\n```console\n$ make demo   # so\n$ batdispatch compare \\\n    --out x\n```\n\nb\n"
    assert hook.on_page_markdown(page) == (
        "a\n\n```bash\nmake demo   # so\nbatdispatch compare \\\n    --out x\n```\n\nb\n"
    )


def test_where_output_stands_too_the_prompts_stay(hook: Any) -> None:
    page = "```console\n$ batdispatch list\ndispatchers\n```\n"
    assert hook.on_page_markdown(page) == page


def test_each_case_of_the_kit_has_its_row(hook: Any) -> None:
    assert "| `whole-hosts` |" in hook.on_page_markdown("<!-- generated: cases -->")


def test_options_that_commands_share_stand_once(hook: Any) -> None:
    compare = hook.on_page_markdown("<!-- generated: commands compare-dispatchers -->")
    convert = hook.on_page_markdown("<!-- generated: commands workloads-and-platforms -->")
    assert compare.count("--time-zone NAME") == 0
    assert convert.count("--time-zone NAME") == 1
    assert (
        "*Reading a log*: these options are those of [`batdispatch convert`](workloads.md#batdispatch-convert)."
        in compare
    )
    assert compare.count("--decision-clock [wall|cpu]") == 1


def test_a_measured_section_is_taken_from_the_page_of_its_experiment(hook: Any) -> None:
    page = (Path(__file__).parents[2] / "expe/choice/results.md").read_text()
    table = hook.on_page_markdown("<!-- generated: measured choice-no-walltimes -->")
    assert table.startswith("| dispatcher |")
    assert table in page
    with pytest.raises(LookupError, match="no section nothing"):
        hook.on_page_markdown("<!-- generated: measured choice-nothing -->")


def test_the_page_of_decisions_shows_all_that_was_measured_for_it() -> None:
    root = Path(__file__).parents[2]
    sections = re.findall(r"<!-- measured: (\S+) -->", (root / "expe/choice/results.md").read_text())
    shown = re.findall(r"<!-- generated: measured choice-(\S+) -->", (root / "docs/which-dispatcher.md").read_text())
    assert sorted(shown) == sorted(set(sections) - {"claims"})
