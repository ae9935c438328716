"""Campaigns through Snakemake's Slurm plug-in, on a Slurm of one node that the test brings up."""

from __future__ import annotations

from pathlib import Path

import pytest

from campaigns import Calls, written
from slurm import OneNode, needs_slurm

#: 40 cells, in tasks of 8.
GRID = """
name: grid
platforms:
  flat: {generate: flat, options: {hosts: 32}}
workloads:
  lublin:
    generate: lublin
    seeds: 0..9
    options: {jobs: 200, hosts: 32, load: [0.7, 0.9]}
dispatchers: [easy, conservative]
"""
#: Without accounts, which would need a database; and looking soon whether a job has ended.
SLURM = ("--slurm-no-account", "--slurm-status-command", "squeue", "--slurm-init-seconds-before-status-checks", "2")


@needs_slurm
@pytest.mark.slow
def test_a_campaign_through_slurm_gives_the_same_bytes_killed_or_not(tmp_path: Path) -> None:
    here, there = written(tmp_path / "here", GRID), written(tmp_path / "there", GRID)
    Calls().run(here, "--jobs", "2")
    folder = tmp_path / "slurm"
    folder.mkdir()
    # The plug-in asks squeue only if Slurm remembers ended jobs for two minutes.
    with OneNode(folder, cpus=2, settings="MinJobAge=300") as slurm:
        calls = Calls(_with_srun(slurm, tmp_path / "bin"))
        words = ("--executor", "slurm", "--jobs", "2", "--batch", "8", "--", *SLURM)
        process = calls.start(there, *words)
        calls.wait_for_cells(there, 3, process)
        calls.kill(process)
        # Jobs in the cluster have outlived who submitted them, and the next call shares the cells with them.
        assert slurm.run("squeue", "--noheader")
        assert calls.cells(there) < 40
        calls.run(there, *words)
        slurm.wait_until_idle()
    assert calls.cells(there) == 40
    name = Path("campaigns") / "grid" / "results.parquet"
    assert (there.parent / name).read_bytes() == (here.parent / name).read_bytes()


def _with_srun(slurm: OneNode, folder: Path) -> dict[str, str]:
    """Return an environment for Snakemake, whose plug-in forgets where slurm.conf is before it calls srun."""
    folder.mkdir()
    srun = folder / "srun"
    srun.write_text(f'#!/bin/sh\nSLURM_CONF={slurm.environment["SLURM_CONF"]} exec /usr/bin/srun "$@"\n')
    srun.chmod(0o755)
    return {**slurm.environment, "PATH": f"{folder}:{slurm.environment['PATH']}"}
