"""The server over HTTP on this machine: every request needs the bearer token, and a foreign Host is refused."""

import contextlib
import hmac

from whet.mcp.library import ASGIApp, MCPServer, Receive, Scope, Send, uvicorn
from whet.net.listening import LEAVE_SECONDS, LOOPBACK, leave_quietly, listen

REFUSAL = b'{"error": "unauthorized"}'


class BearerGate:
    """Lets requests through that carry the token; others get 401 and reach nothing."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._wanted = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, self._wanted):
                headers = [(b"content-type", b"application/json"), (b"www-authenticate", b"Bearer")]
                await send({"type": "http.response.start", "status": 401, "headers": headers})
                await send({"type": "http.response.body", "body": REFUSAL})
                return
        await self._app(scope, receive, send)


def serve(server: MCPServer[None], *, port: int, token: str) -> None:
    """Answer at http://127.0.0.1:PORT/mcp until interrupted."""
    app = BearerGate(server.streamable_http_app(host=LOOPBACK), token)
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=LEAVE_SECONDS)
    leave_quietly()
    advice = "Choose another: `whet mcp --http PORT`."
    with listen(port, advice=advice) as listening, contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])
