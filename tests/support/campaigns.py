"""Campaigns for tests: a file in a folder, read with the commands of the command line."""

from __future__ import annotations

from pathlib import Path

from batdispatch.cli.campaign_inputs import CommandMakers
from batdispatch.runs.campaign.file import Campaign, read_campaign
from batdispatch.runs.campaign.plan import Plan

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


def written(folder: Path, text: str) -> Path:
    """Write a campaign's file into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "campaign.yaml"
    path.write_text(text)
    return path


def read(folder: Path, text: str) -> Campaign:
    """Read a campaign's text as a file in a folder."""
    return read_campaign(written(folder, text), CommandMakers())


def planned(folder: Path, text: str, out: Path | None = None) -> Plan:
    """Plan a campaign."""
    return Plan(read(folder, text), out or folder / "out")
