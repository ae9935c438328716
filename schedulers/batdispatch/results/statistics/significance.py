"""From when on something is called significant, and on how few pairs nothing can be (Demsar, section 3.1.3)."""

from __future__ import annotations

from itertools import count

#: Significance: what comes by chance in a smaller share of the cases is told apart.
ALPHA = 0.05


def fewest_pairs(comparisons: int = 1) -> int:
    """Return the least n with m 2^(1 - n) < `ALPHA`: on fewer pairs, the signed-rank test finds nothing.

    If one of two wins all n pairs, the two-sided p of the signed-rank test is 2 of 2^n, and Holm's correction
    multiplies the smallest p of m by m.

    When to use: to say why nothing was tested, or how many replicates a question needs.

    Args:
        comparisons: m, at least 1.
    """
    return next(n for n in count(1) if comparisons * 2.0 ** (1 - n) < ALPHA)


#: Fewest pairs from which anything can be significant at 5 %: five wins of five come by chance in 2 of 2^5 cases.
LEAST = fewest_pairs()
