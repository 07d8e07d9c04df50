"""whet chat on a real pseudo-terminal: what a person sees, types and interrupts."""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent.loopback import Loopback, Play, playing
from agent.prefixes import extends
from cli.chat.answers import calls, settings_for, whet_at, words
from cli.chat.seat import ALT_ENTER, COLUMNS, CTRL_C, CTRL_D, Seat, seated
from command import COMMAND
from patience import PATIENCE_SECONDS
from whet.changes.apply import apply
from whet.ledger.entries import Actor
from whet.ledger.patches import Action, Form, Patch
from whet.sessions.trust import Trust
from whet.store.home import Home
from whet.store.ledger import Ledger
from whet.store.opening import opened

UP = "\x1b[A"
WAITING = re.compile(r"\r\x1b\[K[^\r\n]*(?=\r\x1b\[K)")  # the line at the bottom, which is wiped


class Room:
    """A home, a folder to work in, and chats in it."""

    def __init__(self, folder: Path, server: Loopback) -> None:
        self.home = folder / "home"
        self.folder = folder / "work"
        self.folder.mkdir()
        self.server = server
        settings_for(self.home, server.base_url)

    @contextmanager
    def chat(self, *options: str, **variables: str) -> Iterator[Seat]:
        kept = {name: value for name, value in os.environ.items() if name.startswith(("PATH", "COV"))}
        environment = {**kept, "HOME": str(self.folder.parent), "WHET_HOME": str(self.home), **variables}
        with seated([str(COMMAND), "chat", *options], environment=environment, folder=self.folder) as seat:
            yield seat

    def said(self, number: int) -> list[str]:
        """The words of the person in a request."""
        messages = self.server.requests[number].json["messages"]
        return [str(message["content"]) for message in messages if message["role"] == "user"]


@contextmanager
def room(folder: Path, *plays: Play) -> Iterator[Room]:
    with playing(*plays) as server:
        yield Room(folder, server)


def test_an_answer_streams_and_calls_are_shown_in_one_line(tmp_path: Path) -> None:
    plays = (calls("terminal", command="echo leaf; exit 2"), words("# Leaves\n\nThere is **one** leaf."))
    with room(tmp_path, *plays) as place, place.chat() as seat:
        seat.expect("mine:test-model").expect("›").say("count the leaves")
        seat.expect("✗ terminal echo leaf; exit 2 · exit 2: leaf").expect("Leaves").expect("There is one leaf.")
        seat.expect("2,000 in (90 % cached), 100 out").expect("›").type(CTRL_D)
        assert seat.leave() == 0
        assert "\x1b[1mone\x1b[0m" in seat.raw
        assert "whet chat --resume" in seat.text
        assert extends(place.server.requests[0].body, place.server.requests[1].body)


def test_nothing_that_has_scrolled_away_is_painted_again(tmp_path: Path) -> None:
    long = "\n\n".join(f"Paragraph {number} of many." for number in range(120))
    with room(tmp_path, words(long)) as place, place.chat() as seat:
        seat.expect("›").say("go on").expect("Paragraph 119 of many.").expect("›").type(CTRL_D)
        assert seat.leave() == 0
        answer = WAITING.sub("", seat.raw)
        assert all(answer.count(f"Paragraph {number} of") == 1 for number in range(120))


def test_one_interrupt_stops_the_turn_and_the_conversation_goes_on(tmp_path: Path) -> None:
    with room(tmp_path, words("I begin with ", ending="stall"), words("Gladly.")) as place, place.chat() as seat:
        seat.expect("›").say("count to a million").expect("I begin with")
        assert place.server.stalled.wait(PATIENCE_SECONDS)
        seat.type(CTRL_C).expect("Stopped.").expect("›").say("say something else").expect("Gladly.")
        seat.expect("›").type(CTRL_D)
        assert seat.leave() == 0
        assert place.said(1)[0] == "count to a million"
        assert place.said(1)[-1] == "say something else"


def test_two_interrupts_at_the_prompt_leave(tmp_path: Path) -> None:
    with room(tmp_path, words("Hello.")) as place, place.chat() as seat:
        seat.expect("›").type("half a thought").expect("half a thought").type(CTRL_C)
        seat.say("hi").expect("Hello.").expect("›").type(CTRL_C).expect("press Ctrl-C again").expect("›").type(CTRL_C)
        assert seat.leave() == 130
        assert place.said(0) == ["hi"]
        assert "Traceback" not in seat.text


def test_several_lines_are_one_turn_and_are_remembered(tmp_path: Path) -> None:
    with room(tmp_path, words("First."), words("Second."), words("Third.")) as place:
        with place.chat() as seat:
            seat.expect("›").type("one").type(ALT_ENTER).say("two").expect("First.")
            seat.expect("›").say("three\\").say("four").expect("Second.").expect("›").type(CTRL_D)
            assert seat.leave() == 0
        with place.chat() as seat:
            seat.expect("›").type(UP).expect("three").say("").expect("Third.").expect("›").type(CTRL_D)
            assert seat.leave() == 0
        assert [place.said(number)[-1] for number in range(3)] == ["one\ntwo", "three\nfour", "three\nfour"]
        assert stat.S_IMODE((place.home / "chat_history").stat().st_mode) == 0o600


def test_commands_answer_without_a_request(tmp_path: Path) -> None:
    with room(tmp_path, words("Hello."), words("Again.")) as place, place.chat() as seat:
        seat.expect("›").say("/help").expect("/undo").expect("›").say("/hlep").expect("Did you mean /help?")
        seat.expect("›").say("/learned").expect("nothing yet").expect("›").say("/undo").expect(
            "nothing that can be undone"
        )
        seat.expect("›").say("/memory").expect("No notes yet").expect("›").say("/skills").expect("No skills yet")
        seat.expect("›").say("/warm").expect("No templates yet").expect("›").say("/cost").expect("0 model calls")
        seat.expect("›").say("/etc/hosts?").expect("Hello.")
        seat.expect("›").say("/model nowhere:x").expect("does not name a known provider").expect("›")
        seat.say("/model mine:other").expect("Now talking to mine:other.").expect("›").say("hello")
        seat.expect("Again.").expect("›").say("/quit")
        assert seat.leave() == 0
        assert [request.json["model"] for request in place.server.requests] == ["test-model", "other"]


def test_undo_takes_back_what_whet_learned_newest_first_and_not_what_the_person_wrote(tmp_path: Path) -> None:
    with room(tmp_path, words("unused")) as place:
        home = Home(place.home)
        with opened(home) as database:
            for now, name, actor in (
                (1.0, "first", Actor.POLICY),
                (2.0, "yours", Actor.PERSON),
                (3.0, "last", Actor.POLICY),
            ):
                patch = Patch(Form.RULE, Action.ADD, name, f"Do what is {name}.", trust=Trust.USER)
                apply(home, database, patch, actor=actor, now=now)
        with place.chat() as seat:
            seat.expect("›").say("/learned").expect("rule last").expect("rule first").expect("To undo the newest")
            seat.expect("›").say("/undo").expect("Undone: rule last").expect("›").say("/undo").expect(
                "Undone: rule first"
            )
            seat.expect("›").say("/undo").expect("nothing that can be undone").expect("›").type(CTRL_D)
            assert seat.leave() == 0
        with opened(home) as database:
            assert [rule.name for rule in Ledger(database).state().rules] == ["yours"]


def test_a_conversation_that_was_killed_goes_on(tmp_path: Path) -> None:
    with room(tmp_path, words("Red."), words("I was ab", ending="stall"), words("Blue.")) as place:
        with place.chat() as seat:
            seat.expect("›").say("a colour?").expect("Red.").expect("›").say("another?").expect("I was")
            assert place.server.stalled.wait(PATIENCE_SECONDS)
            seat.kill()
        with place.chat("--continue") as seat:
            seat.expect("› a colour?").expect("Red.").expect("› another?").expect("›").say("well?").expect("Blue.")
            seat.expect("›").type(CTRL_D)
            assert seat.leave() == 0
        assert place.said(2) == ["a colour?", "another?", "well?"]
        assert extends(place.server.requests[1].body, place.server.requests[2].body)


@pytest.mark.parametrize(("answer", "mark"), [("y", "✓ terminal"), ("n", "✗ terminal"), (CTRL_C, "✗ terminal")])
def test_a_dangerous_command_is_asked_about(tmp_path: Path, answer: str, mark: str) -> None:
    plays = (calls("terminal", command="true || sudo ls"), words("As you wish."))
    with room(tmp_path, *plays) as place, place.chat() as seat:
        seat.expect("›").say("list").expect("runs as another account").expect("Allow it?")
        if answer == CTRL_C:
            seat.type(answer).expect(mark).expect("Stopped.")
        else:
            seat.say(answer).expect(mark).expect("As you wish.")
        seat.expect("›").type(CTRL_D)
        assert seat.leave() == 0


def test_a_command_hides_nothing_and_forges_no_line_when_it_is_asked_about(tmp_path: Path) -> None:
    forged = "true || sudo ls #".ljust(COLUMNS) + "Allow it? [y/N] y\u200b\u202e"
    with room(tmp_path, calls("terminal", command=forged), words("As you wish.")) as place, place.chat() as seat:
        seat.expect("›").say("list").expect("│ true || sudo ls").expect("↪ ").expect("y<U+200B><U+202E>")
        assert "\nAllow it? [y/N] y" not in seat.text
        seat.expect("Allow it?").say("n").expect("As you wish.").expect("›").type(CTRL_D)
        assert seat.leave() == 0


def test_a_failed_provider_leaves_the_conversation_open(tmp_path: Path) -> None:
    failing = Play((b'{"error": {"message": "out of credit"}}',), 402, {"Content-Type": "application/json"})
    with room(tmp_path, failing, words("Back.")) as place, place.chat() as seat:
        seat.expect("›").say("hello").expect("out of credit").expect("›").say("again").expect("Back.")
        seat.expect("›").type(CTRL_D)
        assert seat.leave() == 0
        assert "Traceback" not in seat.text


def test_a_first_run_says_how_to_choose_a_model(tmp_path: Path) -> None:
    with room(tmp_path, words("unused")) as place:
        (place.home / "settings.toml").unlink()
        with place.chat() as seat:
            seat.expect("No model is set").expect("whet models pull").expect("whet config model openai:")
            assert seat.leave() == 1


def test_without_a_terminal_the_way_of_programs_is_named(tmp_path: Path, person: Path) -> None:
    with playing(words("unused")) as server:
        done = whet_at(tmp_path / "home", person, server.base_url)("chat", stdin="first\n")
    assert done.code == 1
    assert "whet run --continue" in done.err
    assert not server.requests
