"""What a session may teach: the person's words, what worked after a failure, what an error asks for."""

from msgspec.structs import replace

from conversations import agent, call, conversation, shell, user
from whet.lessons.candidates import candidates
from whet.lessons.drafts import drafts_of
from whet.lessons.finding import copies_of, pieces_of_session
from whet.lessons.pieces import LessonPiece, LessonSource, lifted
from whet.sessions.transcripts import Disposition, Message, Role, Text, Transcript
from whet.sessions.trust import Trust

REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, "
    "the user said:\ndon't run the integration tests, they are too slow"
)
HOOK = (
    "docs/a.md:396 error MD040/fenced-code-language Fenced code blocks should have a language specified\n"
    "docs/a.md:401 error MD040/fenced-code-language Fenced code blocks should have a language specified\n"
    "husky - pre-commit script failed (code 1)"
)


def pieces(transcript: Transcript) -> list[LessonPiece]:
    return list(pieces_of_session(transcript))


def test_a_direction_given_on_the_way_is_the_persons_words() -> None:
    [found] = pieces(conversation(user("Fix it"), agent("Done."), user("please use table-driven tests here")))
    assert (found.source, found.message, found.trust) == (LessonSource.PERSON, 2, Trust.USER)
    assert found.text == "please use table-driven tests here"


def test_assent_and_plain_questions_teach_nothing() -> None:
    assert not pieces(conversation(user("Fix it"), agent("Done."), user("yes"), user("what is in the file?")))


def test_pasted_output_is_not_the_persons_direction() -> None:
    assert not pieces(conversation(user("Hello"), agent("Hi."), user("▲ [WARNING] you need to set the format")))


def test_the_reason_of_a_refusal_weighs_more_than_an_ordinary_direction() -> None:
    refused = call("Bash", {"command": "make ci"}, REFUSED, error=True, disposition=Disposition.REJECTED)
    [found] = pieces(conversation(user("Fix it"), refused))
    [plain] = pieces(
        conversation(user("Fix it"), agent("Done."), user("don't run the integration tests, they are too slow"))
    )
    assert "integration tests" in found.text
    assert found.weight > plain.weight


def test_words_of_a_refusal_are_the_persons_only_where_the_record_marks_it() -> None:
    marked = call("Bash", {"command": "make ci"}, REFUSED, error=True, disposition=Disposition.REJECTED)
    printed = call("Bash", {"command": "make ci"}, REFUSED, error=True)
    trusts = [pieces(conversation(user("Fix it"), each))[0].trust for each in (marked, printed)]
    assert trusts == [Trust.USER, Trust.EXTERNAL]


def test_words_that_no_record_vouches_for_are_nobodys_until_a_person_approves_them() -> None:
    words = Message(Role.USER, (Text("Never wrap lines in the markdown"),), Trust.USER)
    found = [
        pieces(conversation(user("Hello"), agent("Hi."), replace(words, vouched=sure)))[0] for sure in (True, False)
    ]
    assert [each.trust for each in found] == [Trust.USER, Trust.TOOL]
    assert [lifted(each).trust for each in found] == [Trust.USER, Trust.TOOL], "nor does a declared project"
    [(_, draft)] = drafts_of(candidates(found[1:], {}))
    assert draft is not None
    assert (draft.text, draft.trust) == ("Never wrap lines in the markdown", Trust.TOOL)


def test_a_failure_comes_with_the_call_for_the_same_purpose_that_worked() -> None:
    failed = shell("rtk bun install", "error: unrecognized subcommand 'bun'", error=True)
    [found] = pieces(conversation(user("Go"), failed, shell("ls", "a"), shell("bun install", "Done")))
    assert (found.source, found.call, found.fix) == (LessonSource.RECOVERY, "rtk bun install", "bun install")
    assert "unrecognized subcommand 'bun'" in found.error
    assert found.trust is Trust.TOOL


def test_a_red_test_in_the_course_of_work_is_no_lesson() -> None:
    red = shell("pytest tests", "FAILED tests/test_a.py::test_a - assert 1 == 2\n1 failed in 0.1s", error=True)
    assert not pieces(conversation(user("Go"), red, shell("pytest tests -x", "1 passed in 0.1s")))


def test_a_call_that_worked_when_it_was_repeated_has_no_other_form() -> None:
    failed = shell("git pull origin", "fatal: Unable to create 'index.lock': File exists.", error=True)
    [found] = pieces(conversation(user("Go"), failed, shell("git pull origin", "Done"), shell("git pull", "Done")))
    assert not found.fix


def test_an_error_names_its_remedy_on_the_next_line() -> None:
    text = "The client is stale.\nRun this command and stage the changes:\n\n    pnpm api:generate\n"
    [found] = pieces(conversation(user("Go"), shell("deploy now", text, error=True)))
    assert found.source is LessonSource.REMEDY
    assert found.remedy == "Run this command and stage the changes: pnpm api:generate"


def test_the_hooks_of_a_commit_say_what_they_refuse_once_and_without_places() -> None:
    [found] = pieces(conversation(user("Go"), shell("git commit -m 'docs'", HOOK, error=True)))
    assert found.remedy == "error MD040/fenced-code-language Fenced code blocks should have a language specified"


def test_a_search_that_found_nothing_comes_with_the_one_that_found_it() -> None:
    missed = call("Grep", {"pattern": "golangci", "path": "src"}, "No matches found")
    found_later = call("Grep", {"pattern": "golangci", "path": "tools"}, "tools/golangci.yaml")
    [found] = pieces(conversation(user("Go"), missed, found_later))
    assert (found.source, found.fix, found.trust) == (LessonSource.PLACE, "Grep golangci in tools", Trust.TOOL)


def test_what_an_agents_own_tool_asks_for_is_a_habit() -> None:
    text = "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>"
    [found] = pieces(conversation(user("Go"), call("Edit", {"file_path": "/a/b.py"}, text, error=True)))
    assert found.is_habit


def test_a_resumed_session_is_a_copy_of_the_first() -> None:
    opening = replace(user("Fix it"), at=5.0)
    first, again = (conversation(opening, agent("Done."), native_id=name) for name in ("one", "two"))
    other = conversation(replace(user("Fix it"), at=6.0), native_id="three")
    assert copies_of([first, again, other]) == {again.id: first.id}


def test_a_sentence_in_a_long_pasted_text_is_not_the_persons_own() -> None:
    pasted = "Look at this:\n" + "The format is wrong.\n" * 20 + "You must always set the format."
    [found] = pieces(conversation(user("Hello"), agent("Hi."), user(pasted)))
    assert found.trust is Trust.EXTERNAL


def test_a_tool_that_takes_a_list_is_shown_with_it_and_paired_by_what_it_was_given() -> None:
    denied = call(
        "upload", {"paths": ["/tmp/notes.txt"]}, "Error: File access denied: outside allowed roots", error=True
    )
    other = call("upload", {"paths": ["/home/a/project/photo.png"]}, "Done")
    worked = call("upload", {"paths": ["/home/a/project/notes.txt"]}, "Done")
    [found] = pieces(conversation(user("Go"), denied, other, worked))
    assert (found.call, found.fix) == ("upload /tmp/notes.txt", "upload /home/a/project/notes.txt")


def test_a_check_that_found_no_test_teaches_though_it_passed() -> None:
    empty = shell("pnpm --filter api test -- --testPathPattern=auth", "> jest\n\nNo tests found, exiting with code 0")
    ran = shell("pnpm --filter api test -- auth", "Tests: 4 passed, 4 total")
    [found] = pieces(conversation(user("Go"), empty, ran))
    assert found.error == "No tests found, exiting with code 0"
    assert found.fix == "pnpm --filter api test -- auth"


def test_packages_of_go_without_a_test_of_the_name_teach_nothing() -> None:
    output = "ok  a 0.1s\ntesting: warning: no tests to run\nPASS\nok  b 0.1s [no tests to run]"
    assert not pieces(conversation(user("Go"), shell("go test ./... -run TestA", output)))


def test_that_a_program_is_missing_weighs_as_much_as_what_an_error_says_to_do() -> None:
    missing = shell("zsh -n a.zsh", "/usr/bin/bash: line 1: zsh: command not found", error=True)
    advised = shell("deploy a", "error: no region\nUse: deploy a --region eu", error=True)
    first, second = (pieces(conversation(user("Go"), each))[0].weight for each in (missing, advised))
    assert first == second


def test_to_ensure_is_to_make_sure() -> None:
    [one], [other] = (
        pieces(conversation(user("Go"), agent("Done."), user(f"can you {said} that both files are merged")))
        for said in ("ensure", "make sure")
    )
    assert one.weight == other.weight


def test_the_call_that_did_what_the_error_asked_for_is_part_of_the_evidence() -> None:
    failed = shell("python -m pytest test_tax.py", "Use: ./dev test MODULE", error=True)
    [found] = pieces(conversation(user("Go"), failed, shell("./dev lint", "ok"), shell("./dev test tax", "1 passed")))
    assert (found.remedy, found.fix, found.did) == ("Use: ./dev test MODULE", "", "./dev test tax")
