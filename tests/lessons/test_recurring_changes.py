"""What changed between a failure and the success that followed, over the sessions of a project."""

from collections.abc import Callable, Sequence

import pytest
from msgspec.structs import replace

from conversations import Turn, agent, call, conversation, shell, user
from quickness import is_linear
from whet.lessons.changed_calls import CallCourse, changes_of
from whet.lessons.finding import holds_for_good, said_pieces
from whet.lessons.record import LessonSource
from whet.lessons.recurring_changes import recurring_changes
from whet.lessons.taught_rules import rules_taught, sentence_of
from whet.sessions.transcripts import Disposition, Transcript
from whet.trouble.outcomes.view import gather

PARTS = ("cart", "bill", "mail", "auth")
Story = Callable[[str], Sequence[Turn]]


def fails(command: str, error: str) -> Turn:
    return shell(command, error, error=True)


def edit(path: str, text: str) -> Turn:
    return call("Edit", {"file_path": f"/srv/shop/{path}", "old_string": text, "new_string": f"{text}!"}, "updated")


def told(story: Story, parts: Sequence[str] = PARTS) -> list[Transcript]:
    """A session for each part: a task, some looking around, and the story."""
    return [
        replace(
            conversation(
                user(f"Work on {part}"), shell("ls", "src tests"), *story(part), agent("Done."), native_id=part
            ),
            folder="/srv/shop",
        )
        for part in parts
    ]


def learned(sessions: Sequence[Transcript]) -> list[str]:
    return [
        sentence_of(each)
        for each in recurring_changes({each.id: changes_of(CallCourse(gather(each))) for each in sessions})
    ]


FOLDER = "Run `npm run …` in `backend`; elsewhere it fails (“Missing script”)."
VARIABLE = "Set `TZ=UTC` for `go run …`; without it it fails (“clock skew”)."


@pytest.mark.parametrize(
    ("failed", "answer", "then", "rule"),
    [
        (
            "pytest tests/{}.py", "ModuleNotFoundError: shop", "make test PART={}",
            "`pytest tests/….py` fails here (“ModuleNotFoundError: shop”); run `make test PART=…` instead.",
        ),
        (
            "npm test {}", "connect ECONNREFUSED", "docker compose up -d db|npm test {}",
            "Before `npm test …` run `docker compose up -d db`; without that it fails (“connect ECONNREFUSED”).",
        ),
        ("npm run {}", "Missing script", "cd backend && npm run {}", FOLDER),
        ("npm run {}", "Missing script", "(cd /srv/shop/backend && npm run {})", FOLDER),
        ("go run {}", "clock skew", "TZ=UTC go run {}", VARIABLE),
        ("go run {}", "clock skew", "export TZ=UTC && go run {}", VARIABLE),
        ("go run {}", "clock skew", "env TZ=UTC go run {}", VARIABLE),
        ("go run {}", "clock skew", "$env:TZ='UTC'; go run {}", VARIABLE),
        (  # what only looks, with a program that is not installed
            "rg -n {} src", "Exit code 127\nbash: rg: command not found", "git grep -n {}",
            "`rg -n … src` fails here (“bash: rg: command not found”); run `git grep -n …` instead.",
        ),
        # What only tells is no step.
        ("tofu plan {}", "Rate exceeded, try later", "git status --short|tofu plan {}", ""),
        ("tofu plan {}", "Rate exceeded, try later", "git diff --stat|tofu plan {}", ""),
        ("tofu plan {}", "Rate exceeded, try later", "git --no-pager log -3|tofu plan {}", ""),
    ],
)  # fmt: skip
def test_what_was_different_when_it_worked_is_the_lesson(failed: str, answer: str, then: str, rule: str) -> None:
    def story(part: str) -> Sequence[Turn]:
        worked = (shell(command.format(part), f"ok {part}") for command in then.split("|"))
        return (fails(failed.format(part), answer), *worked)

    assert learned(told(story)) == ([rule] if rule else [])


@pytest.mark.parametrize("part", ["{}", "part{}"])
def test_what_the_error_itself_names_comes_before_the_work_that_was_to_be_done(part: str) -> None:
    def story(named: str) -> Sequence[Turn]:
        one = part.format(named)
        return (
            fails(f"python3 -m unittest test_{one}", "Use: ./dev test MODULE"),
            fails(f"./dev test {one}", f"AssertionError: {one}.txt must say {named}word"),
            shell(f"echo {named}word >{one}.txt", ""),
            shell(f"./dev test {one}", "1 passed"),
        )

    assert learned(told(story, PARTS if part == "{}" else "01234567"))[0] == (
        "`python3 -m unittest …` fails here (“Use: ./dev test MODULE”); run `./dev test …` instead."
    )


def test_a_word_in_different_commands_of_a_program_is_one_lesson() -> None:
    verbs = {"cart": "rebase origin/{}", "bill": "diff {}...HEAD", "mail": "pull --rebase origin {}"}

    def story(part: str) -> Sequence[Turn]:
        wrong, right = (f"git {verbs[part].format(branch)}" for branch in ("main", "trunk"))
        return (fails(wrong, "fatal: unknown revision main"), shell(right, "ok"))

    [text] = learned(told(story, tuple(verbs)))
    assert text.startswith("With `git` use `trunk`, not `main`: ")


def test_an_argument_of_a_tool_is_named() -> None:
    def story(part: str) -> Sequence[Turn]:
        made, tool = {"title": part}, "mcp__tracker__create"
        return (call(tool, made, "team: unknown", error=True), call(tool, {**made, "team": "CORE"}, "created"))

    [text] = learned(told(story))
    assert text.endswith("fails here (“team: unknown”); run `mcp__tracker__create title=… team=CORE` instead.")


def test_what_a_person_let_run_in_the_place_of_what_they_refused_is_told_with_their_words() -> None:
    def story(part: str) -> Sequence[Turn]:
        text = f"The user doesn't want to proceed with this tool use. the user said:\nnot by hand, {part}"
        refused = call("Bash", {"command": f"vi db/{part}.sql"}, text, error=True, disposition=Disposition.REJECTED)
        return (refused, shell(f"bin/migrate new {part}", "made"))

    [text] = learned(told(story))
    assert text.startswith("Run `bin/migrate new …`, not `vi db/….sql`, which was refused: “not by hand, cart”")


def test_red_tests_that_edits_turn_green_teach_nothing() -> None:
    def story(part: str) -> Sequence[Turn]:
        tests = f"pytest tests/{part}.py"
        return (fails(tests, f"assert {part} == 1"), edit(f"src/{part}.py", part), shell(tests, "3 passed"))

    assert learned(told(story)) == []


def test_flaky_calls_typos_protocol_and_searches_in_vain_teach_nothing() -> None:
    def story(part: str) -> Sequence[Turn]:
        unread = call("Edit", {"file_path": f"/srv/shop/{part}.py"}, "File has not been read yet.", error=True)
        return (
            fails(f"curl api/{part}", "timed out"),
            shell(f"curl api/{part}", "ok"),
            fails(f"cat src/{part[::-1]}.py", "No such file"),
            shell(f"cat src/{part}.py", "code"),
            unread,
            call("Read", {"file_path": f"/srv/shop/{part}.py"}, "code"),
            edit(f"{part}.py", part),
            call("Grep", {"pattern": part, "path": "lib"}, "No matches found"),
            call("Grep", {"pattern": part, "path": "src"}, "src/a.py"),
        )

    assert learned(told(story)) == []


def test_what_was_seen_once_or_works_mostly_is_no_lesson() -> None:
    def story(part: str) -> Sequence[Turn]:
        return (fails(f"make {part}", "no rule"), shell(f"just {part}", "ok"))

    def works(_: str) -> Sequence[Turn]:
        return tuple(shell(f"make {part}", f"made {part}") for part in PARTS)

    assert learned(told(story, PARTS[:1])) == []
    assert len(learned(told(story, PARTS[:3]))) == 1
    assert learned([*told(story, PARTS[:3]), *told(works, [f"{part}-again" for part in PARTS])]) == []


def test_a_request_in_other_words_is_quoted_and_counted() -> None:
    words = ("now the changelog", "you forgot the changelog", "changelog entry please")

    def story(part: str) -> Sequence[Turn]:
        asked = words[PARTS.index(part)]
        return (edit(f"src/{part}.py", part), agent("Done."), user(asked), edit("CHANGELOG.md", part))

    sessions = told(story, PARTS[:3])
    said = [piece for each in sessions for piece in said_pieces(gather(each))]
    [rule] = rules_taught("shop", {}, said)
    assert rule.rule == (
        "Expect to be asked for this, and offer it where it fits: “now the changelog”; “you forgot the changelog”;"
        " “changelog entry please” (`CHANGELOG.md`)."
    )
    assert (rule.evidence.source, rule.evidence.sessions) == (LessonSource.REQUEST, 3)


def test_thanks_and_different_wishes_are_no_request() -> None:
    def story(part: str) -> Sequence[Turn]:
        return (agent("Done."), user("thanks, looks good"), agent("Fine."), user(f"also {part}"), shell("make", "ok"))

    sessions = told(story)
    assert list(rules_taught("shop", {}, [piece for each in sessions for piece in said_pieces(gather(each))])) == []


def test_a_rule_is_written_from_the_oldest_sessions_that_say_it() -> None:
    def story(part: str) -> Sequence[Turn]:
        return (fails(f"docker run {part}", "command not found"), shell(f"podman run {part}", "ok"))

    sessions = told(story)
    [rule] = rules_taught("shop", {each.id: changes_of(CallCourse(gather(each))) for each in sessions}, ())
    assert [proof.session for proof in rule.patch.proofs] == [each.id for each in sessions[:2]]
    assert rule.evidence.sessions == 4
    assert (rule.patch.situation.call, rule.patch.situation.fix) == ("docker run", "podman run")


def test_a_long_session_is_read_in_linear_time() -> None:
    def read(text: str) -> object:
        turns = [turn for word in text.split() for turn in (fails(f"make {word}", "no"), shell(f"just {word}", "ok"))]
        return changes_of(CallCourse(gather(conversation(user("Go"), *turns))))

    assert is_linear(read, "cart bill ", 1_000)


def test_a_word_is_the_lesson_where_different_calls_work_only_with_it() -> None:
    wrong = {"cart": "http://shop.test/cart", "bill": "http://localhost:80/bill", "mail": "http://localhost:9000/mail"}

    def story(part: str) -> Sequence[Turn]:
        url = f"http://localhost:8891/{part}"
        if part == "bill":
            return (fails(f"curl -sS {wrong[part]}", "Connection refused"), call("WebFetch", {"url": url}, "<html>"))
        return (fails(f"curl -sS {wrong[part]}", "Connection refused"), shell(f"wget -q {url}", "<html>"))

    [rule] = learned(told(story, tuple(wrong)))
    assert "8891" in rule
    assert rule.startswith("With `curl` use ")


def test_a_word_that_was_known_before_the_failure_is_no_lesson() -> None:
    def story(part: str) -> Sequence[Turn]:
        url = f"http://localhost:8891/{part}"
        return (
            shell(f"curl {url}", "ok"),
            fails(f"curl http://{part}.test/{part}", "gone"),
            shell(f"wget {url}", "ok"),
        )

    assert not any("use `8891`" in rule for rule in learned(told(story, PARTS[:3])))


def test_what_works_after_the_person_spoke_is_the_way_out_of_what_still_failed() -> None:
    def story(part: str) -> Sequence[Turn]:
        push = fails(f"git push origin {part}:main", "remote: main is closed")
        return (push, shell("make lint", "ok"), user("argo watches next"), shell(f"git push origin {part}:next", "ok"))

    [rule] = learned(told(story))
    assert "`git push origin …:next`" in rule


def test_programs_that_work_nowhere_give_way_to_the_one_that_does() -> None:
    missing = {"cart": "docker build -t cart", "bill": "podman logs bill", "mail": "buildah bud mail"}
    right = {"cart": "nerdctl compose up", "bill": "nerdctl build .", "mail": "nerdctl logs -f x"}

    def story(part: str) -> Sequence[Turn]:
        return (fails(missing[part], "bash: command not found: no such program"), shell(right[part], "fine"))

    [rule] = learned(told(story, tuple(missing)))
    assert "run `nerdctl …` instead" in rule


def test_a_tool_that_reads_does_not_stand_in_for_one_that_writes() -> None:
    def story(part: str) -> Sequence[Turn]:
        wrong = call("mcp__cal__create_event", {"title": part, "calendar_id": "mine"}, "403 forbidden", error=True)
        right = call("mcp__cal__create_event", {"title": f"{part} again", "calendar_id": "ops"}, "created")
        return (wrong, call("mcp__cal__list_calendars", {"limit": "5"}, "mine\nops"), right)

    [rule] = learned(told(story))
    assert "calendar_id=ops" in rule
    assert "list_calendars" not in rule


def test_a_habit_is_no_step_that_helps_several_programs() -> None:
    def story(part: str) -> Sequence[Turn]:
        flaky = {"cart": "dig shop", "bill": "price list", "mail": "dig shop"}.get(part)
        if flaky is None:
            return (shell("tofu fmt -check", ""), shell("tofu plan", "1 to add"))
        return (fails(flaky, "429 from the server"), shell("tofu fmt -check", ""), shell(flaky, "ok"))

    assert learned(told(story, (*PARTS, "news"))) == []


def test_a_variable_is_found_within_the_line_of_another_shell_and_where_the_person_named_it() -> None:
    def story(part: str) -> Sequence[Turn]:
        tests = f"Invoke-Pester tests/{part}.ps1"
        right = {"cart": f"pwsh -c \"$env:MODE = 'local'; {tests}\"", "bill": f'MODE=local pwsh -Command "{tests}"'}
        said = (user("that only goes in the local mode"),) if part == "mail" else ()
        return (
            fails(f'pwsh -c "{tests}"', "KT-71: not allowed"),
            *said,
            shell(right.get(part, "MODE=local pwsh -File build.ps1"), "ok"),
        )

    [rule] = learned(told(story))
    assert rule.startswith("Set `MODE=local` for `Invoke-Pester tests/….ps1`"), rule


def test_what_failed_beside_it_in_one_line_is_no_step() -> None:
    def story(part: str) -> Sequence[Turn]:
        lint = f"npx lint {part}.md"
        return (fails(f"git add {part}.md && {lint}", "MD013 line length"), edit(f"{part}.md", "a"), shell(lint, "ok"))

    assert learned(told(story)) == []


def test_two_spellings_of_one_path_are_slips() -> None:
    def story(part: str) -> Sequence[Turn]:
        wrong = {"cart": "git log ap/models/user.rb", "bill": "git blame app/modes/user.rb"}.get(part)
        return (fails(wrong, "no such path"), shell(f"{wrong.split('ap')[0]}app/models/user.rb", "ok")) if wrong else ()

    assert learned(told(story)) == []


def test_what_most_sessions_do_anyway_is_no_answer_to_a_failure() -> None:
    def saved(part: str) -> Sequence[Turn]:
        return (edit(f"{part}.md", part), shell("git add -A", ""), shell(f"git commit -qm {part}", ""))

    def story(part: str) -> Sequence[Turn]:
        return (fails(f"curl -s https://{part}.example/health", "curl: (28) timed out"), *saved(part))

    assert learned([*told(story), *told(saved, ("stock", "tax", "tills"))]) == []


def test_a_month_is_no_order_for_good() -> None:
    assert not holds_for_good("Vergleich Mai gegen Juni, als Tabelle")
    assert holds_for_good("Nie direkt auf main pushen")
