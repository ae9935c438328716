"""Folders that one process writes into at a time."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from batdispatch.core.errors import InputError
from batdispatch.inputs.files import write_whole
from batdispatch.inputs.folders import MARK, Claim, check_finished, clear_mark


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_is_published_takes_the_place_of_what_was_there(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("old", "both", "last", "own"):
        (folder / name).write_text("old")
    with Claim(folder) as claim:
        for name in ("both", "last", "new"):
            (claim.place / name).write_text("new")
        assert (folder / "both").read_text() == "old"
        claim.publish(["old", "both", "new"], last="last")
    assert names(folder) == ["both", "last", "new", "own"]
    assert {(folder / name).read_text() for name in ("both", "last", "new")} == {"new"}


def test_what_somebody_wrote_meanwhile_stays(tmp_path: Path) -> None:
    (tmp_path / "recording").write_text("old")
    with Claim(tmp_path) as claim:
        write_whole(tmp_path / "recording", b"of this run")
        claim.publish(["recording"])
    assert (tmp_path / "recording").read_text() == "of this run"


def fail(folder: Path, *, changing: bool) -> None:
    with Claim(folder) as claim:
        (claim.place / "x").write_text("new")
        if changing:
            claim.changing()
        raise ZeroDivisionError


def test_a_claim_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("old")
    for folder in (tmp_path, tmp_path / "new"):
        with pytest.raises(ZeroDivisionError):
            fail(folder, changing=False)
    check_finished(tmp_path)
    assert names(tmp_path) == ["x"]
    assert (tmp_path / "x").read_text() == "old"


def test_a_claim_that_fails_while_it_publishes_leaves_its_mark(tmp_path: Path) -> None:
    # A later one that fails earlier does not make the folder whole.
    for changing in (True, False):
        with pytest.raises(ZeroDivisionError):
            fail(tmp_path, changing=changing)
        with pytest.raises(InputError, match="is unfinished"):
            check_finished(tmp_path)
    with clear_mark(tmp_path, remove=True) as place:
        assert place is None
    assert names(tmp_path) == [MARK]
    with Claim(tmp_path):
        pass
    check_finished(tmp_path)
    assert names(tmp_path) == []


def publish(folder: Path) -> None:
    with Claim(folder) as claim:
        for name in ("a", "b"):
            (claim.place / name).write_text("new")
        claim.publish(["a", "b"])


def test_a_claim_that_cannot_publish_everything_leaves_its_mark(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    with pytest.raises(IsADirectoryError):
        publish(tmp_path)
    assert names(tmp_path) == ["a", "b", MARK]
    with pytest.raises(InputError, match="is unfinished"):
        check_finished(tmp_path)
    (tmp_path / "b").rmdir()
    publish(tmp_path)
    check_finished(tmp_path)


HOLD = """
import sys, time
from pathlib import Path
from batdispatch.inputs.folders import Claim
with Claim(Path(sys.argv[1])) as claim:
    (claim.place / "half").write_text("half")
    print(flush=True)
    time.sleep(60)
"""


def test_one_process_at_a_time_and_its_death_frees_the_folder(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLD, tmp_path], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        who = rf"{tmp_path}: is being written by process {other.pid} on \S+: "
        with pytest.raises(InputError, match=who + "two runs into one folder would mix; .* another folder with --out"):
            Claim(tmp_path).__enter__()
        with pytest.raises(InputError, match=who + "wait until that has ended"):
            check_finished(tmp_path)
        other.kill()
    with pytest.raises(InputError, match=f"is unfinished: .* was killed.*, or remove the folder; {MARK} in it"):
        check_finished(tmp_path)
    with Claim(tmp_path) as claim:
        assert names(claim.place) == ["lock"]
    assert names(tmp_path) == []


def test_a_link_in_the_place_of_the_mark_is_not_followed(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "precious").touch()
    (tmp_path / MARK).symlink_to(other)
    with pytest.raises(InputError, match=f"{MARK}: is a link"):
        Claim(tmp_path).__enter__()
    assert names(other) == ["precious"]


def test_a_reader_that_looks_at_the_lock_does_not_keep_a_writer_out(tmp_path: Path) -> None:
    import fcntl
    import threading

    (tmp_path / MARK).mkdir()
    reader = os.open(tmp_path / MARK / "lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(reader, fcntl.LOCK_SH)
    timer = threading.Timer(0.01, os.close, [reader])
    timer.start()
    with Claim(tmp_path):
        timer.join()
    check_finished(tmp_path)
