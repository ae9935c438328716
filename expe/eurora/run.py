"""PCP'20, PCP'19 and HCP'19 on CINECA's Eurora (Galleguillos, Kiziltan, Soto, 2020), beside EASY and conservative.

Use: python expe/eurora/run.py [--log eurora_historical.tar.xz] [--write]; see --help. Without a log the workloads are
generated. The real log's users and program names are masked, so that only requested and real run times can be expected
there; the data-driven prediction is measured on generated workloads. Results: results.md beside this file.
"""

from __future__ import annotations

import sys
from pathlib import Path

from batdispatch.inputs.platforms.generate import eurora
from batdispatch.runs.study import Study, main
from batdispatch.runs.study_tables import Published

EURORA = Study(
    name="Eurora",
    # Memory in GiB for the generated workloads, as in the paper, whose model has a position for each unit of it.
    platform=eurora(memory_mib=16),
    # What the node file of the published logs states.
    log_platform=eurora(memory_mib=32768),
    log_predictions=("requested", "oracle"),
    predictions=("data-driven", "requested", "oracle"),
    # Table 2 of the paper.
    published={
        ("hcp19", "data-driven"): Published(411, 219_142),
        ("pcp19", "data-driven"): Published(565, 301_078),
        ("pcp20", "data-driven"): Published(252, 134_240),
        ("hcp19", "oracle"): Published(385, 204_363),
        ("pcp19", "oracle"): Published(512, 272_925),
        ("pcp20", "oracle"): Published(364, 193_751),
    },
    # No wall-clock limit, so that a busy machine finds the same schedules.
    solver={"work": "0.1", "wall": "3600"},
)

if __name__ == "__main__":
    sys.exit(main(EURORA, Path(__file__).parent))
