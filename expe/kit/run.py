"""PCP'20 and HCP'19 on KIT's ForHLR II (Galleguillos, Kiziltan, Soto, 2020), beside EASY and conservative.

Use: python expe/kit/run.py [--log KIT-FH2-2016-1.rst.xz] [--write]; see --help. Without a log the workloads are
generated. The real log has no users, so that only requested and real run times can be expected there; the mean of the
user's last two is measured on generated workloads. Results: results.md beside this file.
"""

from __future__ import annotations

import sys
from pathlib import Path

from batdispatch.inputs.platforms.generate import forhlr2
from batdispatch.runs.study import Study, main
from batdispatch.runs.study_tables import Published

KIT = Study(
    name="KIT",
    platform=forhlr2(),
    log_platform=forhlr2(),
    log_predictions=("requested", "oracle"),
    predictions=("last-two", "requested", "oracle"),
    # Table 1 of the paper.
    published={
        ("hcp19", "last-two"): Published(292, 58_934),
        ("pcp19", "last-two"): Published(None, None),
        ("pcp20", "last-two"): Published(537, 108_608),
        ("hcp19", "oracle"): Published(270, 54_719),
        ("pcp19", "oracle"): Published(None, None),
        ("pcp20", "oracle"): Published(662, 133_086),
    },
    # No wall-clock limit, so that a busy machine finds the same schedules.
    solver={"work": "0.1", "wall": "3600"},
    jobs=2000,
    seeds=2,
    instances_from=("hcp19",),
)

if __name__ == "__main__":
    sys.exit(main(KIT, Path(__file__).parent))
