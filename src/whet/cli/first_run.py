"""The first run without a model: three lines, and on a terminal a yes is enough."""

import os
import sys

import click
from msgspec.structs import replace

from whet.cli.acting import actor_of
from whet.cli.first_steps import found_keys, suggestions
from whet.errors import WhetError
from whet.ledger.entries import Actor
from whet.runs.models import EXAMPLES
from whet.runs.settings import Settings
from whet.store.home import Home
from whet.store.settings_file import assign


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
