"""The way to an endpoint and the proxy on it."""

import pytest

from whet.errors import WhetError
from whet.net.http import Proxy, route_to


def test_an_address_is_taken_apart() -> None:
    route = route_to("https://api.example.org/openai/v1/", {})
    assert (route.is_secure, route.host, route.port, route.path) == (True, "api.example.org", 443, "/openai/v1")
    assert route.authority == "api.example.org"
    assert route_to("http://[::1]:8080/v1", {}).authority == "[::1]:8080"


@pytest.mark.parametrize(
    "address", ["", "api.example.org", "ftp://host/v1", "https://", "https://host:port", "http://a b"]
)
def test_what_is_no_address_is_refused_with_advice(address: str) -> None:
    with pytest.raises(WhetError) as error:
        route_to(address, {})
    assert "https://host" in error.value.advice


def test_the_proxy_of_the_environment_is_used() -> None:
    environment = {"HTTPS_PROXY": "http://me:pa%40ss@proxy:3128", "http_proxy": "plain:80"}
    assert route_to("https://api.example.org/v1", environment).proxy == Proxy("proxy", 3128, "Basic bWU6cGFAc3M=")
    assert route_to("http://api.example.org/v1", environment).proxy == Proxy("plain", 80)


@pytest.mark.parametrize(
    "exceptions", ["*", "example.org", ".example.org", "*.example.org", "other, API.example.org", "api.example.org:443"]
)
def test_exceptions_need_no_proxy(exceptions: str) -> None:
    environment = {"https_proxy": "http://proxy:3128", "NO_PROXY": exceptions}
    assert route_to("https://api.example.org/v1", environment).proxy is None


@pytest.mark.parametrize("exceptions", ["", "ample.org", "example.org.uk", "api.example.org:8443"])
def test_others_still_go_through_it(exceptions: str) -> None:
    environment = {"https_proxy": "http://proxy:3128", "NO_PROXY": exceptions}
    assert route_to("https://api.example.org/v1", environment).proxy is not None


def test_a_server_on_this_machine_is_never_asked_through_a_proxy() -> None:
    assert route_to("http://127.0.0.1:8080/v1", {"ALL_PROXY": "http://proxy"}).proxy is None


def test_a_wrong_proxy_is_named_without_its_password() -> None:
    with pytest.raises(WhetError) as error:
        route_to("https://api.example.org", {"ALL_PROXY": "socks5://me:secret@proxy"})
    assert "secret" not in f"{error.value.message}{error.value.advice}"
