"""Patches as the tests of changes need them."""

from whet.ledger.patches import Action, Form, Patch, PatchOrigin, digest
from whet.sessions.trust import Trust
from whet.store.home import Home

NOW = 1_800_000_000.0
TEXTS = {
    Form.RULE: "Run the unit tests before each commit.",
    Form.NOTE: "The person prefers short answers.",
    Form.SKILL: "---\nname: brewing\ndescription: How to brew.\n---\nHeat the water.\n",
    Form.FILE: "Soft water makes a milder brew.\n",
    Form.TEMPLATE: '{"examples": []}',
    Form.JOB: 'order = "Water the plants"\n',
}
OTHERS = {
    Form.RULE: "Lint before each release.",
    Form.NOTE: "Lives in Lisbon.",
    Form.SKILL: "---\nname: brewing\ndescription: How to brew.\n---\nCool it down.\n",
    Form.FILE: "Hard water leaves a film.\n",
    Form.TEMPLATE: '{"examples": ["a"]}',
    Form.JOB: 'order = "Feed the cat"\n',
}
NAMES = {
    Form.RULE: "test-first",
    Form.NOTE: "memory/short",
    Form.SKILL: "brewing",
    Form.FILE: "brewing/references/water.md",
    Form.TEMPLATE: "morning",
    Form.JOB: "plants",
}


def ready(home: Home, form: Form) -> None:
    """What must be there before: a support file needs its skill, here one that a person wrote."""
    if form is Form.FILE:
        folder = home.folder / "skills" / "brewing"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "SKILL.md").write_text(TEXTS[Form.SKILL])


def adding(form: Form, text: str = "", *, name: str = "", trust: Trust = Trust.USER) -> Patch:
    return Patch(
        form, Action.ADD, name or NAMES[form], text or TEXTS[form], trust=trust, origin=PatchOrigin(said="because")
    )


def changing(form: Form, before: str, text: str, *, trust: Trust = Trust.USER) -> Patch:
    return Patch(form, Action.CHANGE, NAMES[form], text, trust=trust, before=digest(before))


def removing(form: Form, before: str) -> Patch:
    return Patch(form, Action.REMOVE, NAMES[form], trust=Trust.USER, before=digest(before))
