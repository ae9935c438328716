"""Real logs: how many jobs each gives, and that the model resembles a workload its authors published."""

import os
from pathlib import Path

import numpy as np
import pytest

from batdispatch.core.machine import Host, Machine
from batdispatch.workloads import read_workload, write_workload
from batdispatch.workloads.importing import import_log
from batdispatch.workloads.logs import LogOptions
from batdispatch.workloads.lublin import lublin

SHARED = Path(os.environ.get("BATDISPATCH_SHARED", Path(__file__).parents[3] / "shared"))
DATA = SHARED / "data"

pytestmark = [
    pytest.mark.reallogs,
    pytest.mark.skipif(not DATA.is_dir(), reason="the real logs are not here"),
]


@pytest.mark.parametrize(
    ("log", "options", "records", "kept", "hosts"),
    [
        ("swf/KTH-SP2-1996-2.1-cln.swf.xz", {}, 28_476, 28_476, 100),
        ("swf/NASA-iPSC-1993-3.1-cln.swf.xz", {}, 18_239, 18_239, 128),
        ("swf/hpc2n.swf.xz", {}, 3_170, 3_145, 240),
        ("swf/mira.swf.xz", {}, 22_508, 22_508, 49_152),
        ("swf/KIT-10-80.swf", {}, 39, 39, 24_048),
        ("kit-forhlr2/KIT-FH2-2016-1.rst.xz", {}, 25_326, 25_326, 1_173),
        ("eurora/eurora_historical.tar.xz", {}, 5_930, 5_930, 32),
        pytest.param(
            "swf/CEA-Curie-2011-2.1-cln.swf.xz",
            {"zero_runtime": "drop"},
            312_826,
            295_540,
            93_312,
            marks=pytest.mark.slow,
        ),
    ],
)
def test_jobs_of_a_log(log: str, options: dict[str, str], records: int, kept: int, hosts: int, tmp_path: Path) -> None:
    workload, report = import_log(DATA / log, options=LogOptions(**options))  # type: ignore[arg-type]
    assert (report.records, report.kept, workload.nb_res) == (records, kept, hosts)
    assert report.records == report.kept + sum(tally.count for tally in report.dropped.values())
    write_workload(workload, tmp_path / "w.json")
    again = read_workload(tmp_path / "w.json")
    assert [(job.id, job.submission, job.units, job.walltime, job.user, job.demand) for job in again.jobs] == [
        (job.id, job.submission, job.units, job.walltime, job.user, job.demand) for job in workload.jobs
    ]


@pytest.mark.parametrize(("memory", "kept"), [(16_384, 5_922), (32_768, 5_930)])
def test_eurora_on_its_machine(memory: int, kept: int) -> None:
    nodes = Machine(
        [
            Host(id=i, name=f"n{i}", properties={"capacity": f"core=16 {'gpu' if i < 32 else 'mic'}=2 memory={memory}"})
            for i in range(64)
        ]
    )
    workload, report = import_log(DATA / "eurora/eurora_historical.tar.xz", machine=nodes)
    assert report.kept == kept
    assert sum(tally.count for reason, tally in report.dropped.items() if "memory=20480" in reason) == 5_930 - kept
    assert workload.nb_res == 64


def test_an_archived_workload_of_the_batsim_team() -> None:
    assert len(read_workload(DATA / "batsim-outputs/medium_late/medium_late.json.xz").jobs) == 801


def test_the_model_resembles_its_authors_workload() -> None:
    """10,000 jobs for 256 processors made by the authors' program, beside five workloads of ours."""
    theirs, _ = import_log(DATA / "swf/lublin_256.swf.xz")

    def moments(workload: object) -> np.ndarray:
        jobs = workload.jobs  # type: ignore[attr-defined]
        sizes = np.array([job.units for job in jobs])
        runtimes = np.array([workload.profiles[job.profile]["delay"] for job in jobs])  # type: ignore[attr-defined]
        parallel = sizes[sizes > 1]
        gaps = np.diff([job.submission for job in jobs])
        return np.array(
            [
                (sizes == 1).mean(),
                ((parallel & (parallel - 1)) == 0).mean(),
                np.log2(parallel).mean() / 10,
                np.log(runtimes).mean() / 10,
                np.log(runtimes).std() / 10,
                np.median(gaps) / 1000,
                np.corrcoef(np.log2(sizes), np.log(runtimes))[0, 1],
            ]
        )

    ours = np.array([moments(lublin(np.random.default_rng(seed), jobs=10_000, hosts=256)) for seed in range(5)])
    assert moments(theirs) == pytest.approx(ours.mean(axis=0), abs=0.02)
