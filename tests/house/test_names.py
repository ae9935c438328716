"""A name is a noun that says what a thing is, or a verb that says what is done; never a bare participle or pronoun.

Looked at are the names of modules, public classes, and public functions and constants at the top of a module.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "schedulers/batdispatch"
#: Names that are still to be changed; a line goes when its name has gone.
EXEMPT = set((Path(__file__).parent / "names_to_change.txt").read_text().split())

#: Participles that end neither in -ing nor in -ed, and pronouns.
IRREGULAR = frozenset(
    """begun built come done drawn found given gone held kept known left lost made ran said seen sent shown taken
    told all any both each it itself nothing one other others same something such that these this those what
    which who""".split()  # noqa: SIM905
)
#: Nouns with one of the endings.
NOUNS = frozenset(
    """aging backfilling backtracking beginning ending filling halving heading holding mapping meaning need numbering
    opening ordering packing planning pricing queueing ranking recording resampling resizing rounding routing
    scheduling seed setting sharing solving spacing speed spelling string testing timing warning""".split()  # noqa: SIM905
)
#: What users type and read: Batsim's states, an event with a promise, engines, dispatchers, placements, predictions.
TYPED = frozenset(
    "failed killed rejected notified compiled embedded aucsched ipsched connected requested strided".split()  # noqa: SIM905
)


def is_bare(name: str) -> bool:
    """Return whether a name is a single word that is a participle or a pronoun."""
    word = name.lower()
    if not (name[1:] == word[1:] or name.isupper()) or word in NOUNS | TYPED:
        return False
    return word in IRREGULAR or re.fullmatch(r"[a-z0-9]+(ing|ed)", word) is not None


def names_in(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name))


def bare_names() -> set[str]:
    bare: set[str] = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        bare |= {module} if is_bare(module.rpartition(".")[2]) else set()
        names = {name for name in names_in(ast.parse(path.read_text())) if not name.startswith("_")}
        bare |= {f"{module}.{name}" for name in names if is_bare(name)}
    return bare


def test_no_name_is_a_bare_participle_or_pronoun() -> None:
    assert sorted(bare_names() - EXEMPT) == [], "a noun or a verb says what it is (DESIGN, names)"


def test_the_exemptions_only_shrink() -> None:
    assert sorted(EXEMPT - bare_names()) == [], "these have gone: take them out of names_to_change.txt"


@pytest.mark.parametrize(
    ("name", "bare"),
    [
        ("Told", True),
        ("making", True),
        ("KEPT", True),
        ("this", True),
        ("Ordering", False),
        ("seed", False),
        ("PlannedStart", False),
        ("running_jobs", False),
        ("MEASURED_FIELDS", False),
        ("Shape", False),
    ],
)
def test_what_is_bare(name: str, bare: bool) -> None:
    assert is_bare(name) == bare
