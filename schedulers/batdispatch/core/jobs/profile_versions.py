"""Which profile type of Batsim 4, whose types are ours, corresponds to which of Batsim 5, field by field.

Batsim 5 has two notations for the same profiles, which name some fields differently: batprotocol's messages ("wire")
and workload files ("file"). Both are read and written by this table: messages in `batdispatch.batsim.v5.profiles`,
files in `batdispatch.batsim.v5.workload`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

#: Values of Batsim 5's ``generation_strategy``: an amount is what each executor (or each pair of them) gets, or it is
#: spread over all of them.
PER_VALUE, SPREAD = "DefinedAmountsUsedForEachValue", "DefinedAmountsSpreadUniformly"
#: The default of a field that must be there.
NO_DEFAULT: Any = object()


@dataclass(frozen=True)
class Field:
    """One field of a profile under its names.

    Attributes:
        ours: name in Batsim 4's profiles; empty where Batsim 4 has no such profile.
        wire: name in Batsim 5's messages; empty: as ours.
        file: name in Batsim 5's workload files; empty: as ours.
        file_alias: second name that Batsim 5 accepts in workload files.
        wire_default: value of a field that a message leaves out.
        file_default: value that a workload file may leave out although Batsim 4 wants it.
        many: whether the value is an array; an array that a message leaves out is empty.
        spread: where Batsim 5 spreads an amount over n executors, the number by which Batsim 4's amount is smaller:
            n ("executors") or n - 1 ("partners", the other executors: Batsim 5 divides communication by the n * (n - 1)
            pairs, Batsim 4 by n). Empty: the amounts are equal.
    """

    ours: str
    wire: str = ""
    file: str = ""
    file_alias: str = ""
    wire_default: Any = NO_DEFAULT
    file_default: Any = NO_DEFAULT
    many: bool = False
    spread: Literal["", "executors", "partners"] = ""

    @property
    def on_wire(self) -> str:
        """Name in Batsim 5's messages."""
        return self.wire or self.ours

    @property
    def in_file(self) -> str:
        """Name in Batsim 5's workload files."""
        return self.file or self.ours


@dataclass(frozen=True)
class Correspondence:
    """A profile type of Batsim 5 and the one of Batsim 4 that means the same.

    Attributes:
        theirs: Batsim 5's type.
        ours: Batsim 4's type; None: Batsim 4 has nothing of the kind.
        fields: in the order in which they are written.
        strategy: value of ``generation_strategy`` that tells the rows of one type of Batsim 5 apart; empty: the type
            has no such field.
        trace_type: value of ``trace_type`` that does the same.
        exact: whether Batsim 4 can say every profile of this row. A profile in a message that it cannot say keeps
            Batsim 5's type and field names, so that nothing is misread; one in a workload file is converted, since the
            file tells the number of executors.
    """

    theirs: str
    ours: str | None
    fields: tuple[Field, ...]
    strategy: str = ""
    trace_type: str = ""
    exact: bool = True

    @property
    def wire_names(self) -> tuple[str, ...]:
        """Names of all fields in Batsim 5's messages, in batprotocol's order."""
        names = tuple(field.on_wire for field in self.fields)
        return (*_named(trace_type=self.trace_type), *names, *_named(generation_strategy=self.strategy))

    @property
    def file_names(self) -> tuple[str, ...]:
        """Names of all fields in Batsim 5's workload files."""
        names = tuple(field.in_file for field in self.fields)
        return (*_named(trace_type=self.trace_type), *names, *_named(generation_strategy=self.strategy))


def _named(**values: str) -> tuple[str, ...]:
    return tuple(name for name, value in values.items() if value)


_PARTS = (Field("", wire="profile_ids"),)
_CPU = Field("cpu", wire="computation_amount", wire_default=0.0, file_default=0)
_COM = Field("com", wire="communication_amount", wire_default=0.0, file_default=0)
_COM_OF_ALL = Field("com", wire="communication_amount", wire_default=0.0, file_default=0, spread="partners")
_STORAGE = Field("storage", wire="storage_name", file_alias="host", wire_default="pfs", file_default="pfs")
_READ, _WRITE = (Field(name, wire_default=0.0, file_default=0) for name in ("bytes_to_read", "bytes_to_write"))
_READ_BY_ALL, _WRITE_BY_ALL = (
    Field(name, wire_default=0.0, file_default=0, spread="executors") for name in ("bytes_to_read", "bytes_to_write")
)
_TRACE = Field("trace", wire="filename", file="filename")

#: The table, in Batsim 5's order. Of several rows with one type of ours, the first says how it is written.
TABLE = (
    Correspondence("DelayProfile", "delay", (Field("delay"),)),
    Correspondence(
        "ParallelTaskProfile",
        "parallel",
        (
            Field("cpu", wire="computation_vector", many=True),
            Field("com", wire="communication_matrix", many=True),
        ),
        exact=False,  # Without amounts it does not say for how many executors it is made.
    ),
    Correspondence("ParallelTaskHomogeneousProfile", "parallel_homogeneous", (_CPU, _COM), strategy=PER_VALUE),
    Correspondence(
        "ParallelTaskHomogeneousProfile",
        "parallel_homogeneous_total",
        (_CPU, _COM_OF_ALL),
        strategy=SPREAD,
        exact=False,
    ),
    Correspondence(
        "SequentialCompositionProfile",
        "composed",
        (Field("repeat", wire="repetition_count", wire_default=1), Field("seq", wire="profile_ids", many=True)),
    ),
    Correspondence("ForkJoinCompositionProfile", None, _PARTS, exact=False),
    Correspondence("ParallelTaskMergeCompositionProfile", None, _PARTS, exact=False),
    Correspondence(
        "ParallelTaskOnStorageHomogeneousProfile",
        "parallel_homogeneous_pfs",
        (_STORAGE, _READ, _WRITE),
        strategy=PER_VALUE,
    ),
    Correspondence(
        "ParallelTaskOnStorageHomogeneousProfile",
        "parallel_homogeneous_pfs",
        (_STORAGE, _READ_BY_ALL, _WRITE_BY_ALL),
        strategy=SPREAD,
        exact=False,
    ),
    Correspondence(
        "ParallelTaskDataStagingBetweenStoragesProfile",
        "data_staging",
        (
            Field("nb_bytes", wire="bytes_to_transfer", wire_default=0.0),
            Field("from", wire="emitter_storage_name"),
            Field("to", wire="receiver_storage_name"),
        ),
    ),
    Correspondence("TraceReplayProfile", "smpi", (_TRACE,), trace_type="SMPI"),
    Correspondence(
        "TraceReplayProfile",
        "usage_trace",
        (_TRACE,),
        trace_type="FractionalComputation",
        exact=False,  # A message may name a further type of traces.
    ),
)
#: Types of ours that Batsim 5 lacks: it has no messages between jobs and schedulers.
MESSAGES = ("send", "recv")

#: Batsim 5's types, in its order.
BATSIM5_TYPES = tuple(dict.fromkeys(row.theirs for row in TABLE))
#: Batsim 5's type -> the rows that it may be.
OF_BATSIM5 = {theirs: tuple(row for row in TABLE if row.theirs == theirs) for theirs in BATSIM5_TYPES}
#: Batsim 4's type -> the row by which it is written.
OF_BATSIM4 = {row.ours: row for row in reversed(TABLE) if row.ours is not None}
