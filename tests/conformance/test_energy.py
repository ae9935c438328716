"""Energy and power states against what Batsim 4.2.1 recorded: the exchange, the files, and what it refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from batdispatch.core.errors import BatdispatchError
from recorded_energy import ENERGY, differences, play_energy, same
from with_simgrid import needs_simgrid

FILES = ("jobs.csv", "consumed_energy.csv", "pstate_changes.csv", "schedule.csv", "machine_states.csv")
WHOLE = (
    *("corners", "dvfs_midjob", "easy_bf.hetero12", "easy_bf.homo8", "energy_bf.homo8", "energy_bf_idle_sleeper.homo8"),
    *("energy_bf_subpart_sleeper.homo8", "events.hetero12", "filler.hetero12", "lazy_update", "powercap.hetero12"),
    *("sleeper.homo8", "transitions", "usage_trace", "usage_trace_easy_bf", "sharing_small"),
)
#: Seconds by which an end may differ: where five tasks share four cores, SimGrid's solver stops at 1e-5 of the rate.
SLACK = {"sharing_small": 2e-5}

REFUSED = {
    "err_busy_to_sleep": r"host 0 \(e00\) cannot sleep in power state 3: jobs run there",
    "err_negative_pstate": r"field data.state: found '-1', expected the number of a power state",
    "err_platform_no_watts": r"no_watts.xml, line 53: host e11: it has no wattage_per_state, expected Idle:Epsilon",
    "err_platform_sleep_pair": r"sleep_pair.xml, line 53: host e11: sleep_pstates: '3:4' is malformed, expected sleep",
    "err_platform_watts_count": r"line 53: host e11: .*has the watts of 5 power states, expected 6, one for each speed",
    "err_query_unknown": r"QUERY\), field data.requests: object contains unknown field power",
    "err_query_without_energy": r"QUERY: energy is not simulated in this run \(--energy\)",
    "err_same_sleep": r"host 0 \(e00\) sleeps in power state 3: it must wake up before it can sleep in 3",
    "err_set_without_energy": r"SET_RESOURCE_STATE: energy is not simulated in this run \(--energy\)",
    "err_sleep_to_sleep": r"host 10 \(e10\) sleeps in power state 3: it must wake up before it can sleep in 6",
    "err_sleep_unavailable": r"host 1 \(e01\) cannot sleep in power state 3: it is unavailable",
    "err_start_on_sleeping": r"job w0!a1: host 0 \(e00\) cannot compute now: it sleeps in power state 3",
    "err_start_unavailable": r"job w0!a1: host 0 \(e00\) is unavailable",
    "err_start_while_switching": r"job w0!a1: host 0 \(e00\) cannot compute now: it is switching off",
    "err_state_number": r"field data.state: found 1, expected str",
    "err_state_word": r"field data.state: found 'off', expected the number of a power state",
    "err_unknown_host": r"hosts '12' are not all in the platform, which has 0-11",
    "err_unknown_pstate": r"host 0 \(e00\) has no power state 9, expected one of 0-5",
    "smpi": r"profile 'mpi': type 'smpi': only Batsim replays what MPI processes compute and send",
    # Batsim never answers these; whoever waits for the answer waits for ever.
    "odd_set_while_switching": r"host 0 \(e00\) is switching to power state 3, and can be set when it is there",
    "odd_virtual_pstate": r"host 0 \(e00\) cannot be set to power state 4: it only goes through that one",
}


def told(frames: list[dict[str, Any]]) -> list[tuple[float, str, Any]]:
    """Events with the times of their frames, behind the first frame."""
    return [(frame["now"], event["type"], event["data"]) for frame in frames[1:] for event in frame["events"]]


@needs_simgrid
@pytest.mark.parametrize("name", WHOLE)
def test_exchange_and_files_are_those_recorded(tmp_path: Path, name: str) -> None:
    folder = ENERGY / "batsim4" / name
    lines = map(json.loads, (folder / "exchange.jsonl").read_text().splitlines())
    theirs = told([json.loads(line["raw"]) for line in lines if line["dir"] == "batsim->sched"])
    ours = told(play_energy(name, tmp_path, simgrid=True))
    assert len(ours) == len(theirs)
    for (now, kind, data), (at, recorded, expected) in zip(ours, theirs, strict=True):
        assert (kind, now) == (recorded, pytest.approx(at, abs=SLACK.get(name, 2e-6)))
        if kind == "ANSWER":
            assert same(str(data["consumed_energy"]), str(expected["consumed_energy"]))
        else:
            assert data == expected
    assert [found for file in FILES for found in differences(tmp_path / file, folder / file)] == []


@pytest.mark.parametrize("name", ["usage_trace", "usage_trace_easy_bf"])
def test_traces_take_as_long_and_burn_as_much_without_simgrid(tmp_path: Path, name: str) -> None:
    play_energy(name, tmp_path, simgrid=False)
    assert [*differences(tmp_path / "jobs.csv", ENERGY / "batsim4" / name / "jobs.csv")] == []


@needs_simgrid
@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_batsim_refuses_or_never_answers_is_refused_in_words(tmp_path: Path, name: str) -> None:

    with pytest.raises(BatdispatchError, match=REFUSED[name]):
        play_energy(name, tmp_path, simgrid=True)
    assert not [*tmp_path.iterdir()], "a failed simulation left files behind"


def test_every_recording_is_asked_about() -> None:
    folders = {folder.name for folder in (ENERGY / "batsim4").iterdir()}
    assert folders == {*WHOLE, *REFUSED}
