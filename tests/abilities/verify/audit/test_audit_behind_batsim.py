"""The audit reads both protocols: nothing is wrong with what a Batsim of either version simulates and says."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

import fake_batsim
from batdispatch.abilities.verify.audit.run import Auditor
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec

RECORDINGS = Path(__file__).parents[3] / "conformance" / "recordings"
EVENTS = (
    '{"type": "machine_unavailable", "timestamp": 1, "resources": "0-1"}\n'
    '{"type": "rain", "timestamp": 2, "depth": 3}\n'
    '{"type": "machine_available", "timestamp": 30, "resources": "0-1"}\n'
)


@pytest.fixture
def batsim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for major in (4, 5):
        fake_batsim.install(tmp_path / "bin", major, f"batsim{major}")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.delenv("FAKE_BATSIM", raising=False)


def ran(engine: str, folder: Path, **settings: Any) -> Path:
    (folder / "events.txt").write_text(EVENTS)
    given: dict[str, Any] = {"workload": "delays5.json", "dispatcher": "easy", "engine": engine, **settings}
    given["workload"] = str(RECORDINGS / "workloads" / given["workload"])
    execute(RunSpec(platform=str(RECORDINGS / "platforms" / "four.xml"), **given), folder / "run")
    return folder / "run"


@pytest.mark.parametrize("engine", ["batsim4", "batsim5"])
@pytest.mark.parametrize("workload", ["delay.json", "reject.json", "delays5.json"])
@pytest.mark.usefixtures("batsim")
def test_nothing_is_wrong_with_a_run_behind_batsim(engine: str, workload: str, tmp_path: Path) -> None:
    assert Auditor().run(ran(engine, tmp_path, workload=workload)).kept == []


@pytest.mark.parametrize("engine", ["batsim4", "batsim5"])
@pytest.mark.usefixtures("batsim")
def test_nothing_is_wrong_with_outages_behind_batsim(engine: str, tmp_path: Path) -> None:
    folder = ran(engine, tmp_path, external_events=str(tmp_path / "events.txt"))
    findings = Auditor().run(folder)
    assert findings.kept == []
    assert "outages" in findings.checked


@pytest.mark.usefixtures("batsim")
def test_an_external_event_of_batsim_5_may_have_the_time_of_the_event_before_it(tmp_path: Path) -> None:
    folder = ran("batsim5", tmp_path, external_events=str(tmp_path / "events.txt"))
    lines = (folder / "decisions.jsonl").read_text().splitlines()
    frames = [json.loads(json.loads(line)["raw"].rstrip("\0")) for line in lines[2:]]
    early = [
        frame["now"] - event["timestamp"]
        for frame in frames
        for event in frame["events"]
        if event["event_type"] == "ExternalEventOccurredEvent"
    ]
    assert max(early) > 0.1
    assert Auditor().run(folder).kept == []


@pytest.mark.usefixtures("batsim")
def test_the_handshake_of_batsim_5_may_count_as_a_message(tmp_path: Path) -> None:
    folder = ran("batsim5", tmp_path)
    result = json.loads((folder / "result.json").read_text())
    counts = {result["performance"]["messages"] + more: more for more in (-1, 0, 1, 2)}
    wrong = []
    for messages in counts:
        result["performance"]["messages"] = messages
        (folder / "result.json").write_text(json.dumps(result))
        wrong.append(Auditor().run(folder).counts.get("result", 0))
    # Two neighbouring numbers are right: with the handshake, and without it.
    assert sorted(wrong) == [0, 0, 1, 1]
