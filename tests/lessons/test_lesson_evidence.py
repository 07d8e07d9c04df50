"""A model sees evidence as data, and what it writes is held to limits, to the evidence and to its trust."""

import msgspec
import pytest
from msgspec.structs import replace

from conversations import Turn, agent, call, conversation, shell, user
from whet.lessons.candidates import LessonEvidence, candidates
from whet.lessons.evidence import MOST_LETTERS, needs_words, read_answer, shown_evidence, trust_of_evidence
from whet.lessons.finding import pieces_of_session
from whet.sessions.trust import Trust

KEY = "sk-ant-api03-" + "a1B2c3D4" * 10
FAILED = shell(f"rtk bun install --token {KEY}", "error: unrecognized subcommand 'bun'", error=True)
WORKED = shell("bun install", "Done")


def only(*turns: Turn) -> LessonEvidence:
    [found] = candidates(pieces_of_session(conversation(*turns)), {})
    return found


RECOVERY = only(user("Go"), FAILED, WORKED)
SAID = only(user("Go"), agent("Done."), user("never wrap long lines in the markdown"))


def test_a_model_sees_the_failed_call_its_error_and_what_worked_without_secrets() -> None:
    shown = shown_evidence(RECOVERY)
    assert "unrecognized subcommand 'bun'" in shown
    assert '"what_worked_later": "bun install"' in shown
    assert '"seen_in_sessions": 1' in shown
    assert KEY not in shown


def test_a_model_sees_what_the_person_said() -> None:
    assert '"the_person_said": "never wrap long lines in the markdown"' in shown_evidence(SAID)


def test_what_a_model_writes_is_trusted_no_more_than_what_it_saw() -> None:
    assert trust_of_evidence(RECOVERY) is Trust.TOOL
    assert trust_of_evidence(SAID) is Trust.AGENT
    draft, why = read_answer("Run `bun` itself here: `rtk bun` does not know it.", RECOVERY)
    assert draft is not None
    assert not why
    assert (draft.text, draft.trust) == ("Run `bun` itself here: `rtk bun` does not know it.", Trust.TOOL)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("", "nothing"),
        (" \n\n ", "nothing"),
        ("NONE", "no lesson"),
        ("none.", "no lesson"),
        ("Run `bun`. " * MOST_LETTERS, "characters"),
        ("Always read error messages carefully and verify your work before running commands.", "names nothing"),
        (f"Call `bun install --token {KEY}`.", "secret"),
        ("Run `bun`\u200b itself.", "cannot see"),
    ],
)
def test_what_is_of_no_use_is_not_taken(answer: str, why: str) -> None:
    draft, told = read_answer(answer, RECOVERY)
    assert draft is None
    assert why in told


def test_one_word_of_a_persons_sentence_is_not_enough_to_be_about_it() -> None:
    assert read_answer("Keep lines tidy.", SAID).draft is None
    assert read_answer("Do not wrap lines in Markdown.", SAID).draft is not None


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("can't the tests be table driven?", "Write Go tests as table-driven tests."),
        (
            "instead we only point from co-pilot-instructions.md to agent.md",
            "Let `copilot-instructions.md` point to `AGENTS.md`.",
        ),
    ],
)
def test_a_name_that_the_person_spells_otherwise_is_the_same_name(said: str, answer: str) -> None:
    draft, why = read_answer(answer, only(user("Go"), agent("Done."), user(said)))
    assert draft is not None, why


def test_what_explains_itself_is_not_shown_beside_what_teaches() -> None:
    stale = call(
        "Edit", {"file_path": "/a.py"}, "File has not been read yet. Read it first before writing.", error=True
    )
    [alone] = candidates(pieces_of_session(conversation(user("Go"), stale)), {})
    assert not needs_words(alone)
    mixed = replace(alone, pieces=(*alone.pieces, *RECOVERY.pieces))
    assert needs_words(mixed)
    shown = shown_evidence(mixed)
    assert "has not been read" not in shown
    assert "unrecognized subcommand" in shown


def test_what_several_sessions_say_alike_is_shown_once_with_their_number() -> None:
    said = ("commit this", "Commit  this", "commit this and push it")
    sessions = [conversation(user("Go"), agent("Done."), user(each), native_id=f"s{each}") for each in said]
    pieces = [piece for each in sessions for piece in pieces_of_session(each)]
    shown = msgspec.json.decode(shown_evidence(replace(SAID, pieces=tuple(pieces))))
    assert shown["evidence"] == [
        {"the_person_said": "commit this", "in_sessions": 2},
        {"the_person_said": "commit this and push it"},
    ]
