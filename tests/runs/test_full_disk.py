"""A full disk is one message that names the file, whatever process meets it, and is nobody's bug."""

import subprocess
import sys
from pathlib import Path

import pytest

import command_line

# Files of more than some size cannot be written: the error of a full disk for whoever has no disk of their own.
MAIN = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 15, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
from batdispatch.cli.entry import main
main()
"""
CAMPAIGN = """
name: grid
platforms: {flat: p.xml}
workloads: {w: w.json}
dispatchers: {EASY: easy}
settings: {compiled: never}
"""
INPUT = ["--platform", "p.xml", "--workload", "w.json"]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("c.yaml").write_text(CAMPAIGN)
    for words in (
        "generate lublin --seed 1 --jobs 700 --hosts 128 -o w.json",
        "platform generate flat --hosts 128 -o p.xml",
    ):
        assert command_line.call(*words.split()).status == 0


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["run", *INPUT, "--dispatcher", "easy", "--out", "out"], 2),
        (["compare", *INPUT, "--dispatchers", "easy,fcfs", "--out", "out", "--no-report"], 2),
        (["campaign", "c.yaml", "--out", "out"], 1),
    ],
    ids=lambda words: words[0] if isinstance(words, list) else "",
)
def test_a_full_disk_is_a_message_with_the_file(words: list[str], status: int) -> None:
    line = [sys.executable, "-c", MAIN, *words]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == status, done.stderr
    assert "bug" not in done.stderr
    assert "Traceback" not in done.stderr
    (line, *_) = [line for line in done.stderr.splitlines() if "File too large" in line]
    assert "/out/" in line
    assert not list(Path("out").rglob("result.json"))
