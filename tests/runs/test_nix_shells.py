"""A Batsim from a shell of Nix: the command that is run, and what is refused at the door.

No package can be fetched here: a stand-in of Nix's name notes its arguments and runs what follows --command.
"""

import json
import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import fake_batsim
from batdispatch.abilities.campaigns.campaign import plan as planning
from batdispatch.abilities.campaigns.campaign.file import read_campaign
from batdispatch.cli.main import cli
from batdispatch.core.errors import InputError
from batdispatch.links.nix import shell_of

RECORDINGS = Path(__file__).parents[1] / "conformance" / "recordings"
INPUTS = [
    "run",
    "--platform",
    str(RECORDINGS / "platforms" / "four.xml"),
    "--workload",
    str(RECORDINGS / "workloads" / "delay.json"),
    "--dispatcher",
    "easy",
]
NIX = """#!{python}
import json, os, sys
words = sys.argv[1:]
with open({note!r}, "a") as file:
    file.write(json.dumps(words) + "\\n")
if "broken" in words[3]:
    sys.exit("error: unable to download the flake")
program = os.path.join({programs!r}, words[3].rpartition("#")[2])
os.execv(program, [program, *words[6:]])
"""
CAMPAIGN = """
name: real
platforms: {{four: {platform}}}
workloads: {{delay: {workload}}}
dispatchers: [easy]
settings: {{{settings}}}
"""


@pytest.fixture
def nix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put the stand-in on PATH, with a Batsim of each version in its shells; return where it notes its arguments."""
    shells, programs, note = tmp_path / "shells", tmp_path / "bin", tmp_path / "note"
    for major in (4, 5):
        fake_batsim.install(shells, major, f"batsim{major}")
    programs.mkdir()
    program = programs / "nix"
    program.write_text(NIX.format(python=sys.executable, note=str(note), programs=str(shells)))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.delenv("FAKE_BATSIM", raising=False)
    return note


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder below one with a flake, which is the working folder."""
    folder = tmp_path / "project" / "deep"
    folder.mkdir(parents=True)
    (tmp_path / "project" / "flake.nix").write_text("{ outputs = _: { }; }\n")
    monkeypatch.chdir(folder)
    return folder


def campaign(folder: Path, settings: str) -> Path:
    path = folder / "campaign.yaml"
    path.write_text(CAMPAIGN.format(platform=INPUTS[2], workload=INPUTS[4], settings=settings))
    return path


def notes(path: Path) -> list[list[str]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_batsim_is_asked_and_run_in_the_shell(nix: Path, project: Path, tmp_path: Path) -> None:
    words = [*INPUTS, "--engine", "batsim4", "--nix", "batsim4", "--out", "out"]
    done = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    asked, ran = notes(nix)
    shell = f"{tmp_path / 'project'}#batsim4"
    develop = ["--extra-experimental-features", "nix-command flakes", "develop", shell, "--command", "batsim"]
    assert asked == [*develop, "--version"]
    assert ran[:6] == develop
    assert {"-p", "-w", "-s", "-e"} <= set(ran)
    result = json.loads(Path("out/result.json").read_text())
    assert result["engine"]["version"] == "4.2.1"
    assert f"--nix '{shell}'" in result["command"]


def test_a_shell_with_another_batsim_or_none_is_refused(nix: Path, project: Path) -> None:
    for words, told in (
        (["--engine", "batsim4", "--nix", "batsim5"], "#batsim5 has Batsim 5.0.0-rc2, expected Batsim 4"),
        (["--engine", "batsim4", "--nix", "github:x/broken#y"], "unable to download the flake"),
        (["--nix", "batsim4"], "option --nix: needs --engine"),
        (["--engine", "batsim4", "--nix", "flake#"], "expected a shell such as batsim4, or FLAKE#SHELL"),
    ):
        done = CliRunner().invoke(cli, [*INPUTS, *words, "--out", "out"])
        assert isinstance(done.exception, InputError)
        assert told in str(done.exception)


def test_a_shell_is_of_the_flake_above_or_of_the_one_named(nix: Path, project: Path, tmp_path: Path) -> None:
    assert shell_of("batsim4", project) == f"{tmp_path / 'project'}#batsim4"
    assert shell_of("github:someone/flake#mine", tmp_path) == "github:someone/flake#mine"
    with pytest.raises(InputError, match=r"there is no flake\.nix in .* or above it; name the flake: FLAKE#batsim4"):
        shell_of("batsim4", tmp_path)


def test_without_nix_it_is_said_at_the_door(project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="needs Nix, and there is no nix on PATH"):
        read_campaign(campaign(project, "nix: batsim4"))


def test_a_campaign_names_its_shells(nix: Path, project: Path, tmp_path: Path) -> None:
    read = read_campaign(campaign(project, "nix: [batsim4, batsim5]"))
    flake = tmp_path / "project"
    assert [(cell.spec.engine, cell.spec.nix) for cell in read.cells] == [
        ("batsim4", f"{flake}#batsim4"),
        ("batsim5", f"{flake}#batsim5"),
    ]
    assert [cell.stated["nix"] for cell in read.cells] == ["batsim4", "batsim5"]
    # Until it is run, no shell is entered.
    assert not nix.exists()


def test_what_pins_a_shell_counts_among_what_a_run_is_made_from(nix: Path, project: Path, tmp_path: Path) -> None:
    flake = tmp_path / "project"

    def keys(settings: str) -> list[str]:
        planning._pinned.cache_clear()
        read = read_campaign(campaign(project, settings))
        return list(planning.Plan(read, tmp_path / "out").tasks)

    def all_differ(before: list[str]) -> list[str]:
        after = [*keys("nix: batsim4"), *keys("nix: github:x/flake#batsim4"), *keys("timeout: 7")]
        # What has no shell is the same, and so is what is at an address, of which nothing is known here.
        assert (after[0] == before[0], after[1:] == before[1:]) == (False, True)
        return after

    found = ["", *keys("nix: github:x/flake#batsim4"), *keys("timeout: 7")]
    found = all_differ(found)
    (flake / "flake.lock").write_text("{}")
    found = all_differ(found)
    (flake / "flake.lock").write_text('{"nodes": {}}')
    found = all_differ(found)
    (flake / "nix").mkdir()
    (flake / "nix" / "batsim.nix").write_text("{ }: { }")
    found = all_differ(found)
    (flake / "flake.nix").write_text("{ outputs = _: { x = 1; }; }\n")
    found = all_differ(found)
    (flake / "README.md").write_text("no part of it")
    assert keys("nix: batsim4") == found[:1]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ("nix: mine", "shell 'mine' does not say which Batsim it holds: set engine as well"),
        ("nix: batsim4, engine: batsim5", "shell 'batsim4' is not for engine batsim5"),
        ("nix: batsim4, engine: embedded", "shell 'batsim4' is not for engine embedded"),
        ("nix: 'x#'", "expected a shell such as batsim4"),
    ],
)
def test_a_campaign_is_told_what_is_wrong_with_its_shell(settings: str, told: str, nix: Path, project: Path) -> None:
    with pytest.raises(InputError, match=r"campaign\.yaml") as refused:
        read_campaign(campaign(project, settings))
    assert told in str(refused.value)


@pytest.mark.slow
def test_a_campaign_runs_in_the_shell_that_it_names(nix: Path, project: Path) -> None:
    path = campaign(project, "nix: batsim4")
    done = CliRunner().invoke(cli, ["campaign", str(path), "--out", "out", "--jobs", "1"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert any("-w" in words for words in notes(nix))
