import gzip
import lzma
import math

import numpy as np
import pytest

from batdispatch.core.errors import InputError
from batdispatch.core.jobs.job_table import COLUMNS
from batdispatch.results.frame import read_jobs

HEADER = ",".join(COLUMNS)
LINE = 'a,w0,p,0.0,1,-1,1,COMPLETED_SUCCESSFULLY,1.0,2.0,3.0,1.0,3.0,1.5,0,-1,""'


def write(tmp_path, text, name="jobs.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_batsim4_recordings_read_with_their_types(recordings):
    read = 0
    for path in sorted(recordings.glob("*/*/jobs.csv")):
        if not path.read_text():
            continue
        frame = read_jobs(path)
        read += 1
        assert tuple(frame.columns) == COLUMNS
        assert len(frame) == len(path.read_text().splitlines()) - 1
        assert frame["submission_time"].dtype == np.float64
        assert frame["requested_number_of_resources"].dtype == np.int64
        assert frame["success"].dtype == bool
        assert all(isinstance(job, str) for job in frame["job_id"])
    assert read > 30


def test_a_rejected_job_has_no_times(recordings):
    frame = read_jobs(recordings / "batsim4" / "reject" / "jobs.csv").set_index("job_id")
    assert frame.loc["big", "final_state"] == "REJECTED"
    assert math.isnan(frame.loc["big", "starting_time"])
    assert frame.loc["nowall", "requested_time"] == math.inf


def test_ids_and_metadata_are_text(tmp_path):
    path = write(
        tmp_path,
        f'{HEADER}\n007,w0,p,0,1,-1,1,COMPLETED_SUCCESSFULLY,0,1,1,0,1,1,0-1 3,-1,"a, b\nc"\n{LINE}\n'
        f"NA,w0,nan,0,1,-1,1,COMPLETED_SUCCESSFULLY,0,1,1,0,1,1,0,-1,\n",
    )
    frame = read_jobs(path)
    assert frame["job_id"].tolist() == ["007", "a", "NA"]
    assert frame["metadata"].tolist() == ["a, b\nc", "", ""]
    assert frame["profile"].tolist() == ["p", "p", "nan"]


@pytest.mark.parametrize(("ending", "pack"), [(".xz", lzma.compress), (".gz", gzip.compress)])
def test_compressed_files(tmp_path, ending, pack):
    path = tmp_path / f"jobs.csv{ending}"
    path.write_bytes(pack(f"{HEADER}\n{LINE}\n".encode()))
    assert read_jobs(path)["job_id"].tolist() == ["a"]
    path.write_bytes(b"no such thing")
    with pytest.raises(InputError, match=r"jobs.csv.*decompressed"):
        read_jobs(path)


def test_old_column_names_and_missing_columns_are_made_up_for(tmp_path):
    path = write(
        tmp_path,
        "jobID,submission_time,requested_number_of_processors,requested_time,success,starting_time,finish_time,"
        "allocated_processors\n1,0,2,100,1,5,15,0-1\n2,0,2,10,0,5,15,0-1\n3,0,2,20,0,5,15,0-1\n4,0,2,20,0,,,\n",
    )
    frame = read_jobs(path)
    assert frame["final_state"].tolist() == [
        "COMPLETED_SUCCESSFULLY",
        "COMPLETED_WALLTIME_REACHED",
        "COMPLETED_FAILED",
        "REJECTED",
    ]
    assert frame["waiting_time"].tolist()[:3] == [5, 5, 5]
    assert frame["execution_time"].tolist()[:3] == [10, 10, 10]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"empty"),
        ("hello\n", r"line 1.*job_id is missing"),
        (f"{HEADER},job_id\n", r"line 1.*job_id is there twice"),
        (f"{HEADER}\n{LINE}\na,b\n", r"line 3.*2 fields, expected 17"),
        (f"{HEADER}\n{LINE},1,2\n", r"line 2, job 'a': 19 fields, expected 17"),
        (f"{HEADER}\n{LINE}\n{LINE},1\n", r"line 3, job 'a': 18 fields"),
        (f"{HEADER}\n" + LINE.replace(",0.0,1,", ",soon,1,"), r"line 2, job 'a': submission_time: 'soon' is not a num"),
        (f"{HEADER}\n" + LINE.replace(",0.0,1,", ",nan,1,"), r"submission_time: 'nan'"),
        (f"{HEADER}\n" + LINE.replace(",0.0,1,", ",,1,"), r"line 2, job 'a': submission_time: found 'nan'"),
        (f"{HEADER}\n" + LINE.replace(",0.0,1,", ",-5,1,"), r"submission_time: found '-5.0'"),
        (f"{HEADER}\n" + LINE.replace(",0.0,1,", ",inf,1,"), r"submission_time: found 'inf'"),
        (f"{HEADER}\n" + LINE.replace(",0.0,1,", ",0.0,1.5,"), r"requested_number_of_resources: found '1.5'"),
        (f"{HEADER}\n" + LINE.replace(",0.0,1,", ",0.0,0,"), r"requested_number_of_resources: found '0.0'"),
        (f"{HEADER}\n" + LINE.replace("0.0,1,-1,1", "0.0,1,-7,1"), r"requested_time: found '-7.0'.*-1 for none"),
        (f"{HEADER}\n" + LINE.replace("0.0,1,-1,1", "0.0,1,-1,2"), r"success: found '2.0', expected 0 or 1"),
        (f"{HEADER}\n" + LINE.replace("COMPLETED_SUCCESSFULLY", "DONE"), r"final_state: found 'DONE', expected one of"),
        (f"{HEADER}\n" + LINE.replace(",1.0,2.0,3.0", ",,2.0,3.0"), r"starting_time: found 'nan'.*not rejected"),
        (f"{HEADER}\n" + LINE.replace("a,w0", ",w0"), r"job_id: found ''"),
        (f'{HEADER}\n{LINE}\nb,"w0\n', r"line"),
        (f"{HEADER}\n" + LINE.replace(",0.0,1,", ",1_000,1,"), r"'1_000' is not a number"),
    ],
)
def test_wrong_files_are_refused_with_file_and_line(tmp_path, text, message):
    path = write(tmp_path, text)
    with pytest.raises(InputError, match=message) as caught:
        read_jobs(path)
    assert str(path) in str(caught.value)


def test_the_line_counts_lines_inside_quotes(tmp_path):
    path = write(
        tmp_path, f"{HEADER}\n" + LINE.replace('""', '"one\ntwo"') + "\n" + LINE.replace("a,w0,p,0", "b,w0,p,-1")
    )
    with pytest.raises(InputError, match=r"line 4, job 'b'"):
        read_jobs(path)


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_bytes(b"\xff\xfe\x00job")
    with pytest.raises(InputError, match="not UTF-8"):
        read_jobs(path)


@pytest.mark.reallogs
def test_an_older_batsim(shared):
    files = sorted(shared.glob("batsim-outputs/medium_late/*/out_jobs.csv.xz"))
    assert len(files) == 6
    for path in files:
        frame = read_jobs(path)
        assert len(frame) == 801
        assert frame["success"].all()
