"""A command is a check by what it does in its project."""

from conversations import call, conversation, shell, user
from whet.sessions.transcripts import Message, Transcript
from whet.trouble.checks import head_counts, learned_checks
from whet.trouble.course import SessionKnowledge
from whet.trouble.finding import find_trouble
from whet.trouble.outcomes.view import gather
from whet.trouble.values import TroubleKind


def edit(new: str) -> tuple[Message, Message]:
    return call("Edit", {"file_path": "rules.dl", "old_string": "a", "new_string": new}, "The file was updated.")


def run(command: str, *, failed: bool) -> tuple[Message, Message]:
    return shell(command, "Exit code 1\nnot proved" if failed else "proved", error=failed)


def project(command: str) -> Transcript:
    """A session in which a command turns red, files are changed, and it turns green."""
    return conversation(
        user("Prove it."),
        edit("b"),
        run(f"{command} first.dl", failed=True),
        edit("c"),
        run(f"{command} first.dl", failed=False),
        edit("d"),
        run(f"{command} second.dl", failed=True),
        edit("e"),
        run(f"{command} second.dl", failed=False),
    )


def test_what_fails_and_works_after_a_change_is_a_check() -> None:
    session = project("./prove all")
    checks = learned_checks(head_counts(gather(session).steps))
    assert checks == {("prove", "all")}
    found = find_trouble(session, known=SessionKnowledge(checks))
    assert [(one.kind, one.subject) for one in found.troubles] == [(TroubleKind.RED_CHECK, "prove all")] * 2
    assert {one.kind for one in find_trouble(session).troubles} == {TroubleKind.SLIP}


def test_once_is_not_enough_and_counts_of_sessions_add_up() -> None:
    once = conversation(user("Go."), run("./prove all", failed=True), edit("b"), run("./prove all", failed=False))
    counts = head_counts(gather(once).steps)
    assert not learned_checks(counts)
    assert learned_checks((*counts, *counts)) == {("prove", "all")}


def test_what_works_again_without_a_change_is_no_check() -> None:
    flaky = [run("curl api.example.org", failed=at % 2 == 0) for at in range(8)]
    assert not learned_checks(head_counts(gather(conversation(user("Go."), *flaky)).steps))


def test_what_mostly_fails_for_other_reasons_is_no_check() -> None:
    often = [run("deploy now", failed=True) for _ in range(20)]
    session = conversation(user("Go."), *often, *project("deploy now").messages)
    assert not learned_checks(head_counts(gather(session).steps))
