"""The provider that the settings choose, and what is known of its model."""

from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from whet.agent.protocols import Chosen
from whet.agent.providers.anthropic import AnthropicCodec
from whet.agent.providers.asking import Asking, Codec
from whet.agent.providers.dialects import dialect_of
from whet.agent.providers.failures import Asked
from whet.agent.providers.openai import OpenAICodec
from whet.agent.providers.scripted import scripted_file
from whet.errors import WhetError
from whet.net.http import Client, Timing, Waits, real_timing, route_to
from whet.runs.models import Model, address_of, model_of, with_facts
from whet.runs.settings import Endpoint, Settings
from whet.shipped import data
from whet.store.home import Home

# Where people and proxies put the address of these two already; what the settings say wins.
BASE_VARIABLES = {"openai": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL"}


def provider_for(settings: Settings, *, environment: Mapping[str, str], home: Home, model: str = "") -> Chosen:
    """The provider of the chosen model, or of one named as in the settings; raises WhetError with advice."""
    address = address_of(settings, model)
    endpoint = at_base(address.endpoint, settings, environment)
    if endpoint.kind == "local":
        from whet.agent.providers import local  # noqa: PLC0415 - it is an extra, and nobody else needs it

        return local.provider_for(address.model, home=home, settings=settings, environment=environment)
    if endpoint.kind == "scripted":
        return Chosen(scripted_file(Path(address.model)), Model("scripted"))
    known = with_facts(model_of(address.model, data.models(), provider=endpoint.name), settings.models)
    variable = base_variable(address.endpoint, settings, environment)
    key = _key(endpoint, environment)
    return Chosen(asking(endpoint, known, key=key, environment=environment, variable=variable), known)


def missing_key(settings: Settings, environment: Mapping[str, str], model: str = "") -> str:
    """The variable that has to hold the key of a model and is not set; empty where nothing is missing."""
    variable = address_of(settings, model).endpoint.key_variable
    return variable if variable and not environment.get(variable, "").strip() else ""


def at_base(endpoint: Endpoint, settings: Settings, environment: Mapping[str, str]) -> Endpoint:
    """The endpoint at the address that the environment names, unless the settings name one."""
    variable = base_variable(endpoint, settings, environment)
    if not variable:
        return endpoint
    given = environment[variable].strip().rstrip("/")
    needs_version = endpoint.kind == "anthropic" and not given.endswith("/v1")
    return replace(endpoint, base_url=f"{given}/v1" if needs_version else given)


def base_variable(endpoint: Endpoint, settings: Settings, environment: Mapping[str, str]) -> str:
    """The variable that names the address of an endpoint; empty where none does, or the settings name one."""
    variable = BASE_VARIABLES.get(endpoint.name, "")
    is_set = any(each.name == endpoint.name and each.base_url for each in settings.providers)
    return variable if environment.get(variable, "").strip().rstrip("/") and not is_set else ""


def asking(
    endpoint: Endpoint,
    model: Model,
    *,
    key: str,
    environment: Mapping[str, str],
    timing: Timing | None = None,
    variable: str = "",
) -> Asking:
    """A provider that asks this endpoint for this model. A variable is where its address comes from."""
    timing = timing or real_timing()
    codec: Codec = (
        AnthropicCodec(model)
        if endpoint.kind == "anthropic"
        else OpenAICodec(model, dialect_of(endpoint.name, endpoint.base_url))
    )
    client = Client(
        route_to(endpoint.base_url, environment, what=variable or "base_url"),
        now=timing.steady,
        waits=Waits(bytes_seconds=endpoint.timeout_seconds),
    )
    return Asking(
        codec,
        client,
        Asked(endpoint.name, endpoint.key_variable, key, variable),
        timing=timing,
        retries=endpoint.retries,
    )


def _key(endpoint: Endpoint, environment: Mapping[str, str]) -> str:
    key = environment.get(endpoint.key_variable, "").strip() if endpoint.key_variable else ""
    if endpoint.key_variable and not key:
        raise WhetError(
            f"No API key for {endpoint.name}: the variable {endpoint.key_variable} is not set.",
            advice=f"`export {endpoint.key_variable}=…`, or choose another model: `whet config model local`.",
        )
    if not key.isascii() or not key.isprintable() or " " in key:
        raise WhetError(
            f"The key in {endpoint.key_variable} contains characters that cannot be in a key.",
            advice="Copy it again, without line breaks and spaces.",
        )
    return key
