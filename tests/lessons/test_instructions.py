"""What stands in CLAUDE.md and its like already, in the folder or in the record, is no new rule."""

from msgspec.structs import replace

from conversations import call, conversation, user
from whet.lessons.instructions import SeenInstruction, earliest, instruction_lines, is_broken, saying, seen_instructions
from whet.lessons.record import LessonPiece, LessonSource
from whet.sessions.transcripts import Origin, Transcript
from whet.trouble.outcomes.view import gather

DRAFT = "never wrap long lines in the markdown"
LINE = "- Never wrap long markdown lines."


def lines(transcript: Transcript) -> list[tuple[str, str]]:
    return [(seen.path, seen.line) for seen in seen_instructions(gather(transcript))]


def test_a_line_with_the_words_of_a_draft_says_it_already() -> None:
    stands, other = (
        instruction_lines("AGENTS.md", f"# Style\n{line}\n", None) for line in (LINE, "- Use tabs for all.")
    )
    assert saying(DRAFT, stands) == SeenInstruction("AGENTS.md", LINE)
    assert saying(DRAFT, other) is None


def test_inserted_files_are_found_by_their_heads() -> None:
    head, end = (
        "<system-reminder>\nContents of /a/CLAUDE.md (project instructions):\n",
        "</system-reminder>\nMore words here.",
    )
    claude = f"{head}\n{LINE}\n{end}"
    codex = f"# AGENTS.md instructions for /a\n\n{LINE}\n"
    for text, path in ((claude, "/a/CLAUDE.md"), (codex, "AGENTS.md")):
        assert lines(conversation(user(text, origin=Origin.INSERTED), user("Go"))) == [(path, LINE)]
    other = f"Contents of /a/notes.txt:\n\n{LINE}\n"
    assert lines(conversation(user(other, origin=Origin.INSERTED))) == []
    assert lines(conversation(user(codex))) == [], "what a person types is theirs"


def test_a_file_that_the_agent_read_is_one_too() -> None:
    read = call("Read", {"file_path": "/a/CLAUDE.md"}, f"     1→# Style\n     2→{LINE}\n")
    assert lines(conversation(user("Go"), read)) == [("/a/CLAUDE.md", LINE)]
    assert lines(conversation(user("Go"), call("Read", {"file_path": "/a/b.md"}, LINE))) == []


def test_it_is_broken_where_the_evidence_came_later() -> None:
    piece = LessonPiece(LessonSource.PERSON, "s1", 3, DRAFT, at=50.0)
    assert is_broken(SeenInstruction("CLAUDE.md", LINE, 40.0), [piece])
    assert not is_broken(SeenInstruction("CLAUDE.md", LINE, 60.0), [piece])
    assert not is_broken(SeenInstruction("CLAUDE.md", LINE, 60.0), [replace(piece, at=None)]), "nobody knows when"
    assert not is_broken(SeenInstruction("CLAUDE.md", LINE), [piece]), "it is there, and nobody knows since when"


def test_the_earliest_sight_of_a_line_counts() -> None:
    seen = [SeenInstruction("CLAUDE.md", LINE, at) for at in (60.0, 40.0, None)]
    assert earliest(seen) == [seen[1]]
