"""What is compared, on what: data, fixed before the first run on held-out jobs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from batdispatch.inputs.platforms.generate import eurora, flat, forhlr2

#: Parameters are chosen on the first of so many parts of each log, and held out is the rest.
TUNING_PART = 5
#: Jobs of a block, over which slowdowns are averaged before they are compared.
BLOCK = 1000
#: Of the bootstrap over blocks: resamples and seed.
RESAMPLES, SEED = 9999, 7


class Log(msgspec.Struct, frozen=True):
    """A log and its machine.

    Attributes:
        name: in tables.
        path: below the folder that `--logs` names.
        platform: makes its machine.
        users: whether it tells users apart.
        first: only so many jobs of it, in order of submission.
    """

    name: str
    path: Path
    platform: Callable[[], bytes]
    users: bool
    first: int | None = None


LOGS = (
    Log("KTH-SP2", Path("swf/KTH-SP2-1996-2.1-cln.swf.xz"), lambda: flat(100), users=True),
    Log(
        "CTC-SP2",
        Path("easy-reference/CTC-SP2/res_easy_backfill_scheduler_None_None.swf.xz"),
        lambda: flat(338),
        users=True,
        first=30_000,
    ),
    Log("KIT", Path("kit-forhlr2/KIT-FH2-2016-1.rst.xz"), forhlr2, users=False),
    Log("Eurora", Path("eurora/eurora_historical.tar.xz"), lambda: eurora(memory_mib=32768), users=False),
)

#: Name in tables -> (dispatcher, options).
DISPATCHERS = {
    "easy, shortest backfilled first": ("easy", {"backfill": "sjf"}),
    "the same, corrected in steps": ("easy", {"backfill": "sjf", "correction": "steps"}),
    "filler, shortest first": ("filler", {"ordering": "sjf"}),
    "best-list": ("best-list", {}),
}
#: Logs on which a dispatcher runs, where these are not all.
ONLY_ON = {"the same, corrected in steps": ("KTH-SP2",), "best-list": ("KTH-SP2", "CTC-SP2", "Eurora")}
#: What others are compared with.
BASE = "requested"
#: Predictions that are compared, and whether they need users.
PREDICTIONS = {
    BASE: False,
    "last-two": True,
    "quantile": False,
    "online-regression": True,
    "oracle": False,
}

#: Candidates of the tuning: which quantile, and how many jobs to look at.
CANDIDATES = tuple(f"quantile[q={q},last={last}]" for q in ("0.5", "0.75", "0.9") for last in ("5", "20"))
#: Dispatchers of the tuning.
TUNED_ON = ("easy, shortest backfilled first", "filler, shortest first")


def option(name: str) -> str:
    """Return what names a prediction of the tables in an option: `quantile` is a file of this folder."""
    if name.startswith("quantile"):
        return name.replace("quantile", f"{Path(__file__).with_name('quantile.py')}:Quantile", 1)
    return name
