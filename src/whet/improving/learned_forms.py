"""What is learned, as the change that its form asks for: a rule, a note, or a skill, new or merged with one."""

import re
from collections.abc import Iterable, Sequence

import re2
from msgspec.structs import replace

from whet.ledger.origins import PatchOrigin, PatchWriter, SessionCounts
from whet.ledger.patches import Action, Form, Patch, Proof, RuleSituation, Scope, derived, digest
from whet.lessons.candidates import LessonEvidence
from whet.lessons.contrasts import differing
from whet.lessons.drafts import QUOTE_LETTERS, LessonDraft, patch_of_draft
from whet.lessons.pieces import LessonPiece, LessonSource
from whet.lessons.procedure_drafts import ARROW
from whet.lessons.procedures import SESSIONS_NEEDED, is_everyday
from whet.sessions.call_effects import CARRIERS, CHECKERS, RUNNERS
from whet.text.likeness import is_same, sense
from whet.text.words import cut, names
from whet.told import skills
from whet.told.memory import Note
from whet.told.skills import Skill

PAGE = "user"
SAME_TASK = 0.5  # of the steps that a skill names
HEADING = "## Steps that worked"
CALL_LETTERS = 80  # of each of the two calls of an example
_PASSING = re.compile(r"[\n$<]|/tmp/|[0-9a-f]{12,}|…")
PROGRAMS = CARRIERS | CHECKERS | (RUNNERS - names("go task just stack mix")) | names("git gh curl ssh sed grep")
# The person, and how they are spoken with.
_OF_THEMSELVES = re2.compile(
    r"(?i)\b(?:i|i['’](?:m|d|ve|ll)|me|my|mine|myself)\b|"
    r"^(?:(?:please|always|never|don['’]?t|do not) )*(?:answer|reply|respond|explain|ask|speak|talk|summari[sz]e)\b"
)
_BOUND = re2.compile(r"`|(?:^|\s)--?\w|\w/\w|\./|\w\.(?:[a-z]{1,5})\b|\w_\w|[a-z][A-Z]")
_WORD = re2.compile(r"[a-z][a-z0-9-]*")


def patch_in_form(draft: LessonDraft, candidate: LessonEvidence, project: str, place: str = "") -> Patch:
    """The change that a draft proposes, with the evidence that it was written from."""
    if draft.form is Form.SKILL:
        return _skill(draft, candidate, place or project)
    rule = patch_of_draft(draft, candidate, project)
    if draft.form is not Form.NOTE:
        return with_example(rule, draft, candidate)
    return replace(rule, form=Form.NOTE, name=f"{PAGE}/{rule.name}", scope=Scope())


def with_example(rule: Patch, draft: LessonDraft, candidate: LessonEvidence) -> Patch:
    """The rule with one short example, from the sessions that it was written from alone: the others judge it."""
    seen = {(proof.session, proof.message) for proof in rule.proofs}
    pieces = tuple(piece for piece in candidate.pieces if (piece.session, piece.message) in seen)
    example = example_for(draft, pieces)
    return replace(derived(rule, (piece.trust for piece in pieces)), example=example) if example else rule


def merged(patch: Patch, known: Sequence[Skill]) -> Patch | Skill:
    """The skill as it is proposed where there are others: in the one for the same task, the steps below what it says.

    That skill itself where it names the steps already. One is for the same task by its name and description, or where
    it names half of the steps that are not everyday ones.
    """
    made = skills.read(patch.text)
    steps = [form for form in patch.situation.fix.split(ARROW) if not is_everyday(form)]
    named = {skill.name: sum(form in skill.text for form in steps) for skill in known}
    most = max(known, key=lambda skill: (named[skill.name], skill.name), default=None)
    same = next((skill for skill in known if skill.name == patch.name), None)
    umbrella = same or skills.umbrella(made.name, made.description, known)
    if umbrella is None and most is not None and named[most.name] >= SAME_TASK * len(steps):
        umbrella = most
    if umbrella is None:
        return patch
    if named[umbrella.name] == len(steps):
        return umbrella
    text = f"{umbrella.text.rstrip()}\n\n{made.body.strip()}\n"
    return replace(patch, action=Action.CHANGE, name=umbrella.name, text=text, before=digest(umbrella.text))


def same_note(patch: Patch, notes: Iterable[Note]) -> Note | None:
    """The note that says it already."""
    meant = sense(patch.text)
    return next((note for note in notes if is_same(meant, sense(note.text))), None)


def _skill(draft: LessonDraft, candidate: LessonEvidence, place: str) -> Patch:
    """The skill: its proofs are the sessions that it takes to learn it, so that later ones can judge it."""
    pieces = sorted(candidate.pieces, key=lambda piece: piece.at or 0.0)[:SESSIONS_NEEDED]
    return Patch(
        form=Form.SKILL,
        action=Action.ADD,
        name=draft.name,
        text=skills.compose(draft.name, f"{draft.situation}.", f"{HEADING}\n\n{draft.text}"),
        origin=PatchOrigin(
            PatchWriter.PATTERN,
            basis=draft.source,
            counts=SessionCounts(candidate.sessions),
            place=place or "no project",
        ),
        trust=draft.trust,
        proofs=tuple(
            Proof(piece.session, piece.message, piece.source.value, cut(piece.fix, QUOTE_LETTERS)) for piece in pieces
        ),
        situation=RuleSituation(fix=draft.fix),
    )


def example_for(draft: LessonDraft, pieces: Iterable[LessonPiece]) -> str:
    """The shortest example that shows what a draft recommends; none where no call of its evidence is short enough."""
    found = (_example(draft, piece) for piece in pieces if (piece.fix or piece.did) and piece.error)
    return min(filter(None, found), key=lambda text: (len(text), text), default="")


def _example(draft: LessonDraft, piece: LessonPiece) -> str:
    fails, works = differing(piece.call, piece.fix or piece.did)
    is_short = max(len(fails), len(works)) <= CALL_LETTERS and not _PASSING.search(f"{fails} {works}")
    shows = bool(works) and works.split()[:1] == draft.fix.split()[:1]
    return f"`{fails}` fails, `{works}` works." if is_short and shows and fails != works else ""


def in_form(draft: LessonDraft, *, has_notes: bool) -> LessonDraft:
    """The draft in the form that its content asks for, where whoever would be told has notes or has none."""
    is_note = has_notes and is_of_the_person(draft)
    return replace(draft, form=Form.NOTE) if is_note else draft


def is_of_the_person(draft: LessonDraft) -> bool:
    """Whether it is the person's word about themselves or their way of working, bound to no command and no path."""
    if draft.source is not LessonSource.PERSON or not _OF_THEMSELVES.search(draft.text):
        return False
    return not _BOUND.search(draft.text) and PROGRAMS.isdisjoint(_WORD.findall(draft.text.lower()))
