"""PCP'20 and HCP'19 on KIT's ForHLR II (Galleguillos, Kiziltan, Soto, 2020); PCP'19 refuses the machine."""

from __future__ import annotations

from functools import partial

from batdispatch.core.machine.machine import Machine
from expe.eurora.tables import (
    INSTANCES,
    Published,
    Study,
    columns,
    refusal,
    times_table,
    variables_picture,
    variables_table,
)

__all__ = ["PICTURES", "SECTIONS", "columns", "others"]

#: Nodes of the machine.
NODES = 1173


KIT = Study(
    machine="KIT",
    # Table 1 of the paper.
    published={
        ("hcp19", "last-two"): Published(292, 58_934),
        ("pcp19", "last-two"): Published(None, None),
        ("pcp20", "last-two"): Published(537, 108_608),
        ("hcp19", "oracle"): Published(270, 54_719),
        ("pcp19", "oracle"): Published(None, None),
        ("pcp20", "oracle"): Published(662, 133_086),
    },
    sources={"log": "small log", "generated": "small generated"},
    searched=("hcp19",),
    solve=1,
    refused=dict.fromkeys(
        (("pcp19", expected) for expected in ("last-two", "requested", "oracle")),
        refusal("pcp19", Machine.flat(NODES, "core=20")),
    ),
)
others = KIT.instances
SECTIONS = {
    **KIT.grid("log"),
    **KIT.grid("generated"),
    "variables": (INSTANCES, variables_table),
    "times": (INSTANCES, times_table),
}
PICTURES = {
    **KIT.quality("log"),
    **KIT.quality("generated"),
    "variables.svg": (INSTANCES, partial(variables_picture, machine=KIT.machine)),
}
