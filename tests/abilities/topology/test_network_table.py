"""network.csv: what stands there, how it is read, and that the audit knows better than a changed number."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from batdispatch.abilities.topology import generate as topologies
from batdispatch.abilities.topology.networks import Grid
from batdispatch.abilities.topology.results.table import FIELDS, FILE, HEADER, read_table, write_table
from batdispatch.abilities.topology.results.use import network_use
from batdispatch.core.errors import InputError
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.inputs.platforms import generate, read_platform
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.runs import read_run
from sealing import seal

LINE = Machine([Host(id=i, name=f"n{i}") for i in range(4)], Grid(range(4), [4], wrap=False))


def written(write_jobs: Callable[..., Path]) -> tuple[Path, Path]:
    folder = write_jobs(
        {
            "a": {"hosts": "0 2"},
            '"b,""c"""': {"hosts": "1 3", "start": 5.0, "finish": 20.0},
            "d": {"state": "REJECTED"},
        }
    )
    columns = read_columns(folder / "jobs.csv")
    write_table(network_use(columns, LINE), columns, folder / FILE)
    return folder, folder / FILE


def test_a_row_for_each_job_with_the_numbers_in_six_decimals(write_jobs: Callable[..., Path]) -> None:
    folder, path = written(write_jobs)
    rows = list(csv.reader(path.read_text().splitlines()))
    # Both use the cable between hosts 1 and 2, for 5 of 10 and of 15 seconds.
    assert rows == [
        list(HEADER),
        ["a", "w0", "2.000000", "", "1.000000", "4", "0.250000", "0.500000"],
        ['b,"c"', "w0", "2.000000", "", "1.000000", "4", f"{1 / 6:.6f}", f"{1 / 3:.6f}"],
        ["d", "w0", "", "", "", "0", "", ""],
    ]
    columns = read_columns(folder / "jobs.csv")
    use = network_use(columns, LINE)
    table = read_table(path, columns)
    for name, field in FIELDS.items():
        np.testing.assert_allclose(table[name], getattr(use, field), atol=1e-6)


def test_without_a_network_an_earlier_table_goes(write_jobs: Callable[..., Path]) -> None:
    folder, path = written(write_jobs)
    write_table(None, read_columns(folder / "jobs.csv"), path)
    assert not path.exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("shared_time", "shared"), "found columns"),
        (lambda text: text.replace("0.250000", "quarter"), "'quarter' is no number"),
        (lambda text: text.replace("a,w0", "z,w0"), "expected job 'a'"),
        (lambda text: text.replace("\na,w0,", "\na,w0,,"), "9 fields, expected 8"),
        (lambda text: text[: text.index("d,w0")], "job 'd' is missing"),
        (lambda text: text + "e,w0,,,,0,,\n", "expected no further row"),
        (lambda text: "", "found columns"),
    ],
)
def test_another_table_is_refused(write_jobs: Callable[..., Path], change: Callable[[str], str], message: str) -> None:
    folder, path = written(write_jobs)
    path.write_text(change(path.read_text()))
    with pytest.raises(InputError, match=message):
        read_table(path, read_columns(folder / "jobs.csv"))


@pytest.fixture
def run(tmp_path: Path, call: Callable[..., tuple[int, str, str]]) -> Callable[..., Path]:
    """Run three jobs, of which one asks for an I/O node, on a torus of 4 x 3 routers with two hosts each."""

    def simulate(platform: str, io: str = "") -> Path:
        (tmp_path / "torus.xml").write_bytes(topologies.torus((4, 3), hosts_per_router=2, io=2))
        (tmp_path / "flat.xml").write_bytes(generate.flat(22))
        jobs: list[dict[str, object]] = [{"id": f"{i}", "subtime": i, "res": 5, "profile": "p"} for i in range(3)]
        if io:
            jobs[1]["io_node"] = io
        workload = {"nb_res": 22, "jobs": jobs, "profiles": {"p": {"type": "delay", "delay": 10}}}
        (tmp_path / "w.json").write_text(json.dumps(workload))
        arguments = ["--platform", tmp_path / platform, "--workload", tmp_path / "w.json"]
        status, _, said = call("run", *arguments, "--dispatcher", "fcfs", "--out", tmp_path / "run")
        assert status == 0, said
        return tmp_path / "run"

    return simulate


def io_of(folder: Path) -> str:
    """Return the name of an I/O node of that torus."""
    (folder / "ask.xml").write_bytes(topologies.torus((4, 3), hosts_per_router=2, io=2))
    return read_platform(folder / "ask.xml").machine.storage[0].name


def test_a_run_writes_the_table_and_its_means_are_the_metrics(run: Callable[..., Path], tmp_path: Path) -> None:
    folder = run("torus.xml", io_of(tmp_path))
    read = read_run(folder)
    table = read_table(folder / FILE, read.columns)
    for column in FIELDS:
        if column != "links":
            assert read.metrics[f"mean_{column}"] == pytest.approx(np.nanmean(table[column]), abs=1e-6)
    assert np.isnan(table["proximity"]).tolist() == [True, False, True]
    assert FILE in json.loads((folder / "result.json").read_text())["files"]


def test_a_run_on_a_flat_platform_writes_none(run: Callable[..., Path]) -> None:
    folder = run("flat.xml")
    assert not (folder / FILE).exists()
    assert read_run(folder).metrics["mean_compactness"] is None


def test_the_audit_finds_a_changed_number_and_does_without_the_table(
    run: Callable[..., Path], call: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    folder = run("torus.xml", io_of(tmp_path))
    status, found, _ = call("check", folder)
    assert status == 0, found
    lines = (folder / FILE).read_text().splitlines()
    fields = lines[2].split(",")
    fields[2] = f"{float(fields[2]) + 0.001:.6f}"
    (folder / FILE).write_text("\n".join([*lines[:2], ",".join(fields), *lines[3:], ""]))
    seal(folder)
    status, found, _ = call("check", folder)
    assert status == 1
    assert "network.csv: compactness is" in found
    assert f"job {fields[0]}" in found
    (folder / FILE).unlink()
    status, found, _ = call("check", folder)
    assert status == 0, found
