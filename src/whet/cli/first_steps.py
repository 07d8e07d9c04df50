"""What a person without a model is told: the embedded one, how to set a provider, and keys that are there already."""

from collections.abc import Mapping

from whet.runs.models import EXAMPLES, KNOWN, endpoint_of
from whet.runs.settings import Settings


def found_keys(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The known providers whose keys stand in the environment."""
    return tuple(each.name for each in KNOWN if each.key_variable and environment.get(each.key_variable))


def suggestions(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Three lines for a first run, which begin with what is nearest at hand."""
    names = found_keys(environment)
    local = "An embedded model needs no key:  whet models pull && whet config model local"
    if not names:
        return (
            "No model is set, and no API key was found.",
            local,
            "Or set a provider:  export OPENAI_API_KEY=…  and  whet config model openai:gpt-5.1",
        )
    variable = next(each.key_variable for each in KNOWN if each.name == names[0])
    others = f" (or {', '.join(EXAMPLES[name] for name in names[1:3])})" if names[1:] else ""
    return (
        f"No model is set, but {variable} is:",
        f"  whet config model {EXAMPLES[names[0]]}{others}",
        local,
    )


def key_notes(settings: Settings, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Whether the chosen model has the key that it needs; where no model is chosen, how to choose one."""
    if not settings.model:
        return suggestions(environment)
    endpoint = endpoint_of(settings, settings.model.partition(":")[0])
    if endpoint is None:
        return (f"{settings.model} does not name a known provider.",)
    if not endpoint.key_variable:
        return ()
    state = "is set" if environment.get(endpoint.key_variable) else "is not set: export it before you start"
    return (f"{endpoint.key_variable} {state}.",)


def address_notes(settings: Settings, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Which variable names the address that the chosen model is asked at, where one does."""
    from whet.agent.providers.choosing import base_variable

    endpoint = endpoint_of(settings, settings.model.partition(":")[0]) if settings.model else None
    variable = base_variable(endpoint, settings, environment) if endpoint else ""
    return (f"{variable} is in force: {settings.model} is asked at the address that it names.",) if variable else ()
