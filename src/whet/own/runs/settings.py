"""Settings: what a person chose in settings.toml, as one frozen value; the names of settings and what each does.

`*` in a name stands for one that the user gives.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from whet.errors import WhetError
from whet.own.runs.run import Budget, Sampling
from whet.values import Value

TEXTS = {
    "model": "The model that answers: provider:name, such as openai:gpt-5.1, or local for the embedded model.",
    "prompt.enforcement": "When to tell the model to act with tools: auto, on, off, or parts of model names.",
    "prompt.platform": "Where answers are shown, for a hint in the prompt: cli, telegram, slack, email, web, api.",
    "prompt.parts": "Parts of the prompt: memory, profile (user.md), context_files (AGENTS.md …), session (its id).",
    "tools": "Tool sets that the agent has; empty for the default sets.",
    "providers.*.kind": "API that it speaks: openai (chat completions), anthropic (messages), local or scripted.",
    "providers.*.base_url": "Address, including the version: http://127.0.0.1:11434/v1.",
    "providers.*.key_variable": "Environment variable that contains the key; never the key itself.",
    "providers.*.timeout_seconds": "Maximum time to wait for the next data.",
    "models.*.family": "Model family, which decides the guidance the model gets: gpt, claude, gemini, qwen …",
    "models.*.window": "Size of the context window, in tokens; models.local.window is for every local model.",
    "models.*.tools": "native if the model accepts tool definitions; text if it writes calls as text.",
    "models.*.size": "small for a model that needs a short prompt, tiny if it needs examples too; otherwise large.",
    "models.*.prices": "Dollars for a million tokens: of input, of output and, if you like, of cached input.",
    "servers.*.command": "Command that starts the MCP server, with its arguments; or the address of a running one.",
    "servers.*.variables": "Names of environment variables to pass to the program.",
    "servers.*.tools": "Tools of the server to use; empty for all.",
    "agents.*.command": "Command that starts an agent of your own for a trial, with {task} for the task.",
    "agents.*.instructions": "File in the workspace from which this agent of your own reads its rules.",
    "agents.*.skills": "Folder in the workspace for its skills; empty for none.",
    "agents.*.model": "Model that the agent uses in trials; empty for its own choice.",
    "agents.*.config": "Files to copy into the agent's config home for a trial, such as its login.",
    "agents.*.variables": "Names of environment variables that the agent gets in a trial, besides its usual ones.",
    "agents.*.readable": "Folders that the agent may read in a trial, besides the system and its own program.",
    "agents.*.endpoints": "Addresses that the agent may reach in a trial, besides those of its model.",
    "budget.model_calls": "Maximum model calls per turn.",
    "budget.tokens": "Maximum tokens per turn, input and output.",
    "budget.dollars": "Maximum cost per turn, if prices are known.",
    "sampling.temperature": "Sampling temperature; at 0 the answers hardly vary.",
    "sampling.output_tokens": "Maximum tokens in one answer.",
    "sandbox.required": "Refuse to run commands if no sandbox works; false runs them unconfined.",
    "sandbox.network": "Let commands in the sandbox use the network.",
    "sandbox.readable": "Folders that the agent may read, besides the working folder, the system and toolchains.",
    "sandbox.writable": "Folders that commands may write to, besides the working folder.",
    "sandbox.variables": "Names of environment variables that commands see besides the usual ones, even secret ones.",
    "review.every": "Review after this many turns without a note, or calls without a change to a skill; 0: never.",
    "review.model": "Model for reviews; empty for the session's own model, whose cache it shares.",
    "reading.reader": "Who reads new sessions for lessons, every night too: an agent, or a model as provider:name.",
    "background.tokens_per_day": "Maximum tokens per day for all background work; 0 stops it.",
    "background.dollars_per_day": "Maximum cost per day for all background work, if prices are known.",
    "compaction.at": "Share of the context window at which to summarise a conversation; 0: never.",
    "local.calls": "Tool calls as text: free; valid (a started call must be valid); always (every reply is a call).",
    "local.template": "File with a chat template to use instead of the model's own.",
    "team.admins": "Database roles whose rules apply here without your approval, in a team on Postgres.",
    "rules.per_project": "Maximum rules per project; for a better one, the weakest is proposed for removal.",
    "trust.projects": "Folders where the output of files and commands counts as your words; never the web or MCP.",
    "trust.elicitation": "Let MCP clients ask you to approve a rule that their agent proposes.",
    "trust.commands": "Let --yes apply changes to memory, rules, skills and jobs at once without a terminal.",
}
_TABLES_BY_NAME = frozenset(key.partition(".*.")[0] for key in TEXTS if ".*." in key)
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
# What the well-known issuers put at the front of a key. A second scan, of everything, is at `whet config`.
KEY_FORM = re.compile(r"(sk|gsk|xai|rk|pk|ghp|gho|hf|nvapi|pplx|tvly|csk|fw|r8)[-_][A-Za-z0-9_-]{16,}|AIza[\w-]{30,}")
SECRET_NAMES = ("key", "api_key", "apikey", "token", "secret", "password", "auth")
SECRET_ADVICE = (
    "Keep keys in the environment: `export MY_KEY=…`, then `whet config providers.NAME.key_variable MY_KEY`."
)
FILE_NAME = "settings.toml"
MOST = {"compaction.at": 1, "sampling.temperature": 2}
WORDS: dict[object, str] = {
    str: "text in quotes",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    tuple: 'a list of texts, such as ["a", "b"]',
}
Part = Literal["memory", "profile", "context_files", "session"]
PARTS: tuple[Part, ...] = ("memory", "profile", "context_files")  # of a prompt, besides what it always holds
Kind = Literal["openai", "anthropic", "local", "scripted"]


def dotted(path: tuple[str, ...]) -> str:
    """A key as people write it; a name that is not plain stands in quotes."""
    return ".".join(name if re.fullmatch(r"[A-Za-z0-9_*-]+", name) else f'"{name}"' for name in path)


def path_of(key: str) -> tuple[str, ...]:
    """The names in a key as people type it; the name of a provider, model or server may hold dots and slashes."""
    first, _, rest = key.partition(".")
    if first in _TABLES_BY_NAME and "." in rest and '"' not in key:
        name, _, field = rest.rpartition(".")
        return (first, name, field)
    path: tuple[str, ...] = ()
    try:
        node: Any = tomllib.loads(f"{key} = 0")
    except (tomllib.TOMLDecodeError, RecursionError):
        node = None
    while isinstance(node, dict) and len(node) == 1:
        [(name, node)] = node.items()
        path = (*path, name)
    if node != 0:
        raise WhetError(f"{key!r} is not the name of a setting.", advice="Examples: model, budget.tokens.")
    return path


def nearest(form: str) -> str:
    """The setting whose key, or the last part of it, is most like this one, if any is like it at all."""
    last = get_close_matches(form.rpartition(".")[2], [key.rpartition(".")[2] for key in TEXTS], n=1, cutoff=0.65)
    ends = [key for key in TEXTS if key.rpartition(".")[2] in last]
    return next(iter(get_close_matches(form, TEXTS, n=1) or get_close_matches(form, ends, n=1, cutoff=0)), "")


def refuse_secret(path: tuple[str, ...], value: Any) -> None:
    """Raise WhetError for a secret in a setting, without saying it again."""
    key = dotted(path)
    texts = [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]
    named = path[-1].lower().replace("-", "_") in SECRET_NAMES
    if any(KEY_FORM.search(text) for text in texts) or (named and texts):
        raise WhetError(f"{key} would contain a secret. Settings must not contain secrets.", advice=SECRET_ADVICE)
    if path[-1] in ("key_variable", "variables") and not all(VARIABLE.fullmatch(text) or not text for text in texts):
        raise WhetError(f"{key} must be the name of an environment variable.", advice=SECRET_ADVICE)
    if path[-1] in ("base_url", "url") and any("@" in text.partition("://")[2].partition("/")[0] for text in texts):
        raise WhetError(f"{key} contains a password.", advice=SECRET_ADVICE)


class Endpoint(Value, frozen=True):
    """Where models answer. The key itself stays in the environment, under the name `key_variable`."""

    name: str
    kind: Kind = "openai"
    base_url: str = ""
    key_variable: str = ""
    timeout_seconds: float = 300.0
    retries: int = 5


class ModelFacts(Value, frozen=True):
    """What a person knows better than the model table; empty and None leave it to the table."""

    name: str
    family: str = ""
    window: int | None = None
    tools: Literal["", "native", "text"] = ""
    size: Literal["", "tiny", "small", "large"] = ""
    prices: tuple[float, ...] = ()  # dollars for a million tokens: input, output, cached input


class Sandbox(Value, frozen=True):
    """What commands of the agent may touch."""

    required: bool = True
    network: bool = False
    writable: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()


class McpServer(Value, frozen=True):
    """An MCP server whose tools the agent may use; `command` starts it, or is the address of a running one."""

    name: str
    command: str = ""
    variables: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    timeout_seconds: float = 60.0


class AgentSettings(Value, frozen=True):
    """Another agent that changes can be tried on: how it is started and logs in. A known one needs no command."""

    name: str
    command: str = ""
    instructions: str = "AGENTS.md"
    skills: str = ""
    model: str = ""
    config: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    endpoints: tuple[str, ...] = ()


class Review(Value, frozen=True):
    """When a finished turn is looked at for what is worth keeping."""

    every: int = 10  # turns without a note, or calls of the model without a change to a skill; 0: never
    model: str = ""


class ReadingSettings(Value, frozen=True):
    """Who reads sessions for lessons: an agent or a model; empty: whoever is named or found, after a question."""

    reader: str = ""


class DailyLimit(Value, frozen=True):
    """What all background work of a home may spend on one day, by the machine's own date."""

    tokens_per_day: int = 1_000_000
    dollars_per_day: float = 1.0


class Compaction(Value, frozen=True):
    """At which share of the window the older part of a long conversation gives way to a summary; 0: never."""

    at: float = 0.8


class TeamSettings(Value, frozen=True):
    """Who else decides, where several share a database."""

    admins: tuple[str, ...] = ()


class RuleSettings(Value, frozen=True):
    """How many rules are told, and where."""

    per_project: int = 25


class Trusted(Value, frozen=True):
    """What counts as the person's own word, besides what they type."""

    projects: tuple[str, ...] = ()
    commands: bool = False
    elicitation: bool = False


class LocalModelSettings(Value, frozen=True):
    """How models on this machine are served."""

    calls: Literal["free", "valid", "always"] = "valid"
    template: str = ""


class PromptSettings(Value, frozen=True):
    """What the prompt of Whet's own agent holds, where that is a matter of taste."""

    enforcement: tuple[str, ...] = ("auto",)
    platform: str = "cli"
    parts: tuple[Part, ...] = PARTS

    def without(self, part: str) -> "PromptSettings":
        return msgspec.structs.replace(self, parts=tuple(each for each in self.parts if each != part))


class Settings(Value, frozen=True):
    """Everything that a person can choose; what is not chosen has the default that stands here."""

    model: str = ""
    prompt: PromptSettings = PromptSettings()
    tools: tuple[str, ...] = ()
    providers: tuple[Endpoint, ...] = ()
    models: tuple[ModelFacts, ...] = ()
    servers: tuple[McpServer, ...] = ()
    agents: tuple[AgentSettings, ...] = ()
    budget: Budget = Budget()
    sampling: Sampling = Sampling()
    sandbox: Sandbox = Sandbox()
    review: Review = Review()
    reading: ReadingSettings = ReadingSettings()
    background: DailyLimit = DailyLimit()
    compaction: Compaction = Compaction()
    local: LocalModelSettings = LocalModelSettings()
    rules: RuleSettings = RuleSettings()
    team: TeamSettings = TeamSettings()
    trust: Trusted = Trusted()


NAMED: dict[str, type[Endpoint] | type[ModelFacts] | type[McpServer] | type[AgentSettings]] = {
    "providers": Endpoint,
    "models": ModelFacts,
    "servers": McpServer,
    "agents": AgentSettings,
}


def parse(text: str) -> Settings:
    """The settings that a file holds. Raises WhetError for what is not TOML, not a setting, or not of its type."""
    document = read(text) if text else {}
    for key, value in leaves(document):
        check(key, value)
    return _converted(document)


def read(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise WhetError(
            f"{FILE_NAME} cannot be read: {error}.", advice='Put text in quotes: model = "local".'
        ) from error


def leaves(document: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every value with the names that lead to it. A table where a value should be is given as it is."""
    for name, value in document.items():
        path = (*above, name)
        is_table = (len(path) == 1 and name not in TEXTS) or (len(path) == 2 and path[0] in NAMED)
        if isinstance(value, dict) and is_table:
            yield from leaves(value, path)
        else:
            yield path, value


def check(path: tuple[str, ...], value: Any) -> Any:
    """The value as its setting takes it; raises WhetError with advice."""
    key = dotted(path)
    refuse_secret(path, value)
    form = form_of(path)
    expected = TYPES[form]
    try:
        converted = msgspec.convert(value, expected)
    except msgspec.ValidationError as error:
        raise WhetError(f"{key} must be {words(expected)}, not {_shown(value)}.", advice=TEXTS[form]) from error
    most = MOST.get(form)
    numbers = converted if isinstance(converted, tuple) else (converted,)
    if any(isinstance(each, int | float) and not 0 <= each <= (most or each) for each in numbers):
        limit = "0 or more" if most is None else f"between 0 and {most}"
        raise WhetError(f"{key} must be {limit}, not {_shown(value)}.", advice=TEXTS[form])
    return converted


def form_of(path: tuple[str, ...]) -> str:
    """The key in the table of settings, with `*` for a name that the person gave; raises WhetError where none is."""
    form = dotted((path[0], "*", *path[2:]) if path[0] in NAMED and len(path) > 1 else path)
    if form in TEXTS:
        return form
    if any(known.startswith(f"{form}.") for known in TEXTS):
        raise WhetError(f"{dotted(path)} is a table of settings.", advice="Name one: `whet config --explain`.")
    near = nearest(form)
    advice = f"Did you mean {near.replace('*', path[1] if len(path) > 1 else 'NAME')}? " if near else ""
    raise WhetError(
        f"There is no setting {dotted(path)}.", advice=f"{advice}To list every setting, run `whet config --explain`."
    )


def default_of(form: str) -> object:
    """What a setting is where nobody chose; `form` is its key in the table."""
    first, _, rest = form.partition(".")
    whole = NAMED[first](name="") if first in NAMED else getattr(Settings(), first)
    return getattr(whole, rest.removeprefix("*.")) if rest else whole


def words(expected: Any) -> str:
    """A type in a person's words."""
    if get_origin(expected) is Literal:
        return f"one of {', '.join(repr(each) for each in get_args(expected))}"
    if get_origin(expected) in (UnionType, Union):
        return words(next(each for each in get_args(expected) if each is not type(None)))
    if get_origin(expected) is tuple and get_args(expected)[0] is not str:
        return f"a list: {words(get_args(expected)[0])}, and so on"
    return WORDS[get_origin(expected) or expected]


def _converted(document: Mapping[str, Any]) -> Settings:
    plain = {
        name: [{**fields, "name": each} for each, fields in value.items()] if name in NAMED else value
        for name, value in document.items()
    }
    return msgspec.convert(plain, Settings)


def _shown(value: Any) -> str:
    kinds = {bool: "true or false", str: "text", int: "a number", float: "a number", list: "a list", dict: "a table"}
    shown = f" {value}".lower() if isinstance(value, bool | int | float) else ""
    return f"{kinds.get(type(value), 'a date')}{shown}"


def _types() -> dict[str, Any]:
    """The type of every setting, by its key."""
    found: dict[str, Any] = {}
    for name, expected in get_type_hints(Settings).items():
        inner = NAMED.get(name, expected)
        if isinstance(inner, type) and issubclass(inner, msgspec.Struct):
            above = f"{name}.*." if name in NAMED else f"{name}."
            hints = {field: hint for field, hint in get_type_hints(inner).items() if field != "name"}
            found |= {f"{above}{field}": hint for field, hint in hints.items()}
        else:
            found[name] = expected
    return {key: found[key] for key in TEXTS}  # the rest of a value is for the program to give


TYPES: Mapping[str, Any] = _types()
