"""The experiments of expe/eurora and expe/kit, on workloads so small that they take seconds."""

import re
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

from batdispatch.abilities.campaigns.campaign.file import read_campaign
from batdispatch.abilities.campaigns.campaign.plan import Plan
from batdispatch.core.machine.machine import Machine
from campaigns import make
from expe.common.running import FILE, rows_of, sections_of
from expe.eurora import show as eurora
from expe.eurora import tables
from expe.kit import show as kit
from experiments import EXPE, SHARED_LOGS, small


def rows(text: str) -> list[list[str]]:
    """The cells of a section's tables, without the headers."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_eurora_whole_grid_instances_and_decision_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "WORK", 0.01)
    found = small("eurora", tmp_path / "out", ("jobs: 60", "jobs: 24"), ("load: 0.6", "load: 4"))
    made = sections_of(eurora, found)
    table = rows(made["generated"])[2:]
    names = ["easy", "conservative", "filler[ordering=sjf]", "best-list", "hcp19", "pcp19", "pcp20"]
    assert [row[0] for row in table] == [name for name in names for _ in range(3)]
    assert {row[0]: row[8] for row in table if row[1] == "oracle"}["pcp20"] == "364", "the paper's figure beside ours"
    assert all(re.fullmatch(r"[\d.,]+ ± [\d.,]+", row[6]) for row in table)
    sources = {row[0]: row for row in rows(made["variables"])[2:]}
    predictions = ("data-driven", "oracle", "requested")
    assert set(sources) == {f"generated, {name}, {known}" for name in ("pcp19", "pcp20") for known in predictions}
    assert all(0 < float(row[6]) <= float(row[7]) for row in sources.values())
    assert "PCP'19, node-wise" in made["times"]
    assert [row[2] for row in rows(made["decision-time"])[-4:]] == ["0.1 s", "1 s", "10 s", "60 s"]
    for name in ("quality-generated.svg", "variables.svg", "times.svg"):
        parts, draw = eurora.PICTURES[name]
        draw(tmp_path / name, found[found["part"].isin([parts])])
        assert ElementTree.parse(tmp_path / name).getroot().tag.endswith("svg")


def test_kit_refuses_pcp19_and_counts_its_variables_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # To build PCP'19's model of this machine takes long.
    monkeypatch.setattr(kit, "others", kit.KIT._replace(solve=0).instances)
    made = sections_of(kit, small("kit", tmp_path / "out", ("jobs: 200", "jobs: 24"), ("jobs: 60", "jobs: 24")))
    assert "| pcp19 | oracle | refused |" in made["generated"]
    assert "117,400 variables" in made["generated"]
    counted = [row for row in rows(made["variables"]) if row[0] == "generated, hcp19, oracle"]
    assert int(counted[0][4].replace(",", "")) > kit.NODES
    assert "PCP'19 too large" in made["times"]


def test_refusal_says_why_and_what_instead() -> None:
    assert tables.refusal("pcp19", Machine.flat(64, "core=16")) == ""
    assert "Use pcp20 or hcp19" in tables.refusal("pcp19", Machine.flat(kit.NODES, "core=20"))


@pytest.mark.reallogs
@pytest.mark.skipif(not SHARED_LOGS.is_dir(), reason="the real logs are not here")
@pytest.mark.parametrize(("show", "name", "first"), [(eurora, "eurora", "300"), (kit, "kit", "2000")])
def test_first_jobs_of_the_real_log(show: ModuleType, name: str, first: str, tmp_path: Path) -> None:
    text = (EXPE / name / FILE).read_text(encoding="utf-8").replace(f"first={first}", "first=40")
    (tmp_path / FILE).write_text(text)
    make(Plan(read_campaign(tmp_path / FILE, parts=["log"], logs=SHARED_LOGS), tmp_path / "out"))
    table = rows(sections_of(show, rows_of(show, tmp_path / "out", name))["log"])[2:]
    assert [row[0] for row in table[:6]] == [d for d in ("easy", "conservative", "filler[ordering=sjf]") for _ in "ro"]
