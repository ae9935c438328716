"""Campaigns through Snakemake's Slurm plug-in, on a Slurm of one node that the test brings up."""

import random
import time
from pathlib import Path

import pytest

from campaigns import MANY, Calls, written
from slurm import OneNode, needs_slurm

#: Without accounts, which would need a database; and looking soon whether a job has ended.
SLURM = ("--slurm-no-account", "--slurm-status-command", "squeue", "--slurm-init-seconds-before-status-checks", "2")


@needs_slurm
@pytest.mark.slow
def test_200_cells_through_slurm_killed_five_times_give_the_same_bytes(tmp_path: Path) -> None:
    here, there = written(tmp_path / "here", MANY), written(tmp_path / "there", MANY)
    Calls().run(here, "--jobs", "2")
    total = 200
    folder = tmp_path / "slurm"
    folder.mkdir()
    chance = random.Random(22)
    # The plug-in asks squeue only if Slurm remembers ended jobs for two minutes.
    with OneNode(folder, cpus=2, settings="MinJobAge=300") as slurm:
        calls = Calls(_with_srun(slurm, tmp_path / "bin"))
        words = ("--executor", "slurm", "--jobs", "2", "--batch", "10", "--", *SLURM)
        outlived = 0
        for goal in sorted(chance.sample(range(0, total - 80), 5)):
            process = calls.start(there, *words)
            calls.wait_for_cells(there, goal, process)
            time.sleep(chance.uniform(0, 2))
            calls.kill(process)
            # Jobs in the cluster may outlive who submitted them, and the next call shares the cells with them.
            outlived += bool(slurm.run("squeue", "--noheader"))
        assert outlived
        assert calls.cells(there) < total
        calls.run(there, *words)
        slurm.wait_until_idle()
    assert calls.cells(there) == total
    name = Path("campaigns") / "many" / "results.parquet"
    assert (there.parent / name).read_bytes() == (here.parent / name).read_bytes()


def _with_srun(slurm: OneNode, folder: Path) -> dict[str, str]:
    """Return an environment for Snakemake, whose plug-in forgets where slurm.conf is before it calls srun."""
    folder.mkdir()
    srun = folder / "srun"
    srun.write_text(f'#!/bin/sh\nSLURM_CONF={slurm.environment["SLURM_CONF"]} exec /usr/bin/srun "$@"\n')
    srun.chmod(0o755)
    return {**slurm.environment, "PATH": f"{folder}:{slurm.environment['PATH']}"}
