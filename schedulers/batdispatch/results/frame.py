"""The jobs of a run as a pandas frame, for notebooks and evalys; nothing else imports pandas for them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from batdispatch.core.jobs.job import FINAL_STATES
from batdispatch.core.jobs.job_table import COLUMNS, JobTable
from batdispatch.results.jobs_file import read_columns


def frame_of(columns: JobTable) -> pd.DataFrame:
    """Return the columns of a run as a frame.

    Returns:
        One row per job, with `columns.COLUMNS`: text for ids, names, allocations (Batsim's notation) and metadata;
        seconds as float64, NaN where a rejected job has none; requested_time is infinite where no walltime was asked
        for; requested_number_of_resources int64; success bool; final_state one of Batsim's names, as a category.
    """
    values: dict[str, object] = {}
    for name in COLUMNS:
        found = getattr(columns, name)
        texts = found.dtype.kind in "OT"
        values[name] = pd.Series(found.astype(object), dtype="str") if texts else found
    states = pd.CategoricalDtype([state.value for state in FINAL_STATES])
    values["final_state"] = pd.Categorical.from_codes(columns.final_state.astype(np.int64), dtype=states)
    return pd.DataFrame(values)


def read_jobs(path: Path) -> pd.DataFrame:
    """Read a jobs file as a frame; see `jobs_file.read_columns` and `frame_of`.

    Raises:
        InputError: as `jobs_file.read_columns`.
    """
    return frame_of(read_columns(path))
