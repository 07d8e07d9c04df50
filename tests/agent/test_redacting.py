"""Secrets do not reach the model, stay usable in tools of this machine, and are never written as placeholders."""

import json
from threading import Event

from agent.prefixes import Watch
from agent.scenes import Notebook, clock, run_of, user
from replies import asks, says
from whet.agent.loop import execute
from whet.agent.protocols import Provider, Reply, StopReason
from whet.agent.providers.choosing import Call, Scripted
from whet.agent.redacting import RedactingProvider, RedactingToolbox, Secrets, without_secrets
from whet.own.runs.run import Ended, Run
from whet.sessions.transcripts import Message, Role, Text, Thought, ToolCall
from whet.sessions.trust import Trust

KEY = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
PLACEHOLDER = "[redacted:github-token:1]"
TOOLS = ("read_file", "write_file", "terminal", "memory", "mcp__wiki__write_file")


def conversation(run: Run, provider: Provider, box: Notebook, secrets: Secrets) -> list[Message]:
    stream = execute(
        without_secrets(run, secrets),
        RedactingProvider(provider, secrets),
        RedactingToolbox(box, secrets),
        interrupt=Event(),
        now=clock(),
    )
    items = list(stream)
    assert isinstance(items[-1], Ended)
    return [item for item in items if isinstance(item, Message)]


def test_a_secret_in_a_file_is_shown_as_a_placeholder_and_written_back_as_it_was(watched: Watch) -> None:
    box = Notebook(during=lambda call: f"token = {KEY}" if call.name == "read_file" else "written")
    text = json.dumps({"path": "b", "content": f"# copy\ntoken = {PLACEHOLDER}\n"})
    script = Scripted([asks(Call("read_file", '{"path": "a"}')), asks(Call("write_file", text)), says("Copied.")])
    provider = watched(script)
    secrets = Secrets()
    run = run_of("Copy a to b.", tools=TOOLS)
    messages = conversation(run, provider, box, secrets)
    assert KEY.encode() not in b"".join(provider.requests[run.id])
    assert KEY not in repr(messages)
    assert json.loads(box.done[1].arguments)["content"] == f"# copy\ntoken = {KEY}\n"


def test_a_secret_that_the_person_gives_can_be_used_and_is_not_sent(watched: Watch) -> None:
    box = Notebook()
    secrets = Secrets()
    provider = watched(Scripted([asks(Call("terminal", f'{{"command": "login {PLACEHOLDER}"}}')), says("Done.")]))
    run = without_secrets(run_of(f"Log in with {KEY}", tools=TOOLS), secrets)
    assert PLACEHOLDER in run.messages[0].text
    conversation(run, provider, box, secrets)
    assert KEY.encode() not in b"".join(provider.requests[run.id])
    assert json.loads(box.done[0].arguments) == {"command": f"login {KEY}"}


def test_notes_and_tools_elsewhere_get_the_placeholder() -> None:
    box = Notebook()
    run = run_of(f"Keep {KEY}", tools=TOOLS)
    note = f'{{"text": "{PLACEHOLDER}"}}'
    script = Scripted([asks(Call("memory", note), Call("mcp__wiki__write_file", note)), says("No.")])
    conversation(run, script, box, Secrets())
    assert [call.arguments for call in box.done] == [note, note]


def test_a_placeholder_whose_secret_is_gone_is_never_written_into_a_file() -> None:
    box = Notebook()
    run = run_of("It said " + PLACEHOLDER, tools=TOOLS)  # as after a resumption
    script = Scripted([asks(Call("write_file", f'{{"content": "{PLACEHOLDER}"}}')), says("No.")])
    messages = conversation(run, script, box, Secrets())
    assert box.done == []
    assert "not held any more" in messages[1].results[0].text


def test_a_new_secret_after_a_resumption_gets_a_number_of_its_own() -> None:
    box = Notebook(during=lambda _: f"token = {KEY}")
    run = run_of("It said " + PLACEHOLDER, tools=TOOLS)
    script = Scripted([asks(Call("read_file")), says("So.")])
    messages = conversation(run, script, box, Secrets())
    assert messages[1].results[0].text == "token = [redacted:github-token:2]"


def test_what_only_looks_like_a_placeholder_in_a_file_is_left_alone() -> None:
    box = Notebook(during=lambda _: "see [redacted:password:7]")
    text = '{"content": "see [redacted:password:7]"}'
    script = Scripted([asks(Call("read_file")), asks(Call("write_file", text)), says("Done.")])
    conversation(run_of(tools=TOOLS), script, box, Secrets())
    assert box.done[1].arguments == text


def test_a_secret_of_several_lines_is_not_put_back_wrongly() -> None:
    pem = (
        "-----BEGIN PRIVATE KEY-----\n"
        + "\n".join(["MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"] * 4)
        + "\n-----END PRIVATE KEY-----"
    )
    box = Notebook(during=lambda _: pem)

    def copy(run: Run) -> Reply:
        shown = run.messages[-1].results[0].text
        return asks(Call("write_file", json.dumps({"content": shown})))

    messages = conversation(
        run_of(tools=TOOLS), Scripted([asks(Call("read_file")), copy, says("Well.")]), box, Secrets()
    )
    assert "MIIE" not in repr(messages)
    assert all(json.loads(call.arguments)["content"] == pem for call in box.done if call.name == "write_file")


def test_a_known_value_of_the_environment_is_a_secret() -> None:
    secrets = Secrets(("correct-horse-battery",))
    clean = secrets.hidden(user("the answer is correct-horse-battery"))
    assert clean.text == "the answer is [redacted:environment:1]"


def test_a_thought_that_held_a_secret_loses_its_signature() -> None:
    thought = Message(role=Role.AGENT, parts=(Thought(f"use {KEY}", "sig"), Text("Hm.")), trust=Trust.AGENT)
    clear = Message(role=Role.AGENT, parts=(Thought("use it", "sig"), Text("Hm.")), trust=Trust.AGENT)
    secrets = Secrets()
    assert secrets.hidden(thought).parts[0] == Thought(f"use {PLACEHOLDER}")
    assert secrets.hidden(clear) is clear


def test_calls_of_the_model_are_kept_without_the_secrets_that_it_made_up_and_carried_out_with_them() -> None:
    box = Notebook()
    asked = Message(
        role=Role.AGENT, parts=(ToolCall("c", "write_file", f'{{"content": "key={KEY}"}}'),), trust=Trust.AGENT
    )
    messages = conversation(
        run_of(tools=TOOLS), Scripted([Reply(asked, StopReason.CALLS), says("Done.")]), box, Secrets()
    )
    assert KEY not in repr(messages)
    assert json.loads(box.done[0].arguments) == {"content": f"key={KEY}"}
