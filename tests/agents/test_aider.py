"""Aider's history of a repository becomes one transcript a session."""

import json
from pathlib import Path

import pytest

from whet.agents import aider
from whet.agents.formats.source import Source
from whet.sessions.lineage import is_vouched, own_calls
from whet.sessions.transcripts import Disposition, Ending, Message, Origin, Role, Thought, Transcript, Usage, pair
from whet.sessions.trust import Trust

START = (
    "\n# aider chat started at 2026-03-14 09:12:40\n\n> Aider v0.86.1  \n> Main model: sonnet with diff edit format  \n"
)


def said(words: str) -> str:
    """As Aider writes what the person typed."""
    return "\n" + "".join(f"#### {line}  \n" for line in words.splitlines())


def answer(words: str) -> str:
    return f"\n{words.strip()}\n\n"


def output(*lines: str) -> str:
    return "".join(f"> {line}".rstrip() + "  \n" for line in lines)


def sessions(folder: Path, text: str) -> tuple[list[Transcript], Source]:
    path = folder / aider.FILE
    path.write_bytes(text.encode())
    source = Source(path)
    assert aider.sniff(source)
    return list(aider.read(source)), source


def read(folder: Path, *blocks: str) -> Transcript:
    (transcript,), source = sessions(folder, START + "".join(blocks))
    assert source.skipped == []
    return transcript


def spoken(transcript: Transcript) -> list[Message]:
    return [message for message in transcript.messages if message.origin is not Origin.INSERTED]


def test_every_start_is_a_session_and_one_that_was_left_at_once_is_none(tmp_path: Path) -> None:
    idle = START.replace("09:12", "09:30") + output("", "", "^C again to exit")
    later = START.replace("09:12", "10:00")
    text = START + said("one") + answer("1") + idle + later + said("two") + answer("2")
    found, source = sessions(tmp_path, text)
    assert [[message.text for message in spoken(each)] for each in found] == [["one", "1"], ["two", "2"]]
    assert found[0].started == 1773479560.0
    assert {(each.model, each.version, each.folder) for each in found} == {("sonnet", "0.86.1", str(tmp_path))}
    assert source.skipped == []


def test_an_id_stays_while_the_file_grows_and_tells_sessions_of_one_second_apart(tmp_path: Path) -> None:
    begun = START + said("one") + answer("1")
    first = sessions(tmp_path, begun)[0][0]
    grown = sessions(tmp_path, begun + said("more") + answer("2") + begun)[0]
    assert first.native_id == grown[0].native_id
    assert len({each.native_id for each in grown}) == 2


def test_headings_and_quotations_in_an_answer_are_the_agents(tmp_path: Path) -> None:
    words = "#### A heading\n\n> Applied edit to a.py\n\n# a title\n\n```md\n> quoted\n```"
    transcript = read(tmp_path, said("why?\n\n#### mine"), answer(words))
    asked, answered = spoken(transcript)
    assert (asked.text, asked.trust) == ("why?\n\n#### mine", Trust.USER)
    assert (answered.text, answered.role, answered.calls) == (words, Role.AGENT, ())


def test_lines_of_windows_are_lines(tmp_path: Path) -> None:
    found, _ = sessions(tmp_path, (START + said("one\ntwo") + answer("1\n2")).replace("\n", "\r\n"))
    assert [message.text for message in spoken(found[0])] == ["one\ntwo", "1\n2"]


def test_edits_and_commands_are_calls_of_the_answer_before_them(tmp_path: Path) -> None:
    transcript = read(
        tmp_path,
        said("fix it"),
        answer("a.py\n<<<<<<< SEARCH"),
        output(
            "Tokens: 12k sent, 1.5k cache write, 3.0k cache hit, 1.2k received. Cost: $0.04 message, $0.10 session."
        ),
        output("Applied edit to a.py", "Skipping edits to b.py", "Commit 1f2e3d4 fix: it"),
        "> make\nmake test      \nmake install  \n",
        output("Run shell commands? (Y)es/(N)o/(D)on't ask again [Yes]: n"),
        output("make", "Run shell command? (Y)es/(N)o/(D)on't ask again [Yes]: y", "Running make"),
        output("Added 4 lines of output to the chat."),
    )
    exchanges, orphans = pair(transcript.messages)
    found = [(json.loads(each.call.arguments), each.result) for each in exchanges]
    assert not orphans
    assert [arguments for arguments, _ in found] == [
        {"path": "a.py"},
        {"path": "b.py"},
        {"command": "make\nmake test      \nmake install"},
        {"command": "make"},
    ]
    assert [(result.error, result.disposition) for _, result in found if result] == [
        (False, None),
        (None, Disposition.REJECTED),
        (None, Disposition.REJECTED),
    ]
    assert found[3][1] is None  # it ran, but what it printed is not in the file
    assert transcript.messages[-1].text.endswith("Running make\nAdded 4 lines of output to the chat.")
    agent = next(message for message in transcript.messages if message.role is Role.AGENT)
    assert agent.usage == Usage(12_000, 1_200, cached=3_000, cache_written=1_500, cost_dollars=0.04)
    assert transcript.ending is Ending.FINISHED


def test_an_edit_that_did_not_match_failed_and_is_answered_again(tmp_path: Path) -> None:
    fault = (
        "The LLM did not conform to the edit format.",
        "# 2 SEARCH/REPLACE blocks failed to match!",
        "",
        "## SearchReplaceNoExactMatch: This SEARCH block failed to exactly match lines in a.py",
        "<<<<<<< SEARCH",
        "## SearchReplaceNoExactMatch: This SEARCH block failed to exactly match lines in b.py",
        ">>>>>>> REPLACE",
    )
    transcript = read(
        tmp_path,
        said("fix it"),
        answer("first"),
        output("100 prompt tokens, 20 completion tokens, $0.001 cost", *fault),
        answer("second"),
        output("Applied edit to a.py"),
    )
    exchanges, _ = pair(transcript.messages)
    assert [json.loads(each.call.arguments) for each in exchanges] == [
        {"path": path} for path in ("a.py", "b.py", "a.py")
    ]
    assert [each.result.error for each in exchanges if each.result] == [True, True, False]
    assert exchanges[0].result is not None
    assert exchanges[0].result.text.endswith("<<<<<<< SEARCH")
    assert [m.usage and m.usage.output for m in transcript.messages if m.role is Role.AGENT] == [20, None]


def test_an_edit_without_a_file_name_failed_too(tmp_path: Path) -> None:
    told = output("The LLM did not conform to the edit format.", "No filename provided before ``` in file listing")
    transcript = read(tmp_path, said("go"), answer("x"), told, output("Only 3 reflections allowed, stopping."))
    (exchange,) = pair(transcript.messages).exchanges
    assert exchange.call.arguments == "{}"
    assert exchange.result is not None
    assert exchange.result.error is True
    assert (transcript.ending, transcript.ending_detail) == (Ending.FAILED, "Only 3 reflections allowed, stopping.")


def test_commands_to_the_program_are_not_words_to_the_agent(tmp_path: Path) -> None:
    transcript = read(
        tmp_path,
        said("/add a.py"),
        output("Added a.py to the chat"),
        said("!make"),
        said("/ask why?"),
        said("why?"),
        answer("Because."),
        said("/code\nchange it"),
        said("Run shell command? (Y)es/(N)o/(S)kip all [Yes]: s"),
        said("<blank>"),
    )
    assert [(message.role, message.text) for message in spoken(transcript)] == [
        (Role.USER, "why?"),
        (Role.AGENT, "Because."),
        (Role.USER, "change it"),
    ]
    inserted = [message for message in transcript.messages if message.origin is Origin.INSERTED]
    assert {message.trust for message in inserted} == {Trust.TOOL}
    assert transcript.ending is Ending.UNKNOWN


def test_an_architects_plan_is_not_the_persons_word(tmp_path: Path) -> None:
    """Aider hands it to the editor as if it was typed."""
    transcript = read(
        tmp_path,
        output("Editor model: haiku with editor-diff edit format"),
        said("make it so"),
        answer("Change a.py."),
        output("Edit the files? (Y)es/(N)o [Yes]: y"),
        said("Change a.py."),
        answer("a.py\n<<<<<<< SEARCH"),
        output("Applied edit to a.py"),
    )
    turns = spoken(transcript)
    assert [message.role for message in turns] == [Role.USER, Role.AGENT, Role.AGENT, Role.TOOL]
    assert [message.model for message in turns[1:3]] == ["sonnet", "haiku"]


@pytest.mark.parametrize("answered", [answer("half an ans"), ""])
def test_a_person_who_stops_an_answer_interrupts(tmp_path: Path, answered: str) -> None:
    transcript = read(tmp_path, said("go"), output("", "", "^C again to exit"), answered)
    assert transcript.messages[-1].origin is Origin.INTERRUPT
    assert transcript.ending is Ending.INTERRUPTED
    assert transcript.messages[-1].trust is Trust.USER


def test_leaving_after_an_answer_is_no_interrupt(tmp_path: Path) -> None:
    left = output("", "", "^C again to exit", "", "", "^C KeyboardInterrupt")
    assert read(tmp_path, said("go"), answer("done"), left).ending is Ending.FINISHED


def test_thoughts_are_apart_from_the_answer(tmp_path: Path) -> None:
    words = "--------------\n► **THINKING**\n\nHm.\n\n------------\n► **ANSWER**\n\nYes."
    transcript = read(tmp_path, said("ok?"), answer(words))
    assert spoken(transcript)[1].parts[0] == Thought("Hm.")
    assert spoken(transcript)[1].text == "Yes."


def test_a_line_that_is_still_being_written_is_left_for_the_next_time(tmp_path: Path) -> None:
    found, source = sessions(tmp_path, START + said("go") + "\nhalf a li")
    assert [message.text for message in spoken(found[0])] == ["go"]
    assert [skipped.reason for skipped in source.skipped] == ["line not finished yet"]


def test_a_history_whose_lines_lost_their_marks_is_reported_and_not_guessed_at(tmp_path: Path) -> None:
    text = START + said("go") + answer("done") + output("Applied edit to a.py")
    found, source = sessions(tmp_path, "\n".join(line.rstrip() for line in text.splitlines()) + "\n")
    assert found == []
    assert [skipped.reason for skipped in source.skipped] == [
        "2026-03-14 09:12:40: the blanks at the ends of its lines, which tell who spoke, are gone"
    ]


def test_a_history_that_came_with_a_repository_speaks_for_no_project_but_its_own_and_for_nobody(tmp_path: Path) -> None:
    """A stranger can commit the file: it is found in every clone, whatever folder its lines name."""
    history = tmp_path / aider.FILE
    lines = output(f"Git working dir: {tmp_path.parent}") + said("Fix it") + answer("Done.")
    history.write_text(START + lines + output("Applied edit to a.py"))
    [transcript] = aider.read(Source(history))
    assert transcript.folder == str(tmp_path)
    assert own_calls(transcript) == frozenset()
    assert not any(map(is_vouched, transcript.messages))
