"""Every format of the registry keeps the same promises, shown on its own example."""

from pathlib import Path

import pytest

from reading_contract import EXAMPLES, examples, hold_transcript
from whet.agents.formats.source import Format, Source
from whet.agents.recognising import formats, recognise
from whet.sessions.lineage import is_typed
from whet.sessions.transcripts import Ending, Purpose, Role, Transcript, pair
from whet.sessions.trust import Trust

TRUSTS = {
    Role.SYSTEM: {Trust.TOOL},  # another program's prompt is no order of this person's
    Role.USER: {Trust.USER, Trust.TOOL, Trust.AGENT},  # a sub-agent's task is the word of the agent that gave it
    Role.AGENT: {Trust.AGENT},
    Role.TOOL: {Trust.TOOL, Trust.EXTERNAL},
}
# A file in a repository may have come with it, and anybody can have written what the agent says in it.
STRANGERS = {**TRUSTS, Role.AGENT: {Trust.TOOL}}

# Formats that say who typed what; the others may hold anybody's words in the user's place.
CERTAIN = {"claude-code", "codex", "copilot"}

# Formats that record calls and never what came of them.
WITHOUT_RESULTS = {"cursor"}

each_format = pytest.mark.parametrize("known", formats(), ids=lambda known: known.name)


def sessions(known: Format) -> list[tuple[Path, Transcript]]:
    """The sessions of a format's example, with their files; a file that lies beside them is in no format."""
    found: list[tuple[Path, Transcript]] = []
    for path in examples(known):
        source = Source(path)
        if known.sniff(source):
            found.extend((path, transcript) for transcript in known.read(source))
            assert source.skipped == []
    return found


def test_names_are_unique() -> None:
    assert len({known.name for known in formats()}) == len(formats())


def test_every_example_belongs_to_a_format() -> None:
    assert {folder.name for folder in EXAMPLES.iterdir() if folder.is_dir()} == {known.name for known in formats()}


@each_format
def test_a_format_knows_its_example_and_no_other_format_takes_it(known: Format) -> None:
    recognised = [recognise(Source(path)) for path in examples(known)]
    assert known in recognised
    assert set(recognised) <= {known, None}


@each_format
def test_the_example_is_a_conversation_with_paired_exchanges(known: Format) -> None:
    found = sessions(known)
    assert found
    for _, transcript in found:
        hold_transcript(transcript)
        assert transcript.source == known.name
        assert transcript.messages
    assert {message.role for _, transcript in found for message in transcript.messages} >= {Role.USER, Role.AGENT}
    exchanges = [exchange for _, transcript in found for exchange in pair(transcript.messages).exchanges]
    expected = 0 if known.name in WITHOUT_RESULTS else len(exchanges) * 0.7
    assert sum(exchange.result is not None for exchange in exchanges) >= expected
    assert not any(pair(transcript.messages).orphans for _, transcript in found)


# Formats whose example lies as the agent would lay it, and is a session that was carried to its end.
WHOLE = ("claude-code", "codex", "copilot", "gemini", "pi", "qwen", "droid")


@pytest.mark.parametrize("known", [known for known in formats() if known.name in WHOLE], ids=lambda known: known.name)
def test_a_whole_example_lies_in_its_place_and_has_every_result(known: Format) -> None:
    for path, transcript in sessions(known):
        inside = path.relative_to(EXAMPLES / known.name)
        assert any(inside.match("/".join(place.split("/")[-len(inside.parts) :])) for place in known.places)
        assert all(exchange.result for exchange in pair(transcript.messages).exchanges)
        assert (transcript.ending, bool(transcript.folder)) == (Ending.FINISHED, True)


@each_format
def test_every_message_has_the_trust_of_its_speaker(known: Format) -> None:
    for _, transcript in sessions(known):
        for message in transcript.messages:
            assert message.trust in (STRANGERS if known.beside else TRUSTS)[message.role]
            if message.trust is Trust.AGENT and message.role is Role.USER:
                assert transcript.purpose is Purpose.SUBTASK
            if message.vouched:
                assert known.name in CERTAIN
                assert is_typed(message)


@each_format
def test_ids_are_unique(known: Format) -> None:
    found = sessions(known)
    assert len({transcript.id for _, transcript in found}) == len(found)
    for _, transcript in found:
        ids = [call.id for message in transcript.messages for call in message.calls]
        assert all(ids)
        assert len(set(ids)) == len(ids)


@each_format
def test_a_parent_is_known_by_the_id_that_its_child_gives(known: Format) -> None:
    for _, transcript in sessions(known):
        assert transcript.parent != transcript.native_id


@each_format
def test_reading_twice_gives_equal_sessions(known: Format) -> None:
    assert sessions(known) == sessions(known)


@each_format
def test_reading_changes_nothing_in_the_folder(known: Format, tmp_path: Path) -> None:
    for path in examples(known):
        copy = tmp_path / path.relative_to(EXAMPLES / known.name)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    before = contents(tmp_path)
    for copy in sorted(path for path in tmp_path.rglob("*") if path.is_file()):
        source = Source(copy)
        if known.sniff(source):
            list(known.read(source))
    assert contents(tmp_path) == before


def contents(folder: Path) -> dict[Path, tuple[bytes, int]]:
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.rglob("*") if path.is_file()}
