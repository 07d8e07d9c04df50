"""The order of trust, and what a tool's name says of its results."""

import pytest

from whet.sessions.trust import Trust, lowest, trust_of_tool


def test_the_numbers_of_trust_are_those_that_are_stored() -> None:
    assert {trust.label: int(trust) for trust in Trust} == {
        "external": 0, "tool": 1, "agent": 2, "user": 3, "operator": 4,
    }  # fmt: skip


def test_a_derived_text_has_the_lowest_trust_of_its_lineage() -> None:
    assert lowest([Trust.USER, Trust.TOOL, Trust.AGENT]) is Trust.TOOL
    assert lowest([]) is Trust.EXTERNAL


@pytest.mark.parametrize(
    ("name", "trust"),
    [
        ("Bash", Trust.TOOL),
        ("read_file", Trust.TOOL),
        ("mcp_notes", Trust.EXTERNAL),  # by its beginning alone
        ("linear__get_issue", Trust.EXTERNAL),  # by its server alone
        ("mcp__linear__get_issue", Trust.EXTERNAL),
        ("WebFetch", Trust.EXTERNAL),
        ("web_search", Trust.EXTERNAL),
        ("browser_click", Trust.EXTERNAL),
        ("google_web_search", Trust.EXTERNAL),
        ("fetch_page", Trust.EXTERNAL),  # one foreign word among others
    ],
)
def test_the_name_of_a_tool_tells_whose_words_it_brings(name: str, trust: Trust) -> None:
    assert trust_of_tool(name) is trust
