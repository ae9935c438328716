"""The explorer computes in the reader's browser what `statistics.batches` does."""

from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from batdispatch.report.bundle import bundle_script
from batdispatch.results.numbers import duration, number
from batdispatch.results.statistics.batches import mean_by_batches
from browsing import browse, needs_browser


def scripts_of(module: str) -> str:
    assets = resources.files("batdispatch.report.explore") / "assets"
    return bundle_script(module, lambda path: (assets / path).read_text(encoding="utf-8"))


@needs_browser
def test_numbers_and_durations_read_as_on_the_rest_of_the_page(tmp_path: Path) -> None:
    values = [0, 1, 1.9, 20, 28476, 1234.6, 0.5, 0.1 + 0.2, 9.996, 99.94, 360, 6840, 7199, 172800.4, 0.0123, 2e-5]
    ask = f"const words = modules['words.js']; return {values}.map((one) => [words.number(one), words.duration(one)]);"
    told = browse("<!doctype html><p>", f"{scripts_of('words.js')}\n{ask}", tmp_path)
    assert told == [[number(one), duration(one)] for one in values]


@needs_browser
def test_the_readers_browser_finds_the_same_intervals(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    samples = [
        rng.normal(-100, 50, 400),
        rng.exponential(3600, 1019),
        rng.normal(0, 1, 400) + np.repeat(np.tile([1.0, -1.0], 10), 20),
        np.zeros(500),
        np.sin(np.arange(400) / 60),
        rng.normal(size=399),
        rng.normal(size=143).cumsum(),
        rng.normal(size=99),
    ]
    script = scripts_of("changes.js")
    ask = f"return {[values.tolist() for values in samples]}.map(modules['changes.js'].meanOfBatches);"
    methods = []
    for told, values in zip(browse("<!doctype html><p>", f"{script}\n{ask}", tmp_path), samples, strict=True):
        expected = mean_by_batches(values)
        methods.append(expected.method)
        assert told["mean"] == pytest.approx(expected.value)
        half = None if expected.high is None else expected.high - expected.value
        assert told["off"] == (None if half is None else pytest.approx(half))
    assert methods == ["batch means"] * 7 + ["too few values"]
