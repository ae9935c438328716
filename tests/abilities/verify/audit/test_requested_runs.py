"""Jobs that ask for everything a request can say: the audit finds nothing, metrics and report count what was held."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from batdispatch.abilities.verify.audit.run import Auditor
from batdispatch.report.page import render
from batdispatch.results.runs import read_run, read_runs
from sealing import seal
from sites import hosts_of, platform_of, simulated

PROPERTIES = '<prop id="capacity" value="core=4 gpu=2"/>'
LICENCES = '<prop id="licences" value="matlab=2"/>'
JOBS: list[dict[str, Any]] = [
    {"id": "a", "res": 4, "demand": {"core": 1}, "per_node": {"gpu": 2}, "nodes": 2},
    {"id": "b", "res": 2, "demand": {"core": 1, "gpu": 1}, "licences": {"matlab": 2}},
    {"id": "c", "res": 1, "demand": {"core": 1}, "licences": {"matlab": 1}, "dependencies": ["a"]},
    {"id": "d", "res": 4, "demand": {"core": 2}, "units_per_node": 2, "contiguous": True},
    {"id": "e", "res": 3, "demand": {"core": 1}, "whole_nodes": True, "exclude_nodes": ["h0"]},
    {"id": "f", "res": 1, "node_list": ["h3"], "io_node": "disk"},
]


@pytest.fixture
def run(tmp_path: Path) -> Callable[[str], Path]:
    def make(properties: str) -> Path:
        hosts = hosts_of(4, properties + LICENCES)
        disk = f'<host id="disk" speed="1Gf"><prop id="role" value="storage"/>{LICENCES}</host>'
        jobs = [{"subtime": 0, "walltime": 20, "profile": "d", **job} for job in JOBS]
        if not properties:
            # On exclusive hosts a unit is a host.
            jobs = [{**job, "units_per_node": 1, "nodes": job["res"]} for job in jobs]
        return simulated(tmp_path, "easy", platform_of(hosts + disk), jobs, {"d": {"type": "delay", "delay": 10}})

    return make


@pytest.mark.parametrize("properties", [PROPERTIES, ""])
def test_what_a_dispatcher_did_passes_the_audit(run: Callable[[str], Path], properties: str) -> None:
    folder = run(properties)
    assert Auditor().run(folder).kept == []
    found = read_run(folder)
    assert found.metrics["nb_jobs_success"] == len(JOBS)
    # Two licences for ten seconds, then one for ten.
    assert found.metrics["utilisation_matlab"] == pytest.approx(
        (2 * 10 + 10) / (2 * float(found.metrics["makespan"] or 0))
    )
    assert (found.metrics["utilisation"] is None) == bool(properties)
    page = render(read_runs([folder]))
    assert "Utilisation: matlab" in page
    assert ("Utilisation: gpu" in page) == bool(properties)
    assert ("utilisation of matlab" in page) is True
    assert "not where result.json says" not in page


@pytest.mark.parametrize(
    ("job", "change", "kind"),
    [
        ("a", {"hosts": "0"}, "nodes"),
        ("d", {"hosts": "0 2"}, "contiguous"),
        ("e", {"hosts": "0"}, "excluded node"),
        ("f", {"hosts": "2"}, "node list"),
        ("c", {"times": (0, 10)}, "dependency"),
        ("c", {"times": (0, 10)}, "licences"),
    ],
)
def test_a_tampered_run_is_found(run: Callable[[str], Path], job: str, change: dict[str, Any], kind: str) -> None:
    folder = run(PROPERTIES)
    path = folder / "jobs.csv"
    lines = path.read_text().splitlines()
    header = lines[0].split(",")
    for index, line in enumerate(lines):
        fields = dict(zip(header, line.split(","), strict=True))
        if fields["job_id"] == job:
            if "hosts" in change:
                fields["allocated_resources"] = change["hosts"]
            if "times" in change:
                start, end = change["times"]
                fields |= {"starting_time": f"{start}", "finish_time": f"{end}", "waiting_time": f"{start}"}
                fields |= {"turnaround_time": f"{end}"}
            lines[index] = ",".join(fields.values())
    path.write_text("\n".join(lines) + "\n")
    # One unit on each host, where the file of units would contradict the hosts.
    units = folder / "units.csv"
    units.write_text(re.sub(rf"(?m)^{job},.*\n", "", units.read_text()))
    seal(folder)
    found = Auditor().run(folder)
    assert kind in found.counts
    assert any(violation.kind == kind and violation.job in (job, "b") for violation in found.kept)
