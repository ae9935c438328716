"""The experiment with DADA: a small version of its campaign runs, and its page has what the campaign says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from batdispatch.cli.campaign_inputs import CommandMakers
from batdispatch.core.errors import InputError, SimulationError
from batdispatch.runs.campaign.file import Cell, read_campaign
from campaigns import make, planned
from experiments import EXPE, experiment, pictures_agree, sections

FOLDER = EXPE / "dada"


@pytest.fixture(scope="module")
def modules() -> Iterator[dict[str, ModuleType]]:
    with experiment("dada", "show", "run") as found:
        yield found


@pytest.fixture(scope="module")
def cells() -> tuple[Cell, ...]:
    return read_campaign(FOLDER / "campaign.yaml", CommandMakers()).cells


def test_a_small_version_gives_every_section(modules: dict[str, ModuleType], tmp_path: Path) -> None:
    # Four tiles, and no SimGrid.
    text = (FOLDER / "campaign.yaml").read_text()
    text = text.replace("8192", "1024").replace("=simulated", "=estimated").replace("simgrid: always", "simgrid: auto")
    plan = planned(tmp_path, text)
    with pytest.raises(InputError, match="run the campaign first"):
        modules["run"].sections_of(tmp_path / "out", None)
    make(plan)
    found = modules["run"].sections_of(tmp_path / "out", None)
    written = sections("dada")
    assert found.keys() == written.keys()
    for name, text in found.items():
        # The same rows and columns as on the page.
        lines, expected = text.splitlines(), written[name].strip().splitlines()
        assert lines[0] == expected[0]
        assert [line.split("|")[1] for line in lines] == [line.split("|")[1] for line in expected]
    # Without copies that meet, both forms are the same.
    assert all(line.count(" +0% ") == 2 for line in found["transfers"].splitlines()[2:])
    # A task that did not succeed is found.
    path = next((tmp_path / "out" / "cells").glob("*/result.json"))
    result = json.loads(path.read_bytes())
    result["workload"]["jobs"] += 1
    path.write_text(json.dumps(result))
    with pytest.raises(SimulationError, match="a task did not succeed"):
        modules["run"].sections_of(tmp_path / "out", None)


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


def test_the_page_has_every_row_of_the_campaign_and_every_picture(cells: tuple[Cell, ...]) -> None:
    found = sections("dada")
    assert found.keys() == {"claim", "alpha", "transfers", "cholesky", "lu", "qr"}
    compared = [cell for cell in cells if cell.part in ("cholesky", "lu and qr")]
    for kernel in ("cholesky", "lu", "qr"):
        mine = [cell for cell in compared if cell.workload.name == kernel]
        rows = [[one.strip() for one in line.split("|")[1:-1]] for line in found[kernel].strip().splitlines()]
        assert rows[0][2:] == [str(count) for count in sorted({int(cell.platform.stated["gpus"]) for cell in mine})]
        assert [row[0] for row in rows[2:] if row[0]] == list(dict.fromkeys(cell.dispatcher.name for cell in mine))
    assert re.search(r"alpha: \| 0 \| 0.25 \| 0.5 \| 0.75 \| 1 \|", found["alpha"])
    assert pictures_agree("dada")
