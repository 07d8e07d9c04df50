"""Where a change applies: the cases whose requests hold it, what it costs a session, and what an attempt costs."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from whet.agent.assembling import Wish
from whet.agent.protocols import Chosen
from whet.errors import WhetError
from whet.examples import templates
from whet.examples.warm_start import warm_start
from whet.ledger.patches import Form, Patch
from whet.proving.attempt import begin, is_interactive
from whet.proving.overlay import overlaid
from whet.proving.world import TrialWorld
from whet.runs.models import cost
from whet.runs.run import Spent
from whet.runs.settings import Settings
from whet.sessions.transcripts import Usage
from whet.shipped.guidance.warm import words
from whet.store.database import Database
from whet.store.home import Home
from whet.text import tokens
from whet.trials.cases import Case
from whet.trials.design import Price, cache_price

USUAL_CALLS = 3  # of the model in an attempt
USUAL_OUTPUT = 200  # tokens of one answer


class TrialSurroundings(NamedTuple):
    """What requests are put together from."""

    home: Home
    database: Database
    settings: Settings
    chosen: Chosen
    world: TrialWorld


class Applying(NamedTuple):
    """The cases in which the change is told, what it costs a session, and about what one attempt costs."""

    cases: list[Case]
    price: Price
    of_one: Spent


def where_told(around: TrialSurroundings, patch: Patch, cases: Sequence[Case], *, now: float) -> Applying:
    """Leave out the cases in which the model would not even read the rule; proves that the change can be applied."""
    groups: dict[tuple[str, ...], list[Case]] = {}
    for case in cases:
        groups.setdefault(case.tools if patch.form is Form.RULE else (), []).append(case)
    told = [(found, shown) for found in groups.values() if (shown := _shown(around, patch, found[0], now=now)).is_told]
    if not told:
        raise WhetError(
            "No request of these cases would hold the rule, so they cannot test it.",
            advice="Its scope names other models, tools or purposes than the cases have: change it, or give --cases.",
        )
    applying = [case for found, _ in told for case in found]
    shown = told[0][1]
    conversations = sum(_length(case) for case in applying) // len(applying)
    calls = min(USUAL_CALLS, applying[0].budget.model_calls)
    usage = Usage(input=(shown.asked + conversations) * calls, output=USUAL_OUTPUT * calls)
    of_one = Spent(calls, usage.input, usage.output, dollars=cost(usage, around.chosen.model.prices))
    return Applying(applying, shown.price, of_one)


class _Shown(NamedTuple):
    price: Price
    asked: int  # tokens of a request before its conversation
    is_told: bool


def _shown(around: TrialSurroundings, patch: Patch, case: Case, *, now: float) -> _Shown:
    home, _, settings, chosen, world = around
    prompts: list[str] = []
    tools = 0
    wish = Wish(settings, hidden=(home.folder,), chosen=chosen, interactive=is_interactive(patch))
    wish = wish._replace(environments=world.environments)
    for each in (None, patch):
        with overlaid(home, case, world, each, now=now, set_up=False) as overlay:
            run, means, *_ = begin(overlay, case, each, wish)
            means.toolbox.close()
            prompts.append(run.system)
            tools = sum(tokens.estimate(tool.description + tool.parameters) for tool in run.shown)
    inserted: tuple[str, ...] = ()
    if patch.form is Form.TEMPLATE:
        messages = warm_start(templates.read(patch.text, name=patch.name), (), words())
        inserted = tuple(msgspec.json.encode(message.parts).decode() for message in messages)
    asked = tokens.estimate(prompts[1]) + tools + sum(tokens.estimate(text) for text in inserted)
    is_told = patch.form is not Form.RULE or prompts[0] != prompts[1]
    return _Shown(cache_price(*prompts, inserted=inserted), asked, is_told)


def _length(case: Case) -> int:
    """The tokens of what a case itself puts into a request: its conversation, or its task and files."""
    said = [msgspec.json.encode(message.parts).decode() for message in case.conversation]
    return sum(tokens.estimate(text) for text in said or [case.task, *case.files.values()])
