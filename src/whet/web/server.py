"""The server of the page: this machine only, one view an address, and decisions of a person by forms of its own."""

import contextlib
import functools
import hmac
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import parse_qs, quote

from whet.changes import apply, pending
from whet.errors import WhetError
from whet.improving.learned import propose_lesson
from whet.ledger.entries import Actor, Entry
from whet.lessons.record import Lesson
from whet.net import listening
from whet.store.database import Database
from whet.store.home import Home
from whet.store.ledger import ledger_of
from whet.store.opening import opened
from whet.store.session_facts import state_of_sessions
from whet.web.cache import PageCache, PageRequest
from whet.web.gate import (
    TOKEN,
    HTMLResponse,
    PageGate,
    PageKeys,
    PlainTextResponse,
    RedirectResponse,
    Request,
    Response,
    Route,
    Starlette,
    run_sync,
    uvicorn,
)
from whet.web.html import Child, h
from whet.web.layout import FramedView, document
from whet.web.pages import PAGES, Page, menu
from whet.web.site import PageFilter, PageLinks, PageView, empty, known_by, static_text
from whet.web.views.entries import button

MOST_BYTES = 1_000_000
MOST_ENTRIES = 10**9  # no ledger has more, and no database a larger number
STATIC = {"page.css": "text/css", "page.js": "text/javascript"}
LOOPBACKS = (listening.LOOPBACK, "localhost")
SYNC = "To update other agents, run `whet sync`."
LATER = "Later, `whet ledger undo {made}` takes this back."


class PageAct(NamedTuple):
    """A decision: what carries it out, what is said of it, where it is taken back, and whether it is on what waits."""

    carry_out: Callable[..., Entry]
    said: str
    way_back: str = ""
    waits: bool = True


APPROVED = f"Approved: the {{what}} {{stands}} (entry {{made}}). {SYNC}"
NEVER = "Never again: {what}; neither it nor what says the same or is for the same failure will be proposed."
REVERT, REOPEN = "/ledger/{}/revert", "/waiting/{}/reopen"
ACTS = {
    "approve": PageAct(pending.approve, APPROVED, REVERT),
    "edit": PageAct(pending.approve_edited, APPROVED, REVERT),
    "refuse": PageAct(pending.refuse, f"Refused: {{what}}. {LATER}", REOPEN),
    "never": PageAct(pending.say_never, f"{NEVER} {LATER}", REOPEN),
    "reopen": PageAct(pending.reopen, "Taken back: the {what} waits again (entry {made}).", waits=False),
    "revert": PageAct(apply.revert, f"Entry {{asked}} was undone: the {{what}} {{stands}}. {SYNC}", waits=False),
}


class DecidedOnPage(NamedTuple):
    """What was done, in words, and the way back: the entry to turn back, at which address."""

    said: str
    entry: Entry | None = None
    way_back: str = ""


def decide(
    home: Home, database: Database, name: str, number: int, fields: Mapping[str, str], *, now: float
) -> DecidedOnPage:
    """Carry out a decision on an entry, which must be the very one that the person saw."""
    act, seen = ACTS[name], (number, fields.get("patch", ""))
    if act.waits and seen not in ((each.number, each.patch.id) for each in pending.pending(home, database, now=now)):
        raise WhetError("This change is no longer pending as you saw it.", advice="Look at what is pending now.")
    if not act.waits and ledger_of(home, database).entry(number).patch.id != seen[1]:
        raise WhetError("This entry is not the one that you saw.", advice="Look at it again.")
    text = fields.get("text", "").replace("\r\n", "\n").strip("\n")
    if name == "edit" and not text.strip():
        raise WhetError("Your text is empty.", advice="Write what agents should be told, or refuse the change.")
    edited = (text,) if name == "edit" else ()
    made = act.carry_out(home, database, number, *edited, actor=Actor.PERSON, now=now)
    stands = "is active" if made.after else "is removed"
    said = act.said.format(what=_what(made), stands=stands, made=made.number, asked=number)
    return DecidedOnPage(said, made, act.way_back.format(made.number)) if act.way_back else DecidedOnPage(said)


def propose(
    home: Home, database: Database, lessons: Sequence[Lesson], id: str, patch: str, *, now: float
) -> DecidedOnPage:
    """Put a lesson, which must be the very one that the person saw, among what waits."""
    found = next((each for each in lessons if each.id == id and each.patch.id == patch), None)
    if found is None:
        raise WhetError("This lesson is no longer as you saw it.", advice="Look at the lessons again.")
    made = propose_lesson(home, database, found, now=now)
    return DecidedOnPage(f"Proposed: the {_what(made)} waits for your decision (entry {made.number}).")


def _what(made: Entry) -> str:
    return f"{made.patch.form} {known_by(made.patch.name, made.patch.text)}"


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
        """Carry a decision out, and show what came of it."""
        place = request.path_params
        number, name, now = place.get("number", 0), place.get("decision", "revert"), time.time()
        if number > MOST_ENTRIES or name not in ACTS:
            return PlainTextResponse("There is no such decision.", 404)
        with opened(self._home) as database:
            try:
                if "lesson" in place:
                    found = self.cache.lessons.wait(state_of_sessions(database)).lessons
                    done = propose(self._home, database, found, place["lesson"], fields.get("patch", ""), now=now)
                else:
                    done = decide(self._home, database, name, number, fields, now=now)
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
    return done.said, h("div.actions", button(site, done.entry, done.way_back, "Undo"))


def _mistake(error: WhetError) -> FramedView:
    return FramedView(PageView("", "Not found", error.message), "Not found", empty(error.advice or "Go back."))
