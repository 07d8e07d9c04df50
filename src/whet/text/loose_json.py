"""Foreign bytes to JSON values, with bounds on depth and memory, and a reason where they are not JSON."""

import json
from collections.abc import Iterable

import msgspec

DEPTH_LIMIT = 200
WEIGHT_LIMIT_BYTES = 320 << 20
LIGHT_BYTES = 1 << 20  # a body of this size can hold at most about 70 MB of values, so it is not weighed
CONTAINER_BYTES = 200  # a small dict in memory
VALUE_BYTES = 32  # a number in a list
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Unreadable(Exception):
    """A whole file that cannot be imported; its text is the reason in the report."""


def parse(body: bytes) -> object:
    """A JSON value, or `Unreadable` with the reason; never a crash, whatever the bytes."""
    body = body.removeprefix(BYTE_ORDER_MARK)
    openers = body.count(b"{") + body.count(b"[")
    if len(body) > LIGHT_BYTES and _weight(body, openers) > WEIGHT_LIMIT_BYTES:
        raise Unreadable("too many values to hold in memory")
    try:
        value = msgspec.json.decode(body)
    except RecursionError:
        raise Unreadable("nested too deeply") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return _parse_leniently(body, str(error))
    # No value is deeper than it has brackets; where it might be, the functions after this one may recurse on it.
    if openers > DEPTH_LIMIT and _is_too_deep(value):
        raise Unreadable("nested too deeply")
    return value


def _weight(body: bytes, openers: int) -> int:
    """About the most memory that the value can take, for a small body may hold millions of empty lists."""
    return len(body) + CONTAINER_BYTES * openers + VALUE_BYTES * body.count(b",")


def _parse_leniently(body: bytes, reason: str) -> object:
    """Accept what JavaScript writes and strict JSON refuses: half surrogate pairs, NaN, numbers out of range."""
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        raise Unreadable("not UTF-8 text") from None
    try:
        value = json.loads(text)
    except RecursionError:
        raise Unreadable("nested too deeply") from None
    except ValueError:
        raise Unreadable(f"not JSON: {reason}") from None
    if _is_too_deep(value):
        raise Unreadable("nested too deeply")
    return _mended(value)


def _is_too_deep(value: object) -> bool:
    level = [value]
    for _ in range(DEPTH_LIMIT + 1):
        level = [child for item in level for child in _items(item) if isinstance(child, (dict, list))]
        if not level:
            return False
    return True


def _items(value: object) -> Iterable[object]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _mended(value: object) -> object:
    """The value with half surrogate pairs replaced, since UTF-8 cannot hold them."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_mended(item) for item in value]
    if isinstance(value, dict):
        return {_mended(key): _mended(item) for key, item in value.items()}
    return value
