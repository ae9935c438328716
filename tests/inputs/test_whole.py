"""Files that appear whole: two writers, links, streams that cannot be replaced, and writers that were killed."""

import fcntl
import json
import lzma
import os
import resource
import secrets
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from batdispatch.core.errors import InputError
from batdispatch.inputs.files import replace_file, write_whole
from batdispatch.inputs.whole import Whole

GENERATE = ["generate", "lublin", "--seed", "1", "--jobs", "20", "--hosts", "128", "-o"]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def batdispatch(*words: str, stdout: int | None = subprocess.PIPE) -> subprocess.CompletedProcess[bytes]:
    line = [sys.executable, "-m", "batdispatch", *words]
    return subprocess.run(line, stdout=stdout, stderr=subprocess.PIPE, check=False, timeout=60)


def test_two_writers_of_one_name_do_not_share_a_file(tmp_path: Path) -> None:
    first, second = Whole(tmp_path / "x"), Whole(tmp_path / "x")
    first.stream.write(b"first")
    second.stream.write(b"second")
    second.finish()
    assert (tmp_path / "x").read_bytes() == b"second"
    first.finish()
    assert (tmp_path / "x").read_bytes() == b"first"
    assert names(tmp_path) == ["x"]


def test_a_link_under_the_partial_name_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "token_hex", lambda size: "0" * 2 * size)
    other = tmp_path / "other"
    other.write_text("precious")
    (tmp_path / "x.00000000.partial").symlink_to(other)
    with pytest.raises(InputError, match="x: cannot be written: File exists"):
        write_whole(tmp_path / "x", b"new")
    assert other.read_text() == "precious"


def test_a_file_has_the_usual_permissions(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "x", b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o640


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_a_link_and_the_file_it_leads_to_is_replaced(there: bool, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    target = folder / "target"
    if there:
        target.write_text("old")
        (tmp_path / "second_name").hardlink_to(target)
    (tmp_path / "near").symlink_to(Path("elsewhere") / "target")
    (tmp_path / "x").symlink_to(tmp_path / "near")
    write_whole(tmp_path / "x", b"new")
    assert (tmp_path / "x").is_symlink()
    assert (tmp_path / "near").is_symlink()
    assert target.read_bytes() == b"new"
    assert names(folder) == ["target"]
    if there:
        # It was not written into: a reader has the old file or the new one, whole.
        assert (tmp_path / "second_name").read_text() == "old"


def test_links_in_a_circle_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "x").symlink_to("y")
    (tmp_path / "y").symlink_to("x")
    with pytest.raises(InputError, match="x: cannot be written: Too many levels of symbolic links"):
        write_whole(tmp_path / "x", b"new")


def read_of(pipe: Path) -> tuple[threading.Thread, list[bytes]]:
    """Begin to read a pipe to its end."""
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()), daemon=True)
    reader.start()
    return reader, found


@pytest.mark.parametrize("linked", [False, True])
def test_a_pipe_is_written_into(linked: bool, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    name = tmp_path / "link" if linked else pipe
    if linked:
        name.symlink_to("pipe")
    reader, found = read_of(pipe)
    write_whole(name, b"new")
    reader.join(10)
    assert found == [b"new"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert not [each for each in names(tmp_path) if "partial" in each]


def test_a_workload_goes_into_a_pipe_with_the_digest_of_the_file(tmp_path: Path) -> None:
    assert batdispatch(*GENERATE, str(tmp_path / "w.json.xz")).returncode == 0
    pipe = tmp_path / "pipe.json.xz"
    os.mkfifo(pipe)
    reader, found = read_of(pipe)
    told = json.loads(batdispatch(*GENERATE, str(pipe), "--json").stdout)
    reader.join(10)
    assert found == [(tmp_path / "w.json.xz").read_bytes()]
    assert told["sha256"] == json.loads(batdispatch(*GENERATE, str(tmp_path / "v.json.xz"), "--json").stdout)["sha256"]
    assert json.loads(lzma.decompress(found[0]))["nb_res"] == 128


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="the system has no names of open descriptors")
def test_standard_output_has_the_file_and_nothing_else_wherever_it_goes(tmp_path: Path) -> None:
    expected = tmp_path / "w.json"
    assert batdispatch(*GENERATE, str(expected)).returncode == 0
    # A link of the same kind as /dev/stdout.
    stdout = tmp_path / "stdout"
    stdout.symlink_to("/proc/self/fd/1")
    done = batdispatch(*GENERATE, str(stdout))
    assert done.stdout == expected.read_bytes()
    assert b"20 jobs" in done.stderr
    log = tmp_path / "log"
    log.write_text("before\n")
    with log.open("ab") as file:
        batdispatch(*GENERATE, str(stdout), stdout=file.fileno())
        file.write(b"after\n")
    assert log.read_bytes() == b"before\n" + expected.read_bytes() + b"after\n"
    assert names(tmp_path) == ["log", "stdout", "w.json"]


def test_a_full_device_is_one_message_and_stays_a_device(tmp_path: Path) -> None:
    device = tmp_path / "full"
    try:
        # A node of our own of the kind of /dev/full: code that is wrong replaces this one.
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 7))
        os.close(os.open(device, os.O_WRONLY))
    except OSError:
        pytest.skip("needs the right to make a device")
    for words in (GENERATE, ["platform", "generate", "flat", "--hosts", "4", "-o"]):
        done = batdispatch(*words, str(device))
        assert done.returncode == 2
        assert done.stderr.decode() == f"batdispatch: error: {device}: cannot be written: No space left on device\n"
        assert done.stdout == b""
        assert stat.S_ISCHR(device.stat().st_mode)
        assert names(tmp_path) == ["full"]


@pytest.fixture
def small_files() -> Iterator[None]:
    """No file of more than 64 KiB can be written: a full disk for whoever has no disk of their own."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("small_files")
@pytest.mark.parametrize("name", ["x", "x.gz", "x.xz"])
@pytest.mark.parametrize("piece", [3, 1 << 17])
def test_a_full_disk_leaves_no_partial_file(name: str, piece: int, tmp_path: Path) -> None:
    pieces = [os.urandom(piece) for _ in range((1 << 17) // piece)]

    def write() -> None:
        with replace_file(tmp_path / name) as file:
            file.writelines(pieces)

    with pytest.raises(InputError, match=f"{name}: cannot be written: File too large"):
        write()
    assert names(tmp_path) == []


def test_what_a_killed_writer_left_goes_with_the_next_file_of_that_name(tmp_path: Path) -> None:
    program = f"""
import os, pathlib, signal
from batdispatch.inputs.whole import Whole
for name in ("x", "other"):
    Whole(pathlib.Path({str(tmp_path)!r}) / name).stream.write(b"half")
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", program], check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert len(names(tmp_path)) == 2
    (tmp_path / "x.notes.partial").write_text("somebody's own")
    running = Whole(tmp_path / "x")
    write_whole(tmp_path / "x", b"new")
    assert running.partial is not None
    assert running.partial.exists()
    running.finish()
    (orphan,) = [name for name in names(tmp_path) if name.startswith("other")]
    assert names(tmp_path) == [orphan, "x", "x.notes.partial"]


def test_a_writer_whose_new_file_is_taken_for_an_orphan_makes_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flock: Callable[[int, int], None] = fcntl.flock
    taken: list[str] = []

    def take(handle: int, how: int) -> None:
        flock(handle, how)
        if not taken:
            taken.extend(names(tmp_path))
            (tmp_path / taken[0]).unlink()

    monkeypatch.setattr(fcntl, "flock", take)
    file = Whole(tmp_path / "x")
    monkeypatch.undo()
    file.finish()
    assert len(taken) == 1
    assert names(tmp_path) == ["x"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_command_that_is_told_to_stop_while_it_writes_leaves_nothing(number: int, tmp_path: Path) -> None:
    program = f"""
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from batdispatch.cli.entry import main
from batdispatch.inputs.workloads import writer
writer.job_fields = lambda job: os.kill(os.getpid(), {int(number)})
sys.argv[1:] = {[*GENERATE, str(tmp_path / "w.json")]!r}
main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 128 + number
    assert done.stderr.strip() == f"batdispatch: {'interrupted' if number == signal.SIGINT else 'terminated'}"
    assert names(tmp_path) == []
