"""Tile graphs, against counts that were worked out elsewhere, and the workloads made of them."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from batdispatch.cli.generate import command as generate
from batdispatch.core.errors import InputError
from batdispatch.inputs.workloads import Workload, read_workload
from batdispatch_papers.dada.graphs import GRAPHS, edges_of
from batdispatch_papers.dada.rates import RATES, read_rates
from batdispatch_papers.dada.workload import tiles

ORACLE: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "oracles" / "topology" / "tile_graphs.json").read_text()
)
NAMES = {"cholesky": "cholesky", "lu_nopiv": "lu", "qr": "qr"}


@pytest.mark.parametrize("row", ORACLE, ids=lambda row: f"{row['graph']}-{row['tiles']}")
def test_a_graph_has_the_tasks_edges_and_chain_of_the_oracle(row: dict[str, Any]) -> None:
    calls = list(GRAPHS[NAMES[row["graph"]]](row["tiles"], 512))
    edges = edges_of(calls)
    assert len(calls) == row["tasks"]
    assert Counter(call.kernel for call in calls) == row["by_kernel"]
    assert sum(len(found.raw) for found in edges) == row["edges"]
    assert sum(len(found.war) for found in edges) == row["extra_write_after_read_edges"]
    chain: list[int] = []
    for found in edges:
        chain.append(1 + max((chain[index] for index in found.raw), default=0))
    assert max(chain) == row["longest_chain"]
    if "flops_b512" in row:
        assert sum(call.flops for call in calls) == row["flops_b512"]


@pytest.mark.parametrize(("nt", "b"), [(1, 512), (3, 7), (16, 512), (5, 1)])
def test_the_operations_are_those_of_the_whole_factorisation(nt: int, b: int) -> None:
    n = nt * b

    def flops(graph: str) -> int:
        return sum(call.flops for call in GRAPHS[graph](nt, b))

    assert 6 * flops("cholesky") == 2 * n**3 + 3 * n**2 + n
    assert 6 * flops("lu") == 4 * n**3 - 3 * n**2 - n
    # GEQRT's operations are rounded down.
    assert 0 <= 4 * n**3 - 3 * flops("qr") <= 3 * nt


@pytest.mark.parametrize("graph", list(GRAPHS))
def test_what_overwrites_a_tile_comes_after_all_that_read_it_before(graph: str) -> None:
    """With both kinds of edges, every order that keeps them gives each task the data of the sequential program."""
    calls = list(GRAPHS[graph](4, 2))
    before: list[set[int]] = []
    for edges in edges_of(calls):
        direct = {*edges.raw, *edges.war}
        before.append(direct.union(*(before[index] for index in direct)))
    for index, call in enumerate(calls):
        for other in range(index):
            touches = {*call.reads, *call.writes}
            conflict = touches & set(calls[other].writes) or set(call.writes) & {*calls[other].reads}
            assert not conflict or other in before[index]


def test_cholesky_of_the_slides_is_a_workload_of_816_jobs_with_2040_dependencies() -> None:
    workload = tiles("cholesky", size=8192, tile=512)
    assert len(workload.jobs) == 816
    assert sum(len(job.request.dependencies) for job in workload.jobs) == 2040
    assert sum(job.extra["flops"] for job in workload.jobs) == 183_285_493_760
    assert [job.id for job in workload.jobs] == sorted(job.id for job in workload.jobs)
    gemm = next(job for job in workload.jobs if job.extra["name"] == "GEMM")
    assert gemm.id == "019-GEMM-2-1-0"
    assert gemm.extra["reads"] == dict.fromkeys(("A.2.0", "A.1.0", "A.2.1"), 512 * 512 * 8)
    assert gemm.extra["writes"] == {"A.2.1": 512 * 512 * 8}
    # Of the 300 Gflop/s that are published, and 90 % of a core's 10.64.
    assert gemm.extra["runtimes"] == {"cpu": 0.028032, "gpu": 0.000898}
    assert workload.profiles[gemm.profile] == {"type": "delay", "delay": 0.028032}


def test_the_factors_of_qr_are_data_of_their_own_that_nobody_has_to_send_first() -> None:
    first = tiles("qr", size=1024, tile=512, inner=64).jobs[0]
    assert first.extra["reads"] == {"A.0.0": 2_097_152}
    assert first.extra["writes"] == {"A.0.0": 2_097_152, "T.0.0": 64 * 512 * 8}


def test_other_rates_give_other_run_times(tmp_path: Path) -> None:
    path = tmp_path / "rates.json"
    path.write_text('{"POTRF": {"cpu": 1, "gpu": 2, "fpga": 4.0}}')
    job = tiles("cholesky", size=1024, tile=1024, rates=read_rates(path)).jobs[0]
    flops = (2 * 1024**3 + 3 * 1024**2 + 1024) // 6
    assert job.extra["runtimes"] == {
        name: pytest.approx(flops / (rate * 1e9), abs=1e-6) for name, rate in (("cpu", 1), ("gpu", 2), ("fpga", 4))
    }


def test_every_kernel_of_every_graph_has_rates() -> None:
    for graph in GRAPHS.values():
        assert {call.kernel for call in graph(3, 2)} <= RATES.keys()


def run(out: Path, *options: str) -> Any:
    return CliRunner().invoke(generate, ["tiles", "-o", str(out), *options])


def test_the_command_writes_the_same_bytes_in_either_process_and_reads_back(tmp_path: Path) -> None:
    for name in ("1.json", "2.json"):
        result = run(tmp_path / name, "--kernel", "lu", "--size", "1024", "--tile", "256", "--json")
        assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert (facts["jobs"], facts["dependencies"]) == (30, 54)
    assert (tmp_path / "1.json").read_bytes() == (tmp_path / "2.json").read_bytes()
    workload: Workload = read_workload(tmp_path / "1.json")
    made = tiles("lu", size=1024, tile=256)
    assert [(job.id, job.request, job.profile, job.extra) for job in workload.jobs] == [
        (job.id, job.request, job.profile, job.extra) for job in made.jobs
    ]


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        ({"size": 1000, "tile": 512}, "--size"),
        ({"size": 512 * 129, "tile": 512}, "--size"),
        ({"size": 512, "tile": 0}, "--tile"),
        ({"size": 512, "tile": 512, "inner": 513}, "--inner"),
        ({"size": 512, "tile": 512, "rates": {"POTRF": {"gpu": 1.0}}}, "--rates"),
    ],
)
def test_what_is_out_of_range_is_refused(arguments: dict[str, Any], place: str) -> None:
    with pytest.raises(InputError, match=place):
        tiles("cholesky", **arguments)


@pytest.mark.parametrize(
    "text", ["[]", "{}", "{", '{"GEMM": 3}', '{"GEMM": {}}', '{"GEMM": {"cpu": 0}}', '{"GEMM": {"cpu": true}}']
)
def test_a_table_that_is_none_is_refused_with_its_file(text: str, tmp_path: Path) -> None:
    path = tmp_path / "rates.json"
    path.write_text(text)
    with pytest.raises(InputError, match=r"rates\.json"):
        read_rates(path)


def test_one_host_is_not_called_hosts(tmp_path: Path) -> None:
    asked = ["tiles", "--kernel", "cholesky", "--size", "512", "-o", str(tmp_path / "w.json")]
    assert CliRunner().invoke(generate, asked).output.startswith("tiles: 1 job all at once, 1 host\n")
