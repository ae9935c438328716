"""Features of nodes, and which nodes have those that a job requires (Slurm's ``--constraint``).

References:
    Slurm documentation, sbatch(1), https://slurm.schedmd.com/sbatch.html.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

#: Host property with what a host has: ``avx512 ib``.
FEATURES_PROPERTY = "features"
#: Field of a job with what it requires: ``avx512&(ib|roce)``, or ``[rack1|rack2]``: all hosts of one of these.
CONSTRAINT = "constraint"
#: Most parts of the machine among which a text lets a job choose; further ones are left out.
MAX_WAYS = 64
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_TOKEN = re.compile(r"[&|(),]|[^&|(),\s]+")


def ways(text: str, having: Mapping[str, int], everything: int) -> tuple[int, ...]:
    """Return the parts of the machine that have what a text requires: the hosts of a job are all in one of them.

    There are several if the text says so in brackets: with ``[a|b]``, all hosts have a, or all have b. A part that lies
    within another one is left out, and so is an empty one. A text that cannot be read selects none.

    Args:
        text: the requirement, as for `matches`, with brackets besides.
        having: mask of the hosts with each feature.
        everything: mask of all hosts.
    """
    texts = [text]
    while (first := _BRACKETS.search(texts[0])) is not None:
        options = _split(first[1])
        texts = [
            f"{one[: found.start()]}({option}){one[found.end() :]}"
            for one in texts
            for option in options
            if (found := _BRACKETS.search(one))
        ][:MAX_WAYS]
    try:
        masks = [matches(one, having, everything) for one in texts]
    except ValueError:
        return ()
    return largest(masks)


def largest(masks: Iterable[int]) -> tuple[int, ...]:
    """Return the masks, in their order and each once, that are not empty and lie within no other one."""
    told = tuple(dict.fromkeys(mask for mask in masks if mask))
    return tuple(one for one in told if not any(one != other and one & ~other == 0 for other in told))


def _split(text: str) -> list[str]:
    """Return the parts of a text between those ``|`` that stand in no parentheses."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if sign == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


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
