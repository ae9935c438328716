"""The notebook of the page on Python runs from top to bottom, here and from a wheel outside the checkout."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import nbformat
import pytest

from notebooks import show
from wheels import build_wheel, install_wheel

NOTEBOOK = Path(__file__).parents[2] / "docs/examples/python.ipynb"
#: Runs the cells of a notebook as `show` does, far from this checkout, and prints what the last ones show.
SCRIPT = """
import ast, json, sys
names = {"__name__": "__main__"}
shown = []
for cell in json.load(open(sys.argv[1]))["cells"]:
    if cell["cell_type"] == "code":
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "cell", "exec"), names)
        shown.append(None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names))
print(json.dumps([names["bd"].__file__, list(shown[0].index), shown[3], shown[4], str(shown[5])]))
"""


def cells() -> list[Any]:
    return [cell for cell in nbformat.read(NOTEBOOK, as_version=4).cells if cell.cell_type == "code"]


def test_it_runs_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    with mpl.rc_context({"backend": "agg"}):
        metrics, waits, chart, own, clean, page = [show(cell.source, names) for cell in cells()]
    assert sorted(metrics.index) == sorted(waits.columns) == ["easy", "fcfs"]
    assert chart._repr_png_().startswith(b"\x89PNG")
    assert own < metrics.loc["fcfs", "mean_waiting_time"]
    assert clean is True
    assert "comparison.html" in page._repr_html_()
    assert Path("comparison.html").read_text().startswith("<!doctype html>")


@pytest.mark.slow
def test_it_runs_from_a_wheel_outside_the_checkout(tmp_path: Path) -> None:
    programs = install_wheel(build_wheel(tmp_path), tmp_path / "environment")
    done = subprocess.run(
        [programs / "python", "-c", SCRIPT, NOTEBOOK], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    home, runs, own, clean, page = json.loads(done.stdout.splitlines()[-1])
    assert Path(home).is_relative_to(tmp_path / "environment")
    assert (sorted(runs), clean, page) == (["easy", "fcfs"], True, "comparison.html")
    assert own > 0
    assert sys.prefix not in home
