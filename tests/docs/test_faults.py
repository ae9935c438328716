"""The build of the manual refuses pages on which Markdown was not understood."""

from types import SimpleNamespace
from typing import Any

import markdown
import pytest
from mkdocs.exceptions import PluginError

from manual import hook_of


@pytest.fixture(scope="module")
def hook() -> Any:
    """The hook of the build."""
    return hook_of("faults")


def built(text: str) -> str:
    return markdown.markdown(text, extensions=["admonition", "tables", "pymdownx.superfences"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('Text.\n\n!!! note "Title" and text\nthat goes on\n', "an admonition is no block of its own: !!! note"),
        ("Three things:\n- one\n- two\n", "a list is glued to the paragraph before it: Three things:"),
        ("Three things:\n1. one\n2. two\n", "a list is glued"),
        ("See [the page](other page.md), or [this] (#here) and ](#x).\n", "a link was not understood"),
        ("| a | b |\n| 1 | 2 |\n", "a table was not understood"),
        ("| a |\n|---|\n| `one \\| two` |\n", r"an escape is shown: one \| two"),
        ("::: batdispatch.Job\n", "a mark was not filled in"),
        ("Say `this and go on.\n", "a code span was not closed"),
    ],
)
def test_what_was_not_understood_is_refused(hook: Any, text: str, said: str) -> None:
    assert any(found.startswith(said) for found in hook.faults(built(text)))
    with pytest.raises(PluginError, match=r"^page\.md: "):
        hook.on_page_content(built(text), page=SimpleNamespace(file=SimpleNamespace(src_path="page.md")))


def test_the_same_is_fine_in_code_and_where_it_was_understood(hook: Any) -> None:
    code = "```text\n!!! note\nThings:\n- one\n| a |\n|---|\n[x](y.md)\n::: z\n```\n"
    page = '!!! note "Title"\n\n    Text.\n\nThings:\n\n- one\n- two\n\n| a |\n|---|\n| `b` |\n'
    line = "[x](y.md), 3 - 2, `](a.md)`\n"
    assert hook.faults(built("\n".join([code, page, line]))) == []
