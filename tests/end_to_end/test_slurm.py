"""The Slurm that other tests use: that it is one, and that nothing of it is left behind."""

import subprocess
from pathlib import Path

import pytest

from slurm import OneNode, needs_accounting, needs_slurm


@needs_slurm
@pytest.mark.slow
def test_jobs_share_the_nodes_by_what_they_ask_for(tmp_path: Path) -> None:
    folder, notes = tmp_path / "s", tmp_path / "notes"
    folder.mkdir()
    with OneNode(folder, cpus=4, gpus=1, nodes=2) as slurm:
        pair = slurm.submit("--nodes=2", script=f"echo pair $SLURM_JOB_NODELIST >> {notes}; sleep 1")
        array = slurm.submit(
            "--array=1-2", "--gres=gpu:1", f"--dependency=afterok:{pair}", script=f"echo gpu >> {notes}"
        )
        last = slurm.submit(f"--dependency=afterok:{array}", script=f"srun echo step >> {notes}")
        slurm.wait_until_idle()
        shown = slurm.run("scontrol", "show", "job", last)
        daemons = list(slurm._daemons)
        too_large = subprocess.run(
            ["sbatch", "--gres=gpu:2", "--wrap=true"], env=slurm.environment, cwd=folder, check=False
        )
    assert notes.read_text().splitlines() == ["pair n[1-2]", "gpu", "gpu", "step"]
    assert "JobState=COMPLETED" in shown
    assert too_large.returncode != 0
    assert len(daemons) == 4
    assert all(daemon.returncode is not None for daemon in daemons)


@needs_accounting
@pytest.mark.slow
def test_accounts_are_complete(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    folder.mkdir()
    with OneNode(folder, cpus=4, accounting=True) as slurm:
        jobs = [slurm.submit("--ntasks=3"), slurm.submit("--ntasks=2", script="false")]
        slurm.wait_until_idle()
        accounts = slurm.accounts("JobIDRaw,State,ReqCPUS", "--allocations", of=jobs)
    assert accounts.splitlines() == ["JobIDRaw|State|ReqCPUS", f"{jobs[0]}|COMPLETED|3", f"{jobs[1]}|FAILED|2"]
