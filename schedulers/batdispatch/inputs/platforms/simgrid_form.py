"""A platform file in a form that a SimGrid can load: unpacked, and without what its version crashes on."""

from __future__ import annotations

import gzip
import lzma
import shutil
from pathlib import Path

from lxml import etree

from batdispatch.core.errors import InputError


def readable(path: Path, folder: Path, version: str) -> Path:
    """Return a platform file, already checked, in a form that a SimGrid reads: itself, or a copy in a folder.

    Args:
        path: the file, plain or packed.
        folder: where a copy is written as platform.xml, if one is needed.
        version: of SimGrid.

    Raises:
        InputError: that SimGrid crashes on the platform, whatever its form.
    """
    target = folder / "platform.xml"
    if path.suffix in (".gz", ".xz"):
        with (gzip.open if path.suffix == ".gz" else lzma.open)(path, "rb") as packed, target.open("wb") as plain:
            shutil.copyfileobj(packed, plain)
        path = target
    if version.startswith("3."):
        return path
    # SimGrid 4.1 crashes on a torus, fat tree or dragonfly that stands in no zone: put one around it.
    parser = etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True)
    tree = etree.parse(str(path), parser)
    _refuse_grid(tree, path)
    outermost = tree.getroot().find("cluster")
    if outermost is None:
        return path
    zone = etree.Element("zone", id=f"{outermost.get('id')} and nothing else", routing="Full")
    outermost.addprevious(zone)
    zone.append(outermost)
    tree.write(str(target), xml_declaration=True, encoding="utf-8")
    return target


def _refuse_grid(tree: etree._ElementTree, path: Path) -> None:
    """Refuse a torus or mesh made of zones between which routes are looked for, as ``platform generate`` writes some.

    Raises:
        InputError: SimGrid 4.1 crashes in get_interzone_route when it looks for a route there.
    """
    for zone in tree.iter("zone"):
        kind = next((prop.get("value") for prop in zone.findall("prop[@id='topology']")), None)
        if kind is not None and zone.get("routing") == "Floyd" and zone.find("zone") is not None:
            way_out = "generate it with --hosts-per-router 1 or --router-links split, or" if kind == "torus" else ""
            raise InputError(
                f"is a {kind} in which hosts share the links of routers, on which SimGrid 4.1 crashes: {way_out} "
                "run it in Batsim 4 or with SimGrid 3.32".replace("  ", " "),
                source=str(path),
                place=f"zone {zone.get('id')!r}",
            )
