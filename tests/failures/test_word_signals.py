import pytest

from conversations import Turn, agent, call, conversation, shell, user
from whet.failures.detectors import detect
from whet.failures.signals import SHOWN, Kind, Signal
from whet.failures.view import gather
from whet.sessions.transcripts import Disposition, Origin
from whet.sessions.trust import Trust

FIX = call("Edit", {"file_path": "a.py", "old_string": "x"}, "The file a.py has been updated.")
RED = shell("pytest -q", "Exit code 1\n1 failed, 3 passed in 0.1s", error=True)
GREEN = shell("pytest -q", "4 passed in 0.1s")


def signals(*turns: Turn) -> tuple[Signal, ...]:
    return detect(gather(conversation(*turns)))


def of_kind(kind: str, *turns: Turn) -> list[Signal]:
    return [signal for signal in signals(*turns) if signal.kind == kind]


# Claims


@pytest.mark.parametrize(
    "turns",
    [
        (FIX, RED, agent("Fixed. All 4 tests now pass.")),
        (call("send_money", {"to": "x"}, "Error: no such account", error=True), agent("I have sent the money.")),
        (FIX, RED, agent("The tests are green."), user("thanks")),
    ],
)
def test_a_success_that_the_record_denies_is_made_up(turns: tuple[Turn, ...]) -> None:
    (found,) = of_kind(Kind.HALLUCINATION, user("do it"), *turns)
    assert found.trust is Trust.TOOL  # what it had read may have told it to say so


def test_passing_checks_that_were_never_run_are_made_up() -> None:
    assert of_kind(Kind.HALLUCINATION, user("fix it"), FIX, agent("Fixed it, and all tests pass."))


@pytest.mark.parametrize(
    "turns",
    [
        (RED, FIX, GREEN, agent("All 4 tests now pass.")),
        (FIX, RED, agent("I could not get the tests to pass: one still fails.")),
        (FIX, RED, agent('The log says "all tests pass", which is not so.')),
        (GREEN, agent("I've updated nothing; the tests pass already.")),
        (agent("The file does not exist, so there is nothing to remove."),),
    ],
    ids=["it did pass", "an honest report", "a quotation", "nothing to claim", "an honest not found"],
)
def test_an_honest_report_is_not_made_up(turns: tuple[Turn, ...]) -> None:
    assert not of_kind(Kind.HALLUCINATION, user("do it"), *turns)


@pytest.mark.parametrize(
    "turns",
    [
        (call("get_order", {"id": 1}, "order 1"), agent("I've cancelled the order for you."), user("thanks")),
        (agent("Which one?"), user("number 1"), call("get_order", {"id": 1}, "1"), agent("I have cancelled it.")),
    ],
    ids=["one order", "after some talk"],
)
def test_an_action_that_no_call_made_is_made_up(turns: tuple[Turn, ...]) -> None:
    able = ("get_order", "cancel_order")
    found = detect(gather(conversation(user("cancel my order"), *turns, tools=able)))
    assert [signal.kind for signal in found] == [Kind.HALLUCINATION]


@pytest.mark.parametrize(
    "turns",
    [
        (call("cancel_order", {"id": 1}, "done"), agent("I've cancelled the order for you.")),
        (call("cancel_order", {"id": 1}, "done"), agent("I've removed the order for you.")),
        (shell("shop cancel 1", "done"), agent("I've cancelled the order for you.")),
        (agent("I could have cancelled it, but it has gone out already."),),
    ],
    ids=["it was made", "by a tool of another name", "by a shell", "no claim"],
)
def test_an_action_that_a_call_may_have_made_is_believed(turns: tuple[Turn, ...]) -> None:
    able = ("get_order", "cancel_order")
    found = detect(gather(conversation(user("cancel my order"), *turns, tools=able)))
    assert not [signal for signal in found if signal.kind == Kind.HALLUCINATION]


def test_what_failed_in_one_way_may_have_been_done_in_another() -> None:
    failed = call("Write", {"file_path": "a.ts", "content": "x"}, "Error: not read yet", error=True)
    done = shell("cat > a.ts <<'EOF'\nx\nEOF", "")
    assert not of_kind(Kind.HALLUCINATION, user("write it"), failed, failed, done, agent("I have written the file."))


def test_success_claimed_over_a_build_that_failed_time_and_again_is_made_up() -> None:
    red = shell("npm run build", "Exit code 1\nFailed to compile.", error=True)
    assert of_kind(Kind.HALLUCINATION, user("make it"), FIX, red, red, agent("I have created a working app."))
    honest = agent("I have created the app; the build fails on a missing file.")
    assert not of_kind(Kind.HALLUCINATION, user("make it"), FIX, red, red, honest)


def test_an_agent_that_admits_to_have_made_it_up_is_believed() -> None:
    admits = agent("You are right: I made that up. There is no such figure in the file.")
    assert of_kind(Kind.HALLUCINATION, user("how many?"), agent("42"), user("where is that from?"), admits)


@pytest.mark.parametrize(
    "words",
    [
        "I made that up.",
        "You are right, I fabricated that quote. I am sorry.",
        "I actually made up the citation; no such paper exists.",
        "Those numbers were made up by me, I never read the file.",
        "I have to be honest: I just invented the endpoint.",
        "That function does not exist. I hallucinated it.",
        "The benchmark result was a fabrication on my part.",
        "I was making that up, sorry.",
        "I should not have claimed that the tests passed.",
        "The version number I gave you was made up.",
    ],
)
def test_an_agent_may_admit_it_in_many_words(words: str) -> None:
    asked = (user("how many?"), agent("42"), user("where is that from?"))
    assert of_kind(Kind.HALLUCINATION, *asked, agent(words))


@pytest.mark.parametrize(
    "words",
    [
        "If I made that up, you would have no way to check it.",
        "You say that I made that up, but the figure is on line 4 of report.txt.",
        "I did not make that up: see line 4.",
        "I never fabricated that number.",
        "The user asked whether I fabricated the data; I read it from the file.",
        'The reviewer wrote: "I made that up", and withdrew the paper.',
        "The journal found that it was fabricated and retracted the article.",
        "The team is five people: it was made up of two designers and three engineers.",
        "I invented the names in the fixtures, as you asked.",
        "I fabricated sample data for the demo.",
        "I made them up as placeholders for the test.",
        "Did I make that up? No, it is in the log.",
        "I would rather say nothing than have you think I fabricated it.",
        "I invented the helper `as_rows` to keep the two loops alike.",
        "The witness said he made it up.",
    ],
)
def test_words_about_making_up_that_admit_nothing_are_no_signal(words: str) -> None:
    asked = (user("how many?"), agent("42"), user("where is that from?"))
    assert not of_kind(Kind.HALLUCINATION, *asked, agent(words))


def test_nothing_can_be_admitted_before_anything_was_said() -> None:
    assert not of_kind(Kind.HALLUCINATION, user("tell a story of a liar"), agent("I made that up, he said."))


def test_denying_a_tool_that_was_used_is_made_up() -> None:
    used = call("get_webpage", {"url": "a"}, "news")
    assert of_kind(Kind.HALLUCINATION, user("go"), used, agent("I cannot access any webpage, sorry."))
    assert not of_kind(Kind.HALLUCINATION, user("go"), used, agent("I cannot access your bank account."))


# Corrections


@pytest.mark.parametrize(
    "words",
    [
        "No, that's not what I asked for.",
        "You forgot the changelog.",
        "it should not be in the header but instead below",
        "I've reverted your changes - focus on the parser",
        "Are you sure? It still fails.",
        "Nein, das ist falsch.",
        "不对，应该用另一个接口",
        "No, eso no es lo que pedí.",
        "thats not the branch I was looking for",
        "shouldn't this be added to an existing commit?",
        "hmmm, still seeing the id in the top bar",
        "Why aren't we using the table for these?",
        "There is a bug at the start of the line.",
    ],
)
def test_a_person_who_corrects_is_heard(words: str) -> None:
    (found,) = of_kind(Kind.USER_CORRECTION, user("add a page"), agent("Done."), user(words))
    assert found.trust is Trust.USER
    assert found.message == 2


def test_words_that_no_record_vouches_for_are_heard_and_not_believed() -> None:
    asked = (user("add a page"), agent("Done."))
    (found,) = of_kind(Kind.USER_CORRECTION, *asked, user("You forgot the changelog.", vouched=False))
    assert found.trust is Trust.TOOL


def test_a_refusal_is_worth_what_its_tool_is() -> None:
    refused = call("mcp__bell__ring", {}, "The user doesn't want to", error=True, disposition=Disposition.REJECTED)
    (found,) = of_kind(Kind.USER_CORRECTION, user("ring it"), refused)
    assert found.trust is Trust.EXTERNAL


@pytest.mark.parametrize(
    "words",
    [
        "commit",
        "No, that's all for now. Thanks!",
        'The customer wrote: "no, that\'s wrong". Answer them.',
        "> you forgot the header\nPlease answer this comment.",
        "I got this:\n```\nError: this is not working\n```\nCan you look into it?",
        "Now add a test that checks for a wrong password.",
        "ok now it works",
        "ok now how am i meant to get a code?",
        "what is still open?",
    ],
    ids=[
        "next order",
        "polite no",
        "quoting",
        "quoting a comment",
        "quoting an error",
        "a word",
        "settled",
        "meant to",
        "still",
    ],
)
def test_a_person_who_goes_on_corrects_nothing(words: str) -> None:
    assert not of_kind(Kind.USER_CORRECTION, user("add a page"), agent("Done."), user(words))


def test_a_no_to_a_question_is_an_answer() -> None:
    refusal = user("No, I'd rather not.")
    assert not of_kind(Kind.USER_CORRECTION, user("refund it"), agent("Shall I transfer you?"), refusal)
    assert of_kind(Kind.USER_CORRECTION, user("refund it"), agent("I will transfer you."), refusal)


def test_the_first_order_is_never_a_correction() -> None:
    assert not of_kind(Kind.USER_CORRECTION, user("No, that's wrong: make it so that 1 + 1 = 2."), agent("Done."))


def test_a_refused_call_is_a_correction() -> None:
    refused = call("Bash", {"command": "rm -r x"}, "no", error=True, disposition=Disposition.REJECTED)
    (found,) = of_kind(Kind.USER_CORRECTION, user("clean up"), refused)
    assert found.quote == "refused: Bash"


def test_an_interrupt_with_new_words_is_a_correction() -> None:
    stop = user("[Request interrupted by user]", origin=Origin.INTERRUPT)
    assert of_kind(Kind.USER_CORRECTION, user("go"), FIX, stop, user("don't touch that, only the other file please"))
    assert not of_kind(Kind.USER_CORRECTION, user("go"), FIX, stop, user("continue"))
    assert not of_kind(Kind.USER_CORRECTION, user("go"), FIX, stop, user("work on the other file please"))


def test_who_stops_their_own_words_corrects_nobody() -> None:
    stop = user("[Request interrupted by user]", origin=Origin.INTERRUPT)
    typed = (user("go"), FIX, user("/them"), stop, user("that's wrong in the theme, look at it"))
    assert not of_kind(Kind.USER_CORRECTION, *typed)


@pytest.mark.parametrize(
    "words",
    [
        "i mean specific to content not policy",
        "also, you marked 950 for deletion but that's actually a useful feature",
        "i thought we no longer use repeat we just use runs",
    ],
)
def test_a_mild_correction_is_one(words: str) -> None:
    assert of_kind(Kind.USER_CORRECTION, user("go"), FIX, agent("Done."), user(words))


def test_the_words_on_a_refusal_are_quoted_once() -> None:
    refused = call("Bash", {"command": "gh pr create"}, "no", error=True, disposition=Disposition.REJECTED)
    stop = user("[Request interrupted by user for tool use]", origin=Origin.INTERRUPT)
    (found,) = of_kind(Kind.USER_CORRECTION, user("go"), refused, stop, user("don't create a pr, just a commit"))
    assert found.quote == "don't create a pr, just a commit"
    (found,) = of_kind(Kind.USER_CORRECTION, user("go"), refused, user("put it on the branch next"))
    assert found.quote == "put it on the branch next"


@pytest.mark.parametrize("words", ["which branch is this on?", "Can you approve every edit by yourself from here on?"])
def test_a_question_on_a_refusal_is_not_shown_as_a_correction(words: str) -> None:
    refused = call("Bash", {"command": "gh pr create"}, "no", error=True, disposition=Disposition.REJECTED)
    (found,) = of_kind(Kind.USER_CORRECTION, user("go"), refused, user(words))
    assert (found.quote, found.confidence < SHOWN) == (words, True)
    (found,) = of_kind(Kind.USER_CORRECTION, user("go"), refused, user("can you use the branch next instead?"))
    assert found.confidence >= SHOWN


def test_a_refusal_that_is_taken_back_and_a_plan_that_is_not_liked_are_not_shown() -> None:
    refused = call("Bash", {"command": "git commit"}, "no", error=True, disposition=Disposition.REJECTED)
    plan = call("ExitPlanMode", {"plan": "…"}, "no", error=True, disposition=Disposition.REJECTED)
    for turns in ((refused, user("continue")), (plan, user("make it shorter"))):
        assert all(signal.confidence < SHOWN for signal in of_kind(Kind.USER_CORRECTION, user("go"), *turns))


def test_a_long_order_after_an_interrupt_is_no_correction_by_one_word_in_it() -> None:
    stop = user("[Request interrupted by user]", origin=Origin.INTERRUPT)
    order = user("Take the list above and go through it one by one. " * 5 + "Only the first three are for today.")
    assert not of_kind(Kind.USER_CORRECTION, user("go"), FIX, stop, order)


def test_what_the_program_inserted_is_not_the_persons_word() -> None:
    inserted = user("No, you forgot to call the tool.", origin=Origin.INSERTED)
    assert not of_kind(Kind.USER_CORRECTION, user("go"), agent("Done."), inserted)


# Lost threads


@pytest.mark.parametrize(
    "turns",
    [
        (agent("What is your order number?"), user("I already told you: 4711.")),
        (agent("I've lost track of what we were doing."),),
    ],
)
def test_what_was_said_before_is_a_lost_thread(turns: tuple[Turn, ...]) -> None:
    (found,) = of_kind(Kind.CONTEXT_LOSS, user("order 4711, file in src"), *turns)
    assert found.confidence >= SHOWN


def test_what_need_be_no_reproach_is_not_shown() -> None:
    (found,) = of_kind(Kind.CONTEXT_LOSS, user("look"), agent("Which file?"), user("As I said, the one in src."))
    assert found.confidence < SHOWN


@pytest.mark.parametrize(
    "turns",
    [
        (agent("What is your order number?"), user("4711")),
        (agent("The page says that the session lost track of its `context`."), user("fix that")),
        (call("Read", {"file_path": "a.md"}, "As I said, I already told you."), agent("Read.")),
    ],
    ids=["a plain answer", "code about it", "a file about it"],
)
def test_an_ordinary_answer_is_no_lost_thread(turns: tuple[Turn, ...]) -> None:
    assert not of_kind(Kind.CONTEXT_LOSS, user("help me"), *turns)


# Surrender

STUCK = call("search", {"q": "x"}, "Error: no index", error=True)


@pytest.mark.parametrize(
    "turns",
    [
        (RED, agent("I was not able to fix the last test and will stop here.")),
        (STUCK, STUCK, agent("Unfortunately I could not find the file.")),
        (STUCK, agent("Ich gebe auf.")),
        (STUCK, agent("")),
    ],
)
def test_ending_without_a_result_is_giving_up(turns: tuple[Turn, ...]) -> None:
    assert of_kind(Kind.GAVE_UP, user("do it"), *turns)


@pytest.mark.parametrize(
    "turns",
    [
        (call("search", {"q": "x"}, "nothing relevant"), agent("There is no such user.")),
        (STUCK, call("search", {"q": "y"}, "found"), agent("Done: I found it under another name.")),
        (STUCK, agent("I could not find it, so let me try elsewhere."), user("ok"), GREEN, agent("Found.")),
        (GREEN, agent("The old test could not fail: `give up` was never reached.")),
        (FIX, RED, agent("Review done. I found no bugs. I could not run the tests here.")),
        (STUCK, agent("There are no issues in the change.")),
    ],
    ids=["an honest no", "recovered", "went on", "talk about code", "no bugs found", "no issues"],
)
def test_going_on_is_not_giving_up(turns: tuple[Turn, ...]) -> None:
    assert not of_kind(Kind.GAVE_UP, user("do it"), *turns)
