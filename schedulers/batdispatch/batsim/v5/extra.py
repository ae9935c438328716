"""``extra_data``: the only place where Batsim 5 lets a user's own fields travel, as text."""

from __future__ import annotations

from typing import Any

import msgspec

from batdispatch.batsim.bounds import check_bounds
from batdispatch.batsim.problems import DECODE_ERRORS
from batdispatch.core.errors import FieldError, InputError

#: Name under which a text stands that is no JSON object.
PLAIN = "extra_data"

_decode = msgspec.json.Decoder(dict[str, Any]).decode
_encode = msgspec.json.Encoder().encode


def read_extra(text: str | None, field: str) -> dict[str, Any]:
    """Return the user's fields; a text that is no JSON object stands in the field ``extra_data``.

    Raises:
        FieldError: it is nested too deeply, or holds a number of too many digits.
    """
    if not text:
        return {}
    try:
        check_bounds(text.encode())
        return _decode(text)
    except InputError as problem:
        raise FieldError(field, text, f"JSON within bounds ({problem})") from None
    except RecursionError:
        raise FieldError(field, text, "JSON that is not nested so deeply") from None
    except DECODE_ERRORS:
        return {PLAIN: text}


def write_extra(fields: dict[str, Any]) -> str:
    """Return the text for the user's fields; the other way round than `read_extra`."""
    if not fields:
        return ""
    plain = fields.get(PLAIN)
    if len(fields) == 1 and isinstance(plain, str) and plain:
        return plain
    return _encode(fields).decode()
