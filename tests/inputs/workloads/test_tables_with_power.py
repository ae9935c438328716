"""Power and energy of jobs in tables, tables in Parquet, and the mappings of published ones."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from batdispatch.core.errors import InputError
from batdispatch.inputs.log_options import LogOptions
from batdispatch.inputs.workloads.importers import read_log

HEADER = "id,submit,run,cores,nodes,watts,used"
COLUMNS = "id=id,submit=submit,runtime=run,cores=cores,nodes=nodes"


FOREVER = float("inf")


def converted(path: Path, columns: str, **more: Any) -> dict[str, Any]:
    workload = read_log(path, options=LogOptions(columns=columns, **more)).workload
    return {job.id: (job.units, job.walltime, job.extra.get("power"), job.user) for job in workload.jobs}


@pytest.mark.parametrize(
    ("columns", "watts"),
    [
        ("power=watts", 500.0),
        ("power=watts:kW", 500_000.0),
        ("power=watts:/node", 1000.0),
        ("power=watts:W/core", 4000.0),
        ("energy=used:kJ", 36_000.0),
        ("energy=used:Wh", 129_600.0),
        ("power=watts,energy=used", 500.0),
    ],
)
def test_power_or_energy_becomes_the_mean_watts_of_all_nodes(tmp_path: Path, columns: str, watts: float) -> None:
    (tmp_path / "t.csv").write_text(f"{HEADER}\na,0,100,8,2,500,3.6e3\nb,5,100,8,2,,\n")
    found = converted(tmp_path / "t.csv", f"{COLUMNS},{columns}")
    assert found["a"][2] == pytest.approx(watts)
    assert found["b"][2] is None


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ("power=watts:J", r"--columns, power: unit 'J', expected one of W, kW, MW"),
        ("energy=used:kW", r"--columns, energy: unit 'kW', expected one of J, kJ, MJ, Wh, kWh, MWh"),
        ("power=watts:W/host", r"'host', expected an amount for each /node or /core"),
    ],
)
def test_wrong_units_are_refused(tmp_path: Path, columns: str, problem: str) -> None:
    (tmp_path / "t.csv").write_text(f"{HEADER}\na,0,100,8,2,500,3600\n")
    with pytest.raises(InputError, match=problem):
        converted(tmp_path / "t.csv", f"{COLUMNS},{columns}")


def test_a_power_that_is_no_number_is_refused_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f"{HEADER}\na,0,100,8,2,-3,\n")
    with pytest.raises(InputError, match=r"t.csv, line 2, column 'watts': '-3', expected a number from 0"):
        converted(tmp_path / "t.csv", f"{COLUMNS},power=watts")


def moment(minute: int) -> datetime:
    return datetime(2020, 5, 4, 10, minute, tzinfo=UTC)


def parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def test_rows_after_the_documentation_of_pm100(tmp_path: Path) -> None:
    row = {
        **{"job_id": 7, "user_id": 31, "group_id": 2, "partition": "1", "qos": "0", "num_cores_req": 256},
        **{"num_cores_alloc": 256, "num_nodes_alloc": 2, "num_gpus_alloc": 8, "run_time": 120, "time_limit": "60"},
        **{"submit_time": moment(0), "eligible_time": moment(0), "start_time": moment(3), "end_time": moment(5)},
        **{"power_consumption": [1000.0, 2000.0, 1500.0], "job_state": "COMPLETED", "nodes": "[1, 2]"},
    }
    path = parquet(tmp_path / "job_table.parquet", [row, {**row, "job_id": 8, "time_limit": "INFINITE"}])
    assert converted(path, "pm100", units="hosts") == {
        "7": (2, 3600.0, 1500.0, "31"),
        "8": (2, FOREVER, 1500.0, "31"),
    }
    row["node_power_consumption"] = row.pop("power_consumption")
    assert converted(parquet(path, [row]), "pm100", units="hosts") == {"7": (2, 3600.0, 1500.0, "31")}


def test_rows_after_the_documentation_of_f_data(tmp_path: Path) -> None:
    row = {
        **{"jid": "j1", "usr": "u1", "jnam": "n", "cnumr": 192, "cnumat": 192, "nnumr": 4, "nnuma": 4, "elpl": 1800.0},
        **{"adt": "2021-04-01 10:00:00+09:00", "sdt": "2021-04-01 10:05:00+09:00", "edt": "2021-04-01 10:15:00+09:00"},
        **{"duration": 600.0, "avgpcon": 110.5, "econ": 0.07, "exit state": "completed"},
    }
    path = parquet(tmp_path / "21_04.parquet", [row, {**row, "jid": "j2", "avgpcon": None}])
    assert converted(path, "f-data", units="hosts") == {"j1": (4, 1800.0, 442.0, "u1"), "j2": (4, 1800.0, None, "u1")}


def test_what_is_no_parquet_or_lacks_a_column_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match=r"x.parquet: is no Parquet: "):
        converted(tmp_path / "x.parquet", "pm100")
    with pytest.raises(InputError, match=r"y.parquet: cannot be read: "):
        converted(tmp_path / "y.parquet", "pm100")
    path = parquet(tmp_path / "z.parquet", [{"job_ID": 1, "user": 2}])
    with pytest.raises(InputError, match=r"z.parquet, line 1: there is no column 'user_id' for user"):
        converted(path, "pm100")
