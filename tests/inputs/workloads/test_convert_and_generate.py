"""The commands ``convert`` and ``generate``."""

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from batdispatch.abilities.topology.generate.torus import torus
from batdispatch.cli.convert import command as convert
from batdispatch.cli.generate import command as generate
from batdispatch.core.errors import InputError
from batdispatch.inputs.platforms import read_platform
from batdispatch.inputs.workloads import read_workload

LINES = "".join(f"{i} {i * 10} 5 60 {i} -1 -1 {i} 90 -1 1 3 2 7 1 -1 -1 -1\n" for i in range(1, 6))


def test_convert_writes_the_workload_and_says_what_it_dropped(tmp_path: Path) -> None:
    log, out = tmp_path / "a.swf", tmp_path / "w.json"
    log.write_text("; MaxProcs: 8\n" + LINES + LINES.splitlines()[0].replace("1 10 5 60", "9 10 5 -1") + "\n")
    result = CliRunner().invoke(convert, [str(log), "-o", str(out), "--select", "first=3"], catch_exceptions=False)
    assert result.exit_code == 0
    assert "6 records, 3 jobs kept" in result.stdout
    assert "dropped: 1 without a run time (jobs 9)" in result.stdout
    assert result.stdout.endswith(f"{out}\n")
    assert [job.units for job in read_workload(out).jobs] == [1, 2, 3]


def test_convert_json(tmp_path: Path) -> None:
    log, out = tmp_path / "a.swf", tmp_path / "w.json"
    log.write_text(LINES)
    result = CliRunner().invoke(convert, [str(log), "-o", str(out), "--json"], catch_exceptions=False)
    account = json.loads(result.stdout)
    assert (account["records"], account["kept"], account["nb_res"]) == (5, 5, 5)
    assert account["sha256"] == read_workload(out).digest


def test_converting_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    log = tmp_path / "a.swf"
    log.write_text(LINES)
    for name in ("1.json", "2.json"):
        CliRunner().invoke(convert, [str(log), "-o", str(tmp_path / name)], catch_exceptions=False)
    assert (tmp_path / "1.json").read_bytes() == (tmp_path / "2.json").read_bytes()


def lublin(out: Path, *options: str) -> str:
    arguments = ["lublin", "-o", str(out), "--jobs", "50", "--hosts", "32", *options]
    return CliRunner().invoke(generate, arguments, catch_exceptions=False).stdout


def test_generate_lublin_pins_jobs_to_io_nodes_and_submits_them_at_once(tmp_path: Path) -> None:
    site, files = tmp_path / "torus.xml", [tmp_path / f"{i}.json" for i in (1, 2, 3)]
    site.write_bytes(torus((4, 4, 2), io=4))
    lublin(files[0], "--seed", "5")
    for file in files[1:]:
        lublin(file, "--seed", "5", "--pinned", "--platform", str(site), "--at-once")
    assert files[1].read_bytes() == files[2].read_bytes()
    plain, pinned = (json.loads(file.read_bytes())["jobs"] for file in files[:2])
    assert {job["io_node"] for job in pinned} == {disk.name for disk in read_platform(site).machine.storage}
    assert {job["subtime"] for job in pinned} == {0}
    # All else is the model's.
    others = ("id", "res", "profile", "walltime")
    assert sorted([str(job[key]) for key in others] for job in pinned) == sorted(
        [str(job[key]) for key in others] for job in plain
    )


def test_jobs_are_pinned_only_where_there_are_io_nodes(tmp_path: Path) -> None:
    site = tmp_path / "torus.xml"
    site.write_bytes(torus((4, 4, 2)))
    arguments = ["lublin", "-o", str(tmp_path / "w.json"), "--jobs", "5", "--hosts", "32", "--seed", "1", "--pinned"]
    with pytest.raises(click.UsageError, match="--pinned needs --platform"):
        CliRunner().invoke(generate, arguments, catch_exceptions=False, standalone_mode=False)
    with pytest.raises(InputError, match=r"torus\.xml: has no I/O node"):
        CliRunner().invoke(
            generate, [*arguments, "--platform", str(site)], catch_exceptions=False, standalone_mode=False
        )


def test_generate_lublin_is_reproducible(tmp_path: Path) -> None:
    text = lublin(tmp_path / "1.json", "--seed", "5", "--load", "0.7")
    assert "50 jobs in " in text
    assert "offered load 0.70" in text
    lublin(tmp_path / "2.json", "--seed", "5", "--load", "0.7")
    lublin(tmp_path / "3.json", "--seed", "6", "--load", "0.7")
    same, again, other = ((tmp_path / f"{i}.json").read_bytes() for i in (1, 2, 3))
    assert same == again
    assert same != other


def test_generate_says_where_the_workload_comes_from(tmp_path: Path) -> None:
    facts = json.loads(lublin(tmp_path / "w.json", "--seed", "5", "--json"))
    workload = read_workload(tmp_path / "w.json")
    assert facts["sha256"] == workload.digest
    assert workload.about["origin"]["model"] == "lublin"
    assert workload.about["origin"]["seed"] == 5
    assert workload.nb_res == 32


def test_every_kind_has_help_with_an_example() -> None:
    for kind in generate.commands:
        result = CliRunner().invoke(generate, [kind, "--help"], catch_exceptions=False)
        assert f"batdispatch generate {kind}" in result.stdout
