"""Runs cells of notebooks without Jupyter."""

from __future__ import annotations

import ast
from typing import Any


def show(cell: str, names: dict[str, Any]) -> Any:
    """Run a cell as Jupyter does: the value of its last expression is shown, unless a semicolon ends it."""
    tree = ast.parse(cell)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) and not cell.rstrip().endswith(";") else None
    exec(compile(tree, "cell", "exec", dont_inherit=True), names)
    if last is None:
        return None
    assert isinstance(last, ast.Expr)
    return eval(compile(ast.Expression(last.value), "cell", "eval", dont_inherit=True), names)
