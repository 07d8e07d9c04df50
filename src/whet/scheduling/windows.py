"""The context window of a model that nobody told of: its endpoint is asked, where that is the person's own."""

from collections.abc import Iterator, Mapping
from threading import Event
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from whet.agent.protocols import Chosen
from whet.agent.providers.choosing import at_base
from whet.net.http import LOOPBACK, Client, Response, Waits, real_timing, route_to
from whet.net.interrupting import Interrupted
from whet.net.wire import TransportFailed
from whet.runs.models import address_of
from whet.runs.settings import Endpoint, Settings

WAITS = Waits(connect_seconds=3.0, bytes_seconds=10.0)
MOST_BYTES = 1 << 22
OK = 200


class WindowFound(NamedTuple):
    """How many tokens the server takes, and how many the model was made for, which a server may cut down."""

    served: int | None = None
    trained: int | None = None


def with_window(
    chosen: Chosen, settings: Settings, *, environment: Mapping[str, str], interrupt: Event, least: int
) -> Chosen:
    """The model with the window that its endpoint tells, where none is known.

    What a model was made for says nothing of what its server takes, unless even that is less than `least`.
    """
    address = address_of(settings)
    endpoint = at_base(address.endpoint, settings, environment)
    if chosen.model.window is not None or endpoint.kind != "openai" or not _is_own(endpoint, settings):
        return chosen
    found = ask_window(endpoint, address.model, environment=environment, interrupt=interrupt)
    is_short = found.trained is not None and found.trained < least
    window = found.served or (found.trained if is_short else None)
    return chosen._replace(model=replace(chosen.model, window=window)) if window else chosen


def ask_window(endpoint: Endpoint, model: str, *, environment: Mapping[str, str], interrupt: Event) -> WindowFound:
    """What the endpoint says of a model's window; nothing where it does not say, or does not answer."""
    key = environment.get(endpoint.key_variable, "").strip() if endpoint.key_variable else ""
    headers = {"Authorization": f"Bearer {key}" if key else "", "Content-Type": "application/json"}
    asking = _Asking(headers, endpoint, environment, interrupt)
    trained = None
    for found in _tellings(asking, model):
        if found.served:
            return found
        trained = trained or found.trained
    return WindowFound(trained=trained)


class _Asking:
    """Short questions to one server: an answer in JSON, or nothing."""

    def __init__(
        self, headers: Mapping[str, str], endpoint: Endpoint, environment: Mapping[str, str], interrupt: Event
    ) -> None:
        route = route_to(endpoint.base_url, environment)
        self.path = route.path  # such as /v1: what a server has of its own lies beside it
        self._client = Client(route._replace(path=""), now=real_timing().steady, waits=WAITS)
        self._headers = headers
        self._interrupt = interrupt
        self._is_lost = False

    def ask(self, path: str, body: Mapping[str, str] | None = None) -> Mapping[str, Any]:
        if self._is_lost:
            return {}
        try:
            if body is None:
                response = self._client.get(path, self._headers, interrupt=self._interrupt)
            else:
                response = self._client.post(path, self._headers, msgspec.json.encode(body), interrupt=self._interrupt)
            try:
                answer = msgspec.json.decode(_body(response)) if response.status == OK else None
            finally:
                response.end()
        except (TransportFailed, Interrupted):  # the run itself says why
            self._is_lost = True
            return {}
        except msgspec.DecodeError:
            return {}
        return _table(answer)


def _tellings(asking: _Asking, model: str) -> Iterator[WindowFound]:
    """What each kind of server tells, asked in turn; one that answers the first question in full is asked no other."""
    listed = _entry(asking.ask(f"{asking.path}/models"), model)
    yield WindowFound(_number(listed.get("max_model_len")))  # vLLM
    trained = _number(_table(listed.get("meta")).get("n_ctx_train"))
    props = _table(asking.ask("/props").get("default_generation_settings"))  # llama.cpp, of one slot
    yield WindowFound(_number(props.get("n_ctx")), trained)
    studio = _entry(asking.ask("/api/v0/models"), model)  # LM Studio
    yield WindowFound(_number(studio.get("loaded_context_length")), _number(studio.get("max_context_length")))
    yield _ollama(asking, model)


def _ollama(asking: _Asking, model: str) -> WindowFound:
    running = asking.ask("/api/ps").get("models")
    for each in running if isinstance(running, list) else ():
        loaded = _number(_table(each).get("context_length"))
        if loaded and _table(each).get("name") in (model, f"{model}:latest"):
            return WindowFound(loaded)
    shown = asking.ask("/api/show", {"model": model})
    lines = str(shown.get("parameters", "")).splitlines()
    asked = next((line.split()[-1] for line in lines if line.split()[:1] == ["num_ctx"]), "")
    about = _table(shown.get("model_info"))
    trained = about.get(f"{about.get('general.architecture')}.context_length")
    return WindowFound(int(asked) if asked.isdecimal() else None, _number(trained))


def _is_own(endpoint: Endpoint, settings: Settings) -> bool:
    """Whether the endpoint is on this machine, or one whose address the person gave: no vendor is asked."""
    given = any(each.name == endpoint.name and each.base_url for each in settings.providers)
    return given or (urlsplit(endpoint.base_url).hostname or "").startswith(LOOPBACK)


def _entry(answer: Mapping[str, Any], model: str) -> Mapping[str, Any]:
    """The model in a list of them; a server that has one alone may call it otherwise."""
    found = answer.get("data")
    entries = [_table(each) for each in found] if isinstance(found, list) else []
    named = [each for each in entries if each.get("id") == model]
    return (named or (entries if len(entries) == 1 else []) or [{}])[0]


def _body(response: Response) -> bytes:
    body = bytearray()
    for chunk in response.chunks():
        body += chunk
        if len(body) > MOST_BYTES:
            return b""
    return bytes(body)


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
