"""What changes the files of folders of many runs as a forger would."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

#: Changes a folder.
Forge = Callable[[Path], object]


def swap(one: Path, other: Path) -> None:
    """Exchange two folders."""
    between = one.with_name("between")
    one.rename(between)
    other.rename(one)
    between.rename(other)


def edit(path: Path, change: Callable[[Any], object]) -> None:
    """Change what a JSON file says."""
    told = json.loads(path.read_text())
    change(told)
    path.write_text(json.dumps(told))


def in_facts(**fields: object) -> Forge:
    """Change fields of comparison.json."""
    return lambda at: edit(at / "comparison.json", lambda told: told.update(fields))


def own(at: Path) -> Path:
    """Return the folder of a campaign."""
    return at / "small"


def in_table(name: str, change: Callable[[list[dict[str, Any]]], object]) -> Forge:
    """Change the rows of a table of a campaign."""

    def forge(at: Path) -> None:
        table = pq.read_table(own(at) / name)
        rows = table.to_pylist()
        change(rows)
        schema = table.schema
        if "failure" in schema.names:
            schema = schema.set(schema.get_field_index("failure"), pa.field("failure", pa.string()))
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), own(at) / name)

    return forge


def in_needs(change: Callable[[list[dict[str, Any]]], object]) -> Forge:
    """Change what a campaign's record calls its cells."""
    return lambda at: edit(own(at) / "needs.json", lambda told: change(told["parts"]["all"]["named"]))


def both(*forgeries: Forge) -> Forge:
    """Do several in turn."""
    return lambda at: [forge(at) for forge in forgeries]
