"""A real page server in this process, and a client that speaks HTTP to it as a browser would."""

import contextlib
import html
import http.client
import re
import socket
import threading
from collections.abc import Iterator, Mapping
from typing import NamedTuple
from urllib.parse import urlencode

import uvicorn

from patience import PATIENCE_SECONDS
from whet.net.listening import LEAVE_SECONDS, LOOPBACK, leave_quietly
from whet.store.home import Home
from whet.web.gate import COOKIE
from whet.web.server import PageServer


class PageAnswer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    text: str


class PageClient(NamedTuple):
    """Asks a server, below its secret path; with the cookie once it has one."""

    server: PageServer
    port: int
    cookie: str = ""

    def ask(
        self, path: str, *, method: str = "GET", body: str | None = None, headers: Mapping[str, str] | None = None
    ) -> PageAnswer:
        given = {"Host": f"{LOOPBACK}:{self.port}", **({"Cookie": f"{COOKIE}={self.cookie}"} if self.cookie else {})}
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=PATIENCE_SECONDS)
        if not path.startswith((self.base, "/?token=")):
            path = f"{self.base}{path}"
        try:
            connection.request(method, path, body, {**given, **(headers or {})})
            answer = connection.getresponse()
            return PageAnswer(answer.status, dict(answer.getheaders()), answer.read().decode())
        finally:
            connection.close()

    @property
    def base(self) -> str:
        return self.server.keys.path

    def enter(self) -> "PageClient":
        """The client with the cookie that the one-time address gives."""
        answer = self.ask(self.server.address.partition(str(self.port))[2])
        assert answer.status == 200
        found = re.match(rf"{COOKIE}=([^;]+)", answer.headers["set-cookie"])
        assert found is not None
        return self._replace(cookie=found[1])

    def send(self, path: str, fields: Mapping[str, str], **headers: str) -> PageAnswer:
        """A form sent as our own page would send it."""
        own = {"Origin": f"http://{LOOPBACK}:{self.port}", "Content-Type": "application/x-www-form-urlencoded"}
        return self.ask(path, method="POST", body=urlencode(fields), headers={**own, **headers})

    def decide(self, path: str, fields: Mapping[str, str]) -> str:
        """The view that follows a form."""
        answer = self.send(path, fields)
        assert answer.status == 303
        return self.ask(answer.headers["location"]).text

    def form(self, path: str, action: str) -> dict[str, str]:
        """The hidden fields of a form that a view holds."""
        page = self.ask(path).text
        start = page.index(f'action="{self.base}{action}"')
        fields = re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page[start : page.index("</form>", start)])
        return {name: html.unescape(value) for name, value in fields}


@contextlib.contextmanager
def page_of(home: Home, *, may_change: bool = True) -> Iterator[PageClient]:
    """A page of this home, served until the end."""
    with socket.socket() as listening:
        listening.bind((LOOPBACK, 0))
        listening.listen()
        port = listening.getsockname()[1]
        page = PageServer(home, port=port, may_change=may_change)
        # As `whet page` does: without this a client that stands still in a request would hold the server for ever.
        config = uvicorn.Config(page.app, log_level="warning", lifespan="off", timeout_graceful_shutdown=LEAVE_SECONDS)
        leave_quietly()
        serving = uvicorn.Server(config)
        thread = threading.Thread(target=serving.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        try:
            yield PageClient(page, port)
        finally:
            serving.should_exit = True
            thread.join()
