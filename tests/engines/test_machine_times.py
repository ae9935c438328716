"""The sums of schedule.csv that tell what hosts did, against the same from each host's own story."""

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.abilities.verify.audit.run import Auditor
from batdispatch.core.hosts.hostruns import bounds_of
from batdispatch.engines.choices import Clock
from batdispatch.engines.machine_times import MachineTimes
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec
from forged_runs import WHOLE

#: What may happen: seconds until then, a mask, and what happens to its hosts.
CHANGES = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 15), st.sampled_from(["run", "end", "away", "back"])), max_size=1500
)


@given(CHANGES)
def test_each_host_counts_until_its_last_change(changes: list[tuple[int, int, str]]) -> None:
    # Host 1 is no compute host.
    hosts = 0b11101
    times = MachineTimes(hosts)
    busy = away = now = 0
    last = dict.fromkeys((0, 2, 3, 4), 0)
    spent = dict.fromkeys(("idle", "computing", "away"), 0)

    def state(host: int) -> str:
        return "away" if away >> host & 1 else "computing" if busy >> host & 1 else "idle"

    for wait, drawn, what in [*changes, (1, 15, "end"), (0, 15, "back")]:
        now += wait
        mask = (drawn & 1) | (drawn & 14) << 1
        mask &= ~(busy | away) if what == "run" else busy if what == "end" else ~away if what == "away" else away
        for host in last:
            if mask >> host & 1:
                spent[state(host)] += now - last[host]
                last[host] = now
        busy = busy | mask if what == "run" else busy & ~mask if what == "end" else busy
        away = away | mask if what == "away" else away & ~mask if what == "back" else away
        # Hosts that begin to compute may be left out: they change again.
        told = () if what == "run" and wait else bounds_of(mask)
        times.change(now, told, computing=(busy & ~away).bit_count(), away=away.bit_count())
    assert times.totals(away) == (spent["idle"], spent["computing"], spent["away"])


@pytest.mark.parametrize("decision_time", [0.0, 5.0])
@pytest.mark.parametrize("clock", ["together", "apart"])
def test_hosts_are_away_for_as_long_as_the_events_say_while_somebody_decides(
    clock: Clock, decision_time: float, tmp_path: Path
) -> None:
    (tmp_path / "p.xml").write_text(WHOLE)
    (tmp_path / "w.json").write_text(
        '{"nb_res": 8, "profiles": {"d": {"type": "delay", "delay": 20}}, "jobs": ['
        + ", ".join(f'{{"id": "{job}", "subtime": {10 * job}, "res": 1, "profile": "d"}}' for job in range(3))
        + "]}"
    )
    (tmp_path / "events.txt").write_text(
        '{"timestamp": 11, "type": "machine_unavailable", "resources": "6-7"}\n'
        '{"timestamp": 16, "type": "machine_unavailable", "resources": "5"}\n'
        '{"timestamp": 32, "type": "machine_available", "resources": "5-7"}\n'
    )
    spec = RunSpec(
        platform=str(tmp_path / "p.xml"),
        workload=str(tmp_path / "w.json"),
        dispatcher="fcfs",
        external_events=str(tmp_path / "events.txt"),
        clock=clock,
        decision_time=decision_time,
    )
    execute(spec, tmp_path / "run")
    with (tmp_path / "run" / "schedule.csv").open(newline="") as file:
        [sums] = csv.DictReader(file)
    assert float(sums["time_unavailable"]) == 2 * (32 - 11) + (32 - 16)
    assert Auditor().run(tmp_path / "run").total == 0
