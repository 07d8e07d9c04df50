"""What is in force: the fold of the entries, a member's own and those of others.

On what grounds a thing is in force: a trial, or somebody's word. What an entry did to the texts in force, and which
entries put a sentence there.
"""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from msgspec.structs import replace

from whet.ledger.entries import CHANGES, DECISIONS, Actor, Change, Entry, Item, Key, State, Step
from whet.ledger.patches import TRUSTED, UNTRIED, Action, Form, Patch, digest, marks
from whet.sessions.trust import Trust

TRIED = (Step.ACCEPTED, Step.REJECTED, Step.UNDECIDED)
DECIDED = (Step.APPROVED, Step.REFUSED)
CONTEXT_LINES = 3
PUTTING = (Step.APPLIED, Step.CANARY)
ONLY_SAID = {Step.PROPOSED: 0, Step.ACCEPTED: 1, Step.REJECTED: 1, Step.UNDECIDED: 1}
ON_YOUR_WORD = "on your word"
TRIALS = {
    Step.ACCEPTED: "proved in a trial",
    Step.REJECTED: "though a trial rejected it",
    Step.UNDECIDED: "a trial was undecided",
}


class Move(NamedTuple):
    """One thing from one text to another; None is a thing that is not there."""

    key: Key
    before: str | None
    after: str | None


class Trace(NamedTuple):
    """An entry that put a text there, and the one that took it away again; None where it is in force.

    Where nothing ever put it there: the entry that proposed or tried it, and the decision on it; None where it waits.
    """

    entry: Entry
    ended: Entry | None


def fold(entries: Iterable[Entry]) -> State:
    """The state that the entries lead to."""
    folding = _Folding()
    for entry in entries:
        folding.number = entry.number
        if entry.step in CHANGES:
            folding.change(entry)
        else:
            folding.decide(entry)
    return folding.frozen()


def seen_from(home: str, state: State) -> State:
    """The state as far as it concerns one home: the rules, and what is in that home's own files."""
    shown = ("", home)
    return replace(
        state,
        items=tuple(item for item in state.items if item.home in shown),
        pending=tuple(entry for entry in state.pending if entry.home in shown),
        done=tuple(change for change in state.done if change.key.home in shown),
        undone=tuple(change for change in state.undone if change.key.home in shown),
        unfinished=tuple(entry for entry in state.unfinished if entry.home in shown),
        granted=tuple(entry for entry in state.granted if entry.home in shown),
    )


@dataclass(slots=True)
class _Folding:
    """A state while entries are added to it."""

    number: int = 0
    items: dict[Key, Item] = field(default_factory=dict)
    pending: dict[int, Entry] = field(default_factory=dict)
    done: dict[int, Change] = field(default_factory=dict)
    undone: dict[int, Change] = field(default_factory=dict)
    unfinished: dict[int, Entry] = field(default_factory=dict)
    granted: dict[str, Entry] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    never: set[str] = field(default_factory=set)

    def change(self, entry: Entry) -> None:
        self.unfinished.pop(entry.begun, None)
        match entry.step:
            # What an entry is about may not count here, as when another member made it: then it turns nothing back.
            case Step.UNDONE if entry.about in self.done:
                change = self.done.pop(entry.about)
                self.undone[change.number] = self._leave(change, change.before)
            case Step.REDONE if entry.about in self.undone:
                change = self.undone.pop(entry.about)
                self.done[change.number] = self._leave(change, change.after)
            case Step.REVERTED if entry.about in self.done:
                turned = self.done[entry.about]
                self._push(Change(entry.number, turned.key, turned.after, turned.before, entry.batch, turned.along))
            case Step.UNDONE | Step.REDONE | Step.REVERTED:
                return
            case _:
                key = Key(entry.patch.form, entry.patch.name, entry.home)
                if self.granted:
                    self.granted.pop(entry.patch.id, None)
                self._push(Change(entry.number, key, self._before(entry, key), _item(entry), entry.batch))

    def decide(self, entry: Entry) -> None:
        match entry.step:
            case Step.PROPOSED:
                self.pending[entry.number] = entry
                if entry.about and entry.actor is Actor.PERSON:  # who refused it lets it wait again
                    self.refused.discard(entry.patch.id)
                    self.never -= marks(entry.patch)
            case Step.APPROVED:
                self.pending.pop(entry.about, None)
                self.granted[entry.patch.id] = entry
            case Step.REFUSED:
                self.pending.pop(entry.about, None)
                self.granted.pop(entry.patch.id, None)
                self.refused.add(entry.patch.id)
                self.never |= marks(entry.patch) if entry.is_never else set()
            case Step.EXPIRED | Step.REJECTED:
                self.pending.pop(entry.about, None)
            case Step.BEGUN:
                self.unfinished[entry.number] = entry
            case Step.ABANDONED:
                self.unfinished.pop(entry.begun, None)
            case Step.PROMOTED:
                self._promote(entry.about)

    def frozen(self) -> State:
        return State(
            number=self.number,
            # In the order in which they came into force, which an undone and redone change keeps.
            items=tuple(sorted(self.items.values(), key=lambda item: (item.number, item.form, item.name))),
            pending=tuple(self.pending.values()),
            done=tuple(self.done.values()),
            undone=tuple(self.undone.values()),
            unfinished=tuple(self.unfinished.values()),
            granted=tuple(self.granted.values()),
            refused=frozenset(self.refused),
            never=frozenset(self.never),
        )

    def _push(self, change: Change) -> None:
        self.done[change.number] = self._leave(change, change.after)
        self.undone.clear()

    def _leave(self, change: Change, item: Item | None) -> Change:
        """Leave one side of a change in force. A skill that goes takes its files along, and brings them back."""
        if item is not None:
            self.items.update({each.key: each for each in (item, *change.along)})
            return change
        files = self._files_of(change.key)
        for key in (change.key, *(file.key for file in files)):
            self.items.pop(key, None)
        return replace(change, along=files) if files or change.along else change

    def _files_of(self, key: Key) -> tuple[Item, ...]:
        """The support files in force of a skill."""
        files = (item for item in self.items.values() if item.form is Form.FILE and item.home == key.home)
        return tuple(item for item in files if key.form is Form.SKILL and item.name.startswith(f"{key.name}/"))

    def _before(self, entry: Entry, key: Key) -> Item | None:
        """What stood there: as the ledger has it, or as a person had left it."""
        if entry.replaced is not None:
            return Item(key.form, key.name, entry.replaced, since=entry.at, home=key.home)
        return self.items.get(key) if entry.before else None

    def _promote(self, number: int) -> None:
        """What the change put there is now for every session; the change keeps its place on the stack."""
        change = self.done.get(number)
        if change is not None and change.after is not None:
            after = replace(change.after, canary=False, share=0.0, bundle=0)
            self.done[number] = replace(change, after=after)
            self.undone.clear()
            self.items[change.key] = after


def _item(entry: Entry) -> Item | None:
    patch = entry.patch
    if patch.action is Action.REMOVE:
        return None
    return Item(
        form=patch.form,
        name=patch.name,
        text=patch.text,
        scope=patch.scope,
        trust=patch.trust,
        since=entry.at,
        number=entry.number,
        canary=entry.step is Step.CANARY,
        home=entry.home,
        share=entry.share,
        bundle=entry.batch if entry.step is Step.CANARY else 0,
        maker=entry.maker,
        situation=patch.situation,
        example=patch.example,
    )


def suggestions(entries: Sequence[Entry], others: Sequence[Entry]) -> tuple[Entry, ...]:
    """The rules of other members that differ from what is in force here, as changes that wait for a decision.

    `entries` are those that count here. Each suggestion has the number and the maker of the entry it comes from, and
    a patch that fits what stands here; what was decided on here once is not suggested again.
    """
    here = fold(entries)
    decided = {entry.about for entry in entries if entry.step in DECIDED}
    found: list[Entry] = []
    for maker in dict.fromkeys(entry.maker for entry in others):
        own = [entry for entry in others if entry.maker == maker]
        found += _differences(here, fold(own), {entry.number: entry for entry in own})
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


def step_of(entry: Entry) -> Step:
    """What an entry is, or what it was begun for."""
    return entry.intends or entry.step


def move_of(state: State, entry: Entry) -> Move:
    """What an entry does, or would do, to the state before it."""
    step, patch = step_of(entry), entry.patch
    if step in (Step.UNDONE, Step.REDONE, Step.REVERTED):
        change = next(each for each in (*state.done, *state.undone) if each.number == entry.about)
        before, after = (change.before, change.after) if step is Step.REDONE else (change.after, change.before)
        return Move(change.key, _text(before), _text(after))
    known = state.get(patch.form, patch.name)
    text = entry.replaced if entry.replaced is not None else (_text(known) if entry.before else None)
    return Move(Key(patch.form, patch.name, entry.home), text, patch.text if entry.after else None)


def difference(before: str | None, after: str | None) -> str:
    """Two texts as a unified diff; empty where they are equal."""
    lines = difflib.unified_diff(
        (before or "").splitlines(), (after or "").splitlines(), "before", "after", n=CONTEXT_LINES, lineterm=""
    )
    return "\n".join(lines)


def is_last(state: State, change: Change) -> bool:
    """Whether what the change put there, or took away, still stands so in the ledger."""
    return state.get(change.key.form, change.key.name) == change.after


def last_batch(changes: tuple[Change, ...]) -> tuple[Change, ...]:
    """The changes on top of a stack that were made together, the newest first."""
    if not changes:
        return ()
    top = changes[-1]
    taken = [top]
    for change in reversed(changes[:-1]):
        if not top.batch or change.batch != top.batch:
            break
        taken.append(change)
    return tuple(taken)


def trace(entries: Sequence[Entry], text: str) -> tuple[Trace, ...]:
    """The changes that put these words there, the newest first: which entry it was, and whether they still stand."""
    wanted = _plain(text)
    state = fold(entries)
    in_force = {item.number for item in state.items}
    undone = {entry.about: entry for entry in entries if entry.step is Step.UNDONE}
    # A later one of the same number overwrites: the last to take it away is the one that counts.
    taken = {change.before.number: change.number for change in state.done if change.before}
    by_number = {entry.number: entry for entry in entries}
    found: list[Trace] = []
    for entry in reversed(entries):
        if entry.step in PUTTING and entry.after and wanted in _plain(entry.patch.text):
            ended = by_number.get(taken.get(entry.number, 0)) or undone.get(entry.number)
            found.append(Trace(entry, None if entry.number in in_force else ended))
    return (*found, *_never_applied(entries, wanted, {each.entry.patch.id for each in found}))


def _never_applied(entries: Sequence[Entry], wanted: str, applied: set[str]) -> Iterator[Trace]:
    """What has these words and was only proposed or tried: each text once, proposals first, each the newest first."""
    decided = {entry.about: entry for entry in entries if entry.step in DECISIONS}
    seen = set(applied)
    newest = sorted(
        (each for each in reversed(entries) if each.step in ONLY_SAID), key=lambda each: ONLY_SAID[each.step]
    )
    for entry in newest:
        if entry.patch.id not in seen and wanted in _plain(entry.patch.text):
            seen.add(entry.patch.id)
            yield Trace(entry, decided.get(entry.number) if entry.step is Step.PROPOSED else entry)


def is_vouched_for(item: Item, entries: Sequence[Entry]) -> bool:
    """Whether a text may be told to an agent: it is trusted, or a person approved that exact text.

    What applies a patch sees to it already; where text leaves for an agent it is looked up again.
    """
    return item.trust >= TRUSTED or was_approved(item, entries)


def was_approved(item: Item, entries: Sequence[Entry]) -> bool:
    """Whether a person approved the very patch that put this text there, before it was put there."""
    put = next((entry.patch.id for entry in entries if entry.number == item.number), None)
    return any(
        entry.step is Step.APPROVED and entry.actor is Actor.PERSON and entry.patch.id == put
        for entry in entries
        if entry.number < item.number
    )


def _text(item: Item | None) -> str | None:
    return item.text if item else None


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def grounds_of(item: Item, entries: Sequence[Entry]) -> str:
    """Why an active thing is active, in a few words."""
    put = next((entry for entry in entries if entry.number == item.number), None)
    tried = last_trial(put.patch, entries) if put else None
    if tried is not None and tried.step is Step.ACCEPTED:
        return _tried(tried)
    if item.canary:
        return "a canary: being tried in live sessions"
    if promoted := _promotion(item, entries):
        return f"{_word(promoted)}, after a canary (entry {promoted.number})"
    if item.form is Form.JOB:  # which no trial tries
        return _word(put)
    return f"{_word(put)}, {_tried(tried) if tried else UNTRIED}"


def _tried(entry: Entry) -> str:
    """What a trial said, and of which model, for it says nothing of others."""
    return f"{TRIALS[entry.step]} ({f'on {entry.tried_on}, ' if entry.tried_on else ''}entry {entry.number})"


def is_untried(item: Item, entries: Sequence[Entry]) -> bool:
    """Whether it is active on somebody's word alone, and a trial could say more."""
    put = next((entry for entry in entries if entry.number == item.number), None)
    is_tried = item.canary or item.form is Form.JOB or (put is not None and last_trial(put.patch, entries) is not None)
    return not is_tried and _promotion(item, entries) is None


def _promotion(item: Item, entries: Sequence[Entry]) -> Entry | None:
    return next((each for each in entries if each.step is Step.PROMOTED and each.about == item.number), None)


def _word(entry: Entry | None) -> str:
    """Whose word it is; what no entry put there, the person wrote into the file."""
    return ON_YOUR_WORD if entry is None or entry.actor is Actor.PERSON else f"by {entry.actor}"


def last_trial(patch: Patch, entries: Iterable[Entry]) -> Entry | None:
    """The latest entry of the ledger in which a trial judged these very words."""
    known = (patch.form, patch.action, patch.text)
    judged = (entry for entry in entries if entry.step in TRIED)
    return max(
        (each for each in judged if (each.patch.form, each.patch.action, each.patch.text) == known),
        key=lambda each: each.number,
        default=None,
    )
