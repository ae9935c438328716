"""The experiment with DADA: its files fit together, a small version of it runs, and its page has what was measured."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[2] / "expe" / "dada"


@pytest.fixture(scope="module")
def modules() -> Iterator[dict[str, ModuleType]]:
    """The files of the experiment; their names are taken from nobody else's."""
    names = ("grid", "show", "run")
    before = {name: sys.modules.pop(name, None) for name in names}
    sys.path.insert(0, str(FOLDER))
    try:
        yield {name: __import__(name) for name in names}
    finally:
        sys.path.remove(str(FOLDER))
        for name in names:
            sys.modules.pop(name, None)
            if (module := before[name]) is not None:
                sys.modules[name] = module


def test_a_small_version_runs_is_audited_and_is_taken_as_it_is_the_second_time(
    modules: dict[str, ModuleType],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run, grid = modules["run"], modules["grid"]
    monkeypatch.setattr(run, "SIZE", 2048)
    row = grid.ROWS["DADA(0.5) + CP"]
    first = run.measure(row, "cholesky", 2, tmp_path, "estimated")
    made = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("result.json")}
    assert run.measure(row, "cholesky", 2, tmp_path, "estimated") == first
    assert made == {path: path.stat().st_mtime_ns for path in tmp_path.rglob("result.json")}
    assert len(made) == 1
    assert first.gflops > 0
    # At least the 16 tiles below and on the diagonal have to get somewhere, 2 MiB each, unless cores do them.
    assert 0 < first.moved < 0.2


def test_the_mean_over_seeds_is_taken(
    modules: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run, grid = modules["run"], modules["grid"]
    monkeypatch.setattr(run, "SIZE", 1024)
    row = grid.Row("work-stealing", {}, seeds=2)
    run.measure(row, "qr", 1, tmp_path, "estimated")
    assert len(list(tmp_path.rglob("result.json"))) == 2


def test_ratios_and_tables(modules: dict[str, ModuleType]) -> None:
    show = modules["show"]
    curves = {
        "cholesky": {
            "HEFT": {1: show.Measured(100.0, 2.0, 0.0), 2: show.Measured(200.0, 4.0, 0.0)},
            "DADA(0)": {1: show.Measured(110.0, 1.0, 0.0), 2: show.Measured(200.0, 1.0, 0.0)},
        },
        "qr": {"HEFT": {2: show.Measured(50.0, 1.0, 0.0)}, "DADA(0)": {2: show.Measured(60.0, 2.0, 0.0)}},
    }
    assert show.claim_table(curves).splitlines()[2:] == [
        "| cholesky | DADA(0) | Gflop/s | 1.10 | 1.00 |",
        "|  |  | GB | 0.50 | 0.25 |",
        "| qr | DADA(0) | Gflop/s |  | 1.20 |",
        "|  |  | GB |  | 2.00 |",
    ]


def test_the_page_has_every_section_filled_and_every_picture(modules: dict[str, ModuleType]) -> None:
    page = (FOLDER / "results.md").read_text(encoding="utf-8")
    found = dict(re.findall(r"<!-- measured: (\S+) -->\s*(.*?)\s*<!-- end -->", page, re.DOTALL))
    grid = modules["grid"]
    assert found.keys() == {"claim", "alpha", "transfers", *grid.GPUS}
    for kernel, counts in grid.GPUS.items():
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in found[kernel].splitlines()]
        assert rows[0][2:] == [str(count) for count in counts]
        assert [row[0] for row in rows[2:] if row[0]] == list(grid.ROWS)
    for name in re.findall(r"\]\(([^)]*\.svg)\)", page):
        assert (FOLDER / name).read_bytes().startswith(b"<svg")
