"""whet try: whether a change helps, by the same cases with and without it."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import msgspec
from msgspec.structs import replace

from whet.agent.assembling import new_id
from whet.agent.providers.choosing import missing_key
from whet.cli.acting import actor_of, trust_of
from whet.cli.analysed import read_what_is_taught
from whet.cli.commands.learn import queue_reading
from whet.cli.deciding import chosen_lessons
from whet.cli.options import allowance_of, json_command, own_store, point_in_time
from whet.cli.output import counted_bar, give, next_lines, say
from whet.cli.procedures import direct, is_watched
from whet.cli.shown.trials import NEXT_STEPS, account, judge_line, report_lines, report_record, trial_line
from whet.cli.trying import (
    MARGIN_POINTS,
    TryOptions,
    at_once,
    conduct,
    expect_allowed,
    is_place,
    left_out,
    other_agent,
    queued,
    trial_options,
)
from whet.errors import WhetError
from whet.improving.improve import improve, order
from whet.ledger.entries import Actor
from whet.ledger.patches import Action, Form, Patch, digest
from whet.own.examples.templates import as_change
from whet.sessions.trust import Trust
from whet.store.folders import read_given
from whet.store.home import Home, find_home
from whet.store.ledger import ledger_of
from whet.store.opening import opened
from whet.store.rows import uncollected
from whet.store.settings_file import load
from whet.store.template_files import load as load_template
from whet.telling.targets.known_projects import KnownProjects
from whet.trials.design import TrialDesign
from whet.trials.improvements import ImproveReport, ImproveRequest
from whet.work.orders import DirectSteps, decoded

WAYS = "Give one of: ID, a patch file, --rule, --template, --without; or none, to try what your sessions teach."


@json_command(
    "try", epilog='Example: whet try --rule "Read a file before you edit it." --cases cases/ --seeds 3 --budget 2$'
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
    **options: Any,
) -> int:
    """Test a change before you keep it: run the same cases without it, with it, and with a placebo of the same form and
    length, until the evidence suffices. CHANGE is what waits, by its ID in `whet lessons`, or a JSON file with form,
    action, name and text. The verdict is recorded in the ledger; the change is not applied. To resume an interrupted
    trial, run `whet worker` or the same command again.

    Without a change, take what your sessions teach, test each on cases of the failed sessions or of --cases, and keep
    what is proven to help: first live, for a share of sessions. Without a model, it stops before the trial and lists
    what you can approve.
    """
    given = TryOptions(**options)
    ways: tuple[tuple[str | None, Callable[[str], Patch]], ...]
    ways = ((change, _change), (rule, _rule), (template, _template), (without, _without))
    chosen = [(value, make) for value, make in ways if value]
    is_of_all = bool(retire or most or since or share)
    if len(chosen) > 1 or (chosen and is_of_all):
        raise WhetError("Give exactly one change to try.", advice=WAYS)
    if not chosen:
        if given.fresh:
            raise WhetError("--fresh is for one change.", advice=WAYS)
        usual = ImproveRequest()
        ask = ImproveRequest(
            share=share or usual.share, most=most or usual.most, since=point_in_time(since), retire=retire
        )
        return improve_by(given, ask)
    value, make = chosen[0]
    if without and is_place(without):
        left = left_out(without, points=margin)
        return conduct(left.patch, given, asked=left.asked)
    about = int(change) if change and change.isdecimal() else 0
    return conduct(make(value), given, about=about)


def _change(name: str) -> Patch:
    """What waits, by its entry or the id of its lesson; or what a file holds."""
    return _from_file(Path(name)) if Path(name).is_file() or "/" in name or "." in name else _pending(name)


def _from_file(path: Path) -> Patch:
    try:
        found = msgspec.json.decode(read_given(path, advice=WAYS), type=Patch)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        example = '{"form": "rule", "action": "add", "name": "tidy", "text": "Remove unused imports."}'
        raise WhetError(f"{path} is not a valid patch: {error}.", advice=f"It looks like {example}") from error
    return _by_hand(found)


def _rule(text: str) -> Patch:
    return _by_hand(Patch(Form.RULE, Action.ADD, f"tried-{digest(text)[:8]}", text.strip()))


def _template(name: str) -> Patch:
    """The patch that is tried when a template is: a session that begins with its examples."""
    return as_change(load_template(find_home(os.environ).folder, name))


def _pending(name: str) -> Patch:
    _expect_person()
    with own_store() as (home, database):
        (lesson,) = chosen_lessons(home, database, (name,))
    return lesson.proposal.patch


def _without(name: str) -> Patch:
    with own_store() as (home, database):
        rule = ledger_of(home, database).state().get(Form.RULE, name)
    if rule is None:
        raise WhetError(f"There is no rule {name}.", advice="To list the rules, run `whet rules`.")
    return Patch(Form.RULE, Action.REMOVE, name, before=digest(rule.text), trust=Trust.AGENT)


def _by_hand(patch: Patch) -> Patch:
    """A patch in the words of whoever is at the command line; what its file says of its trust counts for nothing."""
    _expect_person()
    return replace(patch, trust=trust_of(actor_of(os.environ)), proofs=())


def _expect_person() -> None:
    """An agent's words, or a stranger's, are told to a model only where a person asks for it."""
    if actor_of(os.environ) is Actor.AGENT:
        raise WhetError(
            "An agent may try templates, and leave a rule out; its own words need a person.",
            advice="Ask the person to run it.",
        )


def improve_by(given: TryOptions, wanted: ImproveRequest) -> int:
    """Take what sessions teach, test each change on cases, and keep what is proven to help."""
    if sum((given.now, given.background, given.dry_run)) > 1:
        raise WhetError("Use only one of --now, --background and --dry-run.", advice="Remove the others.")
    home = find_home(os.environ)
    ask = replace(
        wanted,
        model=given.model,
        agent=other_agent(given.agent),
        cases=tuple(os.path.abspath(each) if os.path.exists(each) else each for each in given.cases),
        design=TrialDesign(given.seeds, given.alpha, given.placebo, allowance_of(given.budget)),
        dry_run=given.dry_run,
    )
    if given.dry_run:
        return _show(_planned(home, ask))
    if ask.agent:
        limit = f"ends at {' or '.join(given.budget)}" if given.budget else "has no budget: --budget 2$ ends it there"
        plan = f"At most {ask.most} changes are tried on {ask.agent}; each {limit}. To see the plan: --dry-run."
        expect_allowed(ask.agent, (plan, account(ask.agent)), yes=given.yes)
    settings = load(home)
    # Before anything is queued: whether the model that this process asks has its key.
    asked = settings.model if ask.agent else ask.model or settings.model
    if not given.background and asked and (variable := missing_key(settings, os.environ, asked)):
        raise WhetError(
            f"{asked} needs the key in {variable}, which is not set.",
            advice=f"Run `export {variable}=…`. To see the plan without it, use --dry-run.",
        )
    if ask.agent or asked:
        say(judge_line(ask.model if ask.agent else asked, ask.agent))
    if given.now:
        return _show(_direct(home, ask))
    return _queued(home, ask, follow=not given.background)


def _id() -> str:
    return f"improve-{new_id(time.time())}"


def _planned(home: Home, ask: ImproveRequest) -> ImproveReport:
    with opened(home) as database:
        read_what_is_taught(database)  # here and not below, where nobody would see how far it is
    with uncollected(), counted_bar("Learning") as progress:
        return decoded(improve(home, DirectSteps(_id()), ask, progress=progress).value, ImproveReport)


def _direct(home: Home, ask: ImproveRequest) -> ImproveReport:
    with trial_line() as show:
        steps = direct(home, _id(), at_once=at_once(ask.agent))
        done = improve(home, steps, ask, observe=lambda _: show)
    return decoded(done.value, ImproveReport)


def _queued(home: Home, ask: ImproveRequest, *, follow: bool) -> int:
    if not follow and (reader := load(home).reading.reader):
        queue_reading(home, reader)
    wanted = order(replace(ask, watched=follow and is_watched(os.environ)), key=_id())
    report = queued(home, wanted, ImproveReport, more=None if follow else {}, at_once=at_once(ask.agent))
    return _show(report) if report else 0


def _show(report: ImproveReport) -> int:
    return give(report_record(report), _lines(report))


def _lines(report: ImproveReport) -> Iterator[str]:
    with own_store() as (_, database):
        named = KnownProjects(database).shown
    yield from report_lines(report, named)
    became = set() if report.stopped else {each.became for each in (*report.outcomes, *report.waiting)}
    for words in [words for what, words in NEXT_STEPS if what in became][:1]:
        yield from next_lines(words)
