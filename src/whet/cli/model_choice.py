"""Which model Whet's own agent runs on: the first choice, whether a setting can be used, and whether it answers."""

import os
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any

import click
from msgspec.structs import replace

from whet.agent.protocols import Provider, ProviderFailed, Reply
from whet.agent.providers.choosing import base_variable, provider_for
from whet.agent.providers.local_weights import path_of
from whet.agent.tools.toolbox import names_in
from whet.cli.acting import actor_of
from whet.cli.output import give, plain
from whet.context.gathering import own_guidance
from whet.errors import WhetError
from whet.ledger.entries import Actor
from whet.net.http import route_to
from whet.runs.models import EXAMPLES, KNOWN, address_of, endpoint_of
from whet.runs.run import Run, Sampling
from whet.runs.setting_keys import dotted
from whet.runs.settings import Settings, form_of
from whet.sessions.transcripts import Message, Role, Text
from whet.sessions.trust import Trust
from whet.shipped import data
from whet.shipped.guidance import built_in, notice
from whet.store.home import Home
from whet.store.settings_file import assign, load


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
    endpoint = endpoint_of(settings, settings.model.partition(":")[0]) if settings.model else None
    variable = base_variable(endpoint, settings, environment) if endpoint else ""
    return (f"{variable} is in force: {settings.model} is asked at the address that it names.",) if variable else ()


def choose_model(home: Home, settings: Settings) -> Settings:
    """The settings with a model that the person chooses here; raises WhetError with the same words elsewhere."""
    first, *rest = suggestions(os.environ)
    can_ask = sys.stdin.isatty() and sys.stderr.isatty() and actor_of(os.environ) is Actor.PERSON
    if not can_ask:
        raise WhetError(first, advice="\n".join(rest))
    for line in (first, *rest):
        click.echo(line, err=True)
    names = found_keys(os.environ)
    model = EXAMPLES[names[0]] if names else "local"
    question = f"Use {model} from now on?" if names else "Download and use the embedded model?"
    if not click.confirm(question, err=True):
        raise WhetError("No model is set.", advice="Set one as above, then start again.")
    if not names:
        from whet.cli.group import group

        group.main(["models", "pull"], prog_name="whet", standalone_mode=False)
    assign(home, ("model",), model)
    return replace(settings, model=model)


OUTPUT_TOKENS = 16


def try_provider(settings: Settings, home: Home, *, model: str) -> int:
    """Ask for a few words and say who answered, how fast and at what cost; raises WhetError with the fault."""
    chosen = provider_for(replace(settings, model=model or settings.model), environment=os.environ, home=home)
    begun = time.monotonic()
    try:
        reply = _answer(chosen.provider, _question(chosen.model.name))
    except ProviderFailed as failed:
        raise WhetError(f"{chosen.provider.name} did not answer: {failed.message}", advice=failed.advice) from failed
    seconds = time.monotonic() - begun
    usage = reply.message.usage
    served = reply.message.model or chosen.model.name
    record = {"provider": chosen.provider.name, "model": served, "seconds": round(seconds, 3), "usage": usage}
    tokens = f", {usage.input + usage.output} tokens" if usage else ""
    return give(record, (f"{plain(served)} answered through {chosen.provider.name}: {seconds:.1f} s{tokens}.",))


def _question(model: str) -> Run:
    order = Message(Role.USER, (Text(notice("check")),), Trust.OPERATOR)
    return Run(id="check", model=model, system="", messages=(order,), sampling=Sampling(output_tokens=OUTPUT_TOKENS))


def _answer(provider: Provider, run: Run) -> Reply:
    for piece in provider.reply(run, interrupt=threading.Event()):
        if isinstance(piece, Reply):
            return piece
    raise WhetError(f"The connection to {provider.name} was lost.", advice="Try again.")


SWITCHES = ("auto", "always", "on", "never", "off")


def expect_usable(home: Home, path: tuple[str, ...], value: Any) -> None:
    """Raise WhetError, with the advice that the next run would give, for what it could not use."""
    match form_of(path):
        case "model" | "review.model" if value:
            _expect_model(home, value)
        case "tools":
            names_in(value)
        case "providers.*.base_url" | "servers.*.command" as form if value and (form[0] == "p" or "://" in value):
            route_to(value, {}, what=dotted(path))
        case "prompt.enforcement":
            _expect_enforcement(home, value)
        case "prompt.platform" if value:
            _expect_platform(home, value)


def _expect_model(home: Home, model: str) -> None:
    address = address_of(load(home), model)
    if address.endpoint.kind == "local" and address.model:  # the embedded one may be downloaded afterwards
        path_of(address.model, home)


def _expect_enforcement(home: Home, words: tuple[str, ...]) -> None:
    """One word that is no switch is a part of model names, and means nothing where no model has it."""
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
    passages = (*built_in(), *own_guidance(home))
    known = sorted({each for passage in passages for each in passage.platforms})
    if platform.lower() not in known:
        raise WhetError(f"No guidance is for the platform {platform!r}.", advice=f"Choose one of {', '.join(known)}.")
