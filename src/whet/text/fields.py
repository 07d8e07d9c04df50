"""Foreign JSON: read with bounds on depth and memory; a field of the wrong type reads as absent, never as a crash."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

LARGEST = 1e18
NUMBERS = (int, float)
MILLISECONDS_FROM = 1e11  # a larger number of seconds would lie beyond the year 5000

DEPTH_LIMIT = 200
CONTAINERS = frozenset((dict, list))
WEIGHT_LIMIT_BYTES = 320 << 20
LIGHT_BYTES = 1 << 20  # a body of this size can hold at most about 70 MB of values, so it is not weighed
CONTAINER_BYTES = 200  # a small dict in memory
VALUE_BYTES = 32  # a number in a list
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def text(record: Mapping[str, Any], *keys: str) -> str:
    """The first of the named fields that is a non-empty string."""
    for key in keys:
        value = record.get(key)
        if isinstance(value, str) and value:
            return value
    return ""


def mapping(record: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = record.get(key)
    return value if isinstance(value, dict) else {}


def items(record: Mapping[str, Any], key: str) -> list[Any]:
    value = record.get(key)
    return value if isinstance(value, list) else []


def objects(record: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    return [item for item in items(record, key) if isinstance(item, dict)]


def whole(record: Mapping[str, Any], *keys: str) -> int:
    """The first of the named fields that is a number, as a whole one; 0 where there is none."""
    for key in keys:
        value = record.get(key)
        if isinstance(value, NUMBERS) and not isinstance(value, bool) and _is_finite(value):
            return max(0, int(value))
    return 0


def amount(value: object) -> float | None:
    """A finite number, such as a score or a price."""
    if value is None or not isinstance(value, NUMBERS) or isinstance(value, bool) or not _is_finite(value):
        return None
    return float(value)


def code(record: Mapping[str, Any], *keys: str) -> int | None:
    """The first of the named fields that is a whole number, such as an exit code."""
    for key in keys:
        value = record.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def flag(record: Mapping[str, Any], key: str) -> bool | None:
    value = record.get(key)
    return value if isinstance(value, bool) else None


def seconds(value: object) -> float | None:
    """A point in time in seconds since 1970 from ISO text, seconds or milliseconds."""
    if value is None:
        return None
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return None
    number = amount(value)
    if number is None or number <= 0:
        return None
    return number / 1000 if number > MILLISECONDS_FROM else number


def json_text(value: object) -> str:
    """A JSON value as text; text that is already JSON, such as recorded arguments, stays as it is."""
    if isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode()


def _is_finite(value: float) -> bool:
    """Whether a number has a use as a float: a whole one may be larger than any."""
    return -LARGEST < value < LARGEST


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
    level: list[Any] = [value] if type(value) in CONTAINERS else []
    for _ in range(DEPTH_LIMIT + 1):
        if not level:
            return False
        inner: list[object] = []
        for item in level:
            inner += item.values() if type(item) is dict else item
        level = [each for each in inner if type(each) in CONTAINERS]
    return bool(level)


def _mended(value: object) -> object:
    """The value with half surrogate pairs replaced, since UTF-8 cannot hold them."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_mended(item) for item in value]
    if isinstance(value, dict):
        return {_mended(key): _mended(item) for key, item in value.items()}
    return value
