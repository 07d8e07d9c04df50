"""What other members of a team have in force: proposals here, until this home's person or an admin takes them over."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from whet.ledger.entries import Entry, Item, State, Step
from whet.ledger.folding import fold
from whet.ledger.patches import Action, Form, Patch, digest
from whet.sessions.trust import Trust

DECIDED = (Step.APPROVED, Step.REFUSED)


def suggestions(entries: Sequence[Entry], others: Sequence[Entry]) -> tuple[Entry, ...]:
    """The rules of other members that differ from what is in force here, as changes that wait for a decision.

    `entries` are those that count here. Each suggestion has the number and the maker of the entry it comes from, and
    a patch that fits what stands here; what was decided on here once is not suggested again.
    """
    here = fold(entries)
    decided = {entry.about for entry in entries if entry.step in DECIDED}
    before = [entry for entry in entries if not entry.maker]  # from before makers were named: everybody's
    found: list[Entry] = []
    for maker in dict.fromkeys(entry.maker for entry in others):
        own = [entry for entry in others if entry.maker == maker]
        theirs = fold(sorted((*before, *own), key=lambda entry: entry.number))
        found += _differences(here, theirs, {entry.number: entry for entry in own})
    return tuple(sorted((each for each in found if each.number not in decided), key=lambda each: each.number))


def _differences(here: State, theirs: State, own: dict[int, Entry]) -> Iterator[Entry]:
    for rule in theirs.rules:
        known = here.get(Form.RULE, rule.name)
        if rule.number in own and (known is None or (known.text, known.scope) != (rule.text, rule.scope)):
            yield _suggestion(own[rule.number], rule, known)
    last = {change.key: change for change in theirs.done if change.key.form is Form.RULE}
    for key, change in last.items():
        known = here.get(Form.RULE, key.name)
        is_gone = change.number in own and change.after is None and change.before is not None
        if is_gone and known is not None and change.before is not None and known.text == change.before.text:
            yield _suggestion(own[change.number], None, known)


def _suggestion(entry: Entry, rule: Item | None, known: Item | None) -> Entry:
    """One difference as a change of what stands here. Who approves it vouches for its words, as a person does."""
    action = Action.REMOVE if rule is None else Action.CHANGE if known else Action.ADD
    patch = Patch(
        Form.RULE,
        action,
        entry.patch.name,
        rule.text if rule else "",
        rule.scope if rule else entry.patch.scope,
        entry.patch.origin,
        min(entry.patch.trust, Trust.USER),
        entry.patch.proofs,
        digest(known.text if known else None),
        entry.patch.situation,
        rule.example if rule else "",
    )
    return replace(entry, step=Step.SUGGESTED, patch=patch, before=patch.before, after=patch.after, about=0, batch=0)
