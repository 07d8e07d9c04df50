"""The process that serves a model: started once, gone with its parent, and clear about what is wrong."""

import os
import select
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from patience import PATIENCE_SECONDS
from whet.agent.protocols import ProviderFailed, ProviderFault
from whet.agent.providers.local import LocalCodec, LocalProvider, ServeOrder
from whet.agent.providers.local_weights import EMBEDDED, path_of
from whet.net.wire import Interrupted
from whet.own.runs.models import Model
from whet.store.home import Home

PARENT = Path(__file__).with_name("local_parent.py")


def served(home: Home, path: Path | None = None, **variables: str) -> LocalProvider:
    """A provider of the embedded model, or of another file."""
    codec = LocalCodec(Model(EMBEDDED.name), controls=(), calls="free")
    order = ServeOrder(str(path or path_of("", home)), EMBEDDED.name, 512)
    return LocalProvider(codec, order, {**os.environ, **variables})


def test_several_who_ask_at_once_get_one_server_that_asks_for_its_key(embedded_home: Home) -> None:
    server = served(embedded_home)
    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(lambda _: server.address(Event()), range(4)))
    (address,) = found
    assert address.base_url.startswith("http://127.0.0.1:")
    with pytest.raises(HTTPError) as refused:
        urlopen(f"{address.base_url}/chat/completions", data=b"{}")
    refused.value.close()
    assert refused.value.code == 401
    known = Request(f"{address.base_url}/models", headers={"Authorization": f"Bearer {address.key}"})
    with urlopen(known) as answer:
        assert EMBEDDED.name in answer.read().decode()
    server.close()
    assert not server.is_alive


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="this system cannot watch a process that is not a child")
def test_when_the_parent_is_killed_the_server_ends(embedded_home: Home) -> None:
    command = [sys.executable, str(PARENT), str(path_of("", embedded_home))]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        watched = os.pidfd_open(int(parent.stdout.readline()))
        try:
            parent.kill()
            ended, _, _ = select.select([watched], [], [], PATIENCE_SECONDS)
        finally:
            os.close(watched)
    assert ended


def test_a_server_that_died_is_started_again(embedded_home: Home) -> None:
    server = served(embedded_home)
    first = server.address(Event())
    assert server.process_id is not None
    watched = os.pidfd_open(server.process_id)
    os.kill(server.process_id, signal.SIGKILL)
    select.select([watched], [], [], PATIENCE_SECONDS)
    os.close(watched)
    assert not server.is_alive
    assert server.address(Event()) != first
    server.close()


def test_a_server_ends_with_the_object_that_owns_it(embedded_home: Home) -> None:
    server = served(embedded_home)
    server.address(Event())
    assert server.process_id is not None
    watched = os.pidfd_open(server.process_id)
    del server
    ended, _, _ = select.select([watched], [], [], PATIENCE_SECONDS)
    os.close(watched)
    assert ended


def test_a_file_that_is_no_model_is_told_with_the_reason(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"garbage")
    server = served(Home(tmp_path), broken)
    for _ in range(2):
        with pytest.raises(ProviderFailed, match=r"could not be loaded: .*(magic|init)") as raised:
            server.address(Event())
        assert raised.value.fault is ProviderFault.ENDPOINT
        assert raised.value.advice
    assert not server.is_alive


def test_who_waits_for_the_model_can_be_interrupted(embedded_home: Home) -> None:
    server = served(embedded_home)
    stop = Event()
    stop.set()
    with pytest.raises(Interrupted):
        server.address(stop)
    assert server.address(Event()).base_url
    server.close()


def test_no_secret_of_the_person_reaches_the_process(embedded_home: Home) -> None:
    server = served(embedded_home, OPENAI_API_KEY="sk-secret")
    server.address(Event())
    seen = Path(f"/proc/{server.process_id}/environ").read_bytes()
    server.close()
    assert b"secret" not in seen
    assert b"OMP_WAIT_POLICY=passive" in seen
