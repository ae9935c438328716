"""Critical differences, on the example and the tables of Demsar's paper, and who lies within one."""

import numpy as np
import pytest

from batdispatch.results.statistics.nemenyi import critical_difference, groups_within


def test_demsar_table_6_critical_difference_of_nemenyi() -> None:
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)
    assert critical_difference(4, 14, 0.10) == pytest.approx(1.12, abs=0.005)


def test_demsar_table_5a_critical_values_of_nemenyi() -> None:
    # sqrt(k (k + 1) / (6 N)) is 1 for N = k (k + 1) / 6, so that the difference is the critical value itself.
    for many, q in ((2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (6, 2.850), (7, 2.949), (8, 3.031)):
        assert critical_difference(many, many * (many + 1)) * np.sqrt(6) == pytest.approx(q, abs=1.5e-3)


def test_groups_leave_out_those_within_others_and_those_of_one() -> None:
    assert groups_within("abcde", [1.0, 1.5, 2.4, 4.0, 4.1], 1.0) == (("a", "b"), ("b", "c"), ("d", "e"))
    assert groups_within("abc", [1.0, 2.0, 3.0], 1.0) == ()
