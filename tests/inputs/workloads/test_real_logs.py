"""Real logs: how many jobs each gives, and that the model resembles a workload its authors published."""

import os
from pathlib import Path

import numpy as np
import pytest

from batdispatch.core.errors import InputError
from batdispatch.core.line.dispatcher import create
from batdispatch.core.line.session import Session
from batdispatch.core.machine.machine import Host, Machine
from batdispatch.engines.embedded import EmbeddedEngine
from batdispatch.engines.outputs import Outputs
from batdispatch.engines.records import EngineOptions
from batdispatch.inputs.log_options import LogOptions
from batdispatch.inputs.workloads import read_workload, write_workload
from batdispatch.inputs.workloads.importers import read_log
from batdispatch.inputs.workloads.lublin import lublin
from batdispatch.results.jobs_file import read_columns
from batdispatch.results.lineage import lineage_of
from batdispatch.results.metrics.attempts import attempt_metrics
from batdispatch_papers.stochastic.law_fits import Fit, with_laws

SHARED = Path(os.environ.get("BATDISPATCH_SHARED", Path(__file__).parents[4] / "shared"))
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
    workload, report, _ = read_log(DATA / log, options=LogOptions(**options))  # type: ignore[arg-type]
    assert (report.records, report.kept, workload.nb_res) == (records, kept, hosts)
    assert report.records == report.kept + sum(tally.count for tally in report.dropped.values())
    write_workload(workload, tmp_path / "w.json")
    again = read_workload(tmp_path / "w.json")
    assert [(job.id, job.submission, job.units, job.walltime, job.user, job.request) for job in again.jobs] == [
        (job.id, job.submission, job.units, job.walltime, job.user, job.request) for job in workload.jobs
    ]


@pytest.mark.parametrize(("memory", "kept"), [(16_384, 5_922), (32_768, 5_930)])
def test_eurora_on_its_machine(memory: int, kept: int) -> None:
    nodes = Machine(
        [
            Host(id=i, name=f"n{i}", properties={"capacity": f"core=16 {'gpu' if i < 32 else 'mic'}=2 memory={memory}"})
            for i in range(64)
        ]
    )
    workload, report, _ = read_log(DATA / "eurora/eurora_historical.tar.xz", machine=nodes)
    assert report.kept == kept
    assert sum(tally.count for reason, tally in report.dropped.items() if "memory=20480" in reason) == 5_930 - kept
    assert workload.nb_res == 64


def test_an_archived_workload_of_the_batsim_team() -> None:
    assert len(read_workload(DATA / "batsim-outputs/medium_late/medium_late.json.xz").jobs) == 801


def test_the_model_resembles_its_authors_workload() -> None:
    """10,000 jobs for 256 processors made by the authors' program, beside five workloads of ours."""
    theirs, *_ = read_log(DATA / "swf/lublin_256.swf.xz")

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


def test_stochastic_dispatchers_over_a_log(tmp_path: Path) -> None:
    """KTH-SP2 with a law for each user and size: every job ends, and the rate is that of the jobs without a law."""
    log, *_ = read_log(DATA / "swf/KTH-SP2-1996-2.1-cln.swf.xz", options=LogOptions())
    made, fitted = with_laws(log, kind="lognormal")
    assert (len(fitted.applications), fitted.stochastic, fitted.known) == (269, 23_990, 4_486)
    made.jobs = made.jobs[:300]
    small = [job for job in made.jobs if "runtime_law" not in job.extra]
    lasted = {job.id: min(float(made.profiles[job.profile]["delay"]), job.walltime) for job in made.jobs}
    for name in ("stochastic-easy", "stochastic-batch"):
        dispatcher = create(name, {"requests": "atoptimal"})
        (tmp_path / name).mkdir()
        machine = Machine.flat(100)
        outputs = Outputs(tmp_path / name, machine.size)
        options = EngineOptions(dynamic_jobs=True)
        session = Session(dispatcher)
        EmbeddedEngine(machine, made, outputs, options=options).run(session)
        columns = read_columns(tmp_path / name / "jobs.csv")
        assert session.ledger is not None
        found = attempt_metrics(columns, machine.size, lineage_of(columns, session.ledger.parents))
        assert found["jobs"] == 300
        too_short = sum(job.walltime <= made.profiles[job.profile]["delay"] for job in small)
        assert found["jobs_succeeded"] == 300 - too_short
        end = float(np.nanmax(columns.finish_time))
        work = sum(job.units * lasted[job.id] for job in small)
        true = work / (machine.size * (end - made.jobs[0].submission))
        assert dispatcher.rate.at(end) == pytest.approx(true, rel=1e-6)  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", ["gamma", pytest.param("best", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("log", "application", "count"),
    [
        ("swf/KTH-SP2-1996-2.1-cln.swf.xz", ("user", "units"), 269),
        ("kit-forhlr2/KIT-FH2-2016-1.rst.xz", ("units",), 66),
    ],
)
def test_laws_have_the_mean_of_the_runs(kind: Fit, log: str, application: tuple[str, ...], count: int) -> None:
    """Fits to the moments of the logarithms had median ratios of 0.70 (KTH) and 0.52 (KIT)."""
    workload, *_ = read_log(DATA / log, options=LogOptions())
    _, fitted = with_laws(workload, kind=kind, application=application)
    assert len(fitted.applications) == count
    ratios = [each.mean_ratio for each in fitted.applications]
    assert np.median(ratios) == pytest.approx(1, abs=0.05)
    if kind == "best":
        assert np.percentile(ratios, [5, 95]) == pytest.approx([1, 1], abs=0.1)
        assert len({each.family for each in fitted.applications}) >= 5


def test_the_history_of_a_log_holds_no_run_that_goes_on() -> None:
    """By the five runs submitted before a job, 34 % of KTH's jobs knew a run that had not ended."""
    log, *_ = read_log(DATA / "swf/KTH-SP2-1996-2.1-cln.swf.xz", options=LogOptions())
    made, _ = with_laws(log, kind="empirical")
    ended: dict[tuple[str, int], list[tuple[float, float]]] = {}
    checked = 0
    for job in made.jobs:
        if "history" not in job.extra:
            continue
        length = float(made.profiles[job.profile]["delay"])
        runs = ended.setdefault((job.user, job.units), [])
        known = [run for end, run in runs if end <= job.submission]
        assert len(job.extra["history"]) == min(len(known), 5)
        assert not set(job.extra["history"]) - set(known)
        runs.append((job.submission + length, length))
        checked += 1
    assert checked == 23_990


def test_a_log_that_names_no_user_is_refused() -> None:
    log, *_ = read_log(DATA / "kit-forhlr2/KIT-FH2-2016-1.rst.xz", options=LogOptions())
    with pytest.raises(InputError, match="none of the 25,326 jobs has a field 'user'"):
        with_laws(log)
