"""whet try: whether a change helps, by the same cases with and without it."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from whet.cli.leaving_out import MARGIN_POINTS, is_place, left_out
from whet.cli.trying import TryOptions, conduct, template_patch, trial_options
from whet.errors import WhetError

if TYPE_CHECKING:
    from whet.ledger.patches import Patch

WAYS = "Give one of: a patch file, --rule, --pending, --template, --without."


@click.command(
    "try",
    epilog='Example: whet try --rule "Read a file before you edit it." --cases cases/ --seeds 3 --budget 2$',
    help="Test a change before you keep it: run the same cases without it, with it, and with a placebo of the "
    "same form and length, until the evidence suffices. PATCH is a JSON file with form, action, name and "
    "text. The verdict is recorded in the ledger; the change is not applied. To resume an interrupted trial, "
    "run `whet worker` or the same command again.",
)
@click.argument("patch", required=False, type=click.Path(path_type=Path, dir_okay=False))
@click.option("--rule", default="", metavar="TEXT", help="Text of the rule.")
@click.option("--pending", type=int, metavar="N", help="Number of a pending change.")
@click.option("--template", default="", metavar="NAME", help="Name of a template, as in `whet templates try`.")
@click.option(
    "--without",
    default="",
    metavar="WHAT",
    help="What to leave out: the name of an active rule, or FILE:LINE, a statement of a file that agents read.",
)
@click.option(
    "--margin",
    type=click.FloatRange(0, 100, min_open=True, max_open=True),
    default=MARGIN_POINTS,
    show_default=True,
    help="With FILE:LINE: it may go if no more than so many points fewer pass without it.",
)
@trial_options
def command(
    patch: Path | None,
    rule: str,
    pending: int | None,
    template: str,
    without: str,
    margin: float,
    as_json: bool,
    **options: Any,
) -> int:
    ways: tuple[tuple[object, Callable[[Any], Patch]], ...] = (
        (patch, _from_file),
        (rule, _rule),
        (pending, _pending),
        (template, template_patch),
        (without, _without),
    )
    chosen = [(value, make) for value, make in ways if value]
    if len(chosen) != 1:
        raise WhetError("Give exactly one change to try.", advice=WAYS)
    value, make = chosen[0]
    if without and is_place(without):
        left = left_out(without, points=margin)
        return conduct(left.patch, TryOptions(**options), as_json=as_json, asked=left.asked)
    return conduct(make(value), TryOptions(**options), as_json=as_json, about=pending or 0)


def _from_file(path: Path) -> "Patch":
    import msgspec

    from whet.ledger.patches import Patch
    from whet.store.disk import read_given

    try:
        found = msgspec.json.decode(read_given(path, advice=WAYS), type=Patch)
    except msgspec.MsgspecError as error:
        example = '{"form": "rule", "action": "add", "name": "tidy", "text": "Remove unused imports."}'
        raise WhetError(f"{path} is not a valid patch: {error}.", advice=f"It looks like {example}") from error
    return _by_hand(found)


def _rule(text: str) -> "Patch":
    from whet.ledger.patches import Action, Form, Patch, digest

    return _by_hand(Patch(Form.RULE, Action.ADD, f"tried-{digest(text)[:8]}", text.strip()))


def _pending(number: int) -> "Patch":
    import time

    from whet.changes.pending import pending
    from whet.store.home import find_home
    from whet.store.opening import opened

    _expect_person()
    home = find_home(os.environ)
    with opened(home) as database:
        found = next((each for each in pending(home, database, now=time.time()) if each.number == number), None)
    if found is None:
        raise WhetError(
            f"Entry {number} does not wait for a decision.", advice="To list pending changes, run `whet pending`."
        )
    return found.patch


def _without(name: str) -> "Patch":
    from whet.ledger.patches import Action, Form, Patch, digest
    from whet.sessions.trust import Trust
    from whet.store.home import find_home
    from whet.store.ledger import ledger_of
    from whet.store.opening import opened

    home = find_home(os.environ)
    with opened(home) as database:
        rule = ledger_of(home, database).state().get(Form.RULE, name)
    if rule is None:
        raise WhetError(f"There is no rule {name}.", advice="To list the rules, run `whet rules`.")
    return Patch(Form.RULE, Action.REMOVE, name, before=digest(rule.text), trust=Trust.AGENT)


def _by_hand(patch: "Patch") -> "Patch":
    """A patch in the words of whoever is at the command line; what its file says of its trust counts for nothing."""
    from msgspec.structs import replace

    from whet.cli.acting import actor_of, trust_of

    _expect_person()
    return replace(patch, trust=trust_of(actor_of(os.environ)), proofs=())


def _expect_person() -> None:
    """An agent's words, or a stranger's, are told to a model only where a person asks for it."""
    from whet.cli.acting import actor_of
    from whet.ledger.entries import Actor

    if actor_of(os.environ) is Actor.AGENT:
        raise WhetError(
            "An agent may try templates, and leave a rule out; its own words need a person.",
            advice="Ask the person to run it.",
        )
