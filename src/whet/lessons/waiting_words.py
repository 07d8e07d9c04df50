"""What a person reads of a change before they decide on it, the same words on every surface."""

from collections.abc import Callable, Iterator

from whet.ledger.entries import Actor, Entry, Step
from whet.ledger.patch_faults import LIMITS
from whet.ledger.patches import Form, Patch, PatchWriter
from whet.lessons.claim_evidence import unquoted_words
from whet.lessons.record import Lesson
from whet.text.words import many

UNSAID_SHOWN = 20
BY_WHOM = {
    Actor.PERSON: "a person",
    Actor.POLICY: "Whet itself",
    Actor.WATCH: "Whet's watch",
    Actor.AGENT: "an agent",
}


def who_made(entry: Entry) -> str:
    """Who made an entry, with the member where it is a team's."""
    return f"{BY_WHOM[entry.actor]}{f' ({entry.maker})' if entry.maker else ''}"


def unquoted(patch: Patch) -> tuple[str, ...]:
    """The words of a rule that a model wrote from quotes, and that stand in none of them."""
    is_derived = patch.origin.writer is PatchWriter.MODEL and patch.form is Form.RULE and patch.proofs
    return unquoted_words(patch.text, (proof.quote for proof in patch.proofs))[:UNSAID_SHOWN] if is_derived else ()


def waiting_words(lesson: Lesson, *, moment: Callable[[float], str]) -> Iterator[tuple[str, str]]:
    """What is known of a change that waits, a label and a sentence each."""
    entry, patch = lesson.proposal, lesson.patch
    yield "words", f"{lesson.whose}, proposed by {who_made(entry)}"
    sessions = many(len({proof.session for proof in patch.proofs}), "session")
    quotes = f"{many(len(patch.proofs), 'quote')} from {sessions}" if patch.proofs else "no quotes"
    yield "why", f"{lesson.origin.why or 'not said'} · {quotes}"
    if unsaid := unquoted(patch):
        yield "in no quote", f"{', '.join(unsaid)} (the words of whoever wrote it)"
    yield "trial", lesson.verdict
    if entry.step is Step.SUGGESTED:  # another member has it, and it does not expire
        yield "until", f"active for {entry.maker}, another member; here only if you approve it"
    else:
        yield "until", f"expires {moment(entry.at + LIMITS.pending_seconds)}"
