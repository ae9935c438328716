"""Pages in a headless Chromium: a script of the test's own runs in them, and its answer comes back."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium here")

#: Waits for the explorer, runs the script, and leaves its answer and all errors in the page.
_FRAME = """<script>
const errors = [];
addEventListener("error", (event) => errors.push(String(event.message)));
addEventListener("unhandledrejection", (event) => errors.push(String(event.reason)));
console.error = (...said) => errors.push(said.join(" "));
const pause = (milliseconds) => new Promise((go) => setTimeout(go, milliseconds));
const until = async (holds) => { for (let tries = 0; tries < 400 && !holds(); tries++) await pause(25); };
addEventListener("load", async () => {
  let answer = null;
  try { answer = await (async () => { SCRIPT })(); } catch (problem) { errors.push(String(problem.stack ?? problem)); }
  const told = document.createElement("pre");
  told.id = "told";
  const root = document.documentElement;
  told.textContent = JSON.stringify({ answer, errors, wider: root.scrollWidth - root.clientWidth });
  document.body.append(told);
});
</script></body>"""


def browse(page: str, script: str, folder: Path, *, width: int = 1400) -> Any:
    """Return what a script returns in a page, which must cause no error and not be wider than the window.

    Args:
        page: HTML.
        script: the body of an asynchronous function.
        folder: for the page.
        width: of the window, px.
    """
    path = folder / "page.html"
    path.write_text(page.replace("</body>", _FRAME.replace("SCRIPT", script)))
    assert BROWSER is not None
    done = subprocess.run(
        [
            *(BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--window-size={width},900"),
            *("--virtual-time-budget=60000", "--dump-dom", path.as_uri()),
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=180,
    )
    found = re.search(r'<pre id="told">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found is not None, done.stdout[-2000:] + done.stderr[-2000:]
    told = json.loads(html.unescape(found[1]))
    assert told["errors"] == []
    assert told["wider"] <= 0
    return told["answer"]
