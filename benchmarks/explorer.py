"""What the report's explorer takes with many jobs: to build its page, and to use it in a headless Chromium.

Usage: ``python benchmarks/explorer.py [--jobs 100000 300000] [--hosts 512] [--log LOG.swf.xz] [--keep DIR]
[--only build|use]``

Draws workloads by Lublin and Feitelson's model at load 0.85 with 100 users, or takes a log as it is, and simulates easy
and filler (compiled, without a recording). For each, and for windows of 1,400 and 390 px, it prints

- the size of the page, and the CPU seconds and the peak memory of ``batdispatch report --no-explain``, which makes it;
- the first paint after the page was opened, and when the explorer had drawn all its charts (usable), with the CPU
  seconds of the renderer's main thread until then;
- the time from the end of a drag over a chart to the end of the frame with the redrawn charts: the median over drags of
  half of the time in view, a month, a week and a day, the slowest, and the median CPU time of the main thread;
- how long the charts take to be painted with all in view.

``--keep DIR`` keeps runs and pages, and uses the runs that are there. ``--only`` measures building or using alone.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import CDPSession, Page, sync_playwright
from timing import command

DISPATCHERS = "easy,filler"
WIDTHS = (1400, 390)
#: Seconds of time that drags choose; None: half of what is in view.
DRAGS = (None, 30 * 86400.0, 7 * 86400.0, 86400.0)
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def simulated(folder: Path, jobs: int, hosts: int, log: Path | None) -> list[str]:
    """Return the folders of two runs, which are made unless they are there."""
    runs = [folder / name for name in DISPATCHERS.split(",")]
    if not all((run / "result.json").exists() for run in runs):
        workload = log or folder / "workload.json"
        platform = []
        if log is None:
            drawn = ("--jobs", str(jobs), "--hosts", str(hosts), "--load", "0.85", "--users", "100", "--seed", "1")
            command("generate", "lublin", *drawn, "-o", str(workload))
            command("platform", "generate", "flat", "--hosts", str(hosts), "-o", str(folder / "platform.xml"))
            platform = ["--platform", str(folder / "platform.xml")]
        given = ["--workload", str(workload), *platform, "--dispatchers", DISPATCHERS, "--no-record", "--no-report"]
        command("compare", *given, "--jobs", "1", "--out", str(folder))
    return [str(run) for run in runs]


class Renderer:
    """The CPU seconds of a page's main thread."""

    def __init__(self, page: Page) -> None:
        self.session: CDPSession = page.context.new_cdp_session(page)
        self.session.send("Performance.enable", {"timeDomain": "threadTicks"})

    @property
    def cpu(self) -> float:
        """CPU seconds since the page was opened."""
        found = self.session.send("Performance.getMetrics")["metrics"]
        return float(next(one["value"] for one in found if one["name"] == "TaskDuration"))


#: Waits for the frame after the explorer's next drawing that follows an event, and returns how long that took, ms.
REDRAWN = """() => {
  window.redrawn = new Promise((done) => {
    addEventListener("pointerup", (event) => {
      const begun = performance.getEntriesByName("explore-draw").length;
      const look = () => {
        if (performance.getEntriesByName("explore-draw").length === begun) return requestAnimationFrame(look);
        // The drawing's frame is shown once the next message comes.
        const channel = new MessageChannel();
        channel.port1.onmessage = () => done(performance.now() - event.timeStamp);
        channel.port2.postMessage(null);
      };
      requestAnimationFrame(look);
    }, { once: true, capture: true });
  });
}"""


@contextmanager
def opened(path: Path, width: int) -> Iterator[tuple[Page, Renderer]]:
    """Yield a page in a browser of its own."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": width, "height": 900})
        renderer = Renderer(page)
        page.goto(path.as_uri(), wait_until="commit")
        yield page, renderer
        browser.close()


def wait_for_drawing(page: Page) -> float:
    """Return when the explorer had first drawn, ms after the page was opened."""
    told = """async () => {
      let found;
      while (!(found = performance.getEntriesByName("explore-draw")[0])) await new Promise((go) => setTimeout(go, 20));
      return found.startTime + found.duration;
    }"""
    return float(page.evaluate(told))


def drag(page: Page, renderer: Renderer, seconds: float | None) -> tuple[float, float]:
    """Drag over the first chart and return the time and the CPU time until it is redrawn, ms."""
    chart = page.locator("#explore-charts canvas").first
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    assert box is not None
    share = 0.5
    if seconds is not None:
        share = min(0.5, seconds / float(page.evaluate("explorer.view.span")))
    # A drag of a few pixels is the least.
    wide = max(8.0, share * box["width"])
    left, middle = box["x"] + (box["width"] - wide) / 2, box["y"] + box["height"] / 2
    page.mouse.move(left, middle)
    page.mouse.down()
    page.mouse.move(left + wide / 2, middle)
    page.mouse.move(left + wide, middle)
    page.evaluate(REDRAWN)
    before = renderer.cpu
    page.mouse.up()
    took = float(page.evaluate("window.redrawn"))
    return took, 1000 * (renderer.cpu - before)


def in_a_browser(path: Path, width: int) -> dict[str, float]:
    """Return what opening and using a page takes, s, and redrawing it, ms."""
    with opened(path, width) as (page, renderer):
        usable = wait_for_drawing(page)
        found = {"usable": usable / 1000, "script": renderer.cpu}
        paint = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
        found["paint"] = float(page.evaluate(paint)) / 1000
        # In a narrow window the lists above the charts become cards once the charts are drawn, and move these.
        page.wait_for_timeout(500)
        times = [drag(page, renderer, seconds) for seconds in DRAGS]
        page.evaluate("explorer.view.showAll()")
        page.wait_for_timeout(500)
        found["whole"] = float(page.evaluate("performance.getEntriesByName('explore-draw').at(-1).duration"))
        found["redraw"] = statistics.median(wall for wall, _ in times)
        found["redraw CPU"] = statistics.median(cpu for _, cpu in times)
        found["slowest"] = max(wall for wall, _ in times)
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, nargs="*", default=[100_000, 300_000])
    parser.add_argument("--hosts", type=int, default=512)
    parser.add_argument("--log", type=Path, help="A log instead of drawn workloads.")
    parser.add_argument("--keep", type=Path, help="Where runs and pages are kept.")
    parser.add_argument("--only", choices=("build", "use"), help="Measure only one half; use needs --keep.")
    given = parser.parse_args()
    if BROWSER is None:
        raise SystemExit("Chromium is needed, as `chromium` or `google-chrome` on PATH")
    with tempfile.TemporaryDirectory() as temporary:
        for jobs in [0] if given.log else given.jobs:
            folder = (given.keep or Path(temporary)) / (given.log.name if given.log else str(jobs))
            folder.mkdir(parents=True, exist_ok=True)
            runs, path = simulated(folder, jobs, given.hosts, given.log), folder / "page.html"
            if given.only != "use" or not path.exists():
                cpu, _, memory, _ = command("report", *runs, "--no-explain", "-o", str(path))
                size = path.stat().st_size / 1e6
                print(f"{folder.name}: page {size:.2f} MB, built in {cpu:.1f} CPU-s and {memory:.0f} MB", flush=True)
            for width in WIDTHS if given.only != "build" else ():
                found = in_a_browser(path, width)
                print(
                    f"  {width} px: first paint {found['paint']:.2f} s, usable after {found['usable']:.2f} s "
                    f"({found['script']:.2f} CPU-s); drag to redrawn {found['redraw']:.0f} ms, slowest "
                    f"{found['slowest']:.0f} ({found['redraw CPU']:.0f} ms of CPU); all in view "
                    f"{found['whole']:.0f} ms",
                    flush=True,
                )


if __name__ == "__main__":
    main()
