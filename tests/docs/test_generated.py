"""What the manual's build makes of a page: commands that can be copied and run."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def hook() -> Any:
    """The hook of the build."""
    path = Path(__file__).parents[2] / "docs/hooks/generated.py"
    spec = importlib.util.spec_from_file_location("generated", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
