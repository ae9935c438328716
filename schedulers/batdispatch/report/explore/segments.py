"""What a page is told of the segments of logical jobs: attempts, and parts of resized jobs.

Nothing is told of a run in which no job continues another, so that its page does not grow. ``assets/lineage.js`` reads
the columns.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from batdispatch.report.explore.streams import Whole, folded
from batdispatch.results.runs import Run


def segment_columns(run: Run, rows: Whole, units: Whole) -> Iterable[tuple[str, Whole]]:
    """Yield what each segment asked for and how it ended; none, if every row of the run is a job of its own.

    Args:
        run: the run.
        rows: of the segments in its jobs file, in the order of the page.
        units: that the logical job of each segment asked for.
    """
    if not run.lineage.joined:
        return
    segments = run.columns.take(rows)
    limit = segments.requested_time
    finite = np.isfinite(limit)
    # As for jobs: whole seconds and one more, 0 without a limit.
    yield "segment_limit", np.where(finite, np.ceil(np.where(finite, limit, 0)) + 1, 0).astype(np.int64)
    yield "segment_units", folded(segments.requested_number_of_resources - units)
    yield "segment_state", segments.final_state.astype(np.int64)
