"""``batdispatch platform``."""

import json
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from batdispatch.cli.main import cli
from batdispatch.core.errors import InputError


def run(*arguments: str) -> str:
    result = CliRunner().invoke(cli, ["platform", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize(
    "arguments",
    [
        ("flat", "--hosts", "5"),
        ("eurora",),
        ("forhlr2",),
        ("esp",),
        ("torus", "--dims", "4,4", "--io", "2"),
        ("mesh", "--dims", "4,3", "--io", "2"),
        ("fattree", "--down", "4,4", "--up", "1,2", "--cables", "1,2"),
        ("dragonfly", "--groups", "3,4", "--chassis", "4,3", "--routers", "5,1", "--nodes", "2"),
    ],
)
def test_generated_file_can_be_shown(arguments: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "p.xml"
    assert run("generate", *arguments, "-o", str(path)) == f"{path}\n"
    assert [file.name for file in tmp_path.iterdir()] == ["p.xml"]
    assert "master    master_host" in run("show", str(path))


def test_output_can_be_standard_output(tmp_path: Path) -> None:
    path = tmp_path / "p.xml"
    run("generate", "flat", "--hosts", "5", "-o", str(path))
    assert run("generate", "flat", "--hosts", "5", "-o", "-") == path.read_text()


def test_show_json_of_eurora(tmp_path: Path) -> None:
    path = tmp_path / "eurora.xml"
    run("generate", "eurora", "--memory", "32768", "-o", str(path))
    facts = json.loads(run("show", str(path), "--json"))
    assert facts["compute_hosts"] == 64
    assert facts["total"] == {"core": 1024, "gpu": 64, "mic": 64, "memory": 64 * 32768}
    assert sorted((entry["ids"], entry["capacity"]["gpu"]) for entry in facts["classes"]) == [("0-31", 0), ("32-63", 2)]
    assert facts["storage_hosts"] == []


def test_show_names_storage_topology_and_totals(tmp_path: Path) -> None:
    path = tmp_path / "torus.xml"
    asked = ["--dims", "4,3,2", "--io", "3", "--capacity", "core=32", "--router-links", "split"]
    run("generate", "torus", *asked, "-o", str(path))
    text = run("show", str(path))
    assert "45 compute, 3 storage" in text
    assert "total     core 1440" in text
    assert "torus: TORUS 4 x 3 x 2, 2 hosts a router, 48 hosts" in text
    arguments = shlex.split(run("show", str(path), "--batsim-arguments"))
    assert arguments[:2] == ["-p", str(path)]
    assert arguments[2::2] == ["-r"] * 3


def test_show_with_master_and_roles(tmp_path: Path) -> None:
    path = tmp_path / "flat.xml"
    run("generate", "flat", "--hosts", "5", "-o", str(path))
    facts = json.loads(run("show", str(path), "--role", "n2:storage", "--json"))
    assert facts["storage_hosts"] == ["n2"]
    # As with Batsim's -m, another master makes a resource of the host that would have been it.
    facts = json.loads(run("show", str(path), "--master-host", "n0", "--json"))
    assert facts["master"] == "n0"
    assert facts["classes"][0]["first"] == "master_host"
    with pytest.raises(InputError, match="no host 'n9'"):
        run("show", str(path), "--master-host", "n9")


def test_show_refuses_a_role_without_a_host(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="option --role: 'storage' is not HOST:ROLE"):
        run("show", str(tmp_path), "--role", "storage")
