"""The elements and attributes of SimGrid's platform format, versions 4 and 4.1."""

from __future__ import annotations

import msgspec


class Element(msgspec.Struct, frozen=True):
    """What one element may and must have."""

    required: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    children: frozenset[str] = frozenset()
    #: Its text content means something.
    text: bool = False


def _element(required: str = "", optional: str = "", children: str = "", text: bool = False) -> Element:
    return Element(frozenset(required.split()), frozenset(optional.split()), frozenset(children.split()), text)


_ROUTES = "route zoneRoute ASroute bypassRoute bypassZoneRoute bypassASroute"
_ZONE = _element(
    "id routing",
    children=f"prop AS zone host cluster cabinet peer router link backbone host_link trace trace_connect {_ROUTES}",
)
_ROUTE = _element("src dst", "symmetrical", "link_ctn")
_ZONE_ROUTE = _element("src dst gw_src gw_dst", "symmetrical", "link_ctn")
_ACTOR = _element("host function", "start_time kill_time on_failure", "argument prop")

ELEMENTS: dict[str, Element] = {
    "platform": _element("version", children="config random cluster peer AS zone trace trace_connect process actor"),
    "config": _element(optional="id", children="prop"),
    "random": _element("id min max mean std_deviation", "seed radical generator"),
    "prop": _element("id value"),
    "AS": _ZONE,
    "zone": _ZONE,
    "host": _element("id speed", "core speed_file availability_file state_file coordinates pstate", "disk prop"),
    "disk": _element("read_bw write_bw", "id", "prop"),
    "host_link": _element("id up down"),
    "cluster": _element(
        "id prefix suffix radical speed bw lat",
        "core sharing_policy topology topo_parameters bb_bw bb_lat bb_sharing_policy router_id limiter_link "
        "loopback_bw loopback_lat",
        "prop",
    ),
    "cabinet": _element("id prefix suffix radical speed bw lat"),
    "peer": _element("id speed bw_in bw_out", "lat coordinates speed_file availability_file state_file"),
    "router": _element("id", "coordinates"),
    "backbone": _element("id bandwidth latency"),
    "link": _element("id bandwidth", "latency bandwidth_file latency_file state_file sharing_policy", children="prop"),
    "route": _ROUTE,
    "bypassRoute": _ROUTE,
    "zoneRoute": _ZONE_ROUTE,
    "ASroute": _ZONE_ROUTE,
    "bypassZoneRoute": _ZONE_ROUTE,
    "bypassASroute": _ZONE_ROUTE,
    "link_ctn": _element("id", "direction"),
    "trace": _element("id periodicity", "file", text=True),
    "trace_connect": _element("trace element", "kind"),
    "actor": _ACTOR,
    "process": _ACTOR,
    "argument": _element("value"),
}

#: Elements that SimGrid no longer reads, with what it says of them.
REMOVED_ELEMENTS: dict[str, str] = {
    "include": "removed in SimGrid 3.18; write the platform in one file",
    "storage": "removed in SimGrid 3.27; give the host a <disk>, or the property role=storage",
    "storage_type": "removed in SimGrid 3.27; give the host a <disk>, or the property role=storage",
    "mount": "removed in SimGrid 3.27; give the host a <disk>",
    "gpu": "removed in SimGrid 3.13; state GPUs in the host property capacity, such as 'core=16 gpu=2'",
}

#: Elements that say nothing about hosts and what jobs need of them; they are checked, noted and left alone.
IGNORED_ELEMENTS = frozenset({"random", "trace", "trace_connect", "actor", "process"})

#: Values of ``routing``, in lower case: SimGrid compares them so.
ROUTINGS = ("cluster", "dijkstra", "dijkstracache", "floyd", "full", "none", "vivaldi", "wifi")

POLICIES = frozenset({"SHARED", "SPLITDUPLEX", "FULLDUPLEX", "FATPIPE"})

#: (element, attribute) -> allowed values.
CHOICES: dict[tuple[str, str], frozenset[str]] = {
    ("cluster", "sharing_policy"): POLICIES,
    ("cluster", "bb_sharing_policy"): frozenset({"SHARED", "FATPIPE"}),
    ("cluster", "topology"): frozenset({"FLAT", "TORUS", "FAT_TREE", "DRAGONFLY"}),
    ("link", "sharing_policy"): POLICIES | {"WIFI"},
    ("link_ctn", "direction"): frozenset({"UP", "DOWN", "NONE"}),
    **{(route, "symmetrical"): frozenset({"YES", "NO", "yes", "no"}) for route in ("route", "zoneRoute", "ASroute")},
}
