"""Power states, probes and calls against what Batsim 5.0.0-rc2 recorded, and what it refuses or fails to check."""

from pathlib import Path
from typing import Any

import pytest

from batdispatch.batsim.v5.exchange import Batsim5
from batdispatch.core.errors import BatdispatchError
from batdispatch.core.line.session import Session
from batdispatch.links.replay import check_wire, read_exchanges, replay
from recorded_energy import ENERGY, differences, play_energy, recorded_messages, same
from scripted import Scripted
from with_simgrid import needs_simgrid

FOLDER = ENERGY / "batsim5"
FILES = ("jobs.csv", "consumed_energy.csv", "pstate_changes.csv", "machine_states.csv")
#: Batsim 5 names a profile with its workload, and counts a host as computing from its first job until it is turned off.
OWN = ("profile is", "nb_idle is", "nb_computing is")
WHOLE = (
    *(
        "external",
        "fill_cores",
        "force_stop_idle",
        "kill",
        "mapping",
        "mapping_one_of_two",
        "periodic_calls",
        "probe_mean",
    ),
    *("probe_power", "pstates", "sharing", "sleepy", "usage_trace"),
)
NOT_CHECKED = r"job w0!a asked for 2 resources, the allocation gives "
REFUSED = {
    "err_busy_off": r"host 0 \(e00\) cannot sleep in power state 3: jobs run there",
    "err_fork_join": r"type 'ForkJoinCompositionProfile': neither Batsim 4 nor the engines here run it",
    "err_merge": r"type 'ParallelTaskMergeCompositionProfile': neither Batsim 4 nor the engines here",
    "err_reset_probe": r"event 0 \(ResetProbeEvent\).* expected none: Batsim 5.0.0-rc2 aborts on it",
    "err_start_sleeping": r"job w0!b: host 11 \(e11\) cannot compute now: it sleeps in power state 3",
    "err_turn_computing": r"host 11 \(e11\) is changed \(ChangeHostsPStateEvent\) to go from power state 0 to 1",
    "err_unknown_pstate": r"host 11 \(e11\) has no power state 9, expected one of 0-8",
    "force_stop": r"the simulation cannot end while jobs run, of which w0!a is one",
    "periodic_uneven": r"every 5 s and .* every 3 s: one of two periods must divide the other",
    "probe_load": r"event.metrics: found 'ComputationLoad'",
    "probe_no_accumulation": r"data_accumulation_strategy_type: found 'NoProbeDataAccumulation'",
    "probe_oneshot": r"temporal_trigger_type: found 'OneShot'",
    "probe_reset": r"reset_mode_type: found 'ProbeAccumulationReset'",
    "probe_trigger": r"event 0 \(TriggerProbeEvent\).* expected none: Batsim 5.0.0-rc2 aborts on it",
    "probe_without_energy": r"probe 'p': energy is not simulated in this run \(--energy\)",
    "smpi": r"profile 'mpi': type 'smpi': only Batsim replays what MPI processes compute and send",
    # Batsim 5.0.0-rc2 does not check these.
    "busy_default": r"job w0!b: host 0 \(e00\) is busy with w0!a and hosts are not shared",
    "busy_sharing_off": r"job w0!b: host 0 \(e00\) is busy with w0!a and hosts are not shared",
    "err_start_in_sleep_pstate": r"host 11 \(e11\) is turned on or off \(TurnOnOffHostsEvent\) to go from",
    "odd_change_to_sleep": r"host 11 \(e11\) is turned on or off \(TurnOnOffHostsEvent\) to go from",
    **{
        f"validation_{how}": NOT_CHECKED + str(hosts)
        for how, hosts in (("big", 3), ("exact", 3), ("none", 3), ("small", 1))
    },
}


def alike(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, dict):
        return (
            isinstance(theirs, dict) and ours.keys() == theirs.keys() and all(alike(ours[k], theirs[k]) for k in ours)
        )
    if isinstance(ours, list):
        return len(ours) == len(theirs) and all(map(alike, in_order(ours), in_order(theirs)))
    return same(str(ours), str(theirs))


def in_order(listed: list[Any]) -> list[Any]:
    """Profiles of killed jobs come in no order."""
    return sorted(listed, key=lambda each: each.get("id", "") if isinstance(each, dict) else "")


@needs_simgrid
@pytest.mark.parametrize("name", WHOLE)
def test_exchange_and_files_are_those_recorded(tmp_path: Path, name: str) -> None:
    ours, theirs = play_energy(name, tmp_path, simgrid=True, batsim=5), recorded_messages(name, 5)
    assert [len(frame["events"]) for frame in ours] == [len(frame["events"]) for frame in theirs]
    for frame, recorded in zip(ours[1:], theirs[1:], strict=True):
        assert frame["now"] == pytest.approx(recorded["now"], abs=2e-6)
        for event, expected in zip(frame["events"], recorded["events"], strict=True):
            assert event["event_type"] == expected["event_type"]
            assert alike(
                event["event"], {"profiles": [], **expected["event"]} if "progresses" in expected else expected["event"]
            )
    found = [
        text
        for file in FILES
        if (FOLDER / name / file).is_file()
        for text in differences(tmp_path / file, FOLDER / name / file)
    ]
    assert [text for text in found if not any(own in text for own in OWN)] == []


@needs_simgrid
def test_hosts_are_told_with_all_their_power_states(tmp_path: Path) -> None:
    ours, theirs = play_energy("mapping", tmp_path, simgrid=True, batsim=5)[0], recorded_messages("mapping", 5)[0]
    ((ours,), (theirs,)) = ours["events"], theirs["events"]
    assert ours["event"]["computation_hosts"] == theirs["event"]["computation_hosts"]


@needs_simgrid
@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_batsim_refuses_or_does_not_check_is_refused_in_words(tmp_path: Path, name: str) -> None:
    with pytest.raises(BatdispatchError, match=REFUSED[name]):
        play_energy(name, tmp_path, simgrid=True, batsim=5)
    assert not [*tmp_path.iterdir()], "a failed simulation left files behind"


def test_every_recording_is_asked_about() -> None:
    # Without an exchange: an option that Batsim 5 does not know, and neither do we.
    assert {folder.name for folder in FOLDER.iterdir()} == {*WHOLE, *REFUSED, "energy_link"}


@pytest.mark.parametrize("name", WHOLE)
def test_every_frame_is_read_and_written_without_loss(name: str) -> None:
    assert check_wire(FOLDER / name / "exchange.jsonl", Batsim5()).messages


@pytest.mark.parametrize("name", [name for name in WHOLE if name not in ("sharing", "external", "fill_cores")])
def test_recorded_decisions_pass_the_ledger_and_come_out_the_same(name: str) -> None:
    path = FOLDER / name / "exchange.jsonl"
    replies = [reply for _, message, reply in read_exchanges(path, Batsim5()) if message is not None]
    session = Session(Scripted([list(reply.decisions) for reply in replies if reply is not None]))
    assert replay(path, session, Batsim5()).difference is None
    assert session.ended
