"""Our median and percentiles are numpy's, to the last digit."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from batdispatch.results.metrics.percentile import median, percentile

values = st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=60)


@given(values, st.sampled_from([0, 1, 50, 90, 95, 99, 100]))
def test_percentiles_are_those_of_numpy(listed: list[float], percent: int) -> None:
    numbers = np.array(listed)
    assert percentile(numbers, percent) == float(np.percentile(numbers, percent))
    assert numbers.tolist() == listed


@given(values)
def test_the_median_is_that_of_numpy(listed: list[float]) -> None:
    assert median(np.array(listed)) == float(np.median(np.array(listed)))
