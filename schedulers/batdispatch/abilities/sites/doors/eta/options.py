"""What people state when they ask when jobs start; nothing large is imported, so that help is quick."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from batdispatch.core.line.settings import DISPATCHER, INPUTS, Form


class EtaOptions(msgspec.Struct, frozen=True, kw_only=True):
    """A queue, its past, and who decides.

    queue: Read the queue from this file: what squeue --json, squeue -o with a header, or scontrol show job printed;
        - is what is piped into the command.
    run: Take the queue of one of our runs, a folder with jobs.csv, instead, as it was at the moment --at.
    at: Take this moment: seconds on the run's clock; of a --queue seconds since 1970, if the file does not say when it
        was taken.
    accounts: Learn from this log how long jobs run, who comes, and how wrong estimates were; - is what is
        piped into the command.
    learned: Keep what is learned of --accounts in this file; without --accounts, read it from there.
    partition: Count only the jobs of this partition; --machine is its size.
    machine: Let the machine have N hosts; with --units cores, N cores. By default, as many as the accounts say.
    dispatcher: Let this dispatcher decide in the simulated futures. It must have a compiled kernel: fcfs, filler, easy
        or conservative, with most of their options. The default is easy; what was learned has one.
    job: Say it of this job only, why it waits, and what would let it start sooner. May be given several times.
    seed: Seed all random choices with this number. The same seed gives the same bytes.
    """

    queue: Annotated[Path | None, Form("FILE", INPUTS, piped=True)] = None
    run: Annotated[Path | None, Form("DIR", INPUTS)] = None
    at: Annotated[float | None, Form("SECONDS", INPUTS)] = None
    accounts: Annotated[Path | None, Form("LOG", INPUTS, piped=True)] = None
    learned: Annotated[Path | None, Form("FILE", INPUTS)] = None
    partition: Annotated[str, Form("NAME", INPUTS)] = ""
    machine: Annotated[Annotated[int, Meta(ge=1, le=10_000_000)] | None, Form("N", INPUTS)] = None
    dispatcher: Annotated[str | None, Form("NAME", DISPATCHER, offers="dispatchers")] = None
    job: Annotated[tuple[str, ...], Form("ID")] = ()
    seed: Annotated[Annotated[int, Meta(ge=0)], Form("N")] = 0
