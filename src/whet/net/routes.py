"""The way to an endpoint: its address taken apart, and the proxy that the environment names for it."""

import base64
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

from whet.errors import WhetError

PORTS = {"http": 80, "https": 443}
LOOPBACK = ("localhost", "127.", "::1")


class Proxy(NamedTuple):
    """A proxy for HTTP, and what it asks for at the door."""

    host: str
    port: int
    authorization: str = ""


class Route(NamedTuple):
    """Where requests go. `path` is what stands before every path of the endpoint."""

    is_secure: bool
    host: str
    port: int
    path: str = ""
    proxy: Proxy | None = None
    certificates: str = ""  # a file with authorities to trust besides those of the system

    @property
    def authority(self) -> str:
        """Host and port as requests name them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS["https" if self.is_secure else "http"] else f"{host}:{self.port}"


def route_to(base_url: str, environment: Mapping[str, str], *, what: str = "base_url") -> Route:
    """The route to an endpoint; raises WhetError for an address that is none, and says what it is the address of."""
    parts = _split(base_url, PORTS, what)
    secure = parts.scheme == "https"
    host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
    proxy = _proxy(parts.scheme, host, port, environment)
    return Route(secure, host, port, parts.path.rstrip("/"), proxy, environment.get("SSL_CERT_FILE", ""))


def _proxy(scheme: str, host: str, port: int, environment: Mapping[str, str]) -> Proxy | None:
    if host.startswith(LOOPBACK) or _is_excepted(host, port, _variable("no_proxy", environment)):
        return None
    named = _variable(f"{scheme}_proxy", environment) or _variable("all_proxy", environment)
    if not named:
        return None
    parts = _split(named if "://" in named else f"http://{named}", {"http": 80}, "the proxy in the environment")
    authorization = ""
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        authorization = f"Basic {base64.b64encode(pair.encode()).decode()}"
    return Proxy(parts.hostname or "", parts.port or PORTS["http"], authorization)


def _variable(name: str, environment: Mapping[str, str]) -> str:
    return environment.get(name) or environment.get(name.upper()) or ""


def _is_excepted(host: str, port: int, exceptions: str) -> bool:
    """Whether the person wants no proxy here: for the host, a domain above it, or everything."""
    for each in (word.strip().lower() for word in exceptions.split(",")):
        name, _, only_port = each.partition(":") if each.count(":") == 1 else (each, "", "")
        plain = name.removeprefix("*").removeprefix(".")
        fits = each == "*" or (plain and (host == plain or host.endswith(f".{plain}")))
        if fits and only_port in ("", str(port)):
            return True
    return False


def _split(address: str, schemes: Mapping[str, int], what: str) -> SplitResult:
    """An address in parts. A wrong one is not repeated in the error, for it may hold a password."""
    form = " or ".join(f"{scheme}://host" for scheme in schemes)
    try:
        parts = urlsplit(address.strip())
        is_right = parts.scheme in schemes and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        is_right = False
    if not is_right or any(character <= " " for character in address.strip()):
        raise WhetError(f"{what} is not a valid URL.", advice=f"Use the format {form}.")
    return parts
