"""Wrong platforms: each ends in one readable message that names the file and the place."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from batdispatch.cli.main import cli
from batdispatch.core.errors import InputError
from batdispatch.inputs.platforms import read_platform

HEAD = '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'


def platform(body: str, version: str = "4.1") -> str:
    """Wrap a body; its first line is line 4 of the file."""
    return f'{HEAD}<platform version="{version}">\n{body}\n</platform>\n'


def zone(body: str, routing: str = "Full") -> str:
    """Wrap the content of a zone; its first line is line 5 of the file."""
    return platform(f'<zone id="z" routing="{routing}">\n{body}\n</zone>')


def cluster(**changes: str) -> str:
    """Return a platform whose only cluster, on line 4, differs from a sound one by `changes`; None drops."""
    attributes = {
        "id": "c",
        "prefix": "n",
        "suffix": "",
        "radical": "0-3",
        "speed": "1Gf",
        "bw": "1GBps",
        "lat": "1us",
    } | changes
    return platform("<cluster " + " ".join(f'{key}="{value}"' for key, value in attributes.items()) + "/>")


A, B = '<host id="a" speed="1Gf"/>', '<host id="b" speed="1Gf"/>'
LINK = '<link id="l" bandwidth="1GBps" latency="1us"/>'

#: What is wrong -> (file, place, part of the message).
WRONG: dict[str, tuple[str, str, str]] = {
    "empty": ("", "", "is empty"),
    "blank": ("\n \n\t\n", "", "is empty"),
    "json": ('{"nodes": 4}', "line 1", "is no XML"),
    "binary": ("\x00\x01\x02", "line 1", "is no XML"),
    "unclosed": (f'{HEAD}<platform version="4.1">\n<zone id="z" routing="Full">\n', "line 5", "no well-formed XML"),
    "crossed tags": (zone("<host id='a' speed='1Gf'></zone>"), "line 5", "no well-formed XML"),
    "unquoted attribute": (platform("<zone id=z routing='Full'/>"), "line 4", "no well-formed XML"),
    "two roots": (f"{HEAD}<platform version='4.1'/>\n<platform version='4.1'/>", "line 4", "no well-formed XML"),
    "entity bomb": (
        '<?xml version="1.0"?>\n<!DOCTYPE platform [\n<!ENTITY a "aaaa">\n<!ENTITY b "&a;&a;">]>\n<platform/>',
        "line 3",
        "declares <!ENTITY>",
    ),
    "external entity": (
        '<!DOCTYPE platform [\n<!ENTITY x SYSTEM "file:///etc/passwd">]>\n<platform version="4.1">&x;</platform>',
        "line 2",
        "declares <!ENTITY>",
    ),
    "default attributes": (
        '<!DOCTYPE platform [<!ATTLIST host speed CDATA "9Gf">]>\n<platform version="4.1"/>',
        "line 1",
        "declares <!ATTLIST>",
    ),
    "undeclared entity": (zone(f"&who;{A}"), "line 4", "entity"),
    "too deep": (
        platform('<zone id="z" routing="Full">' * 150 + "</zone>" * 150),
        "line 4",
        "more than 100 deep",
    ),
    "much too deep": (
        platform('<zone id="z" routing="Full">' * 100_000 + "</zone>" * 100_000),
        "line 4",
        "no well-formed XML",
    ),
    "line break in a name": (zone('<host id="a&#10;b" speed="1Gf"/>'), "line 5", "all printable"),
    "other root": (f"{HEAD}<html/>", "line 3", "outermost element is <html>"),
    "namespace": (f'{HEAD}<p:platform xmlns:p="urn:x" version="4.1"/>', "line 3", "outermost element"),
    "version 3": (platform(A, version="3"), "line 3", "'3' is too old"),
    "no version": (f"{HEAD}<platform/>", "line 3", "too old"),
    "version 5": (platform(A, version="5"), "line 3", "newer than 4.1"),
    "version word": (platform(A, version="four"), "line 3", "'four' is no number"),
    "version nan": (platform(A, version="nan"), "line 3", "'nan' is no number"),
    "nothing inside": (platform(""), "line 3", "holds no <zone>"),
    "two outermost": (cluster().replace("</platform>", '<zone id="y" routing="Full"/></platform>'), "line 5", "second"),
    "host outside": (platform(A), "line 4", "<host> is not allowed in <platform>"),
    "no hosts": (zone(""), "", "no compute host"),
    "unknown element": (zone("<node id='a'/>"), "line 5", "<node> is no SimGrid element"),
    "gpu element": (zone("<gpu name='a'/>"), "line 5", "removed in SimGrid 3.13"),
    "storage element": (zone("<storage id='s' typeId='t' attach='a'/>"), "line 5", "removed in SimGrid 3.27"),
    "include": (platform("<include file='/etc/passwd'/>"), "line 4", "removed in SimGrid 3.18"),
    "text": (zone(f"hello {A}"), "line 4", "holds the text 'hello'"),
    "text after": (zone(f"{A} hello"), "line 5", "holds the text 'hello'"),
    "power": (zone('<host id="a" power="1Gf"/>'), "line 5", "'power'"),
    "misspelt attribute": (cluster(sped="1Gf"), "line 4", "'sped'"),
    "no speed": (zone('<host id="a"/>'), "line 5", "lacks the attribute speed"),
    "no radical": (cluster().replace('radical="0-3"', ""), "line 4", "lacks the attribute radical"),
    "speed word": (zone('<host id="a" speed="fast"/>'), "line 5", "speed 'fast' is not a speed"),
    "speed unit": (zone('<host id="a" speed="1GHz"/>'), "line 5", "unit 'GHz'"),
    "speed blank": (zone('<host id="a" speed=""/>'), "line 5", "is not a speed"),
    "speed negative": (cluster(speed="-1Gf"), "line 4", "not negative"),
    "speed infinite": (cluster(speed="1e400f"), "line 4", "finite"),
    "speed zero": (zone(f'{B}\n<host id="a" speed="0f"/>'), "line 6", "'a' has speed 0"),
    "second pstate": (zone('<host id="a" speed="1Gf, 2Hz"/>'), "line 5", "unit 'Hz'"),
    "pstate": (zone('<host id="a" speed="1Gf,2Gf" pstate="2"/>'), "line 5", "pstate 2 of 2"),
    "pstate word": (zone('<host id="a" speed="1Gf" pstate="low"/>'), "line 5", "pstate 'low'"),
    "no cores": (zone('<host id="a" speed="1Gf" core="0"/>'), "line 5", "core '0'"),
    "half a core": (zone('<host id="a" speed="1Gf" core="1.5"/>'), "line 5", "core '1.5'"),
    "bandwidth": (cluster(bw="1Gf"), "line 4", "bw '1Gf' has the unit 'Gf'"),
    "two bandwidths": (cluster(bw="1GBps,2GBps"), "line 4", "bw has 2 values"),
    "latency": (cluster(lat="50 us"), "line 4", "lat '50 us'"),
    "loopback": (cluster(loopback_bw="x"), "line 4", "loopback_bw 'x'"),
    "disk": (zone('<host id="a" speed="1Gf"><disk read_bw="x" write_bw="1Bps"/></host>'), "line 5", "read_bw 'x'"),
    "host twice": (zone(f"{A}\n{B}\n{A}"), "line 7", "'a' is declared twice, first in line 5"),
    "host as router": (zone(f'<router id="a"/>\n{A}'), "line 6", "'a' is declared twice as a router"),
    "host without a name": (zone('<host id="" speed="1Gf"/>'), "line 5", "1 to 1000 characters"),
    "long name": (zone(f'<host id="{"x" * 2000}" speed="1Gf"/>'), "line 5", "1 to 1000 characters"),
    "zone twice": (
        zone(f'<zone id="z" routing="Full">{A}</zone>'),
        "line 5",
        "zone 'z' is declared twice",
    ),
    "clusters overlap": (
        zone(
            '<cluster id="c" prefix="n" suffix="" radical="0-3" speed="1Gf" bw="1GBps" lat="1us"/>\n'
            '<cluster id="d" prefix="n" suffix="" radical="3" speed="1Gf" bw="1GBps" lat="1us"/>'
        ),
        "line 6",
        "'n3' is declared twice",
    ),
    "radical word": (cluster(radical="all"), "line 4", "the part 'all'"),
    "radical empty": (cluster(radical=""), "line 4", "the part ''"),
    "radical backwards": (cluster(radical="0-3,9-7"), "line 4", "end is below its start"),
    "radical open": (cluster(radical="0-"), "line 4", "the part '0-'"),
    "radical negative": (cluster(radical="-3"), "line 4", "the part '-3'"),
    "radical huge": (cluster(radical="0-999999999"), "line 4", "more than 1000000 hosts"),
    "radical unreadable": (cluster(radical="0-99999999999999999999"), "line 4", "the part"),
    "too many hosts": (
        zone(
            '<cluster id="c" prefix="m" suffix="" radical="1-4" speed="1f" bw="1Bps" lat="0"/>\n'
            '<cluster id="d" prefix="n" suffix="" radical="1-999999" speed="1f" bw="1Bps" lat="0"/>'
        ),
        "line 6",
        "more than 1000000 hosts",
    ),
    "topology": (cluster(topology="RING"), "line 4", "topology 'RING'"),
    "torus without sizes": (cluster(topology="TORUS"), "line 4", "whole numbers"),
    "torus too small": (cluster(topology="TORUS", topo_parameters="2,1"), "line 4", "has 2 places"),
    "torus too large": (cluster(topology="TORUS", topo_parameters="4,2"), "line 4", "has 8 places"),
    "torus zero": (cluster(topology="TORUS", topo_parameters="4,0"), "line 4", "at least 1"),
    "fat tree short": (cluster(topology="FAT_TREE", topo_parameters="2;2,2;1,2"), "line 4", "levels;down"),
    "fat tree levels": (cluster(topology="FAT_TREE", topo_parameters="2;4;1,2;1,2"), "line 4", "down '4' has 1"),
    "fat tree hosts": (cluster(topology="FAT_TREE", topo_parameters="2;4,4;1,2;1,2"), "line 4", "has 16 places"),
    "dragonfly": (cluster(topology="DRAGONFLY", topo_parameters="1,1;1,1;4,1"), "line 4", "groups,links"),
    "dragonfly links": (cluster(topology="DRAGONFLY", topo_parameters="1;1,1;2,1;2"), "line 4", "groups '1'"),
    "dragonfly hosts": (cluster(topology="DRAGONFLY", topo_parameters="1,1;1,1;2,1;3"), "line 4", "has 6 places"),
    "hosts per router": (
        cluster(topology="TORUS", topo_parameters="4,1").replace(
            "/>", '><prop id="hosts_per_router" value="2"/></cluster>'
        ),
        "line 4",
        "hosts_per_router = 2",
    ),
    "sharing policy": (cluster(sharing_policy="FAIR"), "line 4", "sharing_policy 'FAIR'"),
    "routing": (zone(A, routing="Shortest"), "line 4", "routing 'Shortest'"),
    "cabinet in a full zone": (
        zone('<cabinet id="k" prefix="n" suffix="" radical="0-3" speed="1Gf" bw="1GBps" lat="1us"/>'),
        "line 5",
        "only in a zone with routing Cluster",
    ),
    "hosts beside zones": (zone(f'{A}\n<zone id="y" routing="Full"/>'), "line 6", "needs its own zone"),
    "late property": (zone(f'{A}\n<prop id="x" value="1"/>'), "line 6", "before its content"),
    "property twice": (
        zone('<host id="a" speed="1Gf">\n<prop id="x" value="1"/>\n<prop id="x" value="2"/></host>'),
        "line 7",
        "'x' is given twice",
    ),
    "property without value": (zone('<host id="a" speed="1Gf"><prop id="x"/></host>'), "line 5", "attribute value"),
    "route to nowhere": (
        zone(f'{A}{B}{LINK}\n<route src="a" dst="c"><link_ctn id="l"/></route>'),
        "line 6",
        "dst 'c', which is no host or router",
    ),
    "route over nothing": (zone(f'{A}{B}{LINK}\n<route src="a" dst="b"/>'), "line 6", "lists no link"),
    "route over an unknown link": (
        zone(f'{A}{B}{LINK}\n<route src="a" dst="b"><link_ctn id="m"/></route>'),
        "line 6",
        "the link 'm'",
    ),
    "route into another zone": (
        zone(
            f'<zone id="x" routing="Full">{A}{LINK}\n<route src="a" dst="b"><link_ctn id="l"/></route></zone>'
            f'<zone id="y" routing="Full">{B}</zone>'
        ),
        "line 6",
        "stands in zone 'y', not in 'x'",
    ),
    "zone route to a host": (
        zone(
            f'<zone id="x" routing="Full">{A}</zone><zone id="y" routing="Full">{B}</zone>{LINK}\n'
            '<zoneRoute src="x" dst="b" gw_src="a" gw_dst="b"><link_ctn id="l"/></zoneRoute>'
        ),
        "line 6",
        "dst 'b', which is no zone",
    ),
    "gateway": (
        zone(
            f'<zone id="x" routing="Full">{A}</zone><zone id="y" routing="Full">{B}</zone>{LINK}\n'
            '<zoneRoute src="x" dst="y" gw_src="r" gw_dst="b"><link_ctn id="l"/></zoneRoute>'
        ),
        "line 6",
        "gw_src 'r'",
    ),
    "host link": (
        zone(f'{A}{LINK}\n<host_link id="b" up="l" down="l"/>', routing="Cluster"),
        "line 6",
        "'b', which is no host",
    ),
    "link twice": (zone(f"{A}{LINK}\n{LINK}"), "line 6", "link 'l' is declared twice"),
    "role": (zone('<host id="a" speed="1Gf"><prop id="role" value="boss"/></host>'), "line 5", "role 'boss'"),
    "two masters": (
        zone(
            f'<host id="master_host" speed="1Gf"/>\n<host id="a" speed="1Gf"><prop id="role" value="master"/></host>{B}'
        ),
        "",
        "2 hosts are masters (a, master_host)",
    ),
    "only a master": (zone('<host id="master_host" speed="1Gf"/>'), "", "no compute host"),
    "unknown storage host": (
        zone(f'{A}\n<host id="master_host" speed="1Gf"><prop id="storage_hosts" value="a x"/></host>{B}'),
        "line 6",
        "no host 'x'",
    ),
    "capacity": (
        zone('<host id="a" speed="1Gf"><prop id="capacity" value="core=4 gpu"/></host>'),
        "line 5",
        "'gpu' is not name=amount",
    ),
    "capacity of a zone": (
        zone(f'<prop id="capacity" value=""/>\n{A}'),
        "line 6",
        "host a: its capacity ''",
    ),
    "capacity missing": (
        zone(f'<host id="b" speed="1Gf"><prop id="capacity" value="core=4"/></host>\n{A}'),
        "line 6",
        "host a states no capacity while others do",
    ),
    "coordinates": (
        zone('<host id="a" speed="1Gf"><prop id="coordinates" value="0;1"/></host>'),
        "line 5",
        "coordinates '0;1'",
    ),
    "coordinates differ": (
        zone(
            '<host id="a" speed="1Gf"><prop id="coordinates" value="0,1"/></host>'
            '<host id="b" speed="1Gf"><prop id="coordinates" value="0"/></host>'
        ),
        "",
        "different dimensions",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_platform_is_one_message_with_file_and_place(name: str, tmp_path: Path) -> None:
    text, place, expected = WRONG[name]
    path = tmp_path / "wrong.xml"
    path.write_text(text)
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
        (sound.encode("utf-16"), "ASCII-compatible"),
        (sound.replace('"1.0"?', '"1.0" encoding="klingon"?').encode(), "XML"),
        (sound.replace('id="a"', 'id="\xe4"').encode("latin-1"), "XML"),
        (b"\xfd7zXZ\x00broken", "xz|compressed|corrupt|decompress|input"),
    ]:
        path.write_bytes(content)
        with pytest.raises(InputError, match=expected) as caught:
            read_platform(path)
        assert str(caught.value).startswith(str(path))


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


SOUND = zone(
    f'<prop id="capacity" value="core=2"/><zone id="x" routing="Full">{A}{B}{LINK}'
    '<route src="a" dst="b"><link_ctn id="l"/></route></zone>\n'
    '<cluster id="c" prefix="n" suffix="" radical="0-3,7" speed="1Gf,2Gf" bw="1GBps" lat="1us">'
    '<prop id="role" value="storage"/></cluster>\n'
    '<cluster id="t" prefix="t" suffix="" radical="0-3" speed="1Gf" bw="1GBps" lat="1us" topology="TORUS" '
    'topo_parameters="2,2"><prop id="capacity" value="core=4"/></cluster>'
).encode()

DAMAGE = st.tuples(
    st.integers(0, len(SOUND)),
    st.integers(0, 12),
    st.binary(max_size=6) | st.sampled_from([b'"', b"<", b"-", b"9", b"&#10;"]),
)


def outcome(path: Path) -> str:
    """Return the message of a refusal, or an empty text."""
    try:
        read_platform(path)
    except InputError as problem:
        return str(problem)
    return ""


def test_the_undamaged_platform_is_sound(tmp_path: Path) -> None:
    path = tmp_path / "p.xml"
    path.write_bytes(SOUND)
    assert outcome(path) == ""


@settings(max_examples=300, deadline=None)
@given(damage=st.lists(DAMAGE, min_size=1, max_size=4))
def test_damaged_platform_is_read_or_refused(
    damage: list[tuple[int, int, bytes]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = SOUND
    for start, length, new in damage:
        content = content[:start] + new + content[start + length :]
    path = tmp_path_factory.mktemp("damaged") / "p.xml"
    path.write_bytes(content)
    message = outcome(path)
    assert not message or message.startswith(str(path))
    assert "\n" not in message
