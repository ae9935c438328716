"""Pages in a headless Chromium, driven by Playwright: real keys and clicks, both colour schemes, any width, paper.

A process starts one browser at first use and keeps it; each page has a context of its own.
"""

import atexit
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium here")

#: What scripts of tests may call.
_HELP = """
const pause = (milliseconds) => new Promise((go) => setTimeout(go, milliseconds));
const until = async (holds) => { for (let tries = 0; tries < 400 && !holds(); tries++) await pause(25); };
"""


@cache
def _browser() -> Browser:
    playwright = sync_playwright().start()
    started = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"])
    atexit.register(playwright.stop)
    return started


@contextmanager
def opened(
    page: str | Path, folder: Path, *, width: int = 1400, height: int = 900, dark: bool = False, scripts: bool = True
) -> Iterator[Page]:
    """Yield a page that is shown; it must cause no error and not be wider than the window when it is left.

    Args:
        page: HTML, or where it is.
        folder: for the page.
        width: of the window, px.
        height: of the window, px.
        dark: whether the system asks for dark colours.
        scripts: whether the page's scripts run.
    """
    if isinstance(page, str):
        path = folder / "page.html"
        path.write_text(page, encoding="utf-8")
    else:
        path = page
    scheme = "dark" if dark else "light"
    context = _browser().new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, java_script_enabled=scripts
    )
    try:
        shown = context.new_page()
        errors: list[str] = []
        shown.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        shown.on("pageerror", lambda error: errors.append(str(error)))
        shown.goto(path.as_uri())
        yield shown
        assert errors == []
        assert wider(shown, scripts=scripts) <= 0
    finally:
        context.close()


def browse(page: str | Path, script: str, folder: Path, *, width: int = 1400) -> Any:
    """Return what a script returns in a page, which is looked at as `opened` says.

    Args:
        page: HTML, or where it is.
        script: the body of an asynchronous function.
        folder: for the page.
        width: of the window, px.
    """
    with opened(page, folder, width=width) as shown:
        return shown.evaluate(f"async () => {{ {_HELP} {script} }}")


def ready(shown: Page) -> None:
    """Wait until the explorer of a page has drawn for the first time."""
    # Not wait_for_function(), which the page's content security policy forbids.
    drawn = "performance.getEntriesByName('explore-draw').length"
    assert shown.evaluate(f"async () => {{ {_HELP} await until(() => {drawn}); return {drawn}; }}") > 0


def wider(shown: Page, *, scripts: bool = True) -> int:
    """Return by how much a page is wider than its window, px, once it has followed the window."""
    if scripts:
        # Observers of sizes are called at the end of a frame, and what they change is laid out in the next. Without
        # scripts there are neither observers nor calls at the end of a frame.
        shown.evaluate("async () => { for (let n = 0; n < 3; n++) await new Promise(requestAnimationFrame); }")
    return int(shown.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


def barriers(shown: Page) -> list[str]:
    """Return what axe-core finds in a page that is moderate or worse, with the elements it is about."""
    return [
        f"{one['impact']}: {one['help']}: {[element['target'] for element in one['nodes'][:3]]}"
        for one in Axe().run(shown).response["violations"]
        if one["impact"] in ("moderate", "serious", "critical")
    ]


def sheets(shown: Page) -> int:
    """Return on how many sheets of A4 a page prints."""
    # Chromium writes the objects of pages uncompressed.
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", shown.pdf(format="A4")))
