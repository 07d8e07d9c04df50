"""Endpoints that are known by name, and how the name of a model says where it answers."""

from typing import NamedTuple

from whet.errors import WhetError
from whet.runs.setting_keys import dotted
from whet.runs.settings import Endpoint, Settings

KNOWN = (
    Endpoint("openai", "openai", "https://api.openai.com/v1", "OPENAI_API_KEY"),
    Endpoint("anthropic", "anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
    Endpoint("openrouter", "openai", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    Endpoint("gemini", "openai", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
    Endpoint("groq", "openai", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    Endpoint("mistral", "openai", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    Endpoint("deepseek", "openai", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    Endpoint("xai", "openai", "https://api.x.ai/v1", "XAI_API_KEY"),
    Endpoint("together", "openai", "https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    Endpoint("moonshot", "openai", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY"),
    Endpoint("ollama", "openai", "http://127.0.0.1:11434/v1"),
    Endpoint("llamacpp", "openai", "http://127.0.0.1:8080/v1"),
    Endpoint("vllm", "openai", "http://127.0.0.1:8000/v1"),
    Endpoint("lmstudio", "openai", "http://127.0.0.1:1234/v1"),
    Endpoint("local", "local"),
    Endpoint("scripted", "scripted"),
)
# A model to begin with where a key is found; any other name works as well.
EXAMPLES = {
    "openai": "openai:gpt-5.1",
    "anthropic": "anthropic:claude-sonnet-4-5",
    "openrouter": "openrouter:anthropic/claude-sonnet-4.5",
    "gemini": "gemini:gemini-2.5-pro",
    "groq": "groq:openai/gpt-oss-120b",
    "mistral": "mistral:mistral-large-latest",
    "deepseek": "deepseek:deepseek-chat",
    "xai": "xai:grok-4",
    "together": "together:openai/gpt-oss-120b",
}


class Address(NamedTuple):
    """Where a model answers, and its name there."""

    endpoint: Endpoint
    model: str


def address_of(settings: Settings, model: str = "") -> Address:
    """Where the chosen model answers, or the one that is named; raises WhetError with advice."""
    chosen = model or settings.model
    if not chosen:
        raise WhetError(
            "No model is set.",
            advice="Run `whet config set model PROVIDER:NAME`, or `whet config set model local` to try it here.",
        )
    name, _, rest = chosen.partition(":")
    endpoint = endpoint_of(settings, name)
    if endpoint is None:
        known = ", ".join(each.name for each in (*settings.providers, *KNOWN) if each.kind != "scripted")
        raise WhetError(
            f"{chosen!r} does not name a known provider.",
            advice=f"Write provider:model with one of {known}; `whet config set providers.{dotted((name,))}.base_url …`"
            " adds another.",
        )
    if not rest and endpoint.kind not in ("local", "scripted"):
        raise WhetError(
            f"{chosen!r} does not name a model.", advice=f"Write {name}:MODEL, such as {EXAMPLES.get(name, name)}."
        )
    return Address(endpoint, rest)


def endpoint_of(settings: Settings, name: str) -> Endpoint | None:
    """The endpoint of this name: the person's own first, whose empty fields a known one of the same name fills."""
    own = next((each for each in settings.providers if each.name == name), None)
    known = next((each for each in KNOWN if each.name == name), None)
    if own is None or known is None:
        return own or known
    filled = {"base_url": own.base_url or known.base_url, "key_variable": own.key_variable or known.key_variable}
    kind = own.kind if own.kind != "openai" else known.kind
    return Endpoint(name, kind, timeout_seconds=own.timeout_seconds, retries=own.retries, **filled)
