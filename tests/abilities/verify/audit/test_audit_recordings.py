"""What the real Batsim did, with the exchange that it had: nothing is wrong with it, and what is changed is found."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.verify.audit.run import Auditor
from batdispatch.core.hosts.hostsets import Intervals
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.inputs.platforms.generate import flat
from batdispatch.results.usage import slots_in_blocks, slots_of
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec
from checked import checked
from sites import delays, simulated

NAMES = [
    *(
        f"batsim4/{name}"
        for name in ("composed", "delay", "delay_mini_meta", "dyn_ack", "dyn_batsched_noack", "events")
    ),
    *(f"batsim4/{name}" for name in ("dyn_batsched_submitter", "io_job", "kill", "mapping", "msg", "parallel", "pfs")),
    *(f"batsim4/{name}" for name in ("reject", "reject_batsched_conservative", "walltime")),
    *(f"batsim5/{name}" for name in ("delays", "delays_forward", "dyn", "hello_bad_version", "kill", "reject")),
]


def audited(recordings: Path, name: str, out: Path) -> Auditor:
    """Copy a recording as a run's folder, and return an auditor for it."""
    folder = recordings / name
    shutil.copytree(folder, out)
    (out / "exchange.jsonl").rename(out / "decisions.jsonl")
    words = (folder / "options.txt").read_text().split()
    events = recordings / words[words.index("--events") + 1] if "--events" in words else None
    return Auditor(
        platform=recordings / words[words.index("-p") + 1],
        workload=recordings / words[words.index("-w") + 1],
        events=events,
        roles=dict(words[at + 1].split(":") for at, word in enumerate(words) if word == "-r") or None,
    )


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_wrong_with_a_recorded_simulation_of_batsim(recordings: Path, tmp_path: Path, name: str) -> None:
    findings = audited(recordings, name, tmp_path / "run").run(tmp_path / "run")
    assert findings.kept == []
    assert "exchange" in findings.checked
    assert "exchange" not in findings.skipped


@pytest.mark.parametrize(
    ("name", "old", "new", "kind"),
    [
        ("batsim4/kill", "7.500005,0.000004", "9.500005,0.000004", "kill ordered"),
        ("batsim4/delay", "COMPLETED_SUCCESSFULLY", "COMPLETED_FAILED", "return code"),
        ("batsim4/reject", "ok,w0", "ko,w0", "unknown job"),
        ("batsim5/kill", "COMPLETED_KILLED", "COMPLETED_SUCCESSFULLY", "state told"),
        ("batsim4/dyn_ack", "j1,dyn,p1", "j1,dyn,d10", "profile"),
        ("batsim4/events", "2,100.000000", "3,100.000000", "request"),
    ],
)
def test_a_changed_table_of_batsim_is_found(
    recordings: Path, tmp_path: Path, name: str, old: str, new: str, kind: str
) -> None:
    auditor = audited(recordings, name, tmp_path / "run")
    path = tmp_path / "run" / "jobs.csv"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    assert kind in auditor.run(tmp_path / "run").counts


def test_a_head_that_waits_for_hosts_to_come_back_may_hold_back_others(tmp_path: Path) -> None:
    jobs = [
        {"id": name, "subtime": at, "res": units, "profile": "d10"} for name, at, units in (("w", 5, 4), ("n", 6, 1))
    ]
    (tmp_path / "e.txt").write_text(
        '{"timestamp": 1, "type": "machine_unavailable", "resources": "3"}\n'
        '{"timestamp": 9000, "type": "machine_available", "resources": "3"}\n'
    )
    events = str(tmp_path / "e.txt")
    for record in (True, False):
        folder = simulated(tmp_path, "fcfs", flat(4), jobs, delays(10), external_events=events, record=record)
        assert json.loads((folder / "result.json").read_bytes())["metrics"]["max_waiting_time"] > 8000
        assert Auditor().run(folder).kept == []


@pytest.mark.parametrize("settings", [{"decision_time": 3.0}, {"clock": "apart"}, {"decision_time": None}])
def test_the_dispatcher_decides_again(recordings: Path, tmp_path: Path, settings: dict[str, Any]) -> None:
    paths = {"platform": "platforms/flat128.xml", "workload": "workloads/burst.json"}
    spec = RunSpec(**{name: str(recordings / path) for name, path in paths.items()}, dispatcher="easy", **settings)
    execute(spec, tmp_path / "run")
    findings = checked(tmp_path / "run", "always")
    assert findings.kept == []
    assert "decision" in findings.checked
    assert not findings.undone


def test_a_strangers_source_file_is_not_run_unasked(recordings: Path, tmp_path: Path) -> None:
    paths = {"platform": "platforms/flat128.xml", "workload": "workloads/burst.json"}
    spec = RunSpec(**{name: str(recordings / path) for name, path in paths.items()}, dispatcher="fcfs")
    execute(spec, tmp_path / "run")
    (tmp_path / "evil.py").write_text("raise SystemExit('run')\n")
    name = f"{tmp_path / 'evil.py'}:Evil"
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    result |= {"dispatcher": name, "command": result["command"].replace("--dispatcher fcfs", f"--dispatcher {name}")}
    result["label"] = "evil"
    result["made_from"]["settings"]["dispatcher"] = name
    (tmp_path / "run" / "result.json").write_text(json.dumps(result))
    findings = checked(tmp_path / "run", "auto")
    assert findings.kept == []
    assert "source file" in findings.undone["decision"]
    assert "evil.py" in checked(tmp_path / "run", "always").undone["decision"]


@given(data=st.data())
def test_blocks_of_hosts_hold_what_all_hosts_hold(data: st.DataObject) -> None:
    hosts = data.draw(st.integers(1, 12))
    machine = Machine([Host(id=i, name=f"h{i}", properties={"capacity": f"core={i + 1}"}) for i in range(hosts)])
    sets = data.draw(st.lists(st.sets(st.integers(0, hosts + 1)), max_size=8))
    pairs = [(row, host) for row, chosen in enumerate(sets) for host in sorted(chosen)]
    row, host = (np.array([pair[axis] for pair in pairs], dtype=np.int64) for axis in (0, 1))
    intervals = Intervals(host, host, row, len(sets))
    units = np.arange(1, len(pairs) + 1)
    whole = slots_of(intervals, units, machine, [None] * len(sets))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("batdispatch.results.usage.BLOCK", data.draw(st.integers(1, 6)))
        blocks = list(slots_in_blocks(intervals, units, machine, [None] * len(sets)))

    def listed(parts: list[object]) -> list[tuple[int, ...]]:
        return sorted(
            (int(h), int(r), int(u), *map(int, a))
            for part in parts
            for h, r, u, a in zip(part.host, part.row, part.units, part.amount, strict=True)
        )

    assert listed(blocks) == listed([whole])
