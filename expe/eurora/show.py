"""PCP'20, PCP'19 and HCP'19 on CINECA's Eurora (Galleguillos, Kiziltan, Soto, 2020), beside others."""

from __future__ import annotations

from functools import partial

from expe.eurora.tables import (
    INSTANCES,
    Published,
    Study,
    columns,
    decision_time_tables,
    times_picture,
    times_table,
    variables_picture,
    variables_table,
)

__all__ = ["PICTURES", "SECTIONS", "columns", "others"]

EURORA = Study(
    machine="Eurora",
    # Table 2 of the paper.
    published={
        ("hcp19", "data-driven"): Published(411, 219_142),
        ("pcp19", "data-driven"): Published(565, 301_078),
        ("pcp20", "data-driven"): Published(252, 134_240),
        ("hcp19", "oracle"): Published(385, 204_363),
        ("pcp19", "oracle"): Published(512, 272_925),
        ("pcp20", "oracle"): Published(364, 193_751),
    },
    sources={"log": "log", "generated": "generated"},
    searched=("pcp19", "pcp20"),
    solve=40,
)
others = EURORA.instances
_TIMED = ("times", *(f"times of the paper, {number}" for number in range(1, 5)), "slow")
SECTIONS = {
    **EURORA.grid("log"),
    **EURORA.grid("generated"),
    "variables": (INSTANCES, variables_table),
    "times": (INSTANCES, times_table),
    "decision-time": (_TIMED, partial(decision_time_tables, study=EURORA)),
}
PICTURES = {
    **EURORA.quality("log"),
    **EURORA.quality("generated"),
    "variables.svg": (INSTANCES, partial(variables_picture, machine=EURORA.machine)),
    "times.svg": (INSTANCES, partial(times_picture, machine=EURORA.machine)),
}
