"""Runs a folder of `expe/`: its campaign, the rows that come of it, and the sections and pictures of its page.

A folder holds ``campaign.yaml`` (what is run, and a quick version of it), ``claims.yaml``, ``show.py`` and
``results.md``. ``show.py`` says what is made of the rows:

- ``SECTIONS``: name of a section of the page -> the parts of the campaign that it needs, and a function of their rows
  that returns its text;
- ``PICTURES``: name of a file -> the same with a function of a path and the rows, which draws it;
- ``columns(row, run)``, if there is one: further columns of a row, worked out from the folder of its run;
- ``others(out, quick)``, if there is one: rows of what is measured but is no run of a campaign.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd

from batdispatch.abilities.campaigns.campaign.file import read_campaign
from batdispatch.abilities.campaigns.campaign.inputs import MissingLog
from batdispatch.abilities.campaigns.campaign.table import TIMINGS, read_rows
from batdispatch.abilities.simgrid.library import find_simgrid, how_to_install
from batdispatch.core.errors import InputError, SimulationError
from batdispatch.inputs.files import write_whole
from batdispatch.report.pages import fill
from expe.common.claims import claims_table, read_claims
from expe.common.data import ClaimData

EXPE = Path(__file__).parents[1]
FILE, CLAIMS, PAGE = "campaign.yaml", "claims.yaml", "results.md"


def folders() -> list[str]:
    """Return the names of the folders that are campaigns."""
    return sorted(path.parent.name for path in EXPE.glob(f"*/{CLAIMS}"))


class Experiment:
    """A folder of `expe/`.

    Attributes:
        name: of the folder.
        out: folder of campaigns.
        quick: whether the quick version is meant.
        logs: folder of logs; None: there is none.
    """

    def __init__(self, name: str, out: Path, *, quick: bool = False, logs: Path | None = None) -> None:
        self.name, self.out, self.quick, self.logs = name, out, quick, logs
        self.folder = EXPE / name
        self.claims = read_claims(self.folder / CLAIMS)
        self.show: ModuleType = importlib.import_module(f"expe.{name}.show")

    def lacking(self) -> str:
        """Return what the runs need and is not here; empty: nothing.

        Raises:
            InputError: the campaign's file is wrong.
        """
        if "simgrid" in self.claims.needs and find_simgrid() is None:
            return f"needs SimGrid: {how_to_install()}"
        try:
            read_campaign(self.folder / FILE, quick=self.quick, logs=self.logs)
        except MissingLog as problem:
            return str(problem)
        return ""

    def run(self, processes: int) -> None:
        """Make the runs that are not there.

        Raises:
            SimulationError: a run failed; what it was has been told.
        """
        words = [Path(sys.executable).with_name("batdispatch"), "campaign", self.folder / FILE, "--out", self.out]
        words += ["--jobs", str(processes), *(["--quick"] if self.quick else [])]
        words += ["--logs", self.logs] if self.logs is not None else []
        with subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL) as campaign:
            try:
                status = campaign.wait()
            except BaseException:
                # It ends the processes that it started, which it could not do if it were killed.
                campaign.terminate()
                campaign.wait()
                raise
        if status:
            raise SimulationError(f"the campaign of expe/{self.name} did not end well")

    def rows(self) -> pd.DataFrame:
        """Return what came of each run and took how long, with the columns that ``show.py`` adds.

        Raises:
            InputError: the campaign has not been run.
            SimulationError: a run failed.
        """
        name = read_campaign(self.folder / FILE, quick=self.quick, parts=[]).name
        rows = rows_of(self.show, self.out, name)
        if not hasattr(self.show, "others"):
            return rows
        return pd.concat([rows, pd.DataFrame(self.show.others(self.out / name, self.quick))], ignore_index=True)

    def sections(self, rows: pd.DataFrame) -> dict[str, str]:
        """Return the measured sections of the page, of which all runs are there."""
        return {"claims": self.judge(rows), **sections_of(self.show, rows)}

    def judge(self, rows: pd.DataFrame, *, why: bool = True) -> str:
        """Return the table of claims, with a verdict on each whose data the rows have.

        Raises:
            InputError: a claim does not fit the rows.
        """
        data = ClaimData.read(self.folder / FILE, quick=self.quick, logs=self.logs)
        return claims_table(self.claims.claims, rows, lacking=lambda claim: data.lacking(claim, rows), why=why)

    def draw(self, rows: pd.DataFrame, folder: Path) -> None:
        """Draw the pictures, of which all runs are there."""
        for name, (parts, draw) in self.show.PICTURES.items():
            if (chosen := _of(rows, parts)) is not None:
                draw(folder / name, chosen)

    def write(self, rows: pd.DataFrame) -> None:
        """Fill the page, and draw its pictures beside it.

        Raises:
            InputError: the page lacks a section.
        """
        fill(self.folder / PAGE, self.sections(rows))
        self.draw(rows, self.folder)

    def tell(self, rows: pd.DataFrame) -> str:
        """Write what came of the runs into the folder of campaigns, and return the table of claims."""
        folder = self.out / "pages" / (f"{self.name}-quick" if self.quick else self.name)
        folder.mkdir(parents=True, exist_ok=True)
        lines = [f"# {self.name}{', quick version' if self.quick else ''}"]
        for name, text in self.sections(rows).items():
            lines += [f"## {name}", text]
        pictures = [f"![{name}]({name})" for name in self.show.PICTURES]
        self.draw(rows, folder)
        lines += [line for line, name in zip(pictures, self.show.PICTURES, strict=True) if (folder / name).is_file()]
        write_whole(folder / PAGE, ("\n\n".join(lines) + "\n").encode())
        return self.judge(rows, why=False)


def rows_of(show: ModuleType, out: Path, name: str) -> pd.DataFrame:
    """Return the rows of a campaign, with what took how long and the columns that a folder's ``show.py`` adds.

    Raises:
        InputError: the campaign has not been run.
        SimulationError: a run failed.
    """
    rows = read_rows(out / name)
    timings = pd.read_parquet(out / name / TIMINGS).to_dict("records")
    more = getattr(show, "columns", lambda row, run: {})
    found: list[dict[str, Any]] = []
    for row, timing in zip(rows, timings, strict=True):
        run = out / "cells" / row["cell"]
        found.append({**timing, **row, "run": run})
        found[-1] |= more(found[-1], run)
    return pd.DataFrame(found)


def sections_of(show: ModuleType, rows: pd.DataFrame) -> dict[str, str]:
    """Return the sections that a folder's ``show.py`` makes, of which all runs are there."""
    chosen = {name: (_of(rows, parts), make) for name, (parts, make) in show.SECTIONS.items()}
    return {name: make(found) for name, (found, make) in chosen.items() if found is not None}


def _of(rows: pd.DataFrame, parts: str | Sequence[str]) -> pd.DataFrame | None:
    """Return the rows of some parts; None if one of these was not run."""
    wanted = [parts] if isinstance(parts, str) else list(parts)
    if not set(wanted) <= set(rows["part"]):
        return None
    return rows[rows["part"].isin(wanted)]


def checked(names: Sequence[str]) -> list[str]:
    """Return names of folders, all of them if none is given.

    Raises:
        InputError: there is no such folder.
    """
    known = folders()
    for name in names:
        if name not in known:
            raise InputError(f"expe/ has no campaign {name!r}, known: {', '.join(known)}")
    return list(names) or known
