"""Whether a setting is one that the next run can use, by the same checks as that run's."""

from typing import Any

from whet.errors import WhetError
from whet.runs.setting_keys import dotted
from whet.runs.settings import form_of
from whet.store.home import Home
from whet.store.settings_file import load

SWITCHES = ("auto", "always", "on", "never", "off")


def expect_usable(home: Home, path: tuple[str, ...], value: Any) -> None:
    """Raise WhetError, with the advice that the next run would give, for what it could not use."""
    match form_of(path):
        case "model" | "review.model" if value:
            _expect_model(home, value)
        case "tools":
            from whet.agent.tools.toolbox import names_in

            names_in(value)
        case "providers.*.base_url" | "servers.*.command" as form if value and (form[0] == "p" or "://" in value):
            from whet.net.http import route_to

            route_to(value, {}, what=dotted(path))
        case "prompt.enforcement":
            _expect_enforcement(home, value)
        case "prompt.platform" if value:
            _expect_platform(home, value)


def _expect_model(home: Home, model: str) -> None:
    from whet.agent.providers.local_weights import path_of
    from whet.runs.models import address_of

    address = address_of(load(home), model)
    if address.endpoint.kind == "local" and address.model:  # the embedded one may be downloaded afterwards
        path_of(address.model, home)


def _expect_enforcement(home: Home, words: tuple[str, ...]) -> None:
    """One word that is no switch is a part of model names, and means nothing where no model has it."""
    from whet.shipped import data

    settings = load(home)
    table = data.models()
    names = [
        settings.model,
        *(each.name for each in settings.models),
        *(each.pattern for each in table.series),
        *table.known,
    ]
    if len(words) == 1 and words[0] not in SWITCHES and not any(words[0].lower() in name.lower() for name in names):
        raise WhetError(
            f"{words[0]!r} is neither a switch nor part of a known model's name.",
            advice=f"Choose one of {', '.join(SWITCHES)}, or list parts of the names of models.",
        )


def _expect_platform(home: Home, platform: str) -> None:
    from whet.context.gathering import own_guidance
    from whet.shipped.guidance import built_in

    passages = (*built_in(), *own_guidance(home))
    known = sorted({each for passage in passages for each in passage.platforms})
    if platform.lower() not in known:
        raise WhetError(f"No guidance is for the platform {platform!r}.", advice=f"Choose one of {', '.join(known)}.")
