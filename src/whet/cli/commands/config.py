"""whet config: what a person chose, what each setting is for, and whether the provider answers."""

import os
import tomllib
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_origin

import click

from whet.cli.acting import actor_of, has_terminal
from whet.cli.model_choice import address_notes, expect_usable, key_notes, try_provider
from whet.cli.options import json_command
from whet.cli.output import console, give, plain, table
from whet.context.finding import SETTING
from whet.errors import WhetError
from whet.ledger.entries import Actor
from whet.runs.setting_keys import SECRET_ADVICE, TEXTS, dotted, path_of, refuse_secret
from whet.runs.settings import FILE_NAME, NAMED, TYPES, Settings, check, explanations, form_of, read, words
from whet.secrets.redactor import Redactor
from whet.store.home import find_home
from whet.store.settings_file import assign, load, loaded, place, remove
from whet.text.toml import encoded

DEFAULT = "default"
NOT_SET = "not set"
SHORTEST_SCANNED = 12


class Effective(NamedTuple):
    """A setting as it holds now, and where it comes from."""

    key: str
    value: object
    origin: str


@json_command(
    "config", epilog="Example: whet config model openai:gpt-5.1", context_settings={"ignore_unknown_options": True}
)
@click.argument("key", required=False)
@click.argument("value", required=False)
@click.option("--unset", is_flag=True, help="Reset KEY to its default.")
@click.option("--explain", is_flag=True, help="Explain every setting and its default.")
@click.option(
    "--check",
    "is_check",
    is_flag=True,
    help="Send the provider a short test request and report any problem, for the model KEY if it is given. This costs "
    "a few tokens.",
)
def command(key: str | None, value: str | None, unset: bool, explain: bool, is_check: bool) -> int:
    """Show the current settings and where each comes from; with KEY, print one; with KEY and VALUE, set it. They are
    stored in settings.toml in the home folder, which you can edit by hand. API keys stay in the environment; only
    the names of their variables are shown.
    """
    if sum((unset, explain, is_check, value is not None)) > 1:
        raise WhetError("Use only one of VALUE, --unset, --explain and --check.", advice="Remove the others.")
    if is_check:
        return _check(key or "")
    if key is None:
        if unset:
            raise WhetError("Which setting?", advice="To list the settings, run `whet config`.")
        return _explain() if explain else _show()
    if unset:
        return _unset(key)
    return _get(key) if value is None else _set(key, value)


def _get(key: str) -> int:
    path = path_of(key)
    form_of(path)
    found = next((each for each in _effective() if each.key == dotted(path)), None)
    if found is None:
        raise WhetError(f"{dotted(path)} is not set.", advice="To list the settings, run `whet config`.")
    return give(found._asdict(), (plain(_plain(found.value)),))


def _set(key: str, value: str) -> int:
    """Set a value that the next run can use. Comments and other settings in the file are kept."""
    path = path_of(key)
    _expect_person(path)
    refuse_secret(path, value)
    _refuse_hidden_secret(path, value)
    given = check(path, _typed(value, TYPES[form_of(path)]))
    if dotted(path) == SETTING:  # as the person means it here
        given = [str(Path(os.path.expanduser(each)).absolute()) for each in given]

    expect_usable(find_home(os.environ), path, given)
    assign(find_home(os.environ), path, given)
    return _tell(dotted(path), given)


def _unset(key: str) -> int:
    path = path_of(key)
    _expect_person(path)

    settings = remove(find_home(os.environ), path)
    value = next((each.value for each in effective(settings, "") if each.key == dotted(path)), None)
    return _tell(dotted(path), value)


def _check(model: str) -> int:
    home = find_home(os.environ)
    return try_provider(load(home), home, model=model)


def effective(settings: Settings, text: str) -> tuple[Effective, ...]:
    """Every setting that holds, in the order of the table; those that a person names only where they are named."""
    chosen = read(text)
    found = []
    for form in TEXTS:
        first, *rest = form.split(".")
        held = getattr(settings, first)
        for name, inner in [(each.name, each) for each in held] if first in NAMED else [("", held)]:
            path = tuple(name if part == "*" else part for part in (first, *rest))
            value = getattr(inner, rest[-1]) if rest else inner
            found.append(Effective(dotted(path), value, FILE_NAME if _holds(chosen, path) else DEFAULT))
    return tuple(found)


def _holds(document: Any, path: tuple[str, ...]) -> bool:
    for name in path:
        if not isinstance(document, dict) or name not in document:
            return False
        document = document[name]
    return True


def _effective() -> tuple[Effective, ...]:
    found = loaded(find_home(os.environ))
    return effective(found.settings, found.text)


def _show() -> int:
    found = loaded(find_home(os.environ))
    rows = effective(found.settings, found.text)
    path = place(find_home(os.environ)).path
    notes = (*key_notes(found.settings, os.environ), *address_notes(found.settings, os.environ))
    record = {"path": str(path), "settings": [row._asdict() for row in rows], "notes": list(notes)}
    listed = table(("setting", "value", "from"), [(row.key, _plain(row.value), row.origin) for row in rows])
    where = f"\n{plain(path)}{'' if path.exists() else ' (does not exist yet)'}"
    return give(record, (listed, where, *map(plain, notes)))


def _explain() -> int:
    known = explanations()
    record = [
        {"key": each.key, "default": each.default, "type": words(TYPES[each.key]), "text": each.text} for each in known
    ]
    if console().is_terminal:
        lines = (
            f"[bold]{plain(each.key)}[/] [dim]= {plain(_plain(each.default))}[/]\n  {plain(each.text)}"
            for each in known
        )
        return give(record, lines)
    rows = [(each.key, _plain(each.default), each.text) for each in known]
    return give(record, (table(("setting", "default", "for"), rows),))


def _tell(key: str, value: object) -> int:
    return give({"key": key, "value": value}, (plain(f"{key} = {_plain(value)}"),))


def _plain(value: object) -> str:
    if value is None or value == "" or value == ():
        return NOT_SET
    return value if isinstance(value, str) else encoded(value)


def _typed(value: str, expected: Any) -> Any:
    """What a person typed, as its setting takes it: texts need no quotes, lists no brackets."""
    kind = words(expected)
    if kind == words(str) or kind.startswith("one of"):
        return value
    if get_origin(expected) is tuple and not value.lstrip().startswith("["):
        given = [each.strip() for each in value.split(",") if each.strip()]
        return [_typed(each, get_args(expected)[0]) for each in given]
    try:
        return tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return value


def _expect_person(path: tuple[str, ...]) -> None:
    if actor_of(os.environ) is not Actor.PERSON:
        raise WhetError("Only a person may change settings.", advice="Ask the person to run it in a terminal.")
    if path[0] == "trust" and not has_terminal():
        raise WhetError(
            "Only a person may change trust settings, in a terminal.", advice=f"Or edit {FILE_NAME} by hand."
        )


def _refuse_hidden_secret(path: tuple[str, ...], value: str) -> None:
    """A second scan with everything that redaction knows, for what no well-known issuer made."""
    if len(value) >= SHORTEST_SCANNED and path[-1] != "base_url" and Redactor().text(value) != value:
        raise WhetError(
            f"{dotted(path)} would contain a secret. Settings must not contain secrets.", advice=SECRET_ADVICE
        )
