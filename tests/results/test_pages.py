"""Pages with measured sections."""

from pathlib import Path

import pytest

from batdispatch.core.errors import InputError
from batdispatch.report.pages import fill, publish


def test_a_page_without_the_section_is_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("nothing\n")
    with pytest.raises(InputError, match="found no section"):
        fill(page, {"log": "text"})
    assert page.read_text() == "nothing\n"


def test_sections_are_printed_and_the_page_is_filled_only_if_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "results.md"
    page.write_text("<!-- measured: one -->\nold\n<!-- end -->\n")
    publish(page, {"one": "new"}, write=False)
    assert capsys.readouterr().out == "\none\n\nnew\n"
    assert "old" in page.read_text()
    publish(page, {"one": "new"}, write=True)
    assert page.read_text() == "<!-- measured: one -->\n\nnew\n\n<!-- end -->\n"
