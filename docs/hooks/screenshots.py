"""Pictures of the report's explorer in the manual, taken with each build from the demonstration's page.

This needs Chromium and Playwright. Where they are missing, the manual has the pictures of the repository instead, which
a build leaves alone: `make pictures` takes them anew. Those of 300,000 jobs are always the repository's, since the jobs
have to be simulated first (by `benchmarks/explorer.py`).
"""

from __future__ import annotations

import importlib.util
import io
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from PIL import Image

ROOT = Path(__file__).parents[2]
IMAGES = "images"
#: Width and height of the windows, px: of a desk and of a phone.
WINDOWS = {1400: 1000, 390: 844}
#: What is shown, and how a page gets there. The second is what a person does, in the words of a script.
WHOLE = "document.querySelector('#explore').scrollIntoView();"
DAY = WHOLE + "document.querySelector('#explore-day').click();"
PAIR = "document.querySelector('#explore-pair').scrollIntoView();"
VIEWS = {"whole": WHOLE, "day": DAY, "pair": PAIR}
#: Views of many jobs, which only `make pictures` takes.
MANY = 300_000
MANY_VIEWS = {"300000": WHOLE, "300000-day": DAY}
#: Colours of a picture.
COLOURS = 128


def on_files(files: Files, config: Any) -> Files:
    """Show what the demonstration's page looks like now (mkdocs calls this; the demonstration's hook comes before)."""
    page = files.get_file_from_path("demonstration/index.html")
    if page is None:
        return files
    for name, picture in pictures(page.content_string, VIEWS):
        uri = f"{IMAGES}/{name}"
        old = files.get_file_from_path(uri)
        if old is not None:
            files.remove(old)
        files.append(File.generated(config, uri, content=picture))
    return files


def pictures(page: str, views: dict[str, str]) -> list[tuple[str, bytes]]:
    """Return the file name and the PNG of each view of a page in each window; none, where there is no browser."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None or importlib.util.find_spec("playwright") is None:
        return []
    # In a thread of its own, since whoever calls may have an event loop, where Playwright refuses to run.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: list(_taken(browser, page, views))).result()


def _taken(browser: str, page: str, views: dict[str, str]) -> Iterator[tuple[str, bytes]]:
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "page.html"
        path.write_text(page, encoding="utf-8")
        started = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        for width, height in WINDOWS.items():
            for view, script in views.items():
                shown = started.new_page(viewport={"width": width, "height": height}, color_scheme="light")
                shown.goto(path.as_uri())
                shown.evaluate(f"async () => {{ {_DRAWN} await drawn(1); {script} await drawn(1); }}")
                yield f"explorer-{view}-{width}.png", _small(shown.screenshot())
                shown.close()


#: Waits until the explorer has drawn so often, and until nothing has been drawn for a while.
_DRAWN = """
const drawn = async (least) => {
  const count = () => performance.getEntriesByName("explore-draw").length;
  for (let before = -1; count() < least || count() !== before; ) {
    before = count();
    await new Promise((go) => setTimeout(go, 300));
  }
};
"""


def _small(png: bytes) -> bytes:
    with Image.open(io.BytesIO(png)) as picture, io.BytesIO() as out:
        picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
        return out.getvalue()


def renew(demonstrate: Callable[[Path], Path]) -> None:
    """Take the pictures of the repository anew."""
    with tempfile.TemporaryDirectory() as folder:
        write(demonstrate(Path(folder)).read_text(encoding="utf-8"), VIEWS)
        measured = [sys.executable, str(ROOT / "benchmarks/explorer.py"), "--jobs", str(MANY)]
        subprocess.run([*measured, "--keep", folder, "--only", "build"], check=True)
        write((Path(folder) / str(MANY) / "page.html").read_text(encoding="utf-8"), MANY_VIEWS)


def write(page: str, views: dict[str, str]) -> None:
    """Write the pictures of a page into the repository and print their paths."""
    for name, picture in pictures(page, views):
        path = ROOT / "docs" / IMAGES / name
        path.write_bytes(picture)
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    from demonstration import simulate

    renew(simulate)
