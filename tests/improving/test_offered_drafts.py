"""Nobody is offered what the ledger refuses: neither a lesson's draft nor a rule of the catalogue."""

from pathlib import Path

import pytest

from command import Whet
from whet.ledger.entries import State
from whet.ledger.patch_faults import faults
from whet.ledger.patches import Action, Form, Patch
from whet.lessons.drafts import WHOLE_FOLDER
from whet.lessons.known_causes import fact_of_place
from whet.sessions.trust import Trust
from whet.shipped.guidance.rules import catalogue
from whet.told.remedies import Remedy, patch_of


def test_every_draft_of_the_examples_can_be_proposed(whet: Whet, examples: Path) -> None:
    assert whet("import", str(examples)).code == 0
    offered = [each["id"] for each in whet("lessons", "--json").json["lessons"] if each["standing"] == "checked"]
    assert offered
    assert len(whet("lessons", "propose", *offered, "--json").json["proposed"]) == len(offered)


@pytest.mark.parametrize("remedy", catalogue(), ids=lambda remedy: remedy.name)
def test_every_rule_of_the_catalogue_can_be_proposed(remedy: Remedy) -> None:
    assert faults(patch_of(remedy, None), State()) == ()


@pytest.mark.parametrize(
    "text",
    [fact_of_place("zsh: no matches found: a*"), fact_of_place("cat: illegal option -- A"), WHOLE_FOLDER],
)
def test_every_known_cause_can_be_proposed(text: str) -> None:
    assert text
    assert faults(Patch(Form.RULE, Action.ADD, "learned-1", text, trust=Trust.AGENT), State()) == ()
