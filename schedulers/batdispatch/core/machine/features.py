"""Features of nodes, and which nodes have those that a job requires (Slurm's ``--constraint``).

References:
    Slurm documentation, sbatch(1), https://slurm.schedmd.com/sbatch.html.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

#: Host property with what a host has: ``avx512 ib``.
FEATURES_PROPERTY = "features"
#: Field of a job with what it requires: ``avx512&(ib|roce)``.
CONSTRAINT = "constraint"
_TOKEN = re.compile(r"[&|(),]|[^&|(),\s]+")


def matches(text: str, having: Mapping[str, int], everything: int) -> int:
    """Return the hosts that have what a text requires: ``a&b``, ``a|b`` and parentheses, from left to right.

    A comma stands for ``&``. A feature that no host has selects none.

    Args:
        text: the requirement.
        having: mask of the hosts with each feature.
        everything: mask of all hosts.

    Raises:
        ValueError: the text has another form.
    """
    tokens = _TOKEN.findall(text)
    if len(tokens) > 1000:
        raise ValueError(text)
    #: What stands before each parenthesis that is open: the hosts so far, and the operator.
    outer: list[tuple[int, str]] = []
    found, operator, complete = everything, "&", False
    for token in tokens:
        if token in "&|,":
            if not complete:
                raise ValueError(text)
            operator, complete = "|" if token == "|" else "&", False
            continue
        if (token == ")") != complete:
            raise ValueError(text)
        if token == "(":
            outer.append((found, operator))
            found, operator = everything, "&"
            continue
        operand = having.get(token, 0)
        if token == ")":
            if not outer:
                raise ValueError(text)
            operand = found
            found, operator = outer.pop()
        found, complete = found | operand if operator == "|" else found & operand, True
    if outer or not complete:
        raise ValueError(text)
    return found
