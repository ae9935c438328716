"""Campaigns for tests: a file in a folder, read with the commands of the command line."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from batdispatch.abilities.campaigns.campaign.cell import make_input, simulate
from batdispatch.abilities.campaigns.campaign.file import Campaign, read_campaign
from batdispatch.abilities.campaigns.campaign.plan import Plan
from batdispatch.abilities.campaigns.campaign.table import write_tables
from batdispatch.abilities.campaigns.campaign_inputs import make as run_command
from batdispatch.cli.main import cli

RECORDINGS = Path(__file__).parents[1] / "conformance" / "recordings"
PLATFORM = RECORDINGS / "platforms" / "four.xml"
WORKLOAD = RECORDINGS / "workloads" / "delay.json"

#: Four cells: two workloads under two dispatchers.
SMALL = """
name: small
platforms:
  flat: {generate: flat, options: {hosts: 8}}
workloads:
  lublin:
    generate: lublin
    seeds: 0..1
    options: {jobs: 20, hosts: 8}
dispatchers: [fcfs, "easy[ordering=sjf]"]
"""

#: 200 cells.
MANY = """
name: many
title: Cells that take a little while
platforms:
  flat: {generate: flat, options: {hosts: [32, 64]}}
workloads:
  lublin:
    generate: lublin
    seeds: 0..9
    options: {jobs: 60, hosts: 32, load: [0.7, 0.9]}
dispatchers:
  plain: fcfs
  EASY: {use: easy, options: {ordering: [fcfs, sjf, ljf]}}
  conservative: conservative
settings: {audit: true}
"""


def written(folder: Path, text: str) -> Path:
    """Write a campaign's file into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "campaign.yaml"
    path.write_text(text)
    return path


def read(folder: Path, text: str, **options: Any) -> Campaign:
    """Read a campaign's text as a file in a folder, with options of `read_campaign`."""
    return read_campaign(written(folder, text), **options)


def planned(folder: Path, text: str, out: Path | None = None) -> Plan:
    """Plan a campaign."""
    return Plan(read(folder, text), out or folder / "out")


class Calls:
    """Calls of ``batdispatch campaign`` as a user makes them, each in the folder of its file."""

    command = (str(Path(sys.executable).parent / "batdispatch"), "campaign")

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._environment = dict(os.environ if environment is None else environment)

    def run(self, path: Path, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a campaign to its end."""
        done = subprocess.run(
            [*self.command, path, *words],
            capture_output=True,
            text=True,
            check=False,
            cwd=path.parent,
            env=self._environment,
        )
        assert not check or done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        return done

    def here(self, path: Path, *words: str) -> Result:
        """Run a campaign that begins nothing in this process."""
        with contextlib.chdir(path.parent):
            done = CliRunner().invoke(cli, ["campaign", str(path), *words], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done

    def forecast(self, path: Path, *words: str) -> str:
        """Return what a campaign says that it would do."""
        return self.here(path, "--dry-run", *words).stdout

    def start(self, path: Path, *words: str) -> subprocess.Popen[bytes]:
        """Start a campaign, in a group of its own, so that all that it starts can be killed at once."""
        return subprocess.Popen(
            [*self.command, path, *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=path.parent,
            env=self._environment,
            start_new_session=True,
        )

    @staticmethod
    def cells(path: Path) -> int:
        """Return how many cells are whole."""
        return sum(1 for _ in path.parent.glob("campaigns/cells/*/result.json"))

    def wait_for_cells(self, path: Path, count: int, process: subprocess.Popen[bytes]) -> None:
        """Wait until so many cells are whole."""
        while self.cells(path) < count:
            assert process.poll() is None, "the campaign ended too soon"
            time.sleep(0.01)

    @staticmethod
    def kill(process: subprocess.Popen[bytes]) -> None:
        """Kill a campaign with all that it started here."""
        os.killpg(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL


def make(plan: Plan) -> None:
    """Make all that a plan leaves to do, in this process, and the tables."""
    plan.places.own.mkdir(parents=True, exist_ok=True)
    for recipe in plan.recipes().values():
        make_input(recipe, run_command)
    for task in plan.pending:
        simulate(task, plan.places)
    write_tables(plan, {})
