"""Texts that stand one behind the other in memory, so that C and Python share a column of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray


class PackedTexts:
    """A column of texts without an object for each.

    Attributes:
        data: the texts in UTF-8, uint8 [byte].
        bounds: where each text begins, and behind the last one the number of bytes, int64 [text + 1].
    """

    __slots__ = ("bounds", "data")

    def __init__(self, data: NDArray[np.uint8], bounds: NDArray[np.int64]) -> None:
        self.data, self.bounds = data, bounds

    @classmethod
    def of(cls, texts: Sequence[str]) -> PackedTexts:
        """Return a column of some texts."""
        data = "".join(texts).encode()
        # Where a byte is a character, no text needs to be encoded to know its length.
        lengths = map(len, texts) if data.isascii() else (len(text.encode()) for text in texts)
        bounds = np.fromiter(accumulate(lengths, initial=0), dtype=np.int64, count=len(texts) + 1)
        return cls(np.frombuffer(data, dtype=np.uint8), bounds)

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self.bounds) - 1

    def __getitem__(self, index: int) -> str:
        """Return a text, given by its position from 0."""
        return self.data[self.bounds[index] : self.bounds[index + 1]].tobytes().decode()

    def take(self, rows: NDArray[np.int64]) -> PackedTexts:
        """Return the texts at some positions, in their order."""
        lengths = np.diff(self.bounds)[rows]
        bounds = np.concatenate(([0], np.cumsum(lengths)))
        places = np.arange(bounds[-1]) + np.repeat(self.bounds[rows] - bounds[:-1], lengths)
        return PackedTexts(self.data[places], bounds)

    def tolist(self) -> list[str]:
        """Return the texts as a list."""
        data: Any = self.data.tobytes()
        bounds = self.bounds.tolist()
        if data.isascii():
            data = data.decode()
            return [data[begin:end] for begin, end in pairwise(bounds)]
        return [data[begin:end].decode() for begin, end in pairwise(bounds)]
