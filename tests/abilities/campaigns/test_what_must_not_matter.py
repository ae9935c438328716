"""What must not change what pages say: the order of rows, the direction of time, the unit of waits, the clock."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from lxml import html

from batdispatch.abilities.campaigns.page.answers import Section, sections, sentences
from batdispatch.cli.main import cli
from batdispatch.report.page import render
from batdispatch.results.runs import find_runs, read_runs

DISPATCHERS = ("easy", "fcfs", "conservative", "easy[ordering=sjf]")
EXAMPLES = Path(__file__).parents[3] / "schedulers" / "batdispatch" / "examples"


def drawn(seed: int, kind: str, windows: int) -> pd.DataFrame:
    """Rows of replicates, in order of time, with waits that resemble those of their neighbours."""
    rng = np.random.default_rng(seed)
    factors = dict(zip(DISPATCHERS, np.exp(rng.normal(0, 0.5, len(DISPATCHERS))), strict=True))
    level, rows = 0.0, []
    for place in range(windows):
        level = 0.6 * level + rng.normal()
        for name, factor in factors.items():
            wait = 5000 * np.exp(level) * factor * np.exp(rng.normal(0, 0.3))
            row = {"workload": "log", "replicate": f"{kind} {place}", "dispatcher": name, "mean_waiting_time": wait}
            row |= {"max_waiting_time": wait * rng.uniform(5, 9), "p99_waiting_time": wait * rng.uniform(3, 5)}
            rows.append(row | {"mean_bounded_slowdown": 1 + wait / rng.uniform(50, 70)})
    return pd.DataFrame(rows)


def said(found: list[Section]) -> list[object]:
    """Return all that a page says of effects: sentences, ratios, intervals and p to nine digits, wins, and ties."""
    told: list[object] = [text for one in found for text in sentences(one)]
    for one in found:
        for answer in one.answers:
            told.append((answer.best, answer.chosen, sorted(answer.rivals)))
            for pair in sorted(answer.pairs, key=lambda pair: pair.ours):
                effect = None if pair.effect is None else [None if x is None else f"{x:.9g}" for x in pair.effect[:3]]
                told.append((pair.ours, effect, None if pair.p is None else f"{pair.p:.9g}", pair.wins, pair.apart))
    return told


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", ["window", "seed"])
def test_the_order_of_the_rows_does_not_matter(seed: int, kind: str) -> None:
    runs = drawn(seed, kind, 6 + seed)
    # Dispatchers keep their order, which is that of the page's rows.
    order = np.random.default_rng(seed + 100).permutation(6 + seed)
    shuffled = pd.concat([runs[runs.replicate == f"{kind} {place}"] for place in order], ignore_index=True)
    assert said(sections(shuffled, "easy")) == said(sections(runs, "easy"))


@pytest.mark.parametrize("seed", range(8))
def test_the_direction_of_time_does_not_matter(seed: int) -> None:
    runs = drawn(seed, "window", 6 + seed)
    last = 5 + seed
    turned = runs.assign(replicate=[f"window {last - int(name.split()[1])}" for name in runs.replicate])
    assert said(sections(turned, "easy")) == said(sections(runs, "easy"))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("scale", [1 / 3600, 1000.0])
def test_the_unit_of_waits_does_not_matter(seed: int, scale: float) -> None:
    runs = drawn(seed, "window", 6 + seed)
    names = ["mean_waiting_time", "max_waiting_time", "p99_waiting_time"]
    assert said(sections(runs.assign(**{name: scale * runs[name] for name in names}), "easy")) == said(
        sections(runs, "easy")
    )


# ------------------------------------------------------------------------------ a clock that is shifted


def compared(folder: Path, shift: float, *more: str) -> tuple[Path, str]:
    """Compare dispatchers on the first jobs of the example, submitted so much later; return where, and the output."""
    workload = json.loads((EXAMPLES / "demo64.json").read_text())
    jobs = [{**job, "subtime": job["subtime"] + shift} for job in workload["jobs"][:120]]
    folder.mkdir()
    (folder / "demo.json").write_text(json.dumps({**workload, "jobs": jobs}))
    words = ["--platform", str(EXAMPLES / "flat64.xml"), "--workload", str(folder / "demo.json"), *more]
    command = ["compare", "--dispatchers", "easy,fcfs,conservative", *words, "--out", str(folder / "out")]
    done = CliRunner().invoke(cli, command)
    assert done.exit_code == 0, done.output
    return folder / "out", done.output


def page_words(page: str) -> list[str]:
    """Return the texts of a page that do not speak of the clock, of paths or of how long decisions took."""
    found = html.fromstring(page)
    for other in found.xpath(
        "//script | //style | //*[@id='explore' or @id='inputs' or @id='decisions' or @id='rerun' or @id='definitions']"
        " | //code | //tr[contains(th, 'decision')]"
    ):
        other.drop_tree()
    return re.sub(r"\s+", " ", found.text_content()).split()


@pytest.mark.usefixtures("unillustrated")
def test_a_comparison_on_a_shifted_clock_says_the_same(tmp_path: Path) -> None:
    pages = []
    for shift in (0.0, 7_776_000.0):
        out, _ = compared(tmp_path / str(shift), shift, "--no-report")
        pages.append(page_words(render(read_runs(find_runs([out])), title="t", printed=False)))
    assert pages[0] == pages[1]
    assert "starved" in pages[0]


def test_replicates_on_a_shifted_clock_say_the_same(tmp_path: Path) -> None:
    told = []
    for shift in (0.0, 7_776_000.0):
        out, _ = compared(tmp_path / str(shift), shift, "--replicates", "6")
        runs = pd.read_csv(out / "replicates.csv", dtype={"workload": str, "replicate": str, "dispatcher": str})
        told.append(said(sections(runs, "easy")))
    assert told[0] == told[1]
