"""Procedures: several different commands that did the same work in the same order in three sessions or more.

Strict on purpose: a wrong procedure costs more than a missing one. Every session that counts ran all of the steps in
this order, each worked where it last ran, and the last one ended what was asked for in most of them.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from whet.lessons.worked_orders import FEWEST_STEPS, WorkedOrder, WorkedStep
from whet.text.words import names
from whet.values import Value

SESSIONS_NEEDED = 3
SPECIAL_STEPS = 2  # that are no checks and no everyday ones: checks and a commit are any day's work
SAME_ORDER = 0.75  # of the sessions that ran two steps ran them in this order
SHARED = 0.6  # of the sessions of its core have a step of a procedure
ENDS = 0.6  # of the sessions ended with its last step
SAME_STEPS = 0.5  # of the steps of the shorter of two procedures that are one
MOST_PROCEDURES = 3  # of a project
EVERYDAY = names("git-add git-commit git-push git-checkout git-switch git-pull git-merge git-rebase git-rm git-mv")


class FoundProcedure(Value, frozen=True):
    """Steps in their order, and the orders of distinct sessions that have them all."""

    steps: tuple[str, ...]
    orders: tuple[WorkedOrder, ...]
    stands_in: str = ""  # the text that had told the agent of it

    @property
    def sessions(self) -> int:
        return len(self.orders)


def procedures(orders: Iterable[WorkedOrder], copies: Mapping[str, str]) -> tuple[FoundProcedure, ...]:
    """The procedures of one project, the best first. `copies` names the original of each session that is a copy."""
    every = [order for order in orders if order.session not in copies]
    counted = Counter(form for order in every for form in {step.form for step in order.steps})
    recurring = {form for form, count in counted.items() if count >= SESSIONS_NEEDED}
    special = sorted(
        {step.form for order in every for step in order.steps if step.form in recurring and _is_special(step)}
    )
    found: dict[tuple[str, ...], FoundProcedure] = {}
    for one, other in combinations(special, SPECIAL_STEPS):
        core = [order for order in every if {one, other} <= _forms(order)]
        procedure = _grown(core)
        if procedure is not None:
            found.setdefault(procedure.steps, procedure)
    return _distinct(sorted(found.values(), key=lambda each: (-len(each.steps) * each.sessions, each.steps)))


def is_everyday(form: str) -> bool:
    """Whether every agent takes this step in any project."""
    return form.replace(" ", "-") in EVERYDAY


def names_all(text: str, found: FoundProcedure) -> bool:
    """Whether a text names every step that is not an everyday one."""
    return all(form in text for form in found.steps if not is_everyday(form))


def _is_special(step: WorkedStep) -> bool:
    return not step.is_check and not is_everyday(step.form)


def _grown(core: Sequence[WorkedOrder]) -> FoundProcedure | None:
    """The steps that most of these orders share, in the order in which most ran them, as far as three ran them all."""
    sessions = {order.session for order in core}
    counted = Counter(form for session in sessions for form in _forms_of_session(core, session))
    shared = [form for form, count in counted.items() if count >= max(SESSIONS_NEEDED, SHARED * len(sessions))]
    steps = _ordered(shared, core)
    while len(steps) >= FEWEST_STEPS:
        having = _one_each(order for order in core if _runs(order, steps))
        if len(having) >= SESSIONS_NEEDED:
            return _whole(steps, having)
        rarest = min(steps, key=lambda form: (counted[form], form))
        steps = tuple(form for form in steps if form != rarest)
    return None


def _whole(steps: tuple[str, ...], having: tuple[WorkedOrder, ...]) -> FoundProcedure | None:
    """The procedure, where it does something and ends what was asked for."""
    by_form = {step.form: step for order in having for step in order.steps}
    special = [form for form in steps if _is_special(by_form[form])]
    ending = [order for order in having if order.steps[-1].form == steps[-1]]
    if len(special) < SPECIAL_STEPS or len(ending) < ENDS * len(having):
        return None
    return FoundProcedure(steps, having, _source(special, having))


def _source(special: Sequence[str], having: Sequence[WorkedOrder]) -> str:
    """The text that named nearly all of its steps before a session took them."""
    for order in having:
        told = Counter(step.told_in for step in order.steps if step.form in special and step.told_in)
        if told and (most := told.most_common(1)[0])[1] >= max(1, len(special) - 1):
            return most[0]
    return ""


def _ordered(forms: Sequence[str], core: Sequence[WorkedOrder]) -> tuple[str, ...]:
    """The forms by how many others they come before; one that has no fixed place among the others is left out."""
    before = {(one, other): _share_before(one, other, core) for one in forms for other in forms if one != other}
    left = sorted(forms)
    while True:
        loose = Counter(
            form for pair in combinations(left, 2) if 1 - SAME_ORDER < before[pair] < SAME_ORDER for form in pair
        )
        if not loose:
            break
        left.remove(max(loose, key=lambda form: (loose[form], form)))
    return tuple(sorted(left, key=lambda form: (-sum(before[form, other] for other in left if other != form), form)))


def _share_before(one: str, other: str, core: Sequence[WorkedOrder]) -> float:
    both = [forms for order in core if {one, other} <= set(forms := [step.form for step in order.steps])]
    return sum(forms.index(one) < forms.index(other) for forms in both) / len(both) if both else 0.5


def _runs(order: WorkedOrder, steps: Sequence[str]) -> bool:
    left = iter(step.form for step in order.steps)
    return all(form in left for form in steps)


def _one_each(orders: Iterable[WorkedOrder]) -> tuple[WorkedOrder, ...]:
    return tuple({order.session: order for order in orders}.values())


def _forms(order: WorkedOrder) -> set[str]:
    return {step.form for step in order.steps}


def _forms_of_session(core: Sequence[WorkedOrder], session: str) -> set[str]:
    return {form for order in core if order.session == session for form in _forms(order)}


def _distinct(ranked: Sequence[FoundProcedure]) -> tuple[FoundProcedure, ...]:
    """Without those that share their steps with a better one."""
    kept: list[FoundProcedure] = []
    for one in ranked:
        alike = (len(set(one.steps) & set(each.steps)) / min(len(one.steps), len(each.steps)) for each in kept)
        if all(share < SAME_STEPS for share in alike):
            kept.append(one)
    return tuple(kept[:MOST_PROCEDURES])
