"""The numbers of each kind of page, worked out anew from the runs' jobs.csv by lines that share nothing with it.

What a page says is read from its text. It has three digits at least, so that half a percent is the most it may be off.
"""

import csv
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from lxml import html

from batdispatch.abilities.campaigns.page import page as replicate_page
from batdispatch.cli.main import cli

SECONDS = {"d": 86400.0, "h": 3600.0, "min": 60.0, "s": 1.0, "ms": 0.001, "%": 0.01, "": 1.0}
SECONDS |= {"kWh": 3.6e6, "kW": 1000.0}
ACCOUNTS = Path(__file__).parents[1] / "conformance" / "recordings" / "slurm-accounts" / "base"
POWERED = "powered[dispatcher=easy,sleep=idle,after=300]"
JOBS = 130


# ------------------------------------------------------------------------------ the lines that share nothing


def jobs_of(folder: Path) -> list[dict[str, float]]:
    """Return the jobs of a run in order of submission: wait, run time, bounded slowdown, end, and whether killed."""
    rows = list(csv.DictReader((folder / "jobs.csv").open()))
    rows.sort(key=lambda row: (float(row["submission_time"]), int(row["job_id"])))
    found = []
    for row in rows:
        came, start, end = (float(row[name]) for name in ("submission_time", "starting_time", "finish_time"))
        slowdown = max(1.0, (end - came) / max(end - start, 10.0))
        killed = row["final_state"] in ("COMPLETED_WALLTIME_REACHED", "COMPLETED_KILLED")
        found.append({"wait": start - came, "slowdown": slowdown, "came": came, "end": end, "killed": float(killed)})
    return found


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    low = int(share * (len(ordered) - 1))
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (share * (len(ordered) - 1) - low) * (ordered[high] - ordered[low])


def joules(folder: Path, moment: float) -> float:
    """Return what all hosts burnt until a moment, between two rows in proportion."""
    rows = [
        (float(row["time"]), float(row["energy"])) for row in csv.DictReader((folder / "consumed_energy.csv").open())
    ]
    (t0, e0), (t1, e1) = max(row for row in rows if row[0] <= moment), min(row for row in rows if row[0] >= moment)
    return e0 if t1 <= t0 else e0 + (e1 - e0) * (moment - t0) / (t1 - t0)


def figures(folder: Path) -> dict[str, float]:
    jobs = jobs_of(folder)
    waits = [job["wait"] for job in jobs]
    begin, end = min(job["came"] for job in jobs), max(job["end"] for job in jobs)
    return {
        "mean wait": mean(waits),
        "99 % wait": quantile(waits, 0.99),
        "longest wait": max(waits),
        "mean bounded slowdown": mean([job["slowdown"] for job in jobs]),
        "killed": sum(job["killed"] for job in jobs),
        "energy": joules(folder, end) - joules(folder, begin),
    }


def starved(jobs: Sequence[dict[str, float]], easy: Sequence[dict[str, float]]) -> int:
    return sum(one["wait"] > max(3 * other["wait"], 3600) for one, other in zip(jobs, easy, strict=True))


# ------------------------------------------------------------------------------ reading pages


def page_of(path: Path) -> html.HtmlElement:
    page = html.fromstring(path.read_text())
    for other in page.xpath("//script | //style | //*[@class='sr']"):
        other.drop_tree()
    for other in page.xpath("//span[@class='more' or @class='mark']"):
        other.text = f" {other.text or ''}"
    return page


def text(element: html.HtmlElement) -> str:
    return re.sub(r"\s+", " ", element.text_content().replace("\N{NO-BREAK SPACE}", " ")).strip()


def value(words: str, unit: str = "") -> float:
    """Return the first number of a text in seconds, joules or as it is; a unit may stand behind it."""
    found = re.match(r"([+\N{MINUS SIGN}]?[\d,.]+) ?(d|h|min|s|kWh|kW|%)?", words)
    assert found, words
    number = float(found[1].replace(",", "").replace("\N{MINUS SIGN}", "-"))
    return number * SECONDS[found[2] or unit]


def table(page: html.HtmlElement, path: str) -> dict[str, dict[str, float]]:
    """Return the values of a table with a row for each run: run -> metric -> value."""
    (found,) = page.xpath(path)
    heads = [(text(th), "".join(th.xpath("./span[@class='unit']/text()"))) for th in found.xpath(".//thead//th")]
    names = [(head.removesuffix(unit).strip(), unit) for head, unit in heads[1:]]
    return {
        text(row.xpath("./th")[0]): {
            name: value(text(cell), unit) for (name, unit), cell in zip(names, row.xpath("./td"), strict=True)
        }
        for row in found.xpath(".//tbody/tr")
    }


def bars(page: html.HtmlElement) -> dict[str, dict[str, float]]:
    heads = [text(one) for one in page.xpath("//*[@class='heads']/*[@role='columnheader']")][1:]
    return {
        text(row.xpath("./*[@role='rowheader']")[0]): {
            name: value(text(cell)) for name, cell in zip(heads, row.xpath("./*[@role='cell']"), strict=True)
        }
        for row in page.xpath("//*[@role='row'][*[@role='rowheader']]")
    }


def call(*words: str) -> str:
    done = CliRunner().invoke(cli, list(words))
    assert done.exit_code == 0, done.output
    return done.output


def near(expected: float) -> Any:
    return pytest.approx(expected, rel=0.0051, abs=1e-9)


# ------------------------------------------------------------------------------ the runs


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A machine that states watts, and jobs of which some run longer than their walltime."""
    folder = tmp_path_factory.mktemp("inputs")
    call("platform", "generate", "flat", "--hosts", "32", "--power", "batsim-cluster", "-o", str(folder / "p.xml"))
    drawn = ["--jobs", str(JOBS), "--hosts", "32", "--load", "0.9", "--seed", "5", "--users", "4"]
    call("generate", "lublin", "-o", str(folder / "w.json"), *drawn)
    workload = json.loads((folder / "w.json").read_text())
    for job in workload["jobs"][::9]:
        job["walltime"] = workload["profiles"][job["profile"]]["delay"] / 2
    (folder / "w.json").write_text(json.dumps(workload))
    return folder


@pytest.fixture(scope="module", autouse=True)
def unillustrated_replicates(unillustrated: None) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(replicate_page, "MAX_DRAWN", 0)
        yield


def given(inputs: Path, *dispatchers: str) -> list[str]:
    files = ["--platform", str(inputs / "p.xml"), "--workload", str(inputs / "w.json")]
    return ["compare", *files, "--dispatchers", ",".join(dispatchers), "--energy", "exact"]


@pytest.fixture(scope="module")
def compared(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("compared")
    call(*given(inputs, "fcfs", "easy", "conservative"), "--out", str(out))
    return out


def test_the_page_of_a_run(compared: Path, tmp_path: Path) -> None:
    call("report", str(compared / "easy"), "-o", str(tmp_path / "one.html"))
    page, expected = page_of(tmp_path / "one.html"), figures(compared / "easy")
    (shown,) = table(page, "//table[@id='overview-table']").values()
    assert expected["killed"] >= JOBS // 9
    for name, figure in expected.items():
        assert shown[name] == near(figure), name
    words = text(page.xpath("//p[@class='answer']")[0])
    wait, most, longest = re.findall(r"([\d.,]+ (?:d|h|min|s))\b", words)[:3]
    assert value(wait) == near(expected["mean wait"])
    assert value(most) == near(expected["99 % wait"])
    assert value(longest) == near(expected["longest wait"])


def test_the_page_of_a_comparison(compared: Path) -> None:
    page = page_of(compared / "report" / "index.html")
    names = ("fcfs", "easy", "conservative")
    expected = {name: figures(compared / name) for name in names}
    jobs = {name: jobs_of(compared / name) for name in names}
    shown, drawn = table(page, "//table[@id='overview-table']"), bars(page)
    for name in names:
        for what, figure in expected[name].items():
            assert shown[name][what] == near(figure), (name, what)
            assert drawn[name].get(what, figure) == near(figure), (name, what)
        assert shown[name]["starved jobs"] == starved(jobs[name], jobs["easy"]), name
    # The first sentences: the least mean wait, against easy, or the first other one if it is easy's own.
    words = text(page.xpath("//p[@class='answer']")[0])
    best = min(names, key=lambda name: expected[name]["mean wait"])
    against = "easy" if best != "easy" else "fcfs"
    said = re.match(
        r"Jobs wait least under (\S+): (.*?) in the mean instead of (.*?) under (\S+) \(\N{MINUS SIGN}(.*?) %", words
    )
    assert said, words
    assert (said[1], said[4]) == (best, against)
    mine, theirs = (expected[name]["mean wait"] for name in (best, against))
    assert (value(said[2]), value(said[3])) == (near(mine), near(theirs))
    assert value(said[5]) == near(100 * (1 - mine / theirs))
    changes = [one["wait"] - other["wait"] for one, other in zip(jobs[best], jobs[against], strict=True)]
    gains = [-change for change in changes if change < -0.5]
    longer = sum(change > 0.5 for change in changes)
    said = re.search(r"(\d+) of (\d+) wait less \(median gain (.*?), quartiles (.*?) and (.*?)\), (\d+) longer", words)
    assert said, words
    assert [int(said[place]) for place in (1, 2, 6)] == [len(gains), JOBS, longer]
    unit = said[3].split()[1]
    for place, share in ((3, 0.5), (4, 0.25), (5, 0.75)):
        assert value(said[place], unit) == near(quantile(gains, share)), share


def test_conservatives_starved_jobs_are_explained_with_their_number(compared: Path) -> None:
    note = text(page_of(compared / "report" / "index.html").xpath("//section[@id='overview']/p[@class='note']")[-1])
    jobs = {name: jobs_of(compared / name) for name in ("easy", "conservative")}
    pairs = list(zip(jobs["conservative"], jobs["easy"], strict=True))
    easy = [other["wait"] for one, other in pairs if one["wait"] > max(3 * other["wait"], 3600)]
    assert easy
    assert f"{sum(wait < 1200 for wait in easy)} of conservative's {len(easy)} wait less than 20 min there." in note


def test_the_page_of_replicates(inputs: Path, tmp_path: Path) -> None:
    out = call(*given(inputs, "easy", "fcfs", POWERED), "--replicates", "6", "--out", str(tmp_path))
    page = page_of(tmp_path / "report" / "index.html")
    plan = re.search(r"Each counts (\d+) jobs of one simulation of all (\d+), of which the first (\d+)", text(page))
    assert plan
    size, _, first = (int(count) for count in plan.groups())
    folder = tmp_path / "runs" / "windows"
    runs = {name: jobs_of(next(folder.glob(f"{name.partition('[')[0]}*"))) for name in ("easy", "fcfs", POWERED)}
    windows = [slice(first + place * size, first + (place + 1) * size) for place in range(6)]
    shown, drawn = table(page, "//section[@id='values']//table"), bars(page)
    effects = {
        text(row.xpath("./th")[0]): [text(cell) for cell in row.xpath("./td")]
        for row in page.xpath("//section[@id='against']//tbody/tr")
    }
    stars = 0
    for name, jobs in runs.items():
        own = [[job["wait"] for job in jobs[part]] for part in windows]
        base = [[job["wait"] for job in runs["easy"][part]] for part in windows]
        slow = [mean([job["slowdown"] for job in jobs[part]]) for part in windows]
        means, others = [mean(part) for part in own], [mean(part) for part in base]
        most = {"mean wait": mean(means), "longest wait": max(map(max, own)), "mean bounded slowdown": mean(slow)}
        most["99 % wait"] = mean([quantile(part, 0.99) for part in own])
        for what, figure in most.items():
            assert shown[name][what] == near(figure), (name, what)
            assert drawn[name][what] == near(figure), (name, what)
        counts = [starved(jobs[part], runs["easy"][part]) for part in windows]
        assert shown[name]["starved jobs"] == near(mean(counts))
        if name == "easy":
            continue
        cells = effects[name]
        assert value(cells[0]) == pytest.approx(mean(means) / mean(others), abs=0.0051)
        assert value(cells[2]) == pytest.approx(max(map(max, own)) / max(map(max, base)), abs=0.0051)
        assert value(cells[4]) == near(mean(counts))
        won = sum(one < other for one, other in zip(means, others, strict=True))
        assert f"{won} of 6" in cells[0]
        # "better" and "worse" stand exactly where the printed interval leaves out no change.
        for cell in cells:
            ends = re.search(r"(\S+) to ([^\s;]+)", cell)
            none = 1.0 if "\N{MULTIPLICATION SIGN}" in cell else 0.0
            apart = bool(ends) and not value(re.sub("^[a-z]+", "", ends[1])) <= none <= value(ends[2])  # type: ignore[index]
            stars += apart
            assert bool(re.search("better|worse", cell)) == apart, cell
    assert stars == len(page.xpath("//section[@id='against']//td[@class='better' or @class='worse']")) > 0
    # Jobs that are delays burn idle watts: the page and the terminal say so.
    for told in (text(page), out):
        assert f"Energy counts no computation: {JOBS} of {JOBS} jobs are delays" in told


def test_the_page_of_whatif(tmp_path: Path) -> None:
    words = [str(ACCOUNTS / "sacct.txt"), "--slurm", str(ACCOUNTS / "site")]
    call("whatif", *words, "--change", "hosts=10", "-o", str(tmp_path))
    page = page_of(tmp_path / "whatif.html")
    shown, drawn = table(page, "//section[@id='changes']//table"), bars(page)
    runs = {name: jobs_of(tmp_path / name) for name in ("baseline", "hosts=10")}
    windows = [slice(5 + 9 * place, 14 + 9 * place) for place in range(10)]
    waits = {name: [[job["wait"] for job in jobs[part]] for part in windows] for name, jobs in runs.items()}
    lead = text(page)
    means = {name: mean([wait for part in parts for wait in part]) for name, parts in waits.items()}
    for name, parts in waits.items():
        assert shown[name]["mean wait"] == drawn[name]["mean wait"] == near(means[name])
        assert drawn[name]["longest wait"] == near(max(map(max, parts)))
        assert drawn[name]["99 % wait"] == near(mean([quantile(part, 0.99) for part in parts]))
    ratios = {
        "mean wait, ratio": means["hosts=10"] / means["baseline"],
        "longest wait, ratio": max(map(max, waits["hosts=10"])) / max(map(max, waits["baseline"])),
    }
    for name, ratio in ratios.items():
        assert shown["hosts=10"][name] == pytest.approx(ratio, abs=0.0051), name
    # The simulated mean wait is one value wherever it stands: in the grade, in the lead, in the sentence.
    said = re.findall(r"wait ([\d.]+ \w+) in the simulation|mean wait is ([\d.]+ \w+)|instead of ([\d.]+ \w+)", lead)
    found = [one for groups in said for one in groups if one]
    assert len(found) == 3
    assert len(set(found)) == 1, found
    assert value(found[0]) == near(means["baseline"])
