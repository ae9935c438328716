"""The page's sections: those of the base, and those that are announced, in their places."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from batdispatch.report import sections as seam
from batdispatch.report.page import render
from batdispatch.report.page_sections import SECTIONS
from batdispatch.report.sections import PageFacts, PageSection, filled_section
from batdispatch.results.runs import read_runs
from result_fixtures import HEADER, row

pytestmark = pytest.mark.usefixtures("unillustrated")


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Return what renders the page of a run, with announced sections of these places alone."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run/jobs.csv").write_text(f"{HEADER}\n{row('1')}\n")

    def announced(name: str, after: str) -> Callable[[PageFacts], PageSection | None]:
        def make(facts: PageFacts) -> PageSection | None:
            text = '{% from "parts.html.j2" import verbatim %}<section id="{{ name }}">{{ verbatim(runs) }}</section>'
            made = filled_section(name, name.upper(), text, after=after, name=name, runs=len(facts.runs))
            return made if name != "nothing" else None

        return make

    def rendered(**places: str) -> str:
        def load(group: str, name: str, kind: str) -> Any:
            return announced(name, places[name])

        monkeypatch.setattr(seam.registry, "names", lambda group: sorted(places) if group == seam.GROUP else [])
        monkeypatch.setattr(seam.registry, "load", load)
        return render(read_runs([tmp_path / "run"]))

    return rendered


def anchors(page: str) -> list[str]:
    return re.findall(r'<section id="(\w+)"', page)


def test_announced_sections_stand_behind_those_that_they_name_by_name(page: Callable[..., str]) -> None:
    assert anchors(page()) == ["overview", "metrics", "inputs", "definitions"]
    found = page(b="inputs", a="inputs", top="overview", behind="decisions", lost="nowhere", nothing="metrics")
    assert anchors(found) == ["overview", "top", "metrics", "inputs", "a", "b", "behind", "definitions", "lost"]
    assert "<code>1</code>" in found


def test_the_list_at_the_top_names_what_has_a_title(page: Callable[..., str]) -> None:
    top = page(late="inputs").partition("</nav>")[0]
    assert re.findall(r'<a href="#(\w+)"', top) == ["overview", "metrics", "inputs", "late", "definitions"]


def test_the_sections_of_the_base_are_in_the_order_of_the_page() -> None:
    told = ["lacking", "curves", "losses", "metrics", "inputs", "rejected", "decisions", "dispatchers", "rerun"]
    assert list(SECTIONS) == [*told, "definitions"]
