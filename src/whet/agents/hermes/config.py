"""Hermes' config.yaml as settings of Whet: model, MCP servers, enforcement. Secrets are named, never read."""

import re
import shlex
from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml

from whet.errors import WhetError
from whet.own.runs.models import KNOWN
from whet.text import fields

FILE = "config.yaml"
OWN_PROVIDER = "hermes"  # what an endpoint without a name is called here
KINDS = {"": "openai", "chat_completions": "openai", "anthropic_messages": "anthropic"}
# What Hermes calls a provider, and what it is called here.
PROVIDERS = {each.name: each.name for each in KNOWN if each.base_url} | {
    "google": "gemini",
    "kimi-coding": "moonshot",
    "openai-api": "openai",
}
ENFORCEMENT = {"true": "always", "on": "always", "always": "always", "false": "never", "off": "never", "never": "never"}
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_NAME = re.compile(r"[\w .-]+")
_ENV_LINE = re.compile(r"(?m)^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=")


class FoundSetting(NamedTuple):
    """A setting of Whet and the value that Hermes has for it."""

    path: tuple[str, ...]
    value: object


class HermesConfig(NamedTuple):
    """Groups of settings that belong together, the variables they need, and what has no place here, with the reason."""

    groups: tuple[tuple[str, tuple[FoundSetting, ...]], ...] = ()
    variables: tuple[str, ...] = ()
    left: tuple[tuple[str, str], ...] = ()


class _Loader(yaml.SafeLoader):
    """Refuses what lets a short file stand for a huge one, and tags, which make values of kinds that Hermes has not."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()  # type: ignore[no-untyped-call]  # of the library
        if isinstance(event, yaml.AliasEvent) or event.tag is not None:
            raise yaml.MarkedYAMLError(problem="an alias or a tag is not understood here")
        return super().compose_node(parent, index)


def read(text: str) -> HermesConfig:
    """What Whet can have of a config.yaml; raises WhetError where it is none."""
    try:
        document = yaml.load(text, _Loader)  # a safe loader that reads less
    except (yaml.YAMLError, RecursionError, ValueError) as error:  # the last for a date or a number that is none
        why = error.problem if isinstance(error, yaml.MarkedYAMLError) and error.problem else "it is not YAML"
        raise WhetError(
            f"Hermes' config.yaml cannot be read: {why}.", advice="Check it with `hermes config`."
        ) from error
    if not isinstance(document, dict):
        return HermesConfig()
    parts = [_model(document), *_servers(document), _enforcement(document)]
    return HermesConfig(
        tuple(group for part in parts for group in part.groups if group[1]),
        tuple(dict.fromkeys(name for part in parts for name in part.variables)),
        tuple(left for part in parts for left in part.left),
    )


def variables_in(text: str) -> tuple[str, ...]:
    """The names of the variables in a .env file; their values are not looked at."""
    return tuple(dict.fromkeys(_ENV_LINE.findall(text)))


def _model(document: dict[str, Any]) -> HermesConfig:
    given = document.get("model")
    told = given if isinstance(given, dict) else {}
    model = given if isinstance(given, str) else fields.text(told, "default", "model")
    if not model:
        return HermesConfig()
    provider, base = fields.text(told, "provider").lower(), fields.text(told, "base_url").rstrip("/")
    own = fields.mapping(fields.mapping(document, "providers"), provider)
    if own:
        return _own_model(model, provider, {**own, "base_url": own.get("base_url") or base})
    known = PROVIDERS.get(provider) if provider not in ("", "auto", "custom") else _provider_at(base)
    addressed = next((each.base_url for each in KNOWN if each.name == known), "")
    if known and base in ("", addressed.rstrip("/")):
        variable = next((each.key_variable for each in KNOWN if each.name == known), "")
        settings = (FoundSetting(("model",), f"{known}:{model}"), *_window(told, model))
        return HermesConfig((("model", settings),), (variable,) if variable else ())
    if base:
        return _own_model(model, known or OWN_PROVIDER, told)
    why = f"Whet does not know its provider {provider or 'auto'}: run `whet config model provider:{model}`"
    return HermesConfig(left=((f"model {model}", why),))


def _own_model(model: str, name: str, told: dict[str, Any]) -> HermesConfig:
    """A model at an address of the person's own."""
    kind = KINDS.get(fields.text(told, "api_mode"))
    if kind is None:
        return HermesConfig(left=((f"model {model}", f"Whet does not speak its API {told['api_mode']}"),))
    held = _VARIABLE.fullmatch(fields.text(told, "api_key"))
    variable = fields.text(told, "key_env") or (held[1] if held else "")
    if not variable and told.get("api_key"):
        variable = f"{re.sub(r'[^A-Z0-9]+', '_', name.upper())}_API_KEY"
    settings = [
        FoundSetting(("providers", name, "base_url"), fields.text(told, "base_url").rstrip("/")),
        *([FoundSetting(("providers", name, "kind"), kind)] if kind != "openai" else []),
        *([FoundSetting(("providers", name, "key_variable"), variable)] if variable else []),
        FoundSetting(("model",), f"{name}:{model}"),
        *_window(told, model),
    ]
    return HermesConfig((("model", tuple(settings)),), (variable,) if variable else ())


def _provider_at(base: str) -> str:
    return next((each.name for each in KNOWN if base and each.base_url.rstrip("/") == base), "")


def _window(told: dict[str, Any], model: str) -> Iterator[FoundSetting]:
    if size := fields.whole(told, "context_length"):
        yield FoundSetting(("models", model, "window"), size)


def _servers(document: dict[str, Any]) -> Iterator[HermesConfig]:
    for name, told in fields.mapping(document, "mcp_servers").items():
        what = f"MCP server {name}"
        if not (isinstance(name, str | int) and _NAME.fullmatch(str(name))):
            yield HermesConfig(left=((what, "its name has other characters than letters, digits, dots and dashes"),))
        elif not isinstance(told, dict):
            yield HermesConfig(left=((what, "it is not written as a server"),))
        elif told.get("enabled") is False:
            yield HermesConfig(left=((what, "it is switched off"),))
        elif told.get("headers") or told.get("auth"):
            yield HermesConfig(
                left=((what, "it logs in by a header, which may hold a secret; set it up here by hand"),)
            )
        else:
            yield _server(str(name), what, told)


def _server(name: str, what: str, told: dict[str, Any]) -> HermesConfig:
    variables = tuple(str(each) for each in fields.mapping(told, "env"))
    arguments = _words(fields.items(told, "args"))
    wanted = fields.mapping(told, "tools").get("include")
    values: dict[str, Any] = {
        "command": fields.text(told, "url") or shlex.join((fields.text(told, "command"), *arguments)),
        "variables": list(variables),
        "tools": _words(wanted) if isinstance(wanted, list) else [],
    }
    if len(arguments) != len(fields.items(told, "args")):
        return HermesConfig(left=((what, "one of its arguments is not a text"),))
    found = tuple(FoundSetting(("servers", name, key), value) for key, value in values.items() if value)
    if _VARIABLE.search(values["command"]):
        return HermesConfig(left=((what, "a variable stands in its address or arguments; set it up here by hand"),))
    return HermesConfig(((what, found),), variables)


def _words(listed: list[Any]) -> list[str]:
    return [str(each) for each in listed if isinstance(each, str | int | float)]


def _enforcement(document: dict[str, Any]) -> HermesConfig:
    told = fields.mapping(document, "agent").get("tool_use_enforcement")
    if told is None:
        return HermesConfig()
    words = _words(told) if isinstance(told, list) else [word.lower() for word in _words([told])]
    if not words:
        return HermesConfig(left=(("enforcement", "it is neither a word nor a list of words"),))
    value = [ENFORCEMENT.get(each.lower(), each) for each in words]
    return HermesConfig((("enforcement", (FoundSetting(("prompt", "enforcement"), value),)),))
