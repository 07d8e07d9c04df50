"""HTTP on kept connections: what is sent, where it goes, and how long is waited before another try."""

from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.loopback import CERTIFICATE, Loopback, Play, playing, refused, streamed, tunnelling
from agent.providers.vendor_streams import KEY, RUN, Pauses, asking_of, hurried_clock, openai_answer, replied, timing
from whet.agent.protocols import ProviderFailed, ProviderFault
from whet.agent.providers.asking import Asking
from whet.agent.providers.choosing import asking
from whet.errors import WhetError
from whet.net.http import FIRST_SECONDS, MOST_SECONDS, Proxy, asked_wait, delay, route_to
from whet.net.wire import Interrupted, Patience, TransportFailed, look_up
from whet.own.runs.models import Model
from whet.own.runs.settings import Endpoint

GOOD = openai_answer({"content": "Hello"})


def secured(server: Loopback, **environment: str) -> Asking:
    endpoint = Endpoint("mine", "openai", server.base_url, retries=0)
    return asking(endpoint, Model("m"), key=KEY, environment=environment, timing=timing(Pauses()))


@pytest.mark.parametrize("play", [streamed(GOOD), Play((GOOD,), framing="length")])
def test_a_connection_is_used_again(play: Play) -> None:
    with playing(play) as server:
        provider = asking_of(server)
        for _ in range(5):
            assert replied(provider).message.text == "Hello"
        assert {request.connection for request in server.requests} == {1}


@pytest.mark.parametrize(
    "play", [Play((GOOD,), framing="close"), streamed(GOOD, ending="cut"), streamed(GOOD, ending="reset")]
)
def test_a_connection_that_was_closed_is_renewed_without_a_wait(play: Play) -> None:
    pauses = Pauses()
    with playing(play) as server:
        provider = asking_of(server, pauses=pauses)
        for _ in range(3):
            assert replied(provider).message.text == "Hello"
        assert {request.connection for request in server.requests} == {1, 2, 3}
    assert pauses.seconds == []


def test_a_kept_connection_that_dies_unanswered_is_renewed_at_once() -> None:
    pauses = Pauses()
    dying = Play(framing="raw", ending="cut")
    with playing(streamed(GOOD), dying, streamed(GOOD)) as server:
        provider = asking_of(server, pauses=pauses)
        replied(provider)
        assert replied(provider).message.text == "Hello"
        assert [request.connection for request in server.requests] == [1, 1, 2]
    assert pauses.seconds == []


def test_many_threads_ask_at_the_same_time() -> None:
    with playing(streamed(GOOD)) as server, ThreadPoolExecutor(6) as pool:
        provider = asking_of(server)
        assert {reply.message.text for reply in pool.map(lambda _: replied(provider), range(30))} == {"Hello"}
        assert len(server.requests) == 30
        provider.close()


def test_a_long_request_arrives_whole() -> None:
    run = RUN.__class__(id="r", model="m", system="ä" * 3_000_000)
    with playing(streamed(GOOD)) as server:
        provider = asking_of(server)
        replied(provider, run)
        assert server.requests[0].body == provider.request(run)


def test_a_certificate_that_is_trusted_is_accepted() -> None:
    with playing(streamed(GOOD), secure=True) as server:
        provider = secured(server, SSL_CERT_FILE=str(CERTIFICATE))
        assert replied(provider).message.text == "Hello"
        assert replied(provider).message.text == "Hello"
        assert [request.connection for request in server.requests] == [1, 1]


def test_a_certificate_that_is_not_trusted_is_refused_once_with_advice() -> None:
    with playing(streamed(GOOD), secure=True) as server:
        with pytest.raises(ProviderFailed) as raised:
            replied(secured(server))
        assert server.requests == []
    assert raised.value.fault is ProviderFault.NETWORK
    assert "SSL_CERT_FILE" in raised.value.advice


def test_certificates_that_cannot_be_read_are_a_mistake_with_advice() -> None:
    with playing(streamed(GOOD), secure=True) as server, pytest.raises(WhetError, match=r"nowhere\.pem"):
        replied(secured(server, SSL_CERT_FILE="/nowhere.pem"))


def test_an_interrupt_ends_an_encrypted_answer_that_stalls() -> None:
    interrupt = Event()
    with playing(streamed(GOOD[:100], ending="stall"), secure=True) as server:
        server.on_stall = interrupt
        with pytest.raises(Interrupted):
            replied(secured(server, SSL_CERT_FILE=str(CERTIFICATE)), interrupt=interrupt)


def test_a_proxy_is_asked_for_the_way_and_sees_no_key() -> None:
    with playing(streamed(GOOD), secure=True) as server, tunnelling() as proxy:
        endpoint = Endpoint("mine", "openai", f"https://models.example.org:{server.port}/v1", retries=0)
        environment = {"HTTPS_PROXY": proxy.url, "SSL_CERT_FILE": str(CERTIFICATE)}
        provider = asking(endpoint, Model("m"), key=KEY, environment=environment, timing=timing(Pauses()))
        assert replied(provider).message.text == "Hello"
        assert replied(provider).message.text == "Hello"
        assert [each.line for each in proxy.asked] == [f"CONNECT models.example.org:{server.port} HTTP/1.1"]
        assert proxy.asked[0].headers["proxy-authorization"] == "Basic c29tZWJvZHk6c2VjcmV0IQ=="
        assert KEY not in str(proxy.asked)
        assert "proxy-authorization" not in server.requests[0].headers
        provider.close()


def test_a_proxy_that_refuses_is_told_with_advice() -> None:
    with playing(refused(407)) as server:
        endpoint = Endpoint("mine", "openai", "https://api.example.org/v1", retries=0)
        environment = {"HTTPS_PROXY": f"http://127.0.0.1:{server.port}"}
        provider = asking(endpoint, Model("m"), key=KEY, environment=environment, timing=timing(Pauses()))
        with pytest.raises(ProviderFailed) as raised:
            replied(provider)
    assert "HTTPS_PROXY" in raised.value.advice


def test_a_plain_endpoint_behind_a_proxy_is_asked_by_its_whole_address() -> None:
    with playing(streamed(GOOD)) as server:
        endpoint = Endpoint("mine", "openai", "http://models.example.org/v1", retries=0)
        environment = {"http_proxy": f"127.0.0.1:{server.port}"}
        provider = asking(endpoint, Model("m"), key=KEY, environment=environment, timing=timing(Pauses()))
        assert replied(provider).message.text == "Hello"
        request = server.requests[0]
    assert request.line == "POST http://models.example.org/v1/chat/completions HTTP/1.1"
    assert request.headers["host"] == "models.example.org"


def test_an_interrupt_ends_a_look_up() -> None:
    interrupt = Event()
    interrupt.set()
    with pytest.raises(Interrupted):
        look_up("host.invalid", 80, Patience(interrupt, lambda: 0.0, 5))


def test_a_look_up_that_takes_too_long_is_given_up() -> None:
    past = Event()
    past.set()
    with pytest.raises(TransportFailed, match="returned nothing"):
        look_up("host.invalid", 80, Patience(Event(), hurried_clock(past), 30))


NOW = 1_800_000_000.0


def asked(**headers: str) -> float | None:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return asked_wait(lambda name: given.get(name, ""), lambda: NOW)


@given(st.integers(1, 60), st.floats(0, 1, exclude_max=True))
def test_waits_grow_within_their_bounds(number: int, chance: float) -> None:
    seconds = delay(number, chance=chance)
    assert FIRST_SECONDS / 2 <= seconds <= MOST_SECONDS
    assert delay(number + 1, chance=chance) >= seconds


@given(st.integers(1, 60), st.floats(0, 1, exclude_max=True), st.floats(0, 100))
def test_what_the_endpoint_asks_for_is_the_least(number: int, chance: float, after: float) -> None:
    assert after <= delay(number, chance=chance, after_seconds=after) <= after + 1


def test_a_wait_is_read_in_every_form() -> None:
    assert asked(retry_after="7") == 7
    assert asked(retry_after="1.5") == 1.5
    assert asked(retry_after_ms="250", retry_after="9") == 0.25
    assert asked(retry_after=formatdate(NOW + 30, usegmt=True)) == 30
    assert asked(retry_after=formatdate(NOW - 30, usegmt=True)) == 0


def test_a_date_counts_by_the_clock_of_the_endpoint() -> None:
    assert asked(retry_after=formatdate(5000, usegmt=True), date=formatdate(4990, usegmt=True)) == 10


def test_no_sense_is_no_wish() -> None:
    for wish in ("", "soon", "-5", "nan", "inf", "Wed, 99 Foo 2026"):
        assert asked(retry_after=wish) is None, wish


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
