"""One direction of one protocol as a table: which struct of the core is which event on the wire, and back.

A `Row` states an event once: its type on the wire, the shape of its data, and how data become a struct of the core and
the other way round. The schema of a frame, the decoder, the reader and the writer follow from the rows.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Union

import msgspec

from batdispatch.batsim.bounds import check_bounds
from batdispatch.batsim.numbers import require_finite
from batdispatch.batsim.problems import DECODE_ERRORS, field_error, frame_error
from batdispatch.batsim.shapes import Time
from batdispatch.core.errors import FieldError, ImpossibleDecision, InputError, SimulationError
from batdispatch.core.jobs.fields import MAX_MOMENT
from batdispatch.core.line.messages import Message, Reply

#: What a row reads with: (time in s, data of its shape, what one frame or exchange shares) -> struct of the core.
Reader = Callable[[float, Any, Any], Any]
#: What a row writes with: (struct of the core, the same) -> data, or None if the struct is for a later row.
Writer = Callable[[Any, Any], Any]

_encode = msgspec.json.Encoder().encode


class Row(NamedTuple):
    """An event of the wire.

    Attributes:
        kind: its type.
        data: the shape of its data.
        read: refuses data with FieldError.
        write: by struct of the core; refuses with ImpossibleDecision or ValueError.
        optional: whether its data may be left out.
    """

    kind: str
    data: Any
    read: Reader
    write: Mapping[type, Writer] = {}
    optional: bool = False


class Column(NamedTuple):
    """A field that stands in the data as it does in the struct of the core."""

    name: str
    shape: Any
    #: Its name in the core, if that is another one.
    ours: str = ""
    write: Callable[[Any], Any] | None = None
    read: Callable[[Any], Any] | None = None
    default: Any = msgspec.NODEFAULT


def plain(
    kind: str,
    core: type,
    *columns: Column,
    check: Callable[[Any], None] = lambda struct: None,
    strict: bool = False,
    optional: bool = False,
) -> Row:
    """Return the row of an event whose data are fields of a struct of the core.

    Args:
        kind: its type on the wire.
        core: the struct.
        columns: the fields.
        check: refuses a struct that cannot be written.
        strict: whether no other fields may be there.
        optional: see `Row`.
    """
    fields = [(each.name, each.shape, each.default) for each in columns]
    shape = msgspec.defstruct(kind, fields, forbid_unknown_fields=strict)
    getters = [(each.ours or each.name, operator.attrgetter(each.name), each.read) for each in columns]
    writers = [(each.name, operator.attrgetter(each.ours or each.name), each.write) for each in columns]

    def read(time: float, data: Any, context: Any) -> Any:
        return core(time, **{name: get(data) if turn is None else turn(get(data)) for name, get, turn in getters})

    def write(struct: Any, context: Any) -> dict[str, Any]:
        check(struct)
        return {name: get(struct) if turn is None else turn(get(struct)) for name, get, turn in writers}

    return Row(kind, shape, read, {core: write}, optional)


class Dialect(NamedTuple):
    """How a protocol writes every event.

    Attributes:
        tag: the field that says the type of an event.
        payload: the field with its data.
        lenient: whether times that are 0 may be left out.
        moment: writes a time.
        end: stands behind a frame.
    """

    tag: str
    payload: str
    lenient: bool
    moment: Callable[[float], Any]
    end: bytes


class Frame(msgspec.Struct):
    """A decoded frame, whose events have a ``timestamp`` and a ``payload``."""

    now: float
    events: list[Any]


class Table:
    """Reads and writes the frames of one direction."""

    def __init__(
        self, dialect: Dialect, rows: Sequence[Row], *, source: str, whole: str, lacking: Mapping[type, str] = {}
    ) -> None:
        """Take the rows.

        Args:
            dialect: the protocol's.
            rows: in the order in which messages list the types.
            source: what a frame is, for messages.
            whole: what it is called beside its events: the message, the reply.
            lacking: structs of the core that this protocol has no event for -> what is said about them.
        """
        self._dialect, self._source, self._whole = dialect, source, whole
        self._kinds = tuple(row.kind for row in rows)
        schemas = [_schema(dialect, row) for row in rows]
        self._read = {schema: row.read for schema, row in zip(schemas, rows, strict=True)}
        #: Struct of the core -> how it is written, and how if that writer leaves it to a later row.
        self._write: dict[type, tuple[str, Writer]] = {core: ("", _refusal(text)) for core, text in lacking.items()}
        self._later: dict[type, tuple[str, Writer]] = {}
        for row in rows:
            for core, write in row.write.items():
                (self._later if core in self._write else self._write)[core] = row.kind, write
        self._shape = _frame(dialect, schemas)
        self._decode = msgspec.json.Decoder(self._shape).decode

    def decode(self, data: bytes, *, source: str = "", kinds: tuple[str, ...] = ()) -> Frame:
        """Return a frame that has the schema's shape.

        Args:
            data: the frame.
            source: what it is, for messages, if not what all frames are.
            kinds: the types of events that are expected, for messages, if not all.

        Raises:
            InputError: it has not; says which event, its type, the field, found and expected.
        """
        source = source or self._source
        check_bounds(data, source=source)
        try:
            frame: Frame = self._decode(data)
        except DECODE_ERRORS as problem:
            raise frame_error(
                problem, data, source, kinds or self._kinds, shape=self._shape, tag=self._dialect.tag
            ) from None
        return frame

    def read(self, frame: Frame, context: Any = None) -> list[Any]:
        """Return what the events of a frame say.

        Raises:
            InputError: the frame is of a moment that no clock reaches, or an event is out of order, later than the
                frame, or wrong; says which, its type, the field, found and expected.
        """
        now, readers, whole = frame.now, self._read, self._whole
        if not now <= MAX_MOMENT:
            raise InputError(f"{whole} is of {now:g} s, expected at most {MAX_MOMENT:g} s", source=self._source)
        structs: list[Any] = []
        last = 0.0
        event: Any = None
        try:
            for event in frame.events:
                time = event.timestamp
                if not last <= time <= now:
                    raise FieldError("timestamp", time, f"from {last:.6f} (the event before) to {now:.6f} ({whole})")
                last = time
                structs.append(readers[type(event)](time, event.payload, context))
        except FieldError as problem:
            kind = str(type(event).__struct_config__.tag)
            raise field_error(problem, self._source, len(structs), kind) from None
        return structs

    def encode_message(self, message: Message, context: Any = None) -> bytes:
        """Write a simulator's frame.

        Raises:
            SimulationError: something in it cannot be said in this protocol.
        """
        moment, tag, payload = self._dialect.moment, self._dialect.tag, self._dialect.payload
        writers = self._write
        try:
            events = []
            for event in message.events:
                kind, write = writers[type(event)]
                data = write(event, context)
                if data is None:
                    kind, write = self._later[type(event)]
                    data = write(event, context)
                events.append({"timestamp": moment(event.time), tag: kind, payload: data})
            return _encode({"now": moment(message.now), "events": events}) + self._dialect.end
        except (ValueError, TypeError, RecursionError) as problem:
            raise SimulationError(f"message at {message.now} s cannot be written: {problem}") from None

    def encode_reply(self, reply: Reply, context: Any = None, reached: float = 0.0) -> bytes:
        """Write a decision process's frame.

        Args:
            reply: what it decided.
            context: what the rows write with.
            reached: time before which it cannot be, s.

        Raises:
            ImpossibleDecision: a decision cannot be said in this protocol; times are out of order or not finite;
                values are no JSON.
        """
        last, now = 0.0, max(reply.now, reached)
        tag, payload, writers = self._dialect.tag, self._dialect.payload, self._write
        events = []
        try:
            for decision in reply.decisions:
                kind, write = writers[type(decision)]
                data = write(decision, context)
                if data is None:
                    kind, write = self._later[type(decision)]
                    data = write(decision, context)
                time = decision.time if decision.time > reached else reached
                if not last <= time <= now:
                    raise ValueError(f"{kind} {_subject(data)}at {time} s: times must ascend from {last} to {now} s")
                last = time
                events.append({"timestamp": time, tag: kind, payload: data})
            if not math.isfinite(now):
                raise ValueError("a reply at no time")
            return _encode({"now": now, "events": events}) + self._dialect.end
        except (ValueError, TypeError, RecursionError) as problem:
            raise ImpossibleDecision(f"at {now:.6f} s: {problem}") from None


def finite(moment: float) -> float:
    """Return a time as it is.

    Raises:
        ValueError: it is not finite.
    """
    require_finite(moment)
    return moment


def _refusal(text: str) -> Writer:
    """Return what refuses a struct that a protocol has no event for."""

    def refuse(struct: Any, context: Any) -> Any:
        about = f"job {struct.job_id}: " if hasattr(struct, "job_id") else ""
        raise ValueError(about + text)

    return refuse


def _subject(data: Mapping[str, Any]) -> str:
    return f"of {data['job_id']} " if "job_id" in data else ""


def _schema(dialect: Dialect, row: Row) -> type:
    """Return the shape of an event: ``{timestamp, type, data}`` in Batsim 4's words."""
    default = msgspec.field(default_factory=row.data) if row.optional else msgspec.NODEFAULT
    return msgspec.defstruct(
        row.kind,
        [("payload", row.data, default)],
        bases=(_event(dialect),),
        tag=row.kind,
        rename={"payload": dialect.payload},
        kw_only=True,
    )


@functools.cache
def _event(dialect: Dialect) -> type[msgspec.Struct]:
    """Return the base of a protocol's events."""
    fields: list[Any] = [("timestamp", Time, 0.0) if dialect.lenient else ("timestamp", Time)]
    return msgspec.defstruct("Event", fields, tag_field=dialect.tag, gc=False)


def _frame(dialect: Dialect, schemas: Sequence[type]) -> Any:
    now: Any = ("now", Time, 0.0) if dialect.lenient else ("now", Time)
    event: Any = Union[tuple(schemas)]  # noqa: UP007 - as many as there are.
    events = ("events", list[event])
    return msgspec.defstruct("Frame", [events, now] if dialect.lenient else [now, events], gc=False)
