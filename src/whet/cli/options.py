"""What commands share: this home and its store, options that narrow sessions, and how every list is sorted."""

import contextlib
import functools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar, cast

import click
import msgspec
from rich.table import Table

from whet.agents.registry import canonical
from whet.cli.output import JSON, table
from whet.errors import WhetError
from whet.store.database import Database
from whet.store.home import Home, find_home
from whet.store.listing import Filters, seen_folders
from whet.store.opening import opened
from whet.telling.targets.known_projects import KnownProjects
from whet.trials.design import Allowance


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


def _note_json(context: click.Context, option: click.Parameter, is_given: bool) -> None:  # noqa: ARG001 - click's own
    context.meta[JSON] = is_given or context.meta.get(JSON, False)


class JsonCommand(click.Command):
    """A command that can print JSON: `output.is_json` says whether it is to."""

    def __init__(self, *given: Any, **others: Any) -> None:
        super().__init__(*given, **others)
        option = click.Option(["--json"], is_flag=True, expose_value=False, callback=_note_json, help="Print JSON.")
        self.params.append(option)


class JsonGroup(JsonCommand, click.Group):
    """A list that is a command by itself, and the commands in it."""

    command_class = JsonCommand


json_command = functools.partial(click.command, cls=JsonCommand)


def json_group(name: str, **described: Any) -> Callable[[Callable[..., int]], JsonGroup]:
    """A group whose own function lists what there is, where no command of it is called."""

    def decorate(function: Callable[..., int]) -> JsonGroup:
        @functools.wraps(function)
        def listing(**options: Any) -> int:
            return 0 if click.get_current_context().invoked_subcommand else function(**options)

        return click.group(name, cls=JsonGroup, invoke_without_command=True, **described)(listing)

    return decorate


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
        found = tuple(each for each in seen_folders(database) if known.is_named(known.identity(each), name))
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


BUDGET_UNITS = {
    "$": ("dollars", 1), "tokens": ("tokens", 1), "t": ("tokens", 1), "s": ("seconds", 1), "seconds": ("seconds", 1),
    "m": ("seconds", 60), "min": ("seconds", 60), "minutes": ("seconds", 60),
}  # fmt: skip
ALLOWED = "Give an amount such as 2$, 500000tokens, 30min or 3600s."
AMOUNT = re.compile(r"(\$?)\s*([\d.,]+)\s*([$a-z]*)")
budget_option = click.option(
    "--budget", multiple=True, metavar="AMOUNT", help="Limit, such as 2$, 500000tokens or 30min. Repeatable."
)
model_option = click.option(
    "--model", default="", help="Model to use instead of the one in the settings, as provider:name."
)


def allowance_of(amounts: tuple[str, ...]) -> Allowance:
    """What a trial may spend, from amounts with their units."""
    found: dict[str, float] = {}
    for amount in amounts:
        parts = AMOUNT.fullmatch(amount.strip().lower())
        dollar, digits, word = parts.groups() if parts else ("", "", "")
        try:
            number = float(digits.replace(",", ""))
        except ValueError:
            number = 0.0
        if number <= 0 or bool(dollar) == bool(word) or (dollar or word) not in BUDGET_UNITS:
            raise WhetError(f"{amount} is not a budget.", advice=ALLOWED)
        kind, factor = BUDGET_UNITS[dollar or word]
        found[kind] = int(number) if kind == "tokens" else number * factor
    return msgspec.convert(found, Allowance)


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


class CommandList(NamedTuple, Generic[Row]):
    """A list: what its columns show of a row, its orders, the usual one first, and by what it is narrowed."""

    columns: Mapping[str, Callable[[Row], object]]
    orders: Mapping[str, Callable[[Row], Any]]
    numbers: tuple[str, ...] = ()  # columns that stand on the right
    spare: tuple[str, ...] = ()  # columns that a narrow terminal does without, the first first
    project: Callable[[Row], str] = lambda _: ""
    at: Callable[[Row], float | None] = lambda _: None

    def table(self, rows: Iterable[Row]) -> Table:
        cells = [[show(row) for show in self.columns.values()] for row in rows]
        return table(tuple(self.columns), cells, numbers=self.numbers, spare=self.spare)

    def lines(self, rows: Sequence[Row], *after: str, none: str) -> tuple[str | Table, ...]:
        """The table and what is said below it; where there is no row, what is said instead."""
        return (self.table(rows), *after) if rows else (none,)

    def sorted(self, rows: Iterable[Row], sort: str) -> list[Row]:
        return sorted(rows, key=self.orders[sort])

    def chosen(self, rows: Iterable[Row], asked: AskedRows, known: KnownProjects) -> list[Row]:
        """The rows that are asked for, in the order that is asked for."""
        return self.sorted((row for row in rows if self._is_asked(row, asked, known)), asked.sort)

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
