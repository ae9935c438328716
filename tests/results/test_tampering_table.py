"""Whatever somebody changes in a run's folder, digests recomputed, is found; what is not found misleads nobody."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from batdispatch.audit.run import Auditor
from batdispatch.core.errors import InputError
from batdispatch.inputs.platforms import generate
from batdispatch.runs.checking.rerun import audit_all
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec
from forged_runs import EVENTS, IN_ATTEMPTS, ON_HOSTS, ON_NODES, PROFILES, SHARED, WHOLE, Jobs
from sealing import seal
from tamperings import HARMLESS, TAMPERINGS

#: run -> (platform, jobs, dispatcher, options, whether hosts come and go)
RUNS: dict[str, tuple[bytes, Jobs, str, dict[str, str], bool]] = {
    "events": (WHOLE.encode(), ON_HOSTS, "easy", {"reservation": "hosts"}, True),
    "shared": (SHARED.encode(), ON_NODES, "filler", {}, False),
    "attempts": (WHOLE.encode(), IN_ATTEMPTS, "attempts", {"dispatcher": "easy"}, False),
    "plans": (WHOLE.encode(), ON_HOSTS, "ipsched", {}, False),
    "network": (generate.torus((2, 2), hosts_per_router=2), ON_HOSTS, "fcfs", {}, False),
}


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("good")
    folders = {}
    for name, (platform, jobs, dispatcher, options, events) in RUNS.items():
        place = root / name
        place.mkdir()
        (place / "p.xml").write_bytes(platform)
        listed = [
            {"id": job, "subtime": at, "res": units, "profile": profile, "walltime": limit} | more
            for job, (at, units, profile, limit, more) in jobs.items()
        ]
        (place / "w.json").write_text(json.dumps({"nb_res": 8, "jobs": listed, "profiles": PROFILES}))
        (place / "events.txt").write_text(EVENTS)
        spec = RunSpec(
            platform=str(place / "p.xml"),
            workload=str(place / "w.json"),
            dispatcher=dispatcher,
            options=options,
            external_events=str(place / "events.txt") if events else None,
        )
        execute(spec, place / "run")
        assert audit_all(Auditor(), place / "run", "always").kept == []
        folders[name] = place / "run"
    return folders


def is_found(folder: Path) -> bool:
    """Return whether the audit, or else the dispatcher that decides again, finds something wrong with a run.

    A dispatcher that cannot be set up as the run says is told with a status of its own, and never as no violation.
    """
    try:
        findings = audit_all(Auditor(), folder, "always")
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
    page = (Path(__file__).parents[2] / "docs/audit.md").read_text()
    for name in HARMLESS:
        assert f"`{name.partition(': ')[2].removeprefix('removed ').split('.')[-1]}`" in page, name
