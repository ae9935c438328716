"""Tile algorithms of dense linear algebra as graphs of tasks: Cholesky, LU without pivoting, and QR.

A matrix of nt x nt tiles, each b x b, is factorised by kernels that read and write whole tiles. The order in which a
sequential program calls the kernels says which task depends on which: a task waits for the last writer of each tile
that it reads (read after write), and for the readers of each tile that it overwrites (write after read). Cholesky and
LU need no edge of the second kind that is not one of the first kind too; QR needs nt (nt - 1) / 2.

The loops are those of PLASMA (right-looking, sequential order). In QR the tile on the diagonal counts as one datum, of
which TSQRT overwrites the upper half while UNMQR reads the lower one; hence its write-after-read edges.

References:
    Buttari, Langou, Kurzak, Dongarra: "A class of parallel tiled linear algebra algorithms for multicore
    architectures", Parallel Computing 35(1), 2009.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

#: Which matrix a tile belongs to: the matrix itself, or the triangular factors of QR's reflectors.
MATRIX, FACTORS = "A", "T"


@dataclass(frozen=True)
class Tile:
    """One tile, named by its matrix, row and column, from 0."""

    matrix: str
    row: int
    column: int

    @property
    def name(self) -> str:
        """Name of the datum, such as ``A.3.1``."""
        return f"{self.matrix}.{self.row}.{self.column}"


@dataclass(frozen=True)
class Call:
    """One call of a kernel.

    Attributes:
        kernel: its name, as PLASMA's without the letter of the precision.
        at: the loop indices that tell the calls of a kernel apart.
        flops: floating-point operations.
        reads: tiles whose old contents it needs, those that it updates too.
        writes: tiles that it leaves changed.
    """

    kernel: str
    at: tuple[int, ...]
    flops: int
    reads: tuple[Tile, ...]
    writes: tuple[Tile, ...]


def _a(row: int, column: int) -> Tile:
    return Tile(MATRIX, row, column)


def _t(row: int, column: int) -> Tile:
    return Tile(FACTORS, row, column)


def cholesky(nt: int, b: int) -> Iterator[Call]:
    """Yield the calls that factorise a symmetric matrix, n^3/3 + n^2/2 + n/6 operations in all for n = nt b."""
    for k in range(nt):
        yield Call("POTRF", (k,), (2 * b**3 + 3 * b**2 + b) // 6, (_a(k, k),), (_a(k, k),))
        for m in range(k + 1, nt):
            yield Call("TRSM", (m, k), b**3, (_a(k, k), _a(m, k)), (_a(m, k),))
        for m in range(k + 1, nt):
            yield Call("SYRK", (m, k), b**3 + b**2, (_a(m, k), _a(m, m)), (_a(m, m),))
            for n in range(k + 1, m):
                yield Call("GEMM", (m, n, k), 2 * b**3, (_a(m, k), _a(n, k), _a(m, n)), (_a(m, n),))


def lu(nt: int, b: int) -> Iterator[Call]:
    """Yield the calls of an LU factorisation without pivoting, 2n^3/3 - n^2/2 - n/6 operations in all."""
    for k in range(nt):
        yield Call("GETRF", (k,), (4 * b**3 - 3 * b**2 - b) // 6, (_a(k, k),), (_a(k, k),))
        for n in range(k + 1, nt):
            # The lower factor has a unit diagonal: nothing to divide by.
            yield Call("TRSM", (k, n), b**3 - b**2, (_a(k, k), _a(k, n)), (_a(k, n),))
        for m in range(k + 1, nt):
            yield Call("TRSM", (m, k), b**3, (_a(k, k), _a(m, k)), (_a(m, k),))
            for n in range(k + 1, nt):
                yield Call("GEMM", (m, n, k), 2 * b**3, (_a(m, k), _a(k, n), _a(m, n)), (_a(m, n),))


def qr(nt: int, b: int) -> Iterator[Call]:
    """Yield the calls of a QR factorisation with flat trees.

    Of each kernel's operations the leading term is counted, 4n^3/3 in all. Tile QR does a quarter more with small inner
    blocks; like the literature, rates are quoted for the operations of the factorisation.
    """
    for k in range(nt):
        yield Call("GEQRT", (k,), 4 * b**3 // 3, (_a(k, k),), (_a(k, k), _t(k, k)))
        for n in range(k + 1, nt):
            yield Call("UNMQR", (k, n), 2 * b**3, (_a(k, k), _t(k, k), _a(k, n)), (_a(k, n),))
        for m in range(k + 1, nt):
            yield Call("TSQRT", (m, k), 2 * b**3, (_a(k, k), _a(m, k)), (_a(k, k), _a(m, k), _t(m, k)))
            for n in range(k + 1, nt):
                reads = (_a(m, k), _t(m, k), _a(k, n), _a(m, n))
                yield Call("TSMQR", (m, n, k), 4 * b**3, reads, (_a(k, n), _a(m, n)))


#: Name of a factorisation -> its calls for (tiles a side, size of a tile).
GRAPHS: dict[str, Callable[[int, int], Iterator[Call]]] = {"cholesky": cholesky, "lu": lu, "qr": qr}


@dataclass(frozen=True)
class Edges:
    """What a call waits for, as positions in the sequence of calls, ascending.

    Attributes:
        raw: last writers of what it reads.
        war: readers, since the last write, of what it overwrites, as far as they are not in `raw`.
    """

    raw: tuple[int, ...]
    war: tuple[int, ...]


def edges_of(calls: list[Call]) -> list[Edges]:
    """Return the direct edges of each call of a sequential program."""
    writer: dict[Tile, int] = {}
    readers: dict[Tile, list[int]] = {}
    found = []
    for index, call in enumerate(calls):
        raw = {writer[tile] for tile in call.reads if tile in writer}
        war = {reader for tile in call.writes for reader in readers.get(tile, ())} - raw
        found.append(Edges(tuple(sorted(raw)), tuple(sorted(war))))
        for tile in call.reads:
            readers.setdefault(tile, []).append(index)
        for tile in call.writes:
            writer[tile] = index
            readers[tile] = []
    return found
