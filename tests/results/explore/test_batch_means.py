"""The explorer computes in the reader's browser what `statistics.batches` does."""

from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from batdispatch.report.explore.bundle import bundle_script
from batdispatch.results.statistics.batches import mean_by_batches
from browsing import browse, needs_browser


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
    assets = resources.files("batdispatch.report.explore") / "assets"
    script = bundle_script("changes.js", lambda path: (assets / path).read_text(encoding="utf-8"))
    ask = f"return {[values.tolist() for values in samples]}.map(modules['changes.js'].meanOfBatches);"
    methods = []
    for told, values in zip(browse("<!doctype html><p>", f"{script}\n{ask}", tmp_path), samples, strict=True):
        expected = mean_by_batches(values)
        methods.append(expected.method)
        assert told["mean"] == pytest.approx(expected.value)
        half = None if expected.high is None else expected.high - expected.value
        assert told["off"] == (None if half is None else pytest.approx(half))
    assert methods == ["batch means"] * 7 + ["too few values"]
