"""The audit finds nothing wrong with runs that nobody tampered with, whatever features they use."""

import shutil
from pathlib import Path

import pytest

from batdispatch.abilities.verify.audit.run import Auditor
from batdispatch.abilities.verify.checks.settings import contradictions, read_said
from batdispatch.core.jobs.job import Job
from batdispatch.core.line.ledger import Ledger
from batdispatch.inputs.platforms import generate
from honest_runs import honest_run, honest_spec
from sites import delays, simulated

pytestmark = pytest.mark.usefixtures("worker_threads")
#: Random runs in the fast suite, and in all.
FEW, MANY = 30, 2000


def wrong(seeds: range, folder: Path) -> tuple[list[str], int]:
    """Return what the audit finds wrong with the runs of some seeds, and how many of them there were."""
    found: list[str] = []
    count = 0
    for seed in seeds:
        run = honest_run(seed, folder / "honest")
        if run is not None:
            count += 1
            findings = [*Auditor().run(run).kept, *contradictions(read_said(run))]
            found += [f"seed {seed}: {each}" for each in findings]
        shutil.rmtree(folder / "honest")
    return found, count


@pytest.mark.parametrize("first", range(0, FEW, 10))
def test_random_runs_are_clean(tmp_path: Path, first: int) -> None:
    found, count = wrong(range(first, first + 10), tmp_path)
    assert found == []
    assert count >= 5


@pytest.mark.slow
def test_two_thousand_random_runs_are_clean(tmp_path: Path) -> None:
    found, count = wrong(range(MANY), tmp_path)
    assert found == []
    assert count >= 0.8 * MANY


def test_random_runs_have_every_feature(tmp_path: Path) -> None:
    seen: set[str] = set()
    for seed in range(2 * FEW):
        honest_spec(seed, tmp_path / "honest")
        seen.add((tmp_path / "honest" / "workload.json").read_text())
        seen.add((tmp_path / "honest" / "platform.xml").read_text())
        shutil.rmtree(tmp_path / "honest")
    text = "\n".join(seen)
    for feature in (
        *("afterok", "afterany", "afternotok", '"after"', "singleton", "array", "partition", "qos", "reservation"),
        *(
            "licences",
            "per_node",
            "units_per_node",
            "whole_nodes",
            "node_list",
            "exclude_nodes",
            "contiguous",
            "io_node",
        ),
        *("runtime_law", "malleable", "capacity", "topology", "storage", "master_host", "queues"),
    ):
        assert feature in text, feature


def test_a_ledger_that_refuses_large_jobs_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of the core that the dispatcher repeats in a replay is found by the audit's own reading of requests."""
    sizes = [40 if number % 34 == 33 else 1 + number % 30 for number in range(400)]
    jobs = [
        {"id": str(number), "subtime": number, "res": size, "walltime": 20, "profile": "d10"}
        for number, size in enumerate(sizes)
    ]
    right = Ledger.why_impossible

    def why_impossible(ledger: Ledger, job: Job) -> str:
        said = f"asks for {job.units} hosts, the whole machine has room for 31"
        return said if job.units >= 32 else right(ledger, job)

    monkeypatch.setattr(Ledger, "why_impossible", why_impossible)
    folder = simulated(tmp_path, "easy", generate.flat(64), jobs, delays(10), compiled="never")
    assert Auditor().run(folder).counts == {"rejection": 11}
