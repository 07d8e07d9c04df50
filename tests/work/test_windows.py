"""The window of a model that nobody told of: each kind of server tells it in its own way; only one's own is asked."""

from pathlib import Path
from threading import Event
from typing import Any

import pytest
from msgspec.structs import replace

from agent.loopback import playing, tunnelling
from cli.chat.answers import calls, settings_for
from whet.agent.protocols import Chosen
from whet.agent.providers.choosing import scripted_file
from whet.own.jobs.job import Job
from whet.own.runs.models import Model
from whet.own.runs.settings import Endpoint, Settings
from whet.store.home import Home
from whet.work.job_sessions import ask_window, limits_of, with_window
from work.job_scenes import ran

FINISH = calls("finish", status="done", report="Two leaves.")
LLAMA_LIST = {"data": [{"id": "some.gguf", "owned_by": "llamacpp", "meta": {"n_ctx_train": 32_768}}]}
OLLAMA_LIST = {"data": [{"id": "test-model:latest", "owned_by": "library"}, {"id": "other", "owned_by": "library"}]}
STUDIO = {"id": "test-model", "type": "llm", "max_context_length": 131_072}
SERVERS: dict[str, tuple[dict[str, object], int | None]] = {
    "vllm": ({"/v1/models": {"data": [{"id": "test-model", "max_model_len": 40_960}]}}, 40_960),
    "one of many": (
        {"/v1/models": {"data": [{"id": "big", "max_model_len": 9}, {"id": "test-model", "max_model_len": 7}]}},
        7,
    ),
    "llama.cpp": (
        {"/v1/models": LLAMA_LIST, "/props": {"default_generation_settings": {"n_ctx": 8_192}, "total_slots": 1}},
        8_192,
    ),
    "llama.cpp without props": ({"/v1/models": LLAMA_LIST}, None),
    "lm studio": (
        {"/api/v0/models": {"data": [STUDIO | {"state": "loaded", "loaded_context_length": 16_384}]}},
        16_384,
    ),
    "lm studio, not loaded": ({"/api/v0/models": {"data": [STUDIO]}}, None),
    "ollama": (
        {"/v1/models": OLLAMA_LIST, "/api/ps": {"models": [{"name": "test-model:latest", "context_length": 4_096}]}},
        4_096,
    ),
    "ollama, another model": ({"/api/ps": {"models": [{"name": "other", "context_length": 4_096}]}}, None),
    "silent": ({}, None),
    "talking nonsense": (
        {
            "/v1/models": [1, 2],
            "/props": {"default_generation_settings": {"n_ctx": "many"}},
            "/api/ps": {"models": [None]},
            "/api/v0/models": {"data": [{"id": "test-model", "loaded_context_length": -1}]},
        },
        None,
    ),
}


@pytest.mark.parametrize("kind", SERVERS)
def test_each_kind_of_server_tells_its_window(kind: str) -> None:
    pages, found = SERVERS[kind]
    with playing(FINISH, pages=pages) as server:
        endpoint = Endpoint("mine", base_url=server.base_url, key_variable="MY_KEY")
        told = ask_window(endpoint, "test-model", environment={"MY_KEY": "k"}, interrupt=Event())
        looks, requests = server.looks, server.requests
    assert told == found
    assert {look.headers["authorization"] for look in looks} == {"Bearer k"}
    assert requests == []


def test_nobody_at_home_is_no_error() -> None:
    with playing(FINISH) as server:
        endpoint = Endpoint("mine", base_url=server.base_url)
    assert ask_window(endpoint, "x", environment={}, interrupt=Event()) is None


def chosen(tmp_path: Path, window: int | None = None) -> Chosen:
    (tmp_path / "said").write_text('{"text": "x"}')
    return Chosen(scripted_file(tmp_path / "said"), Model("gpt-unheard-of", window=window))


def asked(given: Chosen, settings: Settings, environment: dict[str, str]) -> int | None:
    made = with_window(given, settings, environment=environment, interrupt=Event())
    return made.model.window


def test_a_vendor_is_not_asked(tmp_path: Path) -> None:
    with tunnelling() as proxy:
        environment = {"HTTPS_PROXY": proxy.url, "OPENAI_API_KEY": "k"}
        assert asked(chosen(tmp_path), Settings(model="openai:gpt-unheard-of"), environment) is None
        assert proxy.asked == []
        own = Settings(model="far:x", providers=(Endpoint("far", base_url="https://models.example/v1"),))
        asked(chosen(tmp_path), own, environment)
        assert [each.line for each in proxy.asked] == ["CONNECT models.example:443 HTTP/1.1"], "one's own is, once"


def test_what_is_known_is_not_asked(tmp_path: Path) -> None:
    with playing(FINISH) as server:
        settings = Settings(model="mine:x", providers=(Endpoint("mine", base_url=server.base_url),))
        assert asked(chosen(tmp_path, window=4_096), settings, {}) == 4_096
        assert server.looks == []


def run(tmp_path: Path, served: int, **changes: Any) -> tuple[str, str, list[str]]:
    """A run with a server that takes so many tokens: its error, what the model was told, and what was looked up."""
    place = Home(tmp_path / "home")
    one = Job("leaves", "every 2h", added=1.0, prompt="Count the leaves.", workdir=str(tmp_path))
    pages = {"/v1/models": {"data": [{"id": "test-model", "max_model_len": served}]}}
    with playing(FINISH, pages=pages) as server:
        settings_for(place.folder, server.base_url)
        record = ran(place, replace(one, **changes))
        told = [each["content"] for each in server.requests[0].json["messages"]] if server.requests else [""]
        looks = [look.line.split()[1] for look in server.looks]
    assert record.result is not None
    return record.result.error, "\n".join(text for text in told if "order of the job" in text), looks


def test_a_run_asks_once_and_refuses_a_server_that_takes_too_little(tmp_path: Path) -> None:
    error, order, looks = run(tmp_path, 8_192)
    assert error.startswith("The context window of test-model is 8,192 tokens; a job needs 64,000.")
    assert "give its server a larger context" in error
    assert (order, looks) == ("", ["/v1/models"])


def test_a_run_is_told_what_its_model_cannot_do(tmp_path: Path) -> None:
    error, order, looks = run(tmp_path, 128_000)
    assert (error, looks) == ("", ["/v1/models"])
    assert "pictures, sound and video are named to you and not shown" in order
    assert "Say in your report what you skipped" in order
    assert "tokens in all" not in order
    assert "no terminal" not in order


def test_a_window_that_the_person_accepted_is_told_and_not_asked(tmp_path: Path) -> None:
    error, order, looks = run(tmp_path, 8_192, window=8_192, remote=True)
    assert (error, looks) == ("", [])
    assert "You read at most 8,192 tokens in all" in order
    assert "You have no terminal" in order


def test_the_limits_follow_from_the_model() -> None:
    tools = ("terminal", "finish")
    assert limits_of(Model("large-70b", window=200_000), tools) == ("pictures",)
    assert limits_of(Model("tiny-1b", tools="text"), tools) == ("pictures", "calls", "size")
    assert limits_of(Model("x", window=9_000, size="large"), ()) == ("pictures", "window", "terminal")
