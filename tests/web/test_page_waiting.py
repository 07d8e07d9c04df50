"""What waits for a person on the page: what they see before they decide."""

from whet.ledger.entries import Actor, Entry, Step
from whet.ledger.patches import Action, Form, Patch, PatchBasis, PatchOrigin, Proof, RuleSituation, Scope, SessionCounts
from whet.lessons.record import waits
from whet.sessions.trust import Trust
from whet.web.html import h, words_of
from whet.web.site import PageLinks
from whet.web.views.entries import waiting


def test_a_change_begins_with_its_text_and_says_once_that_it_was_not_tried() -> None:
    proofs = (
        Proof("s1", 2, "recovery", "npx shop check\n→ unknown command"),
        Proof("s2", 4, "recovery", "x" * 400),
    )
    counts = SessionCounts(7)
    origin = PatchOrigin(basis=PatchBasis.RECOVERY, counts=counts, place="the project", untried="no model is set")
    text = "Run `shop check`, not `npx shop check`."
    patch = Patch(Form.RULE, Action.ADD, "learned-1", text, Scope(project="/srv/shop"), origin, Trust.TOOL, proofs)
    entry = Entry(7, Step.PROPOSED, patch, Actor.POLICY, 1.0, after=patch.after)
    change = waits(entry)
    said = " ".join(words_of(h("div", waiting(PageLinks(form="f"), [change], {"s1": "codex"}))).split())
    parts = (
        "shop New rule",
        f"+{text}",
        f"Exactly this text (1 line, {len(text)} characters) would be told to agents in /srv/shop.",
        "Learned from sessions of codex.",
        "words: a tool's output (trust tool), proposed by Whet itself",
        "why: what worked after a failure in 7 sessions of the project · 2 quotes from 2 sessions",
        "trial: not tried: no model is set",
        "2 pieces of evidence",
        "recovery: “npx shop check → unknown",
        "Approve exactly this Refuse Never propose it again Edit the text",
    )
    places = [said.index(part) for part in parts]
    assert places == sorted(places)
    assert said.count("not tried") == 1
    assert f"“{'x' * 279}…”" in said


def test_words_in_the_users_place_are_not_called_a_tools_output() -> None:
    said = RuleSituation(said="Answer in one sentence")
    patch = Patch(Form.RULE, Action.ADD, "learned-2", "Answer in one sentence", trust=Trust.TOOL, situation=said)
    entry = Entry(8, Step.PROPOSED, patch, Actor.POLICY, 1.0, after=patch.after)
    change = waits(entry)
    shown = words_of(h("div", waiting(PageLinks(), [change])))
    assert "the record cannot tell whether a person typed them (trust tool)" in shown
    assert "a tool's output" not in shown
