"""Options that several commands share."""

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import click

from whet.agents.registry import canonical
from whet.errors import WhetError
from whet.sessions.transcripts import Purpose
from whet.store.home import find_home
from whet.store.listing import Filters, working_folders
from whet.store.opening import opened
from whet.targets.known_projects import KnownProjects

Function = TypeVar("Function", bound=Callable[..., Any])
NOWHERE = "no folder"
UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def one_name(context: click.Context, option: click.Parameter, name: str | None) -> str | None:  # noqa: ARG001 - click's own
    """The one name of an agent that was given by any of its names."""
    return canonical(name) if name else name


yes_option = click.option(
    "--yes", is_flag=True, help="Apply the change even without a terminal, if the setting trust.commands allows it."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")

purpose_option = click.option(
    "--purpose", type=click.Choice([purpose.value for purpose in Purpose]), help="Only sessions of this purpose."
)

temporary_option = click.option("--temporary", is_flag=True, help="Include sessions in temporary folders.")


def filter_options(function: Function) -> Function:
    """Options that narrow sessions."""
    for option in reversed(
        (
            click.option("--source", callback=one_name, help="Only sessions of this agent, such as claude-code."),
            click.option("--model", help="Only models whose name contains this."),
            click.option(
                "--project",
                "--folder",
                "folder",
                metavar="NAME",
                help="Only projects whose name contains this; or sessions run in this folder (. is this one) or below.",
            ),
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
        folder=_folder(folder) if is_folder(folder) else "",
        folders=() if is_folder(folder) else _folders_of(folder or ""),
        tool=tool or "",
        since=point_in_time(since),
        until=point_in_time(until),
    )


def is_folder(text: str | None) -> bool:
    """Whether a project is meant by a folder, and not by a part of its name."""
    return (bool(text) and any(mark in str(text) for mark in ("/", "\\", "~"))) or str(text).startswith(".")


def _folders_of(name: str) -> tuple[str, ...]:
    """Every folder of the projects whose name contains this."""
    if not name:
        return ()
    with opened(find_home(os.environ)) as database:
        known = KnownProjects(database)
        found = tuple(each for each in working_folders(database) if known.is_named(known.identity(each), name))
    return found or (NOWHERE,)


def _folder(text: str | None) -> str:
    """The folder that is meant: one of this machine in full, any other name as it is given."""
    if not text or not text.startswith((".", "~")):
        return text or ""
    return str(Path(text).expanduser().resolve())


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
