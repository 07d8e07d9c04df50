"""One small request to the provider, and what is wrong where no answer comes."""

import os
import threading
import time

import click

from whet.agent.protocols import Provider, ProviderFailed, Reply
from whet.agent.providers.choosing import provider_for
from whet.errors import WhetError
from whet.runs.run import Run, Sampling
from whet.runs.settings import Settings
from whet.sessions.transcripts import Message, Role, Text
from whet.sessions.trust import Trust
from whet.shipped.guidance import notice
from whet.store.home import Home
from whet.text.characters import safe

OUTPUT_TOKENS = 16


def try_provider(settings: Settings, home: Home, *, model: str, as_json: bool) -> int:
    """Ask for a few words and say who answered, how fast and at what cost; raises WhetError with the fault."""
    from msgspec.structs import replace

    from whet.cli.output import print_json

    chosen = provider_for(replace(settings, model=model or settings.model), environment=os.environ, home=home)
    begun = time.monotonic()
    try:
        reply = _answer(chosen.provider, _question(chosen.model.name))
    except ProviderFailed as failed:
        raise WhetError(f"{chosen.provider.name} did not answer: {failed.message}", advice=failed.advice) from failed
    seconds = time.monotonic() - begun
    usage = reply.message.usage
    served = reply.message.model or chosen.model.name
    if as_json:
        print_json({"provider": chosen.provider.name, "model": served, "seconds": round(seconds, 3), "usage": usage})
        return 0
    tokens = f", {usage.input + usage.output} tokens" if usage else ""
    click.echo(f"{safe(served)} answered through {chosen.provider.name}: {seconds:.1f} s{tokens}.")
    return 0


def _question(model: str) -> Run:
    order = Message(Role.USER, (Text(notice("check")),), Trust.OPERATOR)
    return Run(id="check", model=model, system="", messages=(order,), sampling=Sampling(output_tokens=OUTPUT_TOKENS))


def _answer(provider: Provider, run: Run) -> Reply:
    for piece in provider.reply(run, interrupt=threading.Event()):
        if isinstance(piece, Reply):
            return piece
    raise WhetError(f"The connection to {provider.name} was lost.", advice="Try again.")
