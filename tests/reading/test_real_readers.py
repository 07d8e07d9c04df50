"""The real programs of other agents read without tools, against a model on loopback, and leave nothing to import."""

import json
import os
from pathlib import Path
from threading import Event

import pytest

from lengths import long
from proving.agents import program
from proving.obedient import Mind, Obedient, obedient
from whet.agents.executor import MARK
from whet.agents.formats.source import Skipped
from whet.agents.registry import known
from whet.intake.reading import read_transcripts
from whet.own.runs.settings import AgentSettings, Settings
from whet.reading.readers import AgentReader, ReaderQuestion

ANSWER = '{"op": "nothing"}'
QUESTION = ReaderQuestion("You read recorded sessions.", "The sessions, and $(touch /tmp/no).\n" + "A line.\n" * 200)
NAMES = ("claude", "codex", "opencode", "gemini")
MODELS = {"claude": "claude-sonnet-4-5", "codex": "m", "opencode": "loop/m", "gemini": "gemini-2.5-pro"}
SAMPLED = [NAMES[0], *(pytest.param(name, marks=long) for name in NAMES[1:])]


def own_home(name: str, home: Path, server: Obedient) -> dict[str, str]:
    """A person's own folder, as the program knows it, with a login that leads to loopback."""
    variables = {"HOME": str(home), "PATH": os.environ["PATH"]}
    if name == "claude":
        (home / ".claude").mkdir(parents=True)
        hook = {"type": "command", "command": f"touch {home / 'hooked'}"}
        (home / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"SessionStart": [{"hooks": [hook]}]}}))
        variables |= {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "loopback", "CLAUDECODE": "1"}
    if name == "codex":
        (home / ".codex").mkdir(parents=True)
        notify = f'["touch", "{home / "hooked"}"]'
        (home / ".codex" / "config.toml").write_text(
            f'model = "m"\nmodel_provider = "loop"\nnotify = {notify}\n[model_providers.loop]\nname = "loop"\n'
            f'base_url = "{server.url}/v1"\nenv_key = "OPENAI_API_KEY"\nwire_api = "responses"\n'
            f'[mcp_servers.own]\ncommand = "touch"\nargs = ["{home / "hooked"}"]\n'
        )
        variables["OPENAI_API_KEY"] = "loopback"
    if name == "opencode":
        (home / ".config" / "opencode").mkdir(parents=True)
        options = {"baseURL": f"{server.url}/v1"}
        provider = {"loop": {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"m": {}}}}
        (home / ".config" / "opencode" / "opencode.json").write_text(json.dumps({"provider": provider}))
        (home / ".local" / "share" / "opencode").mkdir(parents=True)
        login = {"loop": {"type": "api", "key": "k-of-the-person"}}
        (home / ".local" / "share" / "opencode" / "auth.json").write_text(json.dumps(login))
    if name == "gemini":
        (home / ".gemini").mkdir(parents=True)
        (home / ".gemini" / "settings.json").write_text('{"security": {"auth": {"selectedType": "gemini-api-key"}}}')
        variables |= {"GEMINI_API_KEY": "loopback", "GOOGLE_GEMINI_BASE_URL": server.url}
    return variables


@pytest.mark.parametrize("name", SAMPLED)
def test_a_program_answers_without_tools_and_leaves_no_session(name: str, tmp_path: Path) -> None:
    found, agent, home = program(name), known(name), tmp_path / "person"
    assert agent is not None
    with obedient(Mind()) as server:
        server.says = lambda _: ANSWER
        settings = Settings(agents=(AgentSettings(name, model=MODELS[name]),))
        reader = AgentReader(agent, found, settings, own_home(name, home, server))
        answer = reader.ask(QUESTION, interrupt=Event())
        asked = [(path, body) for path, body in server.asked if not path.endswith("count_tokens")]
    assert (answer.text.strip(), answer.why) == (ANSWER, "")
    assert answer.usage.input > 0
    assert len(asked) == 1
    sent = json.dumps(asked[0][1])
    assert QUESTION.system in sent
    assert json.dumps(QUESTION.order)[1:-1] in sent
    tools = [tool for tool in asked[0][1].get("tools") or [] if tool.get("functionDeclarations", True)]
    assert not tools or [tool.get("name") for tool in tools] == ["request_user_input"]  # Codex's, in plan mode only
    assert not (home / "hooked").exists()
    left = [path for path in home.rglob("*") if path.is_file() and MARK.encode() in path.read_bytes()]
    assert all(isinstance(item, Skipped) for path in left for item in read_transcripts(path))
    assert bool(left) == (name == "gemini")  # the others keep no record at all


@long
@pytest.mark.parametrize("name", NAMES)
def test_a_refused_login_is_said_in_the_words_of_the_program(name: str, tmp_path: Path) -> None:
    found, agent, home = program(name), known(name), tmp_path / "person"
    assert agent is not None
    with obedient(Mind()) as server:
        server.refuse_with = 401
        settings = Settings(agents=(AgentSettings(name, model=MODELS[name]),))
        answer = AgentReader(agent, found, settings, own_home(name, home, server)).ask(QUESTION, interrupt=Event())
    assert answer.text == ""
    assert answer.why


def test_a_reader_that_is_stopped_says_so(tmp_path: Path) -> None:
    found, agent = program("claude"), known("claude")
    assert agent is not None
    stop = Event()
    stop.set()
    with obedient(Mind()) as server:
        reader = AgentReader(agent, found, Settings(), own_home("claude", tmp_path / "person", server))
        assert reader.ask(QUESTION, interrupt=stop).why == "it was stopped"
