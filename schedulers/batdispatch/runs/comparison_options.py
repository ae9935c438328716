"""What people state of a comparison beside its runs; nothing large is imported, so that help is quick."""

from __future__ import annotations

import os
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from batdispatch.core.line.settings import DISPATCHER, INPUTS, REPLICATES, RESULTS, Form
from batdispatch.inputs.generator_options import COOL_DOWN, WARM_UP
from batdispatch.inputs.platform_kinds import sizes_of

#: Processes that work at a time, unless said: one for each processor, and at most 8.
PROCESSES = min(os.cpu_count() or 1, 8)
#: How replicates are made.
By = Literal["windows", "separate-windows", "slices", "sessions", "seeds"]
#: Weeks of a resample, unless said.
WEEKS = 2
_Count = Annotated[int, Meta(ge=1)]
_Around = Annotated[float, Meta(ge=0, le=1e9)]


class ComparisonOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Who is compared, and on how many replicates.

    dispatchers: Compare these dispatchers: names with options in brackets, as in fcfs,easy,easy[ordering=sjf]. simple
        stands for easy with each of the field's simple orderings, also with options for all of them in brackets. With
        --replicates, families stands for one dispatcher of each of the six families that the workload has work for.
    replicates: Compare on N replicates of the workload, and say how sure the differences are.
    replicate_by: Make replicates in this way. windows: parts of one simulation of the whole workload, evenly spread.
        separate-windows: parts that are simulated each by itself, for dispatchers that take too long for the whole.
        slices: the same from an idle machine, which hides how long jobs wait that others overtake. sessions: the users'
        weeks, drawn anew. seeds: the whole workload, with other seeds of the dispatchers.
    window: Count N jobs in each window; a number below 1 is a share of the workload's jobs. By default, as many as
        there are for windows that share none; in separate ones 10,000, or half of a shorter workload. If so many
        windows do not fit, they overlap.
    warm_up: Count no job of the first N, which fill the machine; separate windows have so many before each. A number
        below 1 is a share of the window's jobs.
    cool_down: Count no job of the last N, which keep the machine full; a number below 1 is a share of the window's
        jobs. In a separate window, a job that still waits when the last of them arrives counts for what it has waited.
    slice_jobs: Put N jobs into each slice. By default, at most 1,000.
    weeks: Draw N weeks for each replicate (sessions).
    baseline: Compare the other dispatchers with this one of --dispatchers. The default is easy, else the first.
    """

    dispatchers: Annotated[str, Form("A,B,...", DISPATCHER, offers="dispatchers")]
    replicates: Annotated[Annotated[int, Meta(ge=1, le=1000)] | None, Form("N", REPLICATES)] = None
    replicate_by: Annotated[By, Form(section=REPLICATES)] = "windows"
    window: Annotated[Annotated[float, Meta(gt=0, le=1e9)] | None, Form("N", REPLICATES)] = None
    warm_up: Annotated[_Around, Form("N", REPLICATES)] = WARM_UP
    cool_down: Annotated[_Around, Form("N", REPLICATES)] = COOL_DOWN
    slice_jobs: Annotated[_Count | None, Form("N", REPLICATES)] = None
    weeks: Annotated[_Count, Form("N", REPLICATES)] = WEEKS
    baseline: Annotated[str | None, Form("NAME", REPLICATES, offers="one_of_them")] = None


class CapacityOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Machines of several sizes.

    hosts: Compare on machines of these numbers of hosts, each kind of node in proportion. The first number, under the
        first of --dispatchers, is what the others are compared with. One page says what each does, and to whom.
    node_price: Say what an hour of waiting saved costs if a node costs this much for each hour (only with --hosts).
    """

    hosts: Annotated[tuple[int, ...], Form("N,N,...", INPUTS, read=sizes_of)] = ()
    node_price: Annotated[Annotated[float, Meta(gt=0)] | None, Form("PRICE", RESULTS)] = None


class ReportReasons(msgspec.Struct, frozen=True, kw_only=True):
    """What a report says of single jobs.

    explain: Say in the report why each dispatcher's dearest jobs waited. This reads the recorded decisions once more.
    """

    explain: Annotated[bool, Form(section=RESULTS)] = True
