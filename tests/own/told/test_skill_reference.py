"""What Whet writes as a skill is one for the reference validator of agentskills.io too, and says the same there."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from whet.errors import WhetError
from whet.own.told import skills
from whet.text.front_matter import with_field

validator = pytest.importorskip("skills_ref.validator", reason="skills-ref is not installed")
parser = pytest.importorskip("skills_ref.parser")

NAMES = st.from_regex(r"[a-z0-9]{1,12}(-[a-z0-9]{1,8}){0,3}", fullmatch=True)
WORDS = st.text(min_size=1, max_size=1100)
BODIES = st.text(min_size=1, max_size=200)


@settings(suppress_health_check=[HealthCheck.filter_too_much])  # most of what is drawn has a fault here
@given(NAMES, WORDS, BODIES)
def test_what_has_no_fault_here_has_none_there_and_reads_the_same(name: str, description: str, body: str) -> None:
    text = skills.compose(name, description, body)
    try:
        skill = skills.read(text)
    except WhetError:
        assume(False)
    assume(not skills.strict_faults(skill, folder=name))
    fields, said = parser.parse_frontmatter(text)
    assert validator.validate_metadata(fields, Path(name)) == []
    assert (fields["name"], fields["description"].strip()) == (skill.name, skill.description)
    assert said == skill.body.strip()


@given(NAMES, st.sampled_from(["license", "compatibility", "allowed-tools"]), st.text(min_size=1, max_size=80))
def test_a_field_that_is_changed_reads_the_same_there(name: str, key: str, value: str) -> None:
    text = skills.compose(name, "Make tea. Use at four.", "Boil.")
    try:
        changed = with_field(text, key, value)
        skill = skills.read(changed)
    except WhetError:
        assume(False)
    assume(not skills.strict_faults(skill, folder=name) and " ".join(value.split()))
    fields, _ = parser.parse_frontmatter(changed)
    assert validator.validate_metadata(fields, Path(name)) == []
    assert fields[key] == " ".join(value.split())


@pytest.mark.parametrize(
    "text",
    [
        "---\nname: tea\n---\nBoil.\n",
        "---\ndescription: Tea.\n---\nBoil.\n",
        "---\nname: Tea\ndescription: Tea.\n---\nBoil.\n",
        "---\nname: other\ndescription: Tea.\n---\nBoil.\n",
        f"---\nname: tea\ndescription: {'x' * 1025}\n---\nBoil.\n",
        f"---\nname: tea\ndescription: Tea.\ncompatibility: {'x' * 501}\n---\nBoil.\n",
        "---\nname: tea\ndescription: Tea.\nversion: 1\n---\nBoil.\n",
    ],
)
def test_what_the_reference_refuses_is_a_fault_here(text: str) -> None:
    fields, _ = parser.parse_frontmatter(text)
    assert validator.validate_metadata(fields, Path("tea"))
    assert skills.strict_faults(skills.read(text), folder="tea")
