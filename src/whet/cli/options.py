"""What commands share: this home and its store, options that narrow sessions, and what every list is made of."""

import contextlib
import functools
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, cast

import click
import msgspec

from whet.agents.registry import canonical
from whet.cli.output import JSON, WHOLE, table
from whet.errors import WhetError
from whet.store.database import Database
from whet.store.home import Home, find_home
from whet.store.listing import Filters, seen_folders
from whet.store.opening import opened

if TYPE_CHECKING:
    from rich.table import Table

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


def together(*options: Callable[[Function], Function]) -> Callable[[Function], Function]:
    """Several options as one, in this order."""
    return lambda function: functools.reduce(lambda made, option: option(made), reversed(options), function)


project_option = click.option(
    "--project",
    "--folder",
    "folder",
    default="",
    metavar="NAME",
    help="Only projects whose name contains this; or sessions run in this folder (. is this one) or below.",
)
since_option = click.option(
    "--since",
    default="",
    metavar="WHEN",
    help="Only since this date or age: 2026-10-01, 12h, 7d, 2w; FROM..TO for a span.",
)
temporary_option = click.option("--temporary", is_flag=True, help="Include sessions in temporary folders.")


def filter_options(function: Function) -> Function:
    """Options that narrow sessions; the command gets them as `filters`."""

    @functools.wraps(function)
    def narrowed(*given: Any, source: str | None, model: str | None, tool: str | None, **others: Any) -> Any:
        project = others.pop("folder")
        first, _, last = (others.pop("since")).partition("..")
        filters = Filters(
            source=source or "",
            model=model or "",
            folder=folder_meant(project) if is_folder(project) else "",
            folders=() if is_folder(project) else _folders_of(project),
            tool=tool or "",
            since=point_in_time(first),
            until=point_in_time(last),
        )
        return function(*given, filters=filters, **others)

    options = (
        click.option("--source", callback=one_name, help="Only sessions of this agent, such as claude-code."),
        click.option("--model", help="Only models whose name contains this."),
        project_option,
        click.option("--tool", help="Only sessions that used this tool."),
        since_option,
    )
    for option in reversed(options):
        narrowed = option(narrowed)
    return cast(Function, narrowed)


def is_folder(text: str | None) -> bool:
    """Whether a project is meant by a folder, and not by a part of its name."""
    return bool(text) and (str(text).startswith((".", "/", "~")) or "\\" in str(text))


def _folders_of(name: str) -> tuple[str, ...]:
    """Every folder of the projects whose name contains this."""
    if not name:
        return ()
    with own_store() as (_, database):
        from whet.telling.targets.known_projects import KnownProjects

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


def allowance_of(amounts: tuple[str, ...]) -> "Allowance":
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
    from whet.trials.design import Allowance

    return msgspec.convert(found, Allowance)


Row = TypeVar("Row")
NO_NUMBER = re.compile(r"[^\d.]|\.(?!\d)")


class AskedRows(NamedTuple):
    """Which rows of a list are asked for, and what comes first."""

    project: str = ""
    since: str = ""
    sort: str = ""


class CommandList(NamedTuple, Generic[Row]):
    """A list: what its columns show of a row, which of them stand on the right and which a narrow terminal lacks; and
    of which project and time a row is, where it has them.
    """

    columns: Mapping[str, Callable[[Row], object]]
    numbers: tuple[str, ...] = ()
    spare: tuple[str, ...] = ()  # the first goes first
    project: Callable[[Row], str] | None = None
    at: Callable[[Row], float | None] | None = None

    def options(self, function: Function) -> Function:
        """The options of the list; the command gets them as `asked`."""

        @functools.wraps(function)
        def narrowed(*given: Any, sort: str | None, **others: Any) -> Any:
            project = others.pop("folder") if self.project else ""
            since = others.pop("since") if self.at else ""
            return function(*given, asked=AskedRows(project, since, sort or ""), **others)

        sort = click.option("--sort", type=click.Choice(list(self.columns)), help="Column that decides.")
        options = [*([project_option] if self.project else []), *([since_option] if self.at else []), sort]
        return cast(Function, together(*options)(narrowed))

    def chosen(self, rows: Iterable[Row], asked: AskedRows, known: "KnownProjects | None" = None) -> list[Row]:
        """The rows that are asked for: the newest, the largest or the first by letter first."""
        first, _, last = asked.since.partition("..")
        since, until = point_in_time(first) or 0.0, point_in_time(last) or math.inf
        found = [row for row in rows if not self.at or not asked.since or since <= (self.at(row) or 0.0) < until]
        if self.project and known:
            found = [row for row in found if is_of_project(self.project(row), asked.project, known)]
        if not asked.sort:
            return found
        cells = [str(self.columns[asked.sort](row)) for row in found]
        ordered = sorted(range(len(found)), key=lambda at: cells[at].casefold())
        if asked.sort in WHOLE - {"id"}:  # times
            ordered = sorted(ordered, key=lambda at: cells[at].removeprefix("–"), reverse=True)
        elif asked.sort in self.numbers:
            ordered = sorted(ordered, key=lambda at: float(NO_NUMBER.sub("", cells[at]) or -1), reverse=True)
        return [found[at] for at in ordered]

    def table(self, rows: Iterable[Row]) -> "Table":
        cells = [[show(row) for show in self.columns.values()] for row in rows]
        return table(tuple(self.columns), cells, numbers=self.numbers, spare=self.spare)

    def lines(self, rows: Sequence[Row], *after: str, none: str) -> "tuple[str | Table, ...]":
        """The table and what is said below it; where there is no row, what is said instead."""
        return (self.table(rows), *after) if rows else (none,)


def is_of_project(project: str, asked: str, known: "KnownProjects") -> bool:
    """Whether something of a project is asked for: by a part of its name, or by a folder in it."""
    if is_folder(asked):
        return project == known.identity(folder_meant(asked))
    return not asked or bool(project and known.is_named(project, asked))
