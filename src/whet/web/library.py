"""What is used of the libraries that serve the page. They are an extra: whoever needs them is told how to get them."""

from whet.errors import WhetError
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

__all__ = ["ASGIApp", "HTMLResponse", "Headers", "Message", "MutableHeaders", "PlainTextResponse", "Receive"]
__all__ += ["RedirectResponse", "Request", "Response", "Route", "Scope", "Send", "Starlette", "run_sync", "uvicorn"]
