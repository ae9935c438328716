"""Columns of a run from a frame, so that a test can write a run down as a table."""

import numpy as np
import pandas as pd

from batdispatch.core.jobs.job import FINAL_STATES
from batdispatch.core.jobs.job_table import COLUMNS, JobTable

_TEXTS = ("job_id", "workload_name", "profile", "allocated_resources", "metadata")


def columns_of(frame: pd.DataFrame) -> JobTable:
    """Return the columns of a frame as the jobs file reader would; what the frame lacks is empty or NaN."""
    states = [state.value for state in FINAL_STATES]
    values = {}
    for name in COLUMNS:
        given = frame[name] if name in frame else pd.Series([None] * len(frame), dtype=object)
        if name in _TEXTS:
            values[name] = np.array(["" if pd.isna(text) else str(text) for text in given], dtype=object)
        elif name == "final_state":
            values[name] = np.array([states.index(state) for state in given], dtype=np.int8)
        elif name == "success":
            values[name] = np.array([given_one is True or given_one == 1 for given_one in given], dtype=bool)
        else:
            kind = np.int64 if name == "requested_number_of_resources" else np.float64
            values[name] = given.astype(np.float64).to_numpy().astype(kind)
    return JobTable(**values)
