"""No measured figure of the manual, or of a page of an experiment, was typed: a command fills it, or it repeats one."""

import subprocess
from pathlib import Path

import pytest
from benchmarks.printed import content, printed_sections, run

from figures import figures_of, typed_figures
from manual import ROOT, name_of

PAGES = sorted([*(ROOT / "docs").rglob("*.md"), *(ROOT / "expe").glob("*/results.md")])
#: Figures that are no result: page -> tolerances and limits, defaults, parameters of models and machines, formulas,
#: figures that another program or paper states, and examples that a test works out. A list that may only shrink.
STATED = {
    "docs/audit.md": {"0.1", "2 ms", "50 ms", "600 s"},
    "docs/batsim.md": {"0.050", "0.075", "3 s", "10 ms", "30 s"},
    "docs/campaigns.md": {"600 s"},
    "docs/comparing.md": {"0.9", "12 weeks"},
    "docs/compiled.md": {"10 ms"},
    "docs/conformance.md": {"0.05", "0.1", "0.25", "1 to 50 µs", "1 µs", "3 s", "5 ms", "5 s", "10 ms", "420 s"},
    "docs/differ.md": {"0.5", "4.91", "18.24"},
    "docs/dispatchers/aucsched.md": {".25", ".5", ".75"},
    "docs/dispatchers/auction.md": {"4.3", "45,000 pairs"},
    "docs/dispatchers/constraint.md": {"1 s", "3 and 5 s", "3 s", "4.07", "4.13", "8 and 16 s"},
    "docs/dispatchers/dada.md": {"0.5"},
    "docs/dispatchers/index.md": {"5 s", "10 ms", "30 s"},
    "docs/dispatchers/parts.md": {"5 minutes", "15 and 30 minutes", "50 and 100 hours"},
    "docs/dispatchers/pcp20.md": {"64 GB"},
    "docs/dispatchers/placements-measured.md": {"0.6", "85 %"},
    "docs/dispatchers/plans-measured.md": {"2.31"},
    "docs/dispatchers/slurm-backfill.md": {"30 s"},
    "docs/dispatchers/stochastic-batch.md": {"0.01", "100 seconds"},
    "docs/dispatchers/stochastic-measured.md": {"60 s"},
    "docs/dispatchers/topology.md": {"26 times"},
    "docs/engine.md": {"600 s", "600.000021"},
    "docs/evalys.md": {"100,000 to 200,000 s"},
    "docs/explain-wait.md": {"5 s", "6 s", "100 s"},
    "docs/logs.md": {"1 %", "2.8", "10 %"},
    "docs/malleable.md": {"0.2", "0.7", "0.95", "1.5", "10 s", "20 s", "60 s", "200 s", "1,200 s"},
    "docs/metrics.md": {"1 s", "3 times", "10 s", "3600 s"},
    "docs/performance.md": {"1.3", "2.5", "22 times"},
    "docs/power.md": {
        "2 s",
        "6.1",
        "9.75",
        "20 s",
        "30 W",
        "95 W",
        "101 W",
        "125.17",
        "151.52",
        "190.738",
        "200 W",
        "201 W",
        "425.17",
    },
    "docs/pybatsim.md": {"5 ms", "600 seconds"},
    "docs/report.md": {"10 %", "3,584 days"},
    "docs/simgrid.md": {"0.00001", "1 GB", "4.1"},
    "docs/slurm.md": {"1 day", "3 s", "7 days", "19.05", "30 s", "60 s", "121 s"},
    "docs/stability.md": {"0.4", "0.5", "0.6"},
    "docs/stochastic.md": {"1.5", "100 times"},
    "docs/what-is-easy.md": {"5 minutes", "5 s", "15 s"},
    "docs/whatif.md": {
        "0.01",
        "0.02",
        "0.03",
        "0.07",
        "0.15",
        "0.2",
        "0.3",
        "0.4",
        "0.6",
        "0.7",
        "1.15",
        "1.5",
    },
    "docs/which-dispatcher.md": {"1.5"},
    "docs/words.md": {"10 s"},
    "expe/aucsched/results.md": {"0.1", "1.5"},
    "expe/dmr/results.md": {"0.233", "0.367", "0.530", "0.541", "20 s", "1,200 s"},
    "expe/esp/results.md": {"30 s", "52 of the 460"},
    "expe/eurora/results.md": {"300 of 5,930"},
    "expe/heldout/results.md": {"0.3", "0.7", "0.8", "1.5", "10 s", "61 of 338", "98 of the 100"},
    "expe/kit/results.md": {"21 of 48", "2,000 of 25,326"},
    "expe/malleability/results.md": {"60 s", "300 s"},
    "expe/pinned_io/results.md": {"18 minutes"},
    "expe/power/results.md": {"35 days"},
    "expe/stochastic/results.md": {".400", "0.65", ".670", ".897"},
}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_command_fills_each_measured_figure(page: Path) -> None:
    stated = STATED.get(name_of(page), set())
    typed = [f"line {line}: {text}" for line, text in typed_figures(page) if text not in stated]
    assert typed == [], "fill a section with the command that measures it (benchmarks/printed.py), or leave it out"


def test_no_figure_is_excused_that_is_not_there() -> None:
    for name, stated in STATED.items():
        assert stated == stated & {figure.text for figure in typed_figures(ROOT / name)}, name


FILLED = "<!-- measured: a -->\n\n| easy | 0.57 |\n\n<!-- end -->\n"


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("It takes 0.57 of the time.", ["0.57"]),
        ("It takes .57 of the time.", [".57"]),
        ("Jobs wait 36 to 44 % less.", ["36 to 44 %"]),
        ("It is 22 times as fast.", ["22 times"]),
        ("A decision takes 14 ms and 300 MB.", ["14 ms", "300 MB"]),
        ("It starts 23 of 150 jobs, and 98 of the 100 hosts of 2 kinds.", ["23 of 150", "98 of the 100"]),
        ("Jobs wait 36 h longer, and burn 12 kWh in 2 days.", ["36 h", "12 kWh", "2 days"]),
        ("Then 115 jobs wait less, and all 182 pairs are the same.", ["115 jobs wait", "182 pairs"]),
        ("From 0 s to 2^37 s, 512 hosts serve 400 jobs of 2 users.", []),
        ("| easy | 1,290 s | 0.9 |", ["1,290 s", "0.9"]),
        (FILLED, []),
        (FILLED + "It takes 0.57 of the time.", []),
        (FILLED + "It takes 0.58 of the time.", ["0.58"]),
        ("The 95 % interval, `share=0.25`, Slurm 22.05 and load 0.9.", []),
        ("See [here](b-0.5.md) and doi:10.1000/3.5.", []),
        ("```console\n$ a\n0.25\n```\nIt is 0.25.", []),
        ("```python\nx = 0.25\n```\nIt is 0.25.", ["0.25"]),
    ],
)
def test_figures_are_found(text: str, typed: list[str]) -> None:
    assert figures_of(text) == typed


def test_figures_of_an_experiment_that_a_page_shows_may_be_repeated() -> None:
    shown = "<!-- generated: measured choice-walltimes -->\n"
    assert figures_of(shown + "It has 0.63 times the wait.") == []
    assert figures_of("It has 0.63 times the wait.") == ["0.63"]


SECTION = "<!-- measured: two -->\n\n```console\n$ echo a \\\n    b\nold\n```\n\n<!-- end -->\n"


def test_a_section_says_its_command() -> None:
    (found,) = printed_sections("text\n" + SECTION + "<!-- measured: other -->\n\n| a |\n\n<!-- end -->\n")
    assert found == ("two", "echo a \\\n    b")
    assert run(found.command, Path()) == "a b\n"


def test_a_command_stands_above_what_it_prints() -> None:
    assert content("show", "a  \nb\n") == "```console\n$ show\na\nb\n```"
    assert content("show", "| a |\n") == "```console\n$ show\n```\n\n| a |"


def test_a_command_that_fails_gives_nothing() -> None:
    with pytest.raises(subprocess.CalledProcessError):
        run("echo a; exit 3", Path())


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_each_section_was_filled(page: Path) -> None:
    text = page.read_text()
    for section, command in printed_sections(text):
        begin = f"<!-- measured: {section} -->\n\n```console\n$ {command}\n"
        assert not text.partition(begin)[2].lstrip("`\n").startswith("<!-- end -->"), section
