"""From when on something is called significant, and on how few replicates nothing can be."""

from __future__ import annotations

from itertools import count

#: Significance: what comes by chance in a smaller share of the cases is told apart.
ALPHA = 0.05
#: Fewest replicates with an interval: if one of two wins all n, the two-sided p of the sign test is 2 of 2^n.
LEAST = next(n for n in count(1) if 2.0 ** (1 - n) < ALPHA)
