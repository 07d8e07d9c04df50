"""Options that several commands share."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import click

from whet.errors import WhetError
from whet.sessions.transcripts import Purpose
from whet.store.listing import Filters

Function = TypeVar("Function", bound=Callable[..., Any])
UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}

yes_option = click.option(
    "--yes", is_flag=True, help="Apply the change even without a terminal, if the setting trust.commands allows it."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")

purpose_option = click.option(
    "--purpose", type=click.Choice([purpose.value for purpose in Purpose]), help="Only sessions of this purpose."
)

temporary_option = click.option("--temporary", is_flag=True, help="Count sessions in temporary folders too.")


def left_out(hidden: int) -> str:
    """How many sessions ran in temporary folders and are not counted."""
    verb = "session in temporary folders is" if hidden == 1 else "sessions in temporary folders are"
    return f"{hidden:,} {verb} left out (--temporary)." if hidden else ""


def none_found(hidden: int, *, is_narrowed: bool) -> str:
    """What to say where no session is left, and what to do."""
    if hidden:
        return f"No sessions match. {left_out(hidden)}"
    return (
        "No sessions match: try fewer filters."
        if is_narrowed
        else "No sessions yet. To import them, run `whet import`."
    )


def filter_options(function: Function) -> Function:
    """Options that narrow sessions."""
    for option in reversed(
        (
            click.option("--source", help="Only sessions of this agent, such as claude-code."),
            click.option("--model", help="Only models whose name contains this."),
            click.option("--folder", help="Only sessions run in this folder or below it."),
            click.option("--tool", help="Only sessions that used this tool."),
            click.option("--since", help="Only sessions since this date or age: 2026-10-01, 12h, 7d, 2w."),
            click.option("--until", help="Only sessions before this date or age."),
        )
    ):
        function = option(function)
    return function


def filters_of(
    source: str | None,
    model: str | None,
    folder: str | None,
    tool: str | None,
    since: str | None,
    until: str | None,
) -> Filters:
    return Filters(
        source=source or "",
        model=model or "",
        folder=folder or "",
        tool=tool or "",
        since=point_in_time(since),
        until=point_in_time(until),
    )


def point_in_time(text: str | None) -> float | None:
    """A date, a date and time, or an age such as 7d, in seconds since 1970."""
    if not text:
        return None
    number, unit = text[:-1], text[-1:]
    if number.isdigit() and unit in UNITS:
        return (datetime.now(UTC) - timedelta(**{UNITS[unit]: int(number)})).timestamp()
    try:
        return datetime.fromisoformat(text).astimezone().timestamp()
    except ValueError:
        raise WhetError(
            f"{text} is not a time.", advice="Give a date such as 2026-10-01, or an age such as 7d."
        ) from None
