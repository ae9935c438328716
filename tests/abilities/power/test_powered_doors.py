"""Hosts that sleep under `powered`, decided in process and behind Batsim's protocols: all is the same."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from batdispatch.abilities.power.power_cap import PowerCap
from batdispatch.batsim import protocol
from batdispatch.core.line import decisions as d
from batdispatch.links.replay import read_exchanges, told_by
from command_line import call
from sites import delays, hosts_of, platform_of

SLEEPY = "powered[dispatcher=easy,sleep=idle,after=60,keep=2]"
#: In Batsim's example, a host at work burns 190.738 W.
SLOW = "powered[dispatcher=easy,cap=75%,states=lower]"
RESIZED = "powered[dispatcher=dmr[check_cost=0,expand_cost=0,shrink_cost=0],sleep=idle,after=60,cap=3600]"


FILES = ("jobs.csv", "pstate_changes.csv", "machine_states.csv", "consumed_energy.csv")


@pytest.fixture
def site(tmp_path: Path) -> Callable[[str, dict[str, Any]], tuple[Path, Path]]:
    """Writes a platform with power of some name, and jobs of a profile."""

    def write(power: str, profile: dict[str, Any]) -> tuple[Path, Path]:
        machine, workload = tmp_path / "p.xml", tmp_path / "w.json"
        assert call("platform", "generate", "flat", "--hosts", 8, "--power", power, "-o", machine).status == 0
        amount = next(name for name, value in profile.items() if isinstance(value, int) and value)
        profiles = {f"d{i}": {**profile, amount: profile[amount] * (50 + 90 * i)} for i in range(3)}
        jobs = [
            {
                "id": str(i),
                "subtime": 97 * i + 400 * (i // 6),
                "res": 1 + 3 * i % 7,
                "walltime": 300,
                "profile": f"d{i % 3}",
            }
            for i in range(24)
        ]
        workload.write_text(json.dumps({"nb_res": 8, "jobs": jobs, "profiles": profiles}))
        return machine, workload

    return write


def exchanged(
    version: str, dispatcher: str, inputs: tuple[Path, Path], decide: Callable[..., Any], folder: Path
) -> list[bool | None]:
    """Run in process and behind a socket, compare all files, and return which states switch."""
    machine, workload = inputs
    words = ("--platform", machine, "--workload", workload, "--energy", "batsim")
    done = call("run", *words, "--dispatcher", dispatcher, "--out", folder / "here")
    assert done.status == 0, done.output
    recording = folder / "decisions.jsonl"
    # Batsim 4 tells no speeds, and so not how long hosts take to wake up; Batsim 5 does.
    told = ("--platform", str(machine)) if version == "4" else ()
    decider = decide("--dispatcher", dispatcher, "--protocol", version, "--record", str(recording), *told)
    says = ("states" in dispatcher or dispatcher == RESIZED) and version == "4"
    dynamic = ("--enable-dynamic-jobs", "--acknowledge-dynamic-jobs") if says else ()
    words += ("--socket", decider.endpoint, "--protocol", version, "--out", folder / "there", *dynamic)
    done = call("engine", *words)
    assert done.status == 0, done.output
    assert decider.finish()[0] == 0
    # Batsim 5 writes no rows when a change at once is decided.
    fewer = version == "5" and dispatcher == SLOW
    for name in FILES[:1] if fewer else FILES:
        here, there = ((folder / where / name).read_text() for where in ("here", "there"))
        assert here == there, name
    assert told_by(recording) == version
    assert call("check", folder / "here").status == 0
    assert call("replay", recording, "--dispatcher", dispatcher, *map(str, told)).status == 0
    return [
        one.switched
        for _, _, reply in read_exchanges(recording, protocol(version))
        for one in (reply.decisions if reply else ())
        if isinstance(one, d.SetResourceState)
    ]


# Batsim 5 calls at whole milliseconds.
@pytest.mark.parametrize(
    "dispatcher",
    [SLEEPY, "energy-bf[most_sleep=100]", "energy-bf-subpart-sleeper[monitoring_period=60,most_sleep=100]"],
)
@pytest.mark.parametrize("version", ["4", "5"])
def test_behind_a_socket_hosts_sleep_as_in_process(
    version: str, dispatcher: str, site: Callable[..., tuple[Path, Path]], decide: Callable[..., Any], tmp_path: Path
) -> None:
    inputs = site("batsim-homogeneous", {"type": "delay", "delay": 1})
    switched = exchanged(version, dispatcher, inputs, decide, tmp_path)
    assert len(switched) > 4
    assert set(switched) == ({True} if version == "5" else {False})


@pytest.mark.parametrize("version", ["4", "5"])
def test_behind_a_socket_a_host_that_takes_no_whole_milliseconds_is_awake_in_time(
    version: str, decide: Callable[..., Any], tmp_path: Path
) -> None:
    """The second host falls asleep at 30 s, takes 76.923077 s to wake up, and is planned for 500 s."""
    watts = '<prop id="wattage_per_state" value="70:90:160,9:9:9,100:100:100,120:120:120"/>'
    sleeps = '<prop id="sleep_pstates" value="1:2:3"/>'
    hosts = hosts_of(2, watts + sleeps).replace('speed="1Gf"', 'speed="1Mf,1f,0.29f,0.013f"')
    machine, workload = tmp_path / "p.xml", tmp_path / "w.json"
    machine.write_text(platform_of(f'{hosts}\n<host id="master_host" speed="1Gf"/>'))
    jobs = [
        {"id": "a", "subtime": 0, "res": 1, "walltime": 500, "profile": "d500"},
        {"id": "b", "subtime": 300, "res": 2, "walltime": 50, "profile": "d40"},
    ]
    workload.write_text(json.dumps({"nb_res": 2, "jobs": jobs, "profiles": delays(500, 40)}))
    told = ("--platform", str(machine)) if version == "4" else ()
    decider = decide("--dispatcher", "powered[sleep=idle,after=30]", "--protocol", version, *told)
    words = ("--platform", machine, "--workload", workload, "--energy", "batsim", "--protocol", version)
    done = call("engine", *words, "--socket", decider.endpoint, "--out", tmp_path / "out")
    assert done.status == 0, done.output
    assert decider.finish()[0] == 0
    starts = {
        row.split(",")[0]: row.split(",")[8] for row in (tmp_path / "out" / "jobs.csv").read_text().split("\n")[1:-1]
    }
    assert starts == {"a": "0.000000", "b": "500.000000"}


@pytest.mark.parametrize("version", ["4", "5"])
def test_behind_a_socket_jobs_are_resized_while_hosts_sleep_as_in_process(
    version: str, site: Callable[..., tuple[Path, Path]], decide: Callable[..., Any], tmp_path: Path
) -> None:
    machine, workload = site("batsim-homogeneous", {"type": "delay", "delay": 1})
    said = json.loads(workload.read_text())
    for job in said["jobs"]:
        sizes = {"least": 1, "most": 8, "kind": "malleable", "steps": 10, "period": 20.0}
        job.update(walltime=3000, sizes=sizes)
    workload.write_text(json.dumps(said))
    switched = exchanged(version, RESIZED, (machine, workload), decide, tmp_path)
    assert len(switched) > 4
    assert "~2" in (tmp_path / "here" / "jobs.csv").read_text()


@pytest.mark.parametrize("version", ["4", "5"])
def test_behind_a_socket_jobs_are_slowed_down_as_in_process(
    version: str, site: Callable[..., tuple[Path, Path]], decide: Callable[..., Any], tmp_path: Path
) -> None:
    inputs = site("batsim-cluster", {"type": "parallel_homogeneous", "cpu": 10**9, "com": 0})
    switched = exchanged(version, SLOW, inputs, decide, tmp_path)
    assert len(switched) > 4
    assert set(switched) == {False}


@pytest.mark.parametrize("version", ["4", "5"])
def test_behind_a_socket_sleeping_hosts_lend_as_in_process(
    version: str,
    site: Callable[..., tuple[Path, Path]],
    decide: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Eight hosts burn 240 W idle; awake, each job burns 70 W more on each of its hosts."""
    to_lend, lent = PowerCap.to_lend, list[int]()
    monkeypatch.setattr(PowerCap, "to_lend", lambda *given: lent.append(to_lend(*given)) or lent[-1])
    inputs = site("batsim-homogeneous", {"type": "delay", "delay": 1})
    switched = exchanged(version, "powered[dispatcher=easy,sleep=idle,after=5,cap=1850]", inputs, decide, tmp_path)
    assert any(lent)
    assert set(switched) == ({True} if version == "5" else {False})
