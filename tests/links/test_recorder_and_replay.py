"""Recordings: written whole or called partial, read with an error that names the line, replayed to a difference."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from batdispatch.batsim import v4
from batdispatch.cli.questions import command_of
from batdispatch.core.errors import BatdispatchError, InputError
from batdispatch.core.hosts.allocation import Allocation
from batdispatch.core.line.dispatcher import Dispatcher, create
from batdispatch.core.line.ledger import Ledger
from batdispatch.core.line.session import Session
from batdispatch.links.recorder import RecordedPeer, Recorder
from batdispatch.links.replay import check_wire, read_recording, replay
from batdispatch.runs.replay import QUESTION


class HighestFirst(Dispatcher):
    """Fills from the last host on."""

    def decide(self, ledger: Ledger) -> None:
        for job in list(ledger.queue.values()):
            if ledger.free.bit_count() >= job.units:
                hosts = Allocation(ledger.free).ids[-job.units :]
                ledger.start(job, Allocation.of(hosts))


def session(name: str = "filler") -> Session:
    return Session(create(name, {}))


def test_a_recording_appears_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    with Recorder(path) as recorder:
        recorder.message(b'{"now": 0}')
        recorder.reply('"é\n'.encode())
        assert not path.exists()
    assert [json.loads(line) for line in path.read_text().splitlines()] == [
        {"dir": "batsim->sched", "raw": '{"now": 0}'},
        {"dir": "sched->batsim", "raw": '"é\n'},
    ]
    assert list(tmp_path.iterdir()) == [path]


def test_an_older_recording_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("old")

    def fail(recorder: Recorder) -> None:
        recorder.message(b"1")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), Recorder(path) as recorder:
        fail(recorder)
    assert path.read_text() == "old"
    assert (tmp_path / "x.jsonl.partial").read_text() == '{"dir": "batsim->sched", "raw": "1"}\n'


def test_an_aborted_recording_stays_partial(tmp_path: Path) -> None:
    with Recorder(tmp_path / "x") as recorder:
        recorder.abort()
    assert [path.name for path in tmp_path.iterdir()] == ["x.partial"]
    with pytest.raises(BatdispatchError, match="not open"):
        recorder.message(b"1")


def test_bytes_that_are_no_text_are_recorded_readably(tmp_path: Path) -> None:
    with Recorder(tmp_path / "x") as recorder:
        recorder.message(b"a\xffb")
    assert json.loads((tmp_path / "x").read_text())["raw"] == "a�b"


def test_a_run_without_socket_is_recorded_and_replays(recordings: Path, tmp_path: Path) -> None:
    path = tmp_path / "again.jsonl"
    with Recorder(path) as recorder:
        peer = RecordedPeer(session(), recorder, v4)
        for exchange in read_recording(recordings / "events" / "exchange.jsonl"):
            peer.handle(v4.decode_message(exchange.message))
    result = replay(path, session(), v4, times=True)
    assert result.difference is None
    assert (result.messages, result.decisions) == (11, 2)


def test_the_first_difference_names_job_and_both_decisions(recordings: Path) -> None:
    result = replay(recordings / "walltime" / "exchange.jsonl", Session(HighestFirst()), v4)
    difference = result.difference
    assert difference is not None
    assert (difference.line, difference.index, difference.job) == (3, 0, "w0!eq")
    assert difference.expected is not None
    assert difference.got is not None
    assert (difference.expected["data"]["alloc"], difference.got["data"]["alloc"]) == ("0", "3")
    assert 'expected {"timestamp"' in str(difference)
    assert "JobSubmitted w0!eq" in str(difference)
    assert (result.messages, result.decisions) == (2, 0)


def test_times_count_only_when_asked_for(recordings: Path) -> None:
    path = recordings / "events" / "exchange.jsonl"
    slow = Session(create("filler", {}), decision_time=0.5)
    result = replay(path, slow, v4, times=True)
    assert result.difference is not None
    assert result.difference.line == 1
    assert result.difference.got == {"now": 0.5}


LINE = '{"dir": "batsim->sched", "raw": "{}"}\n'
EMPTY = '{"dir": "batsim->sched", "raw": "{\\"now\\": 0, \\"events\\": []}"}\n'
ANSWER = '{"dir": "sched->batsim", "raw": "{}"}\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "is empty, expected a recorded exchange"),
        ("x\n", "line 1: JSON is malformed"),
        (LINE + LINE, "line 2: found dir 'batsim->sched', expected 'sched->batsim'"),
        (ANSWER, "line 1: found dir 'sched->batsim', expected 'batsim->sched'"),
        ('{"dir": "up", "raw": ""}\n', "line 1: found dir 'up'"),
        ('{"dir": "batsim->sched"}\n', "line 1: Object missing required field `raw`"),
        ('{"dir": "batsim->sched", "raw": {}}\n', "line 1: field raw: found no text, expected a frame"),
        ("[" * 100_000, "line 1: Expected `object`, got `array`"),
        (LINE + ANSWER, "line 1: message from Batsim: field now is missing"),
        (
            '{"dir": "batsim->sched", "raw": "{\\"now\\": 0, \\"events\\": []}"}\n' + ANSWER,
            "line 2: reply of the sched",
        ),
    ],
)
def test_malformed_recordings(text: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        check_wire(path, v4)
    assert str(caught.value).startswith(f"{path}")
    assert expected in str(caught.value)


def command(*arguments: str) -> Any:
    return CliRunner().invoke(command_of(QUESTION), list(arguments))


def test_the_command_tells_same_from_different(recordings: Path) -> None:
    events = str(recordings / "events" / "exchange.jsonl")
    same = command(events, "--dispatcher", "easy", "--set", "reservation=hosts")
    assert (same.exit_code, same.output) == (0, "11 messages, 2 decisions: every decision as recorded\n")
    other = command(str(recordings / "kill" / "exchange.jsonl"), "--dispatcher", "easy")
    assert other.exit_code == 1
    assert "the decisions differ after 2 messages" in other.output
    wire = command(events)
    assert (wire.exit_code, wire.output) == (
        0,
        "11 messages, 2 decisions: every frame reads and writes back the same\n",
    )


def test_the_command_prints_json(recordings: Path) -> None:
    done = command(str(recordings / "kill" / "exchange.jsonl"), "--dispatcher", "easy", "--json")
    answer = json.loads(done.output)
    assert done.exit_code == 1
    assert answer["messages"] == 2
    assert answer["difference"]["job"] == "w0!kn"
    assert answer["difference"]["expected"]["type"] == "CALL_ME_LATER"


def test_the_command_takes_the_folder_of_a_run(recordings: Path, tmp_path: Path) -> None:
    (tmp_path / "decisions.jsonl").write_text((recordings / "events" / "exchange.jsonl").read_text())
    assert command(str(tmp_path), "--dispatcher", "filler").exit_code == 0


def test_options_that_exclude_each_other(recordings: Path) -> None:
    path = str(recordings / "events" / "exchange.jsonl")
    assert "exclude each other" in str(command(path, "--dispatcher", "easy", "--pybatsim", "filler").exception)
    assert "need --dispatcher" in str(command(path, "--times").exception)


def test_a_recording_that_was_cut_off_is_refused_wherever_it_was_cut(recordings: Path, tmp_path: Path) -> None:
    whole = (recordings / "walltime" / "exchange.jsonl").read_bytes()
    lines = whole.splitlines(keepends=True)
    path = tmp_path / "x.jsonl"
    path.write_bytes(whole)
    assert check_wire(path, v4).messages == len(lines) / 2
    for count in range(len(lines)):
        path.write_bytes(b"".join(lines[:count]))
        expected = "is empty" if count == 0 else rf"line {(count - 1) // 2 * 2 + 1}: ends before the simulation does"
        with pytest.raises(InputError, match=expected):
            check_wire(path, v4)
        if count:
            assert check_wire(path, v4, partial=True).messages == (count + 1) // 2
    for cut in range(1, len(lines[-1]) - 1):
        path.write_bytes(whole[: -cut - 1])
        with pytest.raises(InputError, match=f"line {len(lines)}"):
            check_wire(path, v4, partial=True)


def test_replay_takes_a_recording_that_was_cut_off_only_where_that_is_said(recordings: Path, tmp_path: Path) -> None:
    lines = (recordings / "composed" / "exchange.jsonl").read_bytes().splitlines(keepends=True)
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"".join(lines[:-2]))
    command = [sys.executable, "-c", "from batdispatch.cli.main import main; main()", "replay", str(path)]
    for more in ([], ["--dispatcher", "filler"]):
        done = subprocess.run([*command, *more], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "ends before the simulation does" in done.stderr
        done = subprocess.run([*command, *more, "--partial"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
