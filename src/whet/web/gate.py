"""The door of the page: who may come in, what they may ask for, and what every answer says to the browser."""

import hmac
import secrets
from urllib.parse import parse_qs

from whet.errors import WhetError
from whet.net.listening import LOOPBACK
from whet.shipped.extras import how_to_add

try:
    import uvicorn
    from anyio.to_thread import run_sync
    from starlette.applications import Starlette
    from starlette.datastructures import Headers, MutableHeaders
    from starlette.requests import Request
    from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
    from starlette.routing import Route
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
except ModuleNotFoundError as missing:
    raise WhetError("The page needs the extra `web`.", advice=f"Run `{how_to_add('web')}`.") from missing

# The server takes what it uses of these libraries from here: whoever lacks them is told how to get them.
__all__ = ["COOKIE", "TOKEN", "HTMLResponse", "PageGate", "PageKeys", "PlainTextResponse", "RedirectResponse"]
__all__ += ["Request", "Response", "Route", "Starlette", "run_sync", "uvicorn"]

COOKIE = "whet_page"
TOKEN = "token"
MOST_LETTERS = 4000  # of an address
OWN = ("same-origin", "none")  # asked for by the page itself, or by the person: typed, or opened from outside
READING = frozenset({"GET", "HEAD"})
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # With no-referrer a browser would not name the origin of our own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
# A page of our own leads on: a cookie that is SameSite=Strict is not sent after a redirect from elsewhere.
WELCOME = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Whet</title>'
    '<meta http-equiv="refresh" content="0; url={path}/"><p><a href="{path}/">Open the page</a></p></html>'
)
NEEDED = "This page needs the address that `whet page` printed. Each address works once: run `whet page` again."


class PageKeys:
    """The secrets of one server: a token that opens it once, a cookie from then on, and a mark in every form.

    All addresses of the page begin with a secret path, and the cookie is sent below it only: browsers send the cookies
    of one host to all of its ports, and an agent may serve something at another one.
    """

    def __init__(self) -> None:
        self._token: str | None = secrets.token_urlsafe(32)
        self.cookie = secrets.token_urlsafe(32)
        self.path = f"/{secrets.token_urlsafe(16)}"
        self.form = secrets.token_urlsafe(32)

    @property
    def token(self) -> str:
        return self._token or ""

    def spend(self, given: str) -> bool:
        """Whether this is the token; it is none from then on."""
        if self._token is None or not _same(given, self._token):
            return False
        self._token = None
        return True


class PageGate:
    """Lets requests through that came to this address, from this page, with its cookie."""

    def __init__(self, app: ASGIApp, keys: PageKeys, port: int) -> None:
        self._app = app
        self._keys = keys
        self._hosts = frozenset(f"{name}:{port}" for name in (LOOPBACK, "localhost"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self._answer(scope)(scope, receive, guarded)

    def _answer(self, scope: Scope) -> ASGIApp:
        headers = Headers(scope=scope)
        if len(scope["path"]) + len(scope["query_string"]) > MOST_LETTERS:
            return PlainTextResponse("This address is too long.", 414)
        host = headers.get("host", "")
        if host not in self._hosts or len(headers.getlist("host")) != 1:
            return PlainTextResponse("This address is not the page's own.", 421)
        if not _is_from_here(scope["method"], headers, host):
            return PlainTextResponse("This request came from another page.", 403)
        given = parse_qs(scope["query_string"].decode("latin-1")).get(TOKEN)
        if given and scope["method"] == "GET" and scope["path"] == "/":
            return self._open(given[0])
        if headers.get("sec-fetch-site", "none") not in OWN:
            return PlainTextResponse("This request came from another page.", 403)
        base = self._keys.path
        if not _same(scope["path"][: len(base) + 1], f"{base}/") or not self._is_known(headers):
            return PlainTextResponse(NEEDED, 401)
        scope["path"] = scope["path"][len(base) :]
        return self._app

    def _is_known(self, headers: Headers) -> bool:
        """Whether one of the cookies is ours; another port of this host may have set some of the same name."""
        pairs = (pair.strip().partition("=") for pair in headers.get("cookie", "").split(";"))
        return any(name == COOKIE and _same(value, self._keys.cookie) for name, _, value in pairs)

    def _open(self, token: str) -> ASGIApp:
        if not self._keys.spend(token):
            return PlainTextResponse(NEEDED, 401)
        path = self._keys.path
        answer = HTMLResponse(WELCOME.format(path=path))
        answer.set_cookie(COOKIE, self._keys.cookie, httponly=True, samesite="strict", path=path)
        return answer


def _is_from_here(method: str, headers: Headers, host: str) -> bool:
    """Whether the browser says that our own page asks; what changes something has to say so."""
    origins = headers.getlist("origin")
    if not origins:
        return method in READING
    return origins == [f"http://{host}"] and headers.get("sec-fetch-site", "same-origin") == "same-origin"


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), wanted.encode())
