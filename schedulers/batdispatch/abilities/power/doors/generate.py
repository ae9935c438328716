"""Power states of generated platforms, as example platforms of Batsim and SimGrid state them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from lxml import etree

from batdispatch.abilities.power.machine.power import WATTS_PROPERTY
from batdispatch.core.machine.machine import SLEEP_PROPERTY
from batdispatch.inputs.platforms.roles import DEFAULT_MASTER
from batdispatch.inputs.platforms.units import quantity


class NodePower(msgspec.Struct, frozen=True, kw_only=True):
    """What one kind of node burns.

    Attributes:
        speeds: of the power states in which it computes, over that of the first one.
        watts: of the same states.
        sleep: watts asleep.
        down: seconds and watts of falling asleep.
        up: of waking up.
    """

    speeds: tuple[float, ...]
    watts: tuple[str, ...]
    sleep: str | None = None
    down: tuple[float, str] = (0.0, "")
    up: tuple[float, str] = (0.0, "")


#: Name -> what a node burns. docs/power.md says where each is from.
NODES: Mapping[str, NodePower] = {
    "batsim-cluster": NodePower(
        speeds=(
            *(1.0, 0.8895899053627761, 0.8367952522255192, 0.8057142857142857, 0.7621621621621621, 0.7249357326478149),
            *(0.6878048780487805, 0.646788990825688, 0.6077586206896552, 0.5862785862785863, 0.5008880994671403),
            *(0.4921465968586388, 0.4497607655502392),
        ),
        watts=(
            *("95.0:190.738", "95.0:171.02", "95.0:165.62", "95.0:160.47", "95.0:155.729", "95.0:151.3", "95.0:146.92"),
            *("95.0:142.95", "95.0:138.928", "95.0:135.368", "95.0:132.519", "95.0:128.87", "95.0:125.88"),
        ),
        sleep="9.75",
        down=(6.1, "100.99672131147543"),
        up=(151.52, "125.1743848996832"),
    ),
    "batsim-homogeneous": NodePower(
        speeds=(1.0,), watts=("30.0:30.0:100.0",), sleep="9.75", down=(2.0, "200.996721311"), up=(20.0, "425.1743849")
    ),
    "simgrid-cluster": NodePower(
        speeds=(1.0, 0.5, 0.2), watts=("100.0:93.33333333333333:200.0", "93.0:90.0:170.0", "90.0:90.0:150.0")
    ),
}


def with_power(content: bytes, name: str) -> bytes:
    """Return a generated platform whose nodes, all but the master host, have the power states of a kind of node."""
    node = NODES[name]
    root = etree.fromstring(content)
    for element in root.iter("cluster", "host"):
        if element.get("id") != DEFAULT_MASTER:
            _state(element, node)
    etree.indent(root)
    return etree.tostring(root.getroottree(), xml_declaration=True, encoding="UTF-8") + b"\n"


def _state(element: etree._Element, node: NodePower) -> None:
    speed = quantity(str(element.attrib["speed"]), "speed")
    speeds, watts = [f"{speed * share!r}f" for share in node.speeds], list(node.watts)
    stated = {}
    if node.sleep is not None:
        asleep = len(speeds)
        # A host that sleeps computes next to nothing; one that switches computes one flop.
        speeds += ["1f", *(f"{1 / seconds!r}f" for seconds, _ in (node.down, node.up))]
        watts += [f"{each}:{each}" for each in (node.sleep, node.down[1], node.up[1])]
        stated = {SLEEP_PROPERTY: f"{asleep}:{asleep + 1}:{asleep + 2}"}
    element.set("speed", ",".join(speeds))
    for key, value in {WATTS_PROPERTY: ", ".join(watts), **stated}.items():
        etree.SubElement(element, "prop", id=key, value=value)
