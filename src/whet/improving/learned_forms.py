"""What is learned, as the change that its form asks for: a rule, a note, or a skill, new or merged with one."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from whet.ledger.origins import PatchOrigin, PatchWriter, SessionCounts
from whet.ledger.patches import Action, Form, Patch, Proof, RuleSituation, Scope, derived, digest
from whet.lessons.candidates import LessonEvidence
from whet.lessons.drafts import QUOTE_LETTERS, LessonDraft, patch_of_draft
from whet.lessons.procedure_drafts import ARROW
from whet.lessons.procedures import SESSIONS_NEEDED, is_everyday
from whet.lessons.rule_examples import example_for
from whet.text.likeness import is_same, sense
from whet.text.words import cut
from whet.told import skills
from whet.told.memory import Note
from whet.told.skills import Skill

PAGE = "user"
SAME_TASK = 0.5  # of the steps that a skill names
HEADING = "## Steps that worked"


def patch_in_form(draft: LessonDraft, candidate: LessonEvidence, project: str) -> Patch:
    """The change that a draft proposes, with the evidence that it was written from."""
    if draft.form is Form.SKILL:
        return _skill(draft, candidate, project)
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


def _skill(draft: LessonDraft, candidate: LessonEvidence, project: str) -> Patch:
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
            place=project or "no project",
        ),
        trust=draft.trust,
        proofs=tuple(
            Proof(piece.session, piece.message, piece.source.value, cut(piece.fix, QUOTE_LETTERS)) for piece in pieces
        ),
        situation=RuleSituation(fix=draft.fix),
    )
