"""whet try: whether a change helps, by the same cases with and without it."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from whet.cli.commands.improving import ImproveOptions, improve_by
from whet.cli.leaving_out import MARGIN_POINTS, is_place, left_out
from whet.cli.trying import TryOptions, conduct, template_patch, trial_options
from whet.errors import WhetError

if TYPE_CHECKING:
    from whet.ledger.patches import Patch

WAYS = "Give one of: ID, a patch file, --rule, --template, --without; or none, to try what your sessions teach."


@click.command(
    "try",
    epilog='Example: whet try --rule "Read a file before you edit it." --cases cases/ --seeds 3 --budget 2$',
    help="Test a change before you keep it: run the same cases without it, with it, and with a placebo of the "
    "same form and length, until the evidence suffices. CHANGE is what waits, by its ID in `whet lessons`, or a JSON "
    "file with form, action, name and text. The verdict is recorded in the ledger; the change is not applied. To "
    "resume an interrupted trial, run `whet worker` or the same command again."
    "\n\nWithout a change, take what your sessions teach, test each on cases of the failed sessions or of --cases, and "
    "keep what is proven to help: first live, for a share of sessions. Without a model, it stops before the trial and "
    "lists what you can approve.",
)
@click.argument("change", required=False)
@click.option("--rule", default="", metavar="TEXT", help="Text of the rule.")
@click.option("--template", default="", metavar="NAME", help="Name of a template; its effect is stored.")
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
@click.option(
    "--retire", is_flag=True, help="Test each active rule by leaving it out; retire rules that no longer help."
)
@click.option("--most", type=click.IntRange(1, 50), help="Maximum number of changes to try.  [default: 3]")
@click.option("--since", help="Only what sessions teach since this date or age: 2026-10-01, 12h, 7d, 2w.")
@click.option(
    "--share",
    type=click.FloatRange(0, 1, min_open=True),
    help="Share of sessions that get what is proven first.  [default: 0.5]",
)
@click.option(
    "--nightly", metavar="HH:MM", help="Every night at this time: read new sessions; with --budget, try changes too."
)
@trial_options
def command(
    change: str | None,
    rule: str,
    template: str,
    without: str,
    margin: float,
    retire: bool,
    most: int | None,
    since: str | None,
    share: float | None,
    nightly: str | None,
    as_json: bool,
    **options: Any,
) -> int:
    given = TryOptions(**options)
    ways: tuple[tuple[object, Callable[[Any], Patch]], ...] = (
        (change, _change),
        (rule, _rule),
        (template, template_patch),
        (without, _without),
    )
    chosen = [(value, make) for value, make in ways if value]
    is_of_all = bool(retire or most or since or share or nightly)
    if len(chosen) > 1 or (chosen and is_of_all):
        raise WhetError("Give exactly one change to try.", advice=WAYS)
    if not chosen:
        if given.fresh or given.temperature is not None:
            raise WhetError("--fresh and --temperature are for one change.", advice=WAYS)
        return improve_by(given, ImproveOptions(share or 0.5, most or 3, since, retire, nightly), as_json=as_json)
    value, make = chosen[0]
    if without and is_place(without):
        left = left_out(without, points=margin)
        return conduct(left.patch, given, as_json=as_json, asked=left.asked)
    about = int(change) if change and change.isdecimal() else 0
    return conduct(make(value), given, as_json=as_json, about=about)


def _change(name: str) -> "Patch":
    """What waits, by its entry or the id of its lesson; or what a file holds."""
    return _from_file(Path(name)) if Path(name).is_file() or "/" in name or "." in name else _pending(name)


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


def _pending(name: str) -> "Patch":
    import time

    from whet.improving.learned import waiting_lessons
    from whet.store.home import find_home
    from whet.store.opening import opened

    _expect_person()
    home = find_home(os.environ)
    with opened(home) as database:
        waiting = waiting_lessons(home, database, now=time.time())
    found = next((each for each in waiting if name in (each.id, str(each.standing.entry))), None)
    if found is None:
        raise WhetError(f"No lesson {name} waits for you.", advice="To list what waits, run `whet lessons --waiting`.")
    return found.proposal.patch


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
