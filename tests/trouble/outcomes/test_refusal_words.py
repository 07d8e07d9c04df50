import pytest

from whet.trouble.outcomes.refusal_forms import refusal_words

HEAD = "The user doesn't want to proceed with this tool use. The tool use was rejected. "


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{HEAD}To tell you how to proceed, the user said:\nuse the other branch", "use the other branch"),
        (
            f"{HEAD}To tell you how to proceed, the user said:\nnot that\n\nNote: The user's next message may follow.",
            "not that",
        ),
        ("The user gave the following reason for the rejection: too risky", "too risky"),
        (f"{HEAD}STOP what you are doing and wait.", ""),
        (f"{HEAD}the user said:\nThe user wants to clarify these questions.\n  This means that …", ""),
    ],
)
def test_what_the_person_said_on_a_refusal_is_kept(text: str, expected: str) -> None:
    assert refusal_words(text) == expected
