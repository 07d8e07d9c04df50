"""The server of the page: this machine only, one view an address, and changes by forms of its own."""

import contextlib
import functools
import hmac
import socket
import threading
import time
from collections.abc import Callable
from urllib.parse import parse_qs, quote

from whet.changes import pending
from whet.errors import WhetError
from whet.net import listening
from whet.store.database import Database
from whet.store.home import Home
from whet.store.opening import opened
from whet.store.session_facts import state_of_sessions
from whet.web.asking import PageRequest
from whet.web.cache import PageCache
from whet.web.deciding import DECISIONS, Decide, DecidedOnPage, PageDecision, propose, revert
from whet.web.gate import TOKEN, PageGate, PageKeys
from whet.web.html import Child, h
from whet.web.layout import FramedView, document
from whet.web.library import (
    HTMLResponse,
    PlainTextResponse,
    RedirectResponse,
    Request,
    Response,
    Route,
    Starlette,
    run_sync,
    uvicorn,
)
from whet.web.pages import PAGES, Page, menu
from whet.web.site import PageFilter, PageLinks, PageView, empty, static_text
from whet.web.views.entries import button

MOST_BYTES = 1_000_000
MOST_ENTRIES = 10**9  # no ledger has more, and no database a larger number
STATIC = {"page.css": "text/css", "page.js": "text/javascript"}
LOOPBACKS = (listening.LOOPBACK, "localhost")


class PageServer:
    """The page of one home. `may_change` is whether a person opened it, who can decide."""

    def __init__(self, home: Home, *, port: int, may_change: bool) -> None:
        self.cache = PageCache(home)
        self.keys = PageKeys()
        self._home, self._port, self._may_change = home, port, may_change
        self._said: dict[str, DecidedOnPage] = {}  # what was done, by the number in the address that follows
        routes = [Route("/static/{name}", self._static)]
        routes += [Route(path, functools.partial(self._view, page=page), methods=["GET"]) for path, page in PAGES]
        routes += [
            Route("/waiting/{number:int}/{decision}", self._decide, methods=["POST"]),
            Route("/lessons/{lesson}/propose", self._decide, methods=["POST"]),
            Route("/ledger/{number:int}/revert", self._decide, methods=["POST"]),
        ]
        inside = Starlette(routes=routes)
        inside.router.redirect_slashes = False  # it knows nothing of the secret path that addresses begin with
        self.app = PageGate(inside, self.keys, port)

    @property
    def address(self) -> str:
        """The address that opens the page, once."""
        return f"http://{listening.LOOPBACK}:{self._port}/?{TOKEN}={quote(self.keys.token)}"

    def prepare(self) -> None:
        """Read what every view needs, so that the first one is there at once."""
        with opened(self._home) as database:
            self.cache.look(database, PageFilter())

    async def _static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in STATIC:
            return PlainTextResponse("There is no such file.", 404)
        return Response(static_text(name), media_type=f"{STATIC[name]}; charset=utf-8")

    async def _view(self, request: Request, page: "Page") -> Response:
        return await run_sync(self._draw, request, page)

    def _draw(self, request: Request, page: "Page") -> Response:
        given = request.query_params
        chosen = PageFilter(given.get("project", ""), given.get("agent", ""), given.get("temporary") == "1")
        site = PageLinks(chosen, self.keys.form if self._may_change else "", base=self.keys.path)
        with opened(self._home) as database:
            looked = self.cache.look(database, chosen)
            site = site._replace(projects=self.cache.naming())
            asked = PageRequest(
                site=site,
                database=database,
                cache=self.cache,
                looked=looked,
                part=request.path_params.get("part", ""),
                given=dict(given),
                now=(now := time.time()),
                waiting=pending.waiting(self._home, database, now=now),
            )
            try:
                framed, status = page(asked), 200
            except WhetError as error:
                framed, status = _mistake(error), 404
            filled = menu(asked)
        done = self._said.get(given.get("said", ""))
        counting = not asked.looked.is_current
        told = framed._replace(
            waiting=asked.waiting,
            menu=filled,
            said=done and _said(site, done),
            is_live=framed.is_live or counting,
            is_counting=counting,
        )
        return HTMLResponse(document(site, asked.looked.choices, told), status)

    async def _decide(self, request: Request) -> Response:
        body = b""
        async for piece in request.stream():
            body += piece
            if len(body) > MOST_BYTES:
                return PlainTextResponse("This is too long.", 413)
        fields = {name: values[-1] for name, values in parse_qs(body.decode("utf-8", "replace")).items()}
        if not self._may_change:
            return PlainTextResponse("This page only shows. Start `whet page` in your own terminal.", 403)
        if not hmac.compare_digest(fields.get("form", "").encode(), self.keys.form.encode()):
            return PlainTextResponse("This form is not from this page.", 403)
        return await run_sync(self._carry_out, request, fields)

    def _carry_out(self, request: Request, fields: dict[str, str]) -> Response:
        if "lesson" in request.path_params:
            return self._done(lambda database: self._propose(database, request.path_params["lesson"], fields))
        number, name = request.path_params["number"], request.path_params.get("decision", "")
        decide: Decide | None = DECISIONS.get(name) if name else revert
        if decide is None or number > MOST_ENTRIES:
            return PlainTextResponse("There is no such decision.", 404)
        asked = PageDecision(number, fields.get("patch", ""), fields.get("text", ""))
        return self._done(lambda database: decide(self._home, database, asked, now=time.time()))

    def _propose(self, database: Database, id: str, fields: dict[str, str]) -> DecidedOnPage:
        found = self.cache.lessons.wait(state_of_sessions(database)).lessons
        return propose(self._home, database, found, id, fields.get("patch", ""), now=time.time())

    def _done(self, decide: Callable[[Database], DecidedOnPage]) -> Response:
        """Carry a decision out, and show what came of it."""
        with opened(self._home) as database:
            try:
                done = decide(database)
            except WhetError as error:
                done = DecidedOnPage(f"Nothing was changed. {error.message} {error.advice}")
        key = str(len(self._said) + 1)
        self._said[key] = done
        return RedirectResponse(f"{self.keys.path}/lessons?said={key}", 303)


def serve(server: PageServer, place: socket.socket) -> None:
    """Answer at a socket of this machine until interrupted."""
    threading.Thread(target=server.prepare, daemon=True).start()
    config = uvicorn.Config(
        server.app,
        log_level="warning",
        server_header=False,
        access_log=False,
        lifespan="off",
        proxy_headers=False,
        timeout_graceful_shutdown=listening.LEAVE_SECONDS,
    )
    listening.leave_quietly()
    with contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[place])


def listen(host: str, port: int) -> socket.socket:
    """A socket on this machine that callers can reach from now on; any other bind is refused."""
    expect_loopback(host)
    return listening.listen(port, advice="Choose another: `whet page --port 8378`.")


def expect_loopback(host: str) -> None:
    """Raise where others could reach the page."""
    if host not in LOOPBACKS:
        raise WhetError(
            f"The page is for this machine only, not for {host}.",
            advice="From elsewhere, forward the port: ssh -L 8377:127.0.0.1:8377 HOST, and run `whet page` there.",
        )


def _said(site: PageLinks, done: DecidedOnPage) -> Child:
    """What was done, with a button that undoes it."""
    if done.entry is None:
        return done.said
    return done.said, h("div", {"class": "actions"}, button(site, done.entry, done.way_back, "Undo"))


def _mistake(error: WhetError) -> FramedView:
    return FramedView(PageView("", "Not found", error.message), "Not found", empty(error.advice or "Go back."))
