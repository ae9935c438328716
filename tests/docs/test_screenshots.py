"""The manual's screenshots: taken where there is a Chromium, and in the repository for where there is none."""

import io
import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from matplotlib.image import imread

from browsing import needs_browser
from manual import hook_of
from report_pages import drawn, of_runs

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def hook() -> ModuleType:
    return hook_of("screenshots")


@needs_browser
def test_pictures_show_the_page_as_it_is(hook: ModuleType) -> None:
    page = drawn(of_runs("easy")).read_text(encoding="utf-8")
    taken = dict(hook.pictures(page, {"whole": hook.WHOLE, "day": hook.DAY}))
    assert set(taken) == {f"explorer-{view}-{width}.png" for view in ("whole", "day") for width in (1400, 390)}
    shown = {name: imread(io.BytesIO(content))[..., :3] for name, content in taken.items()}
    for width, height in hook.WINDOWS.items():
        whole, day = (shown[f"explorer-{view}-{width}.png"] for view in ("whole", "day"))
        assert whole.shape == day.shape == (height, width, 3)
        # Jobs are coloured, and another view has other ones.
        assert ((whole.max(axis=-1) - whole.min(axis=-1)) > 0.2).mean() > 0.05
        assert np.abs(whole - day).mean() > 0.01


def test_without_a_browser_there_are_none(hook: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert hook.pictures("<title>x</title>", hook.VIEWS) == []


def test_the_repository_has_all_of_them_and_the_manual_shows_each_with_words(hook: ModuleType) -> None:
    expected = {f"explorer-{view}-{width}.png" for view in {**hook.VIEWS, **hook.MANY_VIEWS} for width in hook.WINDOWS}
    assert {path.name for path in (DOCS / "images").glob("explorer-*.png")} == expected
    shown = dict(re.findall(r"!\[([^]]+)\]\(images/(explorer-[^)]+)\)", (DOCS / "report.md").read_text()))
    assert set(shown.values()) == expected
    assert all(len(words) > 40 for words in shown)
