"""What the held-out comparison compares, on what: data, fixed before the first run on held-out jobs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec

from batdispatch.inputs.platforms.generate import eurora, flat, forhlr2
from batdispatch.runs.grid import Cell

#: Jobs of a slice.
JOBS = 1000
#: The first of so many parts of each log's whole slices is there for tuning, rounded down, but at least one slice.
TUNING_PART = 5
#: Of the other slices, so many are drawn for each log, without replacement; fewer where a log has fewer.
DRAWN = 10
#: Seed of the draw; the number of the log's row is its second part.
DRAW_SEED = 20170613
#: Dispatchers that take long run on the first so many drawn slices of each log.
SLOW_SLICES = 2
#: Seeds of the generated workloads: those to compare on, and those to tune on.
GENERATED, GENERATED_TUNING = range(10), range(100, 120)
#: Hosts and offered load of the generated workloads.
GENERATED_HOSTS, GENERATED_LOAD = 256, 0.9
#: Added to both waits of a ratio, s: the bounded slowdown's threshold. So a slice in which nobody waits counts as 1.
ADDED = 10.0
#: Of the bootstrap over slices: resamples and seed.
RESAMPLES, BOOTSTRAP_SEED = 9999, 7


class Log(msgspec.Struct, frozen=True):
    """A log and the machine on which its slices run.

    Attributes:
        name: in tables.
        path: where it lies below the folder that `--logs` names.
        platform: makes its machine.
        users: whether the log knows users, so that `last-two` can predict.
    """

    name: str
    path: Path
    platform: Callable[[], bytes]
    users: bool


LOGS = (
    Log("KTH-SP2", Path("swf/KTH-SP2-1996-2.1-cln.swf.xz"), lambda: flat(100), users=True),
    Log(
        "CTC-SP2",
        Path("easy-reference/CTC-SP2/res_easy_backfill_scheduler_None_None.swf.xz"),
        lambda: flat(338),
        users=True,
    ),
    Log("KIT", Path("kit-forhlr2/KIT-FH2-2016-1.rst.xz"), forhlr2, users=False),
    Log("Eurora", Path("eurora/eurora_historical.tar.xz"), lambda: eurora(memory_mib=32768), users=False),
)
#: Name of the generated workloads in tables.
LUBLIN = "generated"

Expectation = Literal["requested", "last-two", "oracle"]


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A dispatcher of the comparison.

    Attributes:
        name: in tables.
        dispatcher: registered name.
        options: its options, without the prediction.
        expectations: with which it runs.
        slow: whether it gets fewer slices, since it takes long.
        published: whether it is somebody else's, so that ours is to beat it.
    """

    name: str
    dispatcher: str
    options: dict[str, str] = {}
    expectations: tuple[Expectation, ...] = ("requested", "last-two")
    slow: bool = False
    published: bool = True

    def cell(self, expectation: Expectation) -> Cell:
        """Return the run of this dispatcher with an expectation."""
        return Cell(dispatcher=self.dispatcher, options={"prediction": expectation, **self.options})


#: Solvers stop after so many deterministic seconds, and never by the clock.
SOLVER = {"work": "0.05", "wall": "3600"}
ALL: tuple[Expectation, ...] = ("requested", "last-two", "oracle")
FILLER, EASY, OURS = "filler, shortest first", "easy", "look-ahead"
#: A job is late after 20 times the mean wait of recent jobs, and no sooner than after six hours.
STRICT = "late-first[after=21600,multiple=20]"

#: The first two are what others are compared with.
ENTRIES = (
    Entry(name=FILLER, dispatcher="filler", options={"ordering": "sjf"}, expectations=ALL),
    Entry(name=EASY, dispatcher="easy", expectations=ALL),
    Entry(name="conservative", dispatcher="conservative"),
    Entry(name="easy, shortest backfilled first", dispatcher="easy", options={"backfill": "sjf"}),
    Entry(name="easy, shortest first", dispatcher="easy", options={"ordering": "sjf"}, expectations=ALL),
    Entry(name="easy, smallest area first", dispatcher="easy", options={"ordering": "smallest-area"}, expectations=ALL),
    Entry(name="filler, smallest area first", dispatcher="filler", options={"ordering": "smallest-area"}),
    Entry(name="easy, F1", dispatcher="easy", options={"ordering": "f1"}),
    Entry(name="best-list", dispatcher="best-list", expectations=("requested",), slow=True, published=False),
    Entry(name="easy, late first", dispatcher="easy", options={"ordering": STRICT}, published=False),
    Entry(name=OURS, dispatcher="look-ahead", expectations=ALL, published=False),
    Entry(name="look-ahead, strict", dispatcher="look-ahead", options={"ordering": STRICT}, published=False),
    Entry(name="look-ahead, no room", dispatcher="look-ahead", options={"room": "0"}, published=False),
    Entry(name="hcp19", dispatcher="hcp19", options=SOLVER, expectations=("requested",), slow=True),
    Entry(name="pcp19", dispatcher="pcp19", options=SOLVER, expectations=("requested",), slow=True),
    Entry(name="pcp20", dispatcher="pcp20", options=SOLVER, expectations=("requested",), slow=True),
)
