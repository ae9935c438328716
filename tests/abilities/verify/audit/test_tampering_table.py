"""Whatever somebody changes in a run's folder, digests recomputed, is found; what is not found misleads nobody."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from batdispatch.abilities.topology import generate as topologies
from batdispatch.abilities.verify.audit.run import Auditor
from batdispatch.core.errors import InputError
from checked import checked
from forged_runs import IN_ATTEMPTS, ON_HOSTS, ON_NODES, SHARED, WHOLE, Simulated, simulated
from sealing import seal
from tamperings import HARMLESS, TAMPERINGS

#: run -> (platform, jobs, dispatcher, options, whether hosts come and go)
RUNS: dict[str, Simulated] = {
    "events": (WHOLE, ON_HOSTS, "easy", {"reservation": "hosts"}, True),
    "kernel": (WHOLE, ON_HOSTS, "easy", {}, False),
    "shared": (SHARED, ON_NODES, "filler", {}, False),
    "attempts": (WHOLE, IN_ATTEMPTS, "attempts", {"dispatcher": "easy"}, False),
    "plans": (WHOLE, ON_HOSTS, "ipsched", {}, False),
    "network": (topologies.torus((2, 2), hosts_per_router=2).decode(), ON_HOSTS, "fcfs", {}, False),
}


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folders = simulated(RUNS, tmp_path_factory.mktemp("good"))
    for folder in folders.values():
        assert checked(folder, "always").kept == []
    return folders


def is_found(folder: Path) -> bool:
    """Return whether the audit, or else the dispatcher that decides again, finds something wrong with a run.

    A dispatcher that cannot be set up as the run says is told with a status of its own, and never as no violation.
    """
    try:
        findings = checked(folder, "always")
        return bool(Auditor().run(folder).total or findings.total or findings.undone)
    except InputError:
        # Refused with the reason, status 2.
        return True


def tampered(good: dict[str, Path], tmp_path: Path, name: str, most: int) -> list[tuple[str, bool]]:
    """Tamper up to `most` times in one way, and return what was changed each time and whether it was found."""
    draw = np.random.default_rng(sum(name.encode()))
    found: list[tuple[str, bool]] = []
    for run in sorted(good, key=lambda _: float(draw.random())) * 3:
        if len(found) == most:
            break
        folder = Path(shutil.copytree(good[run], tmp_path / f"{run}-{len(found)}", dirs_exist_ok=True))
        what = TAMPERINGS[name](folder, draw)
        if what:
            seal(folder)
            found.append((f"{run}: {what}", is_found(folder)))
        shutil.rmtree(folder)
    return found


def test_there_are_many_kinds() -> None:
    assert len(TAMPERINGS) - len(HARMLESS) >= 60
    assert TAMPERINGS.keys() >= HARMLESS.keys()


@pytest.mark.parametrize("name", sorted(TAMPERINGS.keys() - HARMLESS.keys()))
def test_each_kind_is_found(good: dict[str, Path], tmp_path: Path, name: str) -> None:
    found = tampered(good, tmp_path, name, 1)
    assert found, "no run has such a thing"
    assert all(is_so for _, is_so in found), found


@pytest.mark.slow
def test_three_hundred_are_found(good: dict[str, Path], tmp_path: Path) -> None:
    found = [each for name in sorted(TAMPERINGS.keys() - HARMLESS.keys()) for each in tampered(good, tmp_path, name, 4)]
    assert len(found) >= 300
    assert [what for what, is_so in found if not is_so] == []


def test_what_is_not_found_is_named_in_the_manual() -> None:
    page = (Path(__file__).parents[4] / "docs/audit.md").read_text()
    for name in HARMLESS:
        assert f"`{name.partition(': ')[2].removeprefix('removed ').split('.')[-1]}`" in page, name
