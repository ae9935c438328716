"""Numbers and durations in the reader's browser read as on the rest of the page."""

from pathlib import Path

from batdispatch.abilities.explorer.section import script_text
from batdispatch.report.bundle import bundle_script
from batdispatch.results.numbers import duration, number
from browsing import browse, needs_browser


def scripts_of(module: str) -> str:
    return bundle_script(module, script_text)


@needs_browser
def test_numbers_and_durations_read_as_on_the_rest_of_the_page(tmp_path: Path) -> None:
    values = [0, 1, 1.9, 20, 28476, 1234.6, 0.5, 0.1 + 0.2, 9.996, 99.94, 360, 6840, 7199, 172800.4, 0.0123, 2e-5]
    ask = f"const words = modules['words.js']; return {values}.map((one) => [words.number(one), words.duration(one)]);"
    told = browse("<!doctype html><p>", f"{scripts_of('words.js')}\n{ask}", tmp_path)
    assert told == [[number(one), duration(one)] for one in values]
