"""Wrong platforms: each ends in one readable message that names the file and the place."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from batdispatch.cli.main import cli
from batdispatch.core.errors import InputError
from batdispatch.inputs.platforms import read_platform

DATA = Path(__file__).parents[2] / "data"
HEAD = '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'


def platform(body: str, version: str = "4.1") -> str:
    """Wrap a body; its first line is line 4 of the file."""
    return f'{HEAD}<platform version="{version}">\n{body}\n</platform>\n'


def zone(body: str, routing: str = "Full") -> str:
    """Wrap the content of a zone; its first line is line 5 of the file."""
    return platform(f'<zone id="z" routing="{routing}">\n{body}\n</zone>')


A, B = '<host id="a" speed="1Gf"/>', '<host id="b" speed="1Gf"/>'

#: What is wrong: the whole file, or what is in its platform or zone; the place; and a part of the message.
WRONG = {case["name"]: case for case in json.loads((DATA / "wrong_platforms.json").read_text())}
WRAPS: dict[str, Callable[[str], str]] = {"file": str, "platform": platform, "zone": zone}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_platform_is_one_message_with_file_and_place(name: str, tmp_path: Path) -> None:
    case = WRONG[name]
    place, expected = case["place"], case["says"]
    path = tmp_path / "wrong.xml"
    [kind] = case.keys() & WRAPS.keys()
    path.write_text(WRAPS[kind](case[kind]))
    with pytest.raises(InputError) as caught:
        read_platform(path)
    message = str(caught.value)
    assert message.startswith(f"{path}{', ' if place and caught.value.place else ''}")
    assert expected in message
    assert f"{place}:" in message or not place
    assert "\n" not in message
    assert len(message) < 800 + len(str(path))


def test_blank_lines_before_the_declaration_count(tmp_path: Path) -> None:
    path = tmp_path / "wrong.xml"
    path.write_text("\n\n" + zone('<host id="a"/>'))
    with pytest.raises(InputError, match=r"line 7: .*lacks the attribute speed"):
        read_platform(path)


def test_wrong_bytes(tmp_path: Path) -> None:
    path = tmp_path / "wrong.xml"
    sound = zone(A)
    for content, expected in [
        (sound.replace('"1.0"?', '"1.0" encoding="klingon"?').encode(), "XML"),
        (sound.replace('id="a"', 'id="\xe4"').encode("latin-1"), "XML"),
        (b"\xfd7zXZ\x00broken", "xz|compressed|corrupt|decompress|input"),
    ]:
        path.write_bytes(content)
        with pytest.raises(InputError, match=expected) as caught:
            read_platform(path)
        assert str(caught.value).startswith(str(path))
    # As other texts, a platform may be UTF-16.
    path.write_bytes(sound.encode("utf-16"))
    assert read_platform(path).machine.size == 1


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"master": "nobody"}, "master host nobody: the platform has no host 'nobody'"),
        ({"master": ""}, "no host ''"),
        ({"roles": {"x": "storage"}}, "role x:storage: the platform has no host 'x'"),
        ({"roles": {"a": "disk"}}, "role a:disk: role 'disk' is none of master, storage, compute_node"),
        ({"roles": {"a": "storage"}, "master": "a"}, "'a' has the role storage already"),
        ({"roles": {"a": "master", "b": "master"}}, "2 hosts are masters"),
        ({"roles": {"a": "storage", "b": "storage"}}, "no compute host"),
    ],
)
def test_wrong_roles(options: dict[str, object], expected: str, tmp_path: Path) -> None:
    path = tmp_path / "two.xml"
    path.write_text(zone(A + B))
    with pytest.raises(InputError) as caught:
        read_platform(path, **options)  # type: ignore[arg-type]
    assert expected in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_unreadable_files(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.xml", tmp_path):
        with pytest.raises(InputError, match="cannot be read") as caught:
            read_platform(path)
        assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["flat", "--hosts", "0"], "--hosts: 0 is not between 1 and 1000000"),
        (["flat", "--hosts", "4", "--capacity", "16"], "--capacity"),
        (["flat", "--hosts", "4", "--speed", "1GHz"], "--speed: '1GHz' has the unit 'GHz'"),
        (["flat", "--hosts", "4", "--bw", "0Bps"], "--bw: '0Bps' must be positive"),
        (["flat", "--hosts", "4", "--lat", "soon"], "--lat: 'soon' is not a time"),
        (["eurora", "--memory", "-1"], "--memory: -1"),
        (["esp", "--gpus", "-1"], "--gpus: -1"),
        (["torus", "--dims", "4,0"], "--dims: [4, 0]"),
        (["torus", "--dims", "1000,1000"], "--dims: 2000000 hosts"),
        (["torus", "--dims", "2,2", "--io", "5"], "--io: 5"),
        (["torus", "--dims", "2,2", "--hosts-per-router", "0"], "--hosts-per-router: 0"),
        (["torus", "--dims", "2,2", "--hosts-per-router", "1", "--io", "4"], "--io: 4"),
        (["fattree", "--down", "4,4", "--up", "1", "--cables", "1,2"], "--up: [1]"),
        (["dragonfly", "--groups", "3", "--chassis", "4,3", "--routers", "5,1", "--nodes", "2"], "--groups: [3]"),
    ],
)
def test_wrong_generator_options_leave_no_file(arguments: list[str], expected: str, tmp_path: Path) -> None:
    output = tmp_path / "p.xml"
    result = CliRunner().invoke(cli, ["platform", "generate", *arguments, "-o", str(output)])
    assert isinstance(result.exception, InputError)
    assert expected in str(result.exception)
    assert list(tmp_path.iterdir()) == []
