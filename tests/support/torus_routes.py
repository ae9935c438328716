"""Routes on tori as SimGrid itself gives them: recorded in tests/oracles/topology, and asked for anew.

    python tests/support/torus_routes.py > tests/oracles/topology/simgrid_tori.json

makes the record, where SimGrid is installed.
"""

import itertools
import json
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from batdispatch.abilities.topology import generate as topologies
from batdispatch.inputs.platforms import read_platform
from simgrid_routes import simgrid_routes

RECORD = Path(__file__).parents[1] / "oracles" / "topology" / "simgrid_tori.json"
#: Sizes of the tori in the record.
TORI = ((4,), (5,), (4, 4), (4, 4, 4), (6, 5, 4), (2, 4, 4), (2, 5, 3))
_LINK = re.compile(r".*_from_(\d+)_to_(\d+)_(UP|DOWN)")


def recorded() -> tuple[str, list[dict[str, Any]]]:
    """Return the version of SimGrid, and for each torus its "dims" and "routes".

    Routes are a text for each source, which holds for each target the routers on the way, separated by commas; of the
    routers the source is left out, so a router's route to itself is empty.
    """
    found = json.loads(RECORD.read_text())
    return found["simgrid"], found["tori"]


def ask_simgrid(dims: Sequence[int], folder: Path) -> tuple[str, list[str]]:
    """Return SimGrid's version and the routes that it gives on a torus with one host on each router, as `recorded`."""
    path = folder / "torus.xml"
    path.write_bytes(topologies.torus(dims, hosts_per_router=1))
    names = [host.name for host in read_platform(path).hosts]
    version, routes = simgrid_routes(path, names)
    count = len(names)
    rows = []
    for source in range(count):
        row = []
        for links in routes[source * count : (source + 1) * count]:
            at, way = source, []
            for start, end in map(_ends, links):
                assert start == at, links
                at = end
                way.append(str(at))
            row.append(" ".join(way))
        rows.append(",".join(row))
    return version, rows


def _ends(link: str) -> tuple[int, int]:
    """Return the routers that a link of SimGrid's torus leads from and to: a DOWN link goes back over its cable."""
    found = _LINK.fullmatch(link)
    assert found is not None, link
    one, other = int(found[1]), int(found[2])
    return (one, other) if found[3] == "UP" else (other, one)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        asked = [(dims, *ask_simgrid(dims, Path(folder))) for dims in TORI]
    versions = {version for _, version, _ in asked}
    assert len(versions) == 1
    tori = [{"dims": list(dims), "routes": rows} for dims, _, rows in asked]
    json.dump({"simgrid": versions.pop(), "tori": tori}, sys.stdout, indent=0)
    sys.stdout.write("\n")


def hops_of(row: str, source: int) -> list[list[tuple[int, int]]]:
    """Return the routes of one source in a record as (router, router) pairs, for each target."""
    found = []
    for route in row.split(","):
        routers = [source, *map(int, route.split())]
        found.append(list(itertools.pairwise(routers)))
    return found


if __name__ == "__main__":
    main()
