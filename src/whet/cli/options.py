"""What commands share: this home and its store, options that narrow sessions, and how every list is sorted."""

import contextlib
import functools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar, cast

import click

from whet.agents.registry import canonical
from whet.errors import WhetError
from whet.store.database import Database
from whet.store.home import Home, find_home
from whet.store.listing import Filters, working_folders
from whet.store.opening import opened
from whet.targets.known_projects import KnownProjects


class OwnStore(NamedTuple):
    """A home, and its database while it is open."""

    home: Home
    database: Database


@contextlib.contextmanager
def own_store() -> Iterator[OwnStore]:
    """The home that the environment names, with its database."""
    home = find_home(os.environ)
    with opened(home) as database:
        yield OwnStore(home, database)


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

project_option = click.option(
    "--project",
    "--folder",
    "folder",
    metavar="NAME",
    help="Only projects whose name contains this; or sessions run in this folder (. is this one) or below.",
)
since_option = click.option(
    "--since", metavar="WHEN", help="Only since this date or age: 2026-10-01, 12h, 7d, 2w; FROM..TO for a span."
)
temporary_option = click.option("--temporary", is_flag=True, help="Include sessions in temporary folders.")


def filter_options(function: Function) -> Function:
    """Options that narrow sessions; the command gets them as `filters`."""

    @functools.wraps(function)
    def narrowed(*given: Any, source: str | None, model: str | None, tool: str | None, **others: Any) -> Any:
        project = others.pop("folder") or ""
        since, until = span_of(others.pop("since"), others.pop("until"))
        filters = Filters(
            source=source or "",
            model=model or "",
            folder=folder_meant(project) if is_folder(project) else "",
            folders=() if is_folder(project) else _folders_of(project),
            tool=tool or "",
            since=since,
            until=until,
        )
        return function(*given, filters=filters, **others)

    options = (
        click.option("--source", callback=one_name, help="Only sessions of this agent, such as claude-code."),
        click.option("--model", help="Only models whose name contains this."),
        project_option,
        click.option("--tool", help="Only sessions that used this tool."),
        since_option,
        click.option("--until", hidden=True),
    )
    for option in reversed(options):
        narrowed = option(narrowed)
    return cast(Function, narrowed)


def span_of(since: str | None, until: str | None = None) -> tuple[float | None, float | None]:
    """From when to when: FROM..TO, or the first of them alone."""
    first, _, last = (since or "").partition("..")
    return point_in_time(first), point_in_time(last or until)


def is_folder(text: str | None) -> bool:
    """Whether a project is meant by a folder, and not by a part of its name."""
    return (bool(text) and any(mark in str(text) for mark in ("/", "\\", "~"))) or str(text).startswith(".")


def _folders_of(name: str) -> tuple[str, ...]:
    """Every folder of the projects whose name contains this."""
    if not name:
        return ()
    with own_store() as (_, database):
        known = KnownProjects(database)
        found = tuple(each for each in working_folders(database) if known.is_named(known.identity(each), name))
    return found or (NOWHERE,)


def folder_meant(text: str | None) -> str:
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


Row = TypeVar("Row")


class AskedRows(NamedTuple):
    """Which rows of a list are asked for, and in which order."""

    project: str = ""
    since: float | None = None
    until: float | None = None
    sort: str = ""

    @property
    def is_narrowed(self) -> bool:
        return bool(self.project or self.since or self.until)


class ListedRows(NamedTuple, Generic[Row]):
    """What a row is asked by: its project, its time, and the orders that there are."""

    project: Callable[[Row], str]
    at: Callable[[Row], float | None]
    orders: Mapping[str, Callable[[Row], Any]]

    def chosen(self, rows: Iterable[Row], asked: AskedRows, known: KnownProjects) -> list[Row]:
        """The rows that are asked for, in the order that is asked for."""
        found = [row for row in rows if self._is_asked(row, asked, known)]
        return sorted(found, key=self.orders[asked.sort]) if asked.sort in self.orders else found

    def _is_asked(self, row: Row, asked: AskedRows, known: KnownProjects) -> bool:
        project, at = self.project(row), self.at(row) or 0.0
        if is_folder(asked.project):
            is_meant = project == known.identity(folder_meant(asked.project))
        else:
            is_meant = not asked.project or bool(project and known.is_named(project, asked.project))
        return is_meant and (asked.since or 0.0) <= at and (asked.until is None or at < asked.until)


def sort_option(*orders: str) -> Callable[[Function], Function]:
    """How a list is sorted; the first order is the usual one."""
    return click.option(
        "--sort", default=orders[0], show_default=True, type=click.Choice(orders), help="What comes first."
    )


def list_options(*orders: str) -> Callable[[Function], Function]:
    """The options of a list; the command gets them as `asked`."""

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def narrowed(*given: Any, folder: str | None, since: str | None, sort: str, **others: Any) -> Any:
            return function(*given, asked=AskedRows(folder or "", *span_of(since), sort), **others)

        for option in (sort_option(*orders), since_option, project_option):
            narrowed = option(narrowed)
        return cast(Function, narrowed)

    return decorate
