"""What may not be done to a home's notes and skills, whoever asks for it."""

from whet.agents.places import is_read_by_agents
from whet.errors import WhetError
from whet.ledger.entries import Actor, State
from whet.ledger.patches import Action, Form, Patch
from whet.sessions.trust import Trust
from whet.store.home import Home
from whet.store.skill_files import read_text, usable
from whet.told import skills
from whet.told.memory import complaint, overflow
from whet.told.passage_changes import passage_place
from whet.told.skills import Skill


def expect_allowed(
    home: Home, state: State, patch: Patch, *, actor: Actor, beside: frozenset[str] = frozenset()
) -> None:
    """Raise WhetError where a patch would write no skill, change a person's, or double one that is there.

    `beside` are the skills of the same batch.
    """
    if patch.form is Form.STATEMENT and not is_read_by_agents(passage_place(patch.name).path):
        raise WhetError(f"No agent reads {patch.name.partition('#')[0]}.", advice="Edit it yourself.")
    if patch.form not in (Form.SKILL, Form.FILE):
        return
    name = patch.name.partition("/")[0]
    text = read_text(home.folder, name)
    if patch.form is Form.FILE and text is None and not (name in beside and patch.action is Action.ADD):
        raise WhetError(
            f"There is no skill {name}.", advice="Create or approve the skill first, then its support files."
        )
    if actor is not Actor.PERSON and text is not None and not is_agents(state, name):
        raise WhetError(
            f"The skill {name} belongs to a person and is read-only to agents.",
            advice=f"To let agents change it, a person can run `whet skills adopt {name}`.",
        )
    if patch.form is Form.SKILL and patch.action is not Action.REMOVE:
        _expect_sound(home, patch, text, actor=actor)


def is_agents(state: State, name: str) -> bool:
    """Whether agents may change a skill: one that was learned, or that a person handed over."""
    item = state.get(Form.SKILL, name)
    return item is not None and item.trust < Trust.OPERATOR


def expect_room(name: str, before: str, after: str) -> None:
    """Raise WhetError where a page of notes would grow beyond its limit."""
    refusal = overflow(name, before, after)
    if refusal:
        raise complaint(refusal)


def _expect_sound(home: Home, patch: Patch, text: str | None, *, actor: Actor) -> None:
    skill = skills.read(patch.text)
    wrong = skills.faults(skill, folder=patch.name)
    if actor is not Actor.PERSON and text is None:
        wrong = skills.strict_faults(skill, folder=patch.name)
        _expect_new(home, skill)
    if wrong:
        raise WhetError(
            f"The skill {patch.name} is not a valid skill: {'; '.join(wrong)}.",
            advice="Front matter needs a name and a description; the instructions go below it.",
        )


def _expect_new(home: Home, skill: Skill) -> None:
    if skills.particular(skill.name):
        raise WhetError(
            f"{skill.name} names a single case, not a class of tasks.",
            advice="Name the class, such as release-notes, or add to an existing skill.",
        )
    known = skills.umbrella(skill.name, skill.description, usable(home.folder))
    if known:
        raise WhetError(
            f"The skill {known.name} already covers this: {known.description[:200]}",
            advice=f"Change {known.name}, or give it a support file.",
        )
