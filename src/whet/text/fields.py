"""Safe access to foreign JSON: a field of the wrong type reads as absent, never as a crash."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

LARGEST = 1e18

MILLISECONDS_FROM = 1e11  # a larger number of seconds would lie beyond the year 5000


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
        if isinstance(value, int | float) and not isinstance(value, bool) and _is_finite(value):
            return max(0, int(value))
    return 0


def amount(value: object) -> float | None:
    """A finite number, such as a score or a price."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not _is_finite(value):
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
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        if not _is_finite(value) or value <= 0:
            return None
        return float(value) / 1000 if value > MILLISECONDS_FROM else float(value)
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def json_text(value: object) -> str:
    """A JSON value as text; text that is already JSON, such as recorded arguments, stays as it is."""
    if isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode()


def _is_finite(value: float) -> bool:
    """Whether a number has a use as a float: a whole one may be larger than any."""
    return -LARGEST < value < LARGEST
