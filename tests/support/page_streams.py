"""The columns of numbers in a page, read in Python: a twin of ``decode.js``."""

import base64
import gzip
from typing import Any, Self

import numpy as np


class Read:
    """The streams of a table."""

    def __init__(self, table: dict[str, Any]) -> None:
        content = iter(gzip.decompress(base64.b64decode(table["bytes"])))
        self.streams: list[tuple[str, list[int]]] = []
        for name, count in (column for columns in table["streams"] for column in columns):
            values = []
            for _ in range(count):
                value, shift, byte = 0, 0, 128
                while byte > 127:
                    byte = next(content)
                    value |= (byte & 127) << shift
                    shift += 7
                values.append(value)
            self.streams.append((name, values))
        assert next(content, None) is None

    def next(self, name: str) -> list[int]:
        found, values = self.streams.pop(0)
        assert found == name
        return values

    def signed(self, name: str) -> list[int]:
        return [-(value + 1) // 2 if value % 2 else value // 2 for value in self.next(name)]

    def summed(self, name: str, *, signed: bool = False) -> list[int]:
        return np.cumsum(self.signed(name) if signed else self.next(name)).tolist()

    def without(self, *names: str) -> Self:
        """Leave out streams of some names."""
        self.streams = [one for one in self.streams if one[0] not in names]
        return self
