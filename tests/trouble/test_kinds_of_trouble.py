"""Each kind of trouble, found in a session that has it and not in one that has not."""

import pytest

from conversations import agent, call, conversation, shell, timed, user
from whet.sessions.transcripts import Disposition, Message, Origin, Role, Text, Transcript
from whet.sessions.trust import Trust
from whet.trouble.course import Break, SessionKnowledge
from whet.trouble.finding import find_trouble
from whet.trouble.kinds import TROUBLE_KINDS
from whet.trouble.values import SessionTrouble, Trouble, TroubleEnding, TroubleKind

RED = "FAILED tests/test_cart.py::test_total - assert 3 == 4\n1 failed, 4 passed in 0.31s"
GREEN = "5 passed in 0.30s"
CODE = "src/cart.py"
TEST = "tests/test_cart.py"


def edit(path: str, old: str, new: str) -> tuple[Message, Message]:
    return call("Edit", {"file_path": path, "old_string": old, "new_string": new}, "The file was updated.")


def found(transcript: Transcript, kind: str) -> list[Trouble]:
    return [trouble for trouble in find_trouble(transcript).troubles if trouble.kind == kind]


def kinds(trouble: SessionTrouble) -> set[str]:
    return {one.kind for one in trouble.troubles}


def test_every_kind_has_one_row() -> None:
    own = [value for name, value in vars(TroubleKind).items() if name.isupper()]
    assert sorted(row.name for row in TROUBLE_KINDS) == sorted(own)
    assert all(row.label and row.sentence and row.remedy for row in TROUBLE_KINDS)


def test_a_slip_lasts_until_the_call_that_works() -> None:
    session = timed(
        conversation(
            user("Change the title."),
            call("Edit", {"file_path": CODE, "old_string": "a", "new_string": "b"}, "String not found", error=True),
            call("Read", {"file_path": CODE}, "c"),
            call("Edit", {"file_path": CODE, "old_string": "c", "new_string": "b"}, "The file was updated."),
            agent("Done."),
        )
    )
    [slip] = found(session, TroubleKind.SLIP)
    assert (slip.first, slip.last, slip.subject, slip.ending) == (1, 5, "Edit", TroubleEnding.MENDED)
    assert slip.seconds == 40  # from the failed call to the one that works, without what that one took


def test_a_slip_ends_when_the_agent_goes_on() -> None:
    session = timed(
        conversation(
            user("Look at the page."),
            call("WebFetch", {"url": "https://example.org"}, "Error: 404", error=True),
            call("Read", {"file_path": CODE}, "c"),
            call("Read", {"file_path": TEST}, "c"),
        )
    )
    [slip] = found(session, TroubleKind.SLIP)
    assert (slip.first, slip.last, slip.ending) == (1, 3, TroubleEnding.LEFT)


def test_failures_in_a_row_are_one_slip() -> None:
    session = timed(
        conversation(
            user("Where is it?"),
            call("Read", {"file_path": "a.py"}, "File does not exist", error=True),
            call("Read", {"file_path": "src/b.py"}, "File does not exist", error=True),
            agent("I cannot find it."),
        )
    )
    [slip] = found(session, TroubleKind.SLIP)
    assert (slip.first, slip.last, slip.ending) == (1, 5, TroubleEnding.HANDED_BACK)


def test_tries_of_one_edit_are_one_slip_until_the_file_is_changed_some_other_way() -> None:
    session = conversation(
        user("Change the title."),
        call("Edit", {"file_path": CODE, "old_string": "a", "new_string": "b"}, "String not found", error=True),
        call("Read", {"file_path": CODE}, "c"),
        call("Edit", {"file_path": CODE, "old_string": "d", "new_string": "b"}, "String not found", error=True),
        shell("grep -n title other.py", "3: title"),
        call("Write", {"file_path": CODE, "content": "b"}, "The file was written."),
        agent("Done."),
    )
    assert [(slip.first, slip.last) for slip in found(session, TroubleKind.SLIP)] == [(1, 9)]


def test_a_probe_that_finds_nothing_is_no_slip() -> None:
    assert not found(conversation(user("Is it there?"), shell("ls src/none", "", error=True)), TroubleKind.SLIP)


def test_a_red_check_lasts_until_it_is_green() -> None:
    session = timed(
        conversation(
            user("Add the total."),
            edit(CODE, "pass", "return 3"),
            shell("pytest -q", RED, error=True),
            edit(CODE, "return 3", "return sum(items)"),
            shell("uv run pytest -q", GREEN),
            agent("Done."),
        )
    )
    [red] = found(session, TroubleKind.RED_CHECK)
    assert (red.first, red.last, red.subject, red.cause) == (3, 8, "pytest", "tests/test_cart.py::test_total")
    assert (red.seconds, red.calls, red.ending) == (50, 2, TroubleEnding.MENDED)


def test_what_was_red_before_the_agent_changed_anything_is_no_trouble() -> None:
    session = conversation(
        user("The tests fail, put it right."),
        shell("pytest -q", RED, error=True),
        edit(CODE, "return 3", "return sum(items)"),
        shell("pytest -q", GREEN),
    )
    assert not found(session, TroubleKind.RED_CHECK)


def test_a_check_that_was_red_before_is_the_task_itself_until_it_is_green() -> None:
    session = conversation(
        user("The tests fail, put it right."),
        shell("pytest -q", RED, error=True),
        edit(CODE, "return 3", "return 2"),
        shell("pytest -q", RED, error=True),
        edit(CODE, "return 2", "return sum(items)"),
        shell("pytest -q", GREEN),
    )
    assert not found(session, TroubleKind.RED_CHECK)


def test_what_the_agent_made_red_beside_what_was_red_before_is_trouble() -> None:
    session = conversation(
        user("Round the price."),
        shell("pytest -q", RED, error=True),
        edit(CODE, "return 3", "return 2"),
        shell("pytest -q", RED.replace("test_total", "test_price"), error=True),
        edit(CODE, "return 2", "return 4"),
        shell("pytest -q", GREEN),
    )
    assert [(red.first, red.last) for red in found(session, TroubleKind.RED_CHECK)] == [(5, 10)]


def test_work_handed_back_with_a_red_check_was_not_done() -> None:
    session = conversation(
        user("Füge die Summe hinzu."),
        edit(CODE, "pass", "return 3"),
        shell("cargo test", "test total ... FAILED", error=True),
        agent("Fertig. Das war schon vorher rot."),
        user("Kannst du den Fehler bitte beheben"),
        edit("tests/total.rs", "2", "3"),
        shell("cargo test", "test result: ok. 4 passed"),
        shell("git commit -am total", "[main 1f2e3d4] total"),
        agent("Fertig."),
    )
    [claimed] = found(session, TroubleKind.CLAIMED)
    assert (claimed.first, claimed.last) == (6, 10)
    assert not find_trouble(session).interventions


def test_putting_right_takes_no_longer_than_what_was_wrong() -> None:
    session = timed(
        conversation(
            user("Write the plan."),
            edit("plan.md", "a", "b"),
            agent("Here is the plan."),
            user("Do not couple the two, and build it."),
            *(edit(CODE, str(step), str(step + 1)) for step in range(20)),
            agent("Built."),
        )
    )
    [claimed] = found(session, TroubleKind.CLAIMED)
    before = session.messages[4].at, session.messages[0].at
    assert claimed.seconds <= (before[0] or 0) - (before[1] or 0)
    assert claimed.last < len(session.messages) - 30


def test_a_refused_commit_is_what_the_rest_of_the_turn_is_about() -> None:
    session = conversation(
        user("Commit it."),
        edit(CODE, "pass", "return 3"),
        shell("git commit -am total", "a.ts(1,2): error TS2739: x\nhusky - pre-commit hook failed", error=True),
        shell("git reset HEAD other.ts", ""),
        shell("git log -2", "1f2e3d4 somebody else's"),
        agent("Another session has committed it."),
    )
    [red] = found(session, TroubleKind.RED_CHECK)
    assert (red.first, red.last) == (3, 9)


def test_a_test_that_was_written_to_be_red_is_no_trouble() -> None:
    meant = (
        user("Add the total, test first."),
        edit(TEST, "pass", "assert total() == 4"),
        shell("pytest -q", RED, error=True),
        edit(CODE, "pass", "return 4"),
    )
    assert not found(conversation(*meant, shell("pytest -q", GREEN)), TroubleKind.RED_CHECK)
    still = conversation(
        *meant, shell("pytest -q", RED, error=True), edit(CODE, "return 4", "return 5"), shell("pytest -q", GREEN)
    )
    assert [red.first for red in found(still, TroubleKind.RED_CHECK)] == [7]


def test_another_test_that_is_green_does_not_end_it() -> None:
    session = conversation(
        user("Add the total."),
        edit(CODE, "pass", "return 3"),
        shell("pytest tests/test_cart.py", RED, error=True),
        shell("pytest tests/test_menu.py", GREEN),
        edit(CODE, "return 3", "return 4"),
        shell("pytest tests/test_cart.py", GREEN),
    )
    [red] = found(session, TroubleKind.RED_CHECK)
    assert (red.first, red.last) == (3, 10)


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("bun run test 2>&1 | grep -A 20 fail", "(fail) cart > adds up [0.41ms]"),
        ("for d in a b; do (cd $d && go vet ./... 2>&1 | head -4); done", "  cart.go:19:14: undefined: total"),
        ("npx tsc --noEmit | head -5; echo done", "src/cart.ts(3,5): error TS2345: no\ndone"),
        ("go test ./... 2>&1 | sed 's/^/   /'; echo", "   --- FAIL: TestTotal (0.00s)\n   FAIL"),
    ],
)
def test_a_check_is_red_behind_a_line_that_hides_its_status(command: str, output: str) -> None:
    session = conversation(
        user("Go."), edit(CODE, "a", "b"), shell(command, output), edit(CODE, "b", "c"), shell(command, "ok")
    )
    assert [(red.first, red.last) for red in found(session, TroubleKind.RED_CHECK)] == [(3, 8)]
    warned = conversation(user("Go."), edit(CODE, "a", "b"), shell("npx eslint .", "a.ts:3:5: warning: x"))
    assert not found(warned, TroubleKind.RED_CHECK)


def test_showing_less_of_a_red_check_does_not_make_it_green() -> None:
    session = conversation(
        user("Go."),
        edit(CODE, "a", "b"),
        shell("pytest -q", RED, error=True),
        shell("pytest -q 2>&1 | grep passes | head", ""),
        edit(CODE, "b", "c"),
        shell("pytest -q 2>&1 | tail -3", GREEN),
    )
    assert [(red.first, red.last) for red in found(session, TroubleKind.RED_CHECK)] == [(3, 10)]


def test_what_puts_right_the_findings_of_a_check_is_followed_by_the_check() -> None:
    linted = (user("Go."), edit(CODE, "a", "b"), shell("npm run lint", "Found 3 errors.", error=True))
    fixed = (*linted, shell("npm run lint:fix", "Fixed 3 files."))
    session = conversation(*fixed, shell("npm run lint", "ok"), agent("Done."))
    assert [(red.first, red.last) for red in found(session, TroubleKind.RED_CHECK)] == [(3, 8)]
    other = conversation(*fixed, edit(TEST, "c", "d"), shell("npm run lint", "ok"), agent("Done."))
    assert [(red.first, red.last) for red in found(other, TroubleKind.RED_CHECK)] == [(3, 6)]


def test_a_check_that_lists_what_is_left_to_do_is_no_trouble() -> None:
    places = [f"src/{name}.go" for name in "abc"]
    session = conversation(
        user("Give Total another type."),
        edit("src/total.go", "int", "Money"),
        shell("go build ./...", "a.go:3:5: cannot use int as Money", error=True),
        *(edit(path, "int", "Money") for path in places),
        shell("go build ./...", ""),
    )
    assert not found(session, TroubleKind.RED_CHECK)


def test_a_red_check_goes_on_when_the_agent_is_stopped_and_told_how() -> None:
    session = conversation(
        user("Go."),
        edit(CODE, "a", "b"),
        shell("git commit -m x", "pre-commit script failed (code 1)", error=True),
        agent("The hook is red for other files. Shall I leave it out?"),
        user("Yes, leave it out."),
        shell("git commit --no-verify -m x", "[main 1] x"),
    )
    assert [(red.first, red.last) for red in found(session, TroubleKind.RED_CHECK)] == [(3, 8)]


def test_a_command_whose_time_ran_out_and_that_was_left_to_run_is_waiting() -> None:
    aside = "Command did not complete within its 120s timeout and was moved to the background (ID: b1)."
    session = conversation(user("Where is it?"), shell("find / -name cart.go", aside), agent("It takes long."))
    assert [(wait.first, wait.last) for wait in found(session, TroubleKind.WAITING)] == [(1, 2)]
    running = "Command running in background with ID: b1. Output is being written to: /tmp/b1.output"
    hung = conversation(user("Test it."), shell("pnpm test", running), agent("It hangs."))
    assert [(wait.first, wait.last) for wait in found(hung, TroubleKind.WAITING)] == [(1, 2)]
    wanted = call("Bash", {"command": "pnpm dev", "run_in_background": True}, running)
    assert not found(conversation(user("Start it."), wanted, agent("It runs.")), TroubleKind.WAITING)


def test_a_check_that_was_left_red_ends_with_its_last_run() -> None:
    session = conversation(
        user("Add the total."),
        edit(CODE, "pass", "return 3"),
        shell("pytest -q", RED, error=True),
        edit(CODE, "return 3", "return 2"),
        shell("pytest -q", RED, error=True),
        agent("One test is still red."),
    )
    [red] = found(session, TroubleKind.RED_CHECK)
    assert (red.first, red.last, red.ending) == (3, 8, TroubleEnding.LEFT)


@pytest.mark.parametrize(
    ("command", "output", "cause"),
    [
        ("npm run lint", "/a/b.ts\n  3:5  error  'x' is never used  no-unused-vars\n\n1 problem", "no-unused-vars"),
        ("npx tsc", "src/a.ts(3,5): error TS2345: Argument of type 'x' is not assignable", "TS2345"),
        ("go test ./...", "--- FAIL: TestTotal (0.00s)\nFAIL\tshop\t0.01s", "TestTotal"),
        ("ruff check", "src/a.py:3:5: F401 `os` imported but unused\nFound 1 error.", "F401"),
        ("cargo build", "error[E0308]: mismatched types\nerror: could not compile `shop`", "E0308"),
        ("mypy src", 'src/a.py:3: error: Name "x" is not defined  [name-defined]', "name-defined"),
    ],
)
def test_the_rule_or_test_that_was_red_is_named(command: str, output: str, cause: str) -> None:
    session = conversation(
        user("Go."), edit(CODE, "a", "b"), shell(command, output, error=True), edit(CODE, "b", "c"), shell(command, "")
    )
    [red] = found(session, TroubleKind.RED_CHECK)
    assert red.cause == cause


def test_edits_that_git_put_back_were_thrown_away() -> None:
    session = timed(
        conversation(
            user("Make it faster."),
            edit(CODE, "a", "b"),
            shell("python bench.py", "12 s"),
            shell(f"git checkout -- {CODE}", ""),
            agent("It was no faster."),
        )
    )
    [gone] = found(session, TroubleKind.THROWN_AWAY)
    assert (gone.first, gone.last, gone.subject, gone.seconds) == (1, 6, CODE, 50)


def test_edits_that_were_turned_back_by_hand_were_thrown_away() -> None:
    session = conversation(user("Try it."), edit(CODE, "a", "b"), edit(CODE, "b", "a"))
    assert [(gone.first, gone.last) for gone in found(session, TroubleKind.THROWN_AWAY)] == [(1, 4)]


def test_edits_that_the_person_put_back_were_thrown_away() -> None:
    once = edit(CODE, "the old text of this file", "something new")
    session = timed(
        conversation(
            user("Do both."),
            once,
            edit("src/menu.py", "x", "y"),
            agent("Both are done."),
            user("Only the first."),
            edit(CODE, "the old text of this file", "something else"),
        ),
        gaps={6: 3_000},
    )
    [gone] = found(session, TroubleKind.THROWN_AWAY)
    assert (gone.first, gone.last, gone.seconds) == (1, 6, 40)


def test_of_other_work_meanwhile_nothing_is_thrown_away() -> None:
    session = timed(
        conversation(
            user("Try it."),
            edit(CODE, "a", "b"),
            edit("src/menu.py", "x", "y"),
            shell(f"git restore {CODE}", ""),
        )
    )
    [gone] = found(session, TroubleKind.THROWN_AWAY)
    assert (gone.seconds, gone.calls) == (40, 2)  # the edit and what put it back, each with its answer


@pytest.mark.parametrize(
    "command", ["git checkout main", "git stash && pytest; git stash pop", "git restore --staged ."]
)
def test_what_keeps_the_edits_throws_nothing_away(command: str) -> None:
    session = conversation(user("Try it."), edit(CODE, "a", "b"), shell(command, ""))
    assert not found(session, TroubleKind.THROWN_AWAY)


def test_committed_work_is_not_thrown_away_by_a_reset() -> None:
    session = conversation(
        user("Try it."), edit(CODE, "a", "b"), shell("git commit -am x", ""), shell("git reset --hard", "")
    )
    assert not found(session, TroubleKind.THROWN_AWAY)


def test_context_that_ran_out_lasts_until_files_are_read_again() -> None:
    summary = Message(role=Role.USER, parts=(Text("So far …"),), trust=Trust.TOOL, origin=Origin.SUMMARY)
    session = timed(
        conversation(
            user("Go on."),
            call("Read", {"file_path": CODE}, "a"),
            summary,
            call("Read", {"file_path": CODE}, "a"),
            call("Read", {"file_path": "src/new.py"}, "b"),
            edit(CODE, "a", "b"),
        ),
        gaps={3: 90},
    )
    [lost] = found(session, TroubleKind.CONTEXT)
    assert (lost.first, lost.last, lost.seconds) == (2, 5, 110)


def test_sleeping_is_waiting() -> None:
    session = timed(conversation(user("Start it."), shell("sleep 60 && curl localhost", "up")), gaps={2: 60})
    [waited] = found(session, TroubleKind.WAITING)
    assert (waited.seconds, waited.cause) == (60, "sleep")


@pytest.mark.parametrize(
    ("command", "waits"),
    [
        ("sleep 2 && pytest -q", False),
        ("sleep 2m; cat log", True),
        ("until curl -s localhost; do sleep 1; done", True),
        ("Start-Sleep -Seconds 30", True),
        ("echo sleepless", False),
    ],
)
def test_a_short_sleep_lets_something_start(command: str, waits: bool) -> None:
    session = timed(conversation(user("Start it."), shell(command, "up")), gaps={2: 60})
    assert bool(found(session, TroubleKind.WAITING)) == waits


def test_a_command_whose_time_ran_out_is_waiting_and_no_slip() -> None:
    session = timed(
        conversation(user("Build it."), shell("make all", "Command timed out after 2m 0s", error=True)), gaps={2: 120}
    )
    assert [(one.kind, one.seconds) for one in find_trouble(session).troubles] == [(TroubleKind.WAITING, 120)]


def test_the_same_question_again_and_again_is_polling() -> None:
    session = timed(conversation(user("Wait for it."), *[shell("cat status", "running") for _ in range(4)]))
    [polled] = found(session, TroubleKind.WAITING)
    assert (polled.first, polled.last, polled.cause) == (2, 8, "polling")


def test_a_refusal_ends_what_the_agent_was_about_to_do() -> None:
    refused = call("Bash", {"command": "git push"}, "No.", error=True, disposition=Disposition.REJECTED)
    session = timed(conversation(user("Commit it."), refused), gaps={2: 500})
    [stopped] = found(session, TroubleKind.CORRECTED)
    assert (stopped.first, stopped.last, stopped.seconds) == (0, 2, 10)  # the person's thinking is their own


def test_work_that_was_claimed_done_and_was_not() -> None:
    session = timed(
        conversation(
            user("Make the button blue."),
            edit(CODE, "red", "green"),
            agent("The button has been changed successfully."),
            user("It still does not work, the button is not blue."),
            edit(CODE, "green", "blue"),
            agent("Now it is blue."),
        )
    )
    [claimed] = found(session, TroubleKind.CLAIMED)
    assert (claimed.first, claimed.last, claimed.seconds) == (4, 7, 30)


def test_a_check_that_shows_that_work_was_not_done() -> None:
    session = conversation(
        user("Add the total."),
        edit(CODE, "pass", "return 3"),
        agent("I have added the total. All tests pass now."),
        user("Commit it."),
        shell(
            "git commit -am total", "tests/test_cart.py::test_total failed\nhusky - pre-commit hook failed", error=True
        ),
        edit(CODE, "return 3", "return 4"),
        shell("git commit -am total", "[main 1f2e3d4] total"),
    )
    assert kinds(find_trouble(session)) == {TroubleKind.CLAIMED}


def test_a_rule_that_was_told_and_broken() -> None:
    session = timed(conversation(user("Commit it."), shell("git push", "done")))
    trouble = find_trouble(session, known=SessionKnowledge(breaks=(Break("never push", 1),)))
    [broken] = trouble.troubles
    assert (broken.kind, broken.first, broken.last, broken.cause) == (TroubleKind.TOLD, 0, 2, "never push")
    assert not find_trouble(session).troubles
