"""Jobs that ask for more than units: run, audited, drawn, explained and replayed as a user would do it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from batdispatch.cli.main import cli
from sites import platform_of

pytestmark = pytest.mark.usefixtures("worker_threads")
#: The first job asks for eight cores in all, and for two GPUs on each node that they land on.
WORKLOAD = Path(__file__).parents[1] / "data" / "requests_of_every_kind.json"
DISPATCHERS = "fcfs,easy,conservative,best-list,pcp20,stochastic-easy"


def batdispatch(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, list(map(str, arguments)))


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("requests")
    hosts = "".join(f'<host id="n{i}" speed="1Gf"><prop id="capacity" value="core=4 gpu=2"/></host>' for i in range(4))
    (folder / "p.xml").write_text(platform_of(f'<prop id="licences" value="matlab=4"/>{hosts}'))
    found = batdispatch(
        "compare", "--platform", folder / "p.xml", "--workload", WORKLOAD, "--dispatchers", DISPATCHERS,
        "--out", folder / "out",
    )  # fmt: skip
    assert found.exit_code == 0, found.output
    return folder / "out"


@pytest.mark.parametrize("name", DISPATCHERS.split(","))
def test_is_run_audited_drawn_and_replayed(compared: Path, name: str) -> None:
    run = compared / name
    checked = batdispatch("check", run)
    assert checked.exit_code == 0, checked.output
    rows = {line.split(",")[0]: line.split(",") for line in (run / "jobs.csv").read_text().splitlines()[1:]}
    assert rows["never"][7] == rows["odd"][7] == "REJECTED"
    assert len(rows) == len(json.loads(WORKLOAD.read_bytes())["jobs"])
    assert float(rows["after"][8]) >= float(rows["gpu"][10])
    # Four licences: the two jobs that need three and two of them never run together.
    first, second = sorted((float(rows[job][8]), float(rows[job][10])) for job in ("lic", "lic2"))
    assert second[0] >= first[1]
    units = {line.split(",")[0]: line.split(",")[2] for line in (run / "units.csv").read_text().splitlines()[1:]}
    assert units["gpu"] == "4 4"
    assert len(units.get("many", "2 2 2 2").split()) == 4
    replayed = batdispatch("replay", run / "decisions.jsonl", "--dispatcher", name)
    assert replayed.exit_code == 0, replayed.output


def test_the_report_draws_every_resource(compared: Path) -> None:
    page = (compared / "report" / "index.html").read_text()
    for word in ("core", "gpu", *DISPATCHERS.split(",")):
        assert word in page
    metrics = json.loads((compared / "easy" / "result.json").read_bytes())["metrics"]
    # Two nodes of two GPUs for 10 s: counted once a node, whatever number of cores is there.
    assert any("gpu" in key for key in metrics)


def test_why_a_job_waited_for_a_licence(compared: Path) -> None:
    waited = "lic2" if "matlab" in batdispatch("explain-wait", compared / "fcfs", "lic2").output else "lic"
    told = batdispatch("explain-wait", compared / "fcfs", waited)
    assert told.exit_code == 0, told.output
    assert "matlab" in told.output
