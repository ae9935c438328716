"""pinned-io through every door: the line comes from the platform file, whatever numbers Batsim gives to hosts."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from batdispatch.abilities.verify.audit.run import Auditor
from batdispatch.batsim import protocol
from batdispatch.core.hosts import hostset
from batdispatch.inputs.platforms import read_platform
from batdispatch.links.remote_peer import RemotePeer
from batdispatch.runs.run import execute
from batdispatch.runs.spec import RunSpec
from doors import Schedule, Site, in_pybatsim, read_schedule, simulate

Start = Callable[..., Any]
#: Routers of I/O nodes on the 4 x 3 torus; host n7 stands on router 6.
STORAGE = ("n3", "n7", "n11")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A torus of 4 x 3 hosts, which Batsim 4 and 5 number differently, and jobs pinned to its three I/O nodes."""
    found = Site(tmp_path / "torus.xml", tmp_path / "workload.json")
    found.platform.write_text(
        '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
        '<platform version="4.1">\n<zone id="w" routing="Full">\n'
        '<cluster id="c" prefix="n" suffix="" radical="1-12" speed="1Gf" bw="1GBps" lat="1us" topology="TORUS" '
        'topo_parameters="4,3"/>\n<zone id="m" routing="Full"><host id="master_host" speed="1Gf">'
        f'<prop id="storage_hosts" value="{" ".join(STORAGE)}"/></host></zone>\n</zone>\n</platform>\n'
    )
    lengths = (31.7, 7.3, 12.9, 3.1, 55.3, 18.7)
    jobs: list[dict[str, Any]] = []
    for number in range(24):
        pins: Any = [STORAGE[number % 3], [STORAGE[0], STORAGE[1]], None][
            (number % 7 == 3 and 1) or (number % 8 == 5 and 2) or 0
        ]
        jobs.append(
            {
                "id": f"j{number:02}",
                "subtime": number // 4 * 5.3,
                "res": (1, 3, 2, 6, 4)[number % 5],
                "walltime": round(lengths[number % 6] * (1.5, 1.0, 4.0, 0.5)[number % 4], 3),
                "profile": f"d{number % 6}",
                **({} if pins is None else {"io_node": pins}),
            }
        )
    profiles = {f"d{index}": {"type": "delay", "delay": length} for index, length in enumerate(lengths)}
    found.workload.write_text(json.dumps({"nb_res": 9, "jobs": jobs, "profiles": profiles}))
    return found


def by_names(schedule: Schedule, site: Site, batsim: int = 4) -> dict[str, tuple[float, float, str, list[str]]]:
    """Return (start, end, state, names of hosts) of each job."""
    hosts = read_platform(site.platform, batsim=5 if batsim == 5 else 4).machine.hosts
    return {
        job: (start, end, state, sorted(hosts[host].name for host in hostset.ids(hostset.from_text(held))))
        for job, (start, end, state, held) in schedule.rows.items()
    }


@pytest.fixture
def expected(site: Site, tmp_path: Path) -> dict[str, Any]:
    folder = tmp_path / "here"
    execute(RunSpec(platform=str(site.platform), workload=str(site.workload), dispatcher="pinned-io"), folder)
    assert Auditor().run(folder).total == 0
    return by_names(read_schedule(folder), site)


def test_jobs_are_beside_their_io_nodes_on_the_snake(expected: dict[str, Any], site: Site) -> None:
    # Rows of four routers, every other one backwards; I/O nodes n3, n7 and n11 left out.
    snake = [f"n{number}" for number in (1, 2, 3, 4, 8, 7, 6, 5, 9, 10, 11, 12)]
    compute = [name for name in snake if name not in STORAGE]
    around = {name: {snake[snake.index(name) - 1], snake[snake.index(name) + 1]} for name in STORAGE}
    jobs = {f"w0!{job['id']}": job for job in json.loads(site.workload.read_text())["jobs"]}
    assert sum(state != "REJECTED" for _, _, state, _ in expected.values()) >= 20
    for name, (_, _, state, held) in expected.items():
        job = jobs[name]
        pins = job.get("io_node", [])
        pins = [pins] if isinstance(pins, str) else pins
        ranges = [compute[first : first + job["res"]] for first in range(len(compute) - job["res"] + 1)]
        allowed = [sorted(those) for those in ranges if all(around[pin] & set(those) for pin in pins)]
        assert (state == "REJECTED") == (not allowed), name
        assert state == "REJECTED" or held in allowed, name


@pytest.mark.parametrize("version", ["4", "5"])
def test_served_with_the_platform(
    version: str, expected: dict[str, Any], site: Site, decide: Start, tmp_path: Path
) -> None:
    recording = tmp_path / "exchange.jsonl"
    arguments = ("--dispatcher", "pinned-io", "--platform", str(site.platform), "--protocol", version)
    decider = decide(*arguments, "--record", str(recording))
    (tmp_path / "out").mkdir()
    with RemotePeer(decider.endpoint, protocol(version), timeout=60) as peer:
        peer.open("")
        found = simulate(peer, "pinned-io", site, tmp_path / "out", version)
    status, printed = decider.finish()
    assert status == 0, printed
    assert by_names(found, site, int(version)) == expected


def test_in_pybatsim_the_line_is_that_of_the_names(site: Site, tmp_path: Path) -> None:
    # pybatsim's launcher knows no platform file, and Batsim 4 tells no topology.
    folder = tmp_path / "names"
    spec = RunSpec(
        platform=str(site.platform), workload=str(site.workload), dispatcher="pinned-io", options={"line": "names"}
    )
    execute(spec, folder)
    assert in_pybatsim("pinned-io", site, tmp_path / "launcher").rows == read_schedule(folder).rows


def test_the_result_states_the_bounds(site: Site, expected: dict[str, Any], tmp_path: Path) -> None:
    folder = tmp_path / "here"
    lines = [json.loads(line) for line in (folder / "solver.jsonl").read_text().splitlines()]
    report = json.loads((folder / "result.json").read_text())["report"]
    assert report["planned"] == len(lines) >= 3
    assert report["fallbacks"] == 0
    for line in lines:
        assert line["lp_bound"] <= line["bound"] * (1 + 1e-9) <= line["cost"] * (1 + 1e-6)
        assert line["cost"] <= line["held"] + line["stacked"] * (1 + 1e-6)
        assert line["stacked"] <= 3 * line["own_load"] * (1 + 1e-6)
    assert report["means"]["lp_bound"] == pytest.approx(sum(line["lp_bound"] for line in lines) / len(lines))
