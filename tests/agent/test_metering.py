"""Background calls against the daily limit: counted by the machine's own day, never past it."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from msgspec.structs import replace

from replies import says
from whet.agent.metering import Meter, local_day, metered, next_day
from whet.agent.protocols import Chosen, ProviderFailed, ProviderFault, Reply
from whet.agent.providers.choosing import Scripted, Step
from whet.own.runs.models import Amount, DaySpent, Model, Postponed, Prices
from whet.own.runs.run import Run
from whet.sessions.transcripts import Message, Purpose, Role, Text, Usage
from whet.sessions.trust import Trust
from whet.store.background_costs import BackgroundCall, begin_call, costs_since, spent_on_day
from whet.store.home import Home
from whet.store.opening import identity_of, opened
from whet.store.settings_file import load

NOON = 1_790_000_000.0
RUN = Run(
    "one", "scripted", "Help.", (Message(Role.USER, (Text("Hello."),), Trust.USER),), purpose=Purpose.REVIEW
)  # fmt: skip
ANSWER = says("Hi.", usage=Usage(100, 20, cost_dollars=0.25))


class Clock:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        return self.now


def limit(home: Home, tokens: int, dollars: float = 1.0) -> None:
    home.folder.mkdir(parents=True, exist_ok=True)
    text = f"[background]\ntokens_per_day = {tokens}\ndollars_per_day = {dollars}\n"
    (home.folder / "settings.toml").write_text(text)


def ask(home: Home, clock: Clock, *steps: Step, output: int | None = 1_000) -> Reply:
    chosen = metered(Chosen(Scripted(steps), Model("scripted", output_tokens=output)), Meter(home, now=clock))
    pieces = list(chosen.provider.reply(RUN, interrupt=Event()))
    assert isinstance(pieces[-1], Reply)
    return pieces[-1]


def spent(home: Home, now: float) -> DaySpent:
    with opened(home) as database:
        return spent_on_day(database, identity_of(home), local_day(now))


def test_a_call_is_counted_with_what_it_cost(home: Home) -> None:
    ask(home, Clock(), ANSWER)
    assert spent(home, NOON) == DaySpent(Amount(120, 0.25))
    with opened(home) as database:
        [cost] = costs_since(database, identity_of(home), local_day(NOON))
    assert (cost.purpose, cost.calls) == ("review", 1)


def test_what_does_not_fit_waits_for_the_next_day(home: Home) -> None:
    limit(home, 2_000)
    clock = Clock()
    ask(home, clock, says("Hi.", usage=Usage(1_000, 20)))
    with pytest.raises(Postponed) as waits:
        ask(home, clock, ANSWER)
    assert waits.value.until == next_day(NOON)
    assert not waits.value.has_room()
    clock.now = waits.value.until
    assert waits.value.has_room()
    ask(home, clock, ANSWER)
    assert spent(home, clock.now).all.tokens == 120


def test_a_limit_that_is_raised_lets_work_go_on_the_same_day(home: Home) -> None:
    limit(home, 0)
    with pytest.raises(Postponed) as waits:
        ask(home, Clock(), ANSWER)
    limit(home, 100_000)
    assert waits.value.has_room()


def test_dollars_are_limited_too(home: Home) -> None:
    limit(home, 1_000_000, dollars=0.3)
    priced = Model("scripted", output_tokens=1_000)
    ask(home, Clock(), ANSWER)
    chosen = metered(Chosen(Scripted([ANSWER]), replace(priced, prices=Prices(1.0, 100.0))), Meter(home, now=Clock()))
    with pytest.raises(Postponed):
        list(chosen.provider.reply(RUN, interrupt=Event()))


def test_the_longest_answer_is_bounded_so_that_it_can_be_set_aside(home: Home) -> None:
    seen: list[int | None] = []

    def answer(run: Run) -> Reply:
        seen.append(run.sampling.output_tokens)
        return ANSWER

    ask(home, Clock(), answer, output=200_000)
    ask(home, Clock(), answer, output=500)
    assert seen == [16_384, 500]


def test_a_refused_request_costs_nothing_and_a_broken_one_what_was_set_aside(home: Home) -> None:
    with pytest.raises(ProviderFailed):
        ask(home, Clock(), ProviderFailed(ProviderFault.KEY, "no key"))
    assert spent(home, NOON).all.tokens == 0
    with pytest.raises(ProviderFailed):
        ask(home, Clock(), ProviderFailed(ProviderFault.NETWORK, "cut off"))
    assert spent(home, NOON).held.tokens > 1_000


def test_another_worker_does_not_take_the_same_room(home: Home) -> None:
    limit(home, 1_500)
    with opened(home) as database:
        call = BackgroundCall("a", identity_of(home), local_day(NOON), "trial", Amount(1_000), NOON)
        found = [begin_call(database, call._replace(id=id), load(home).background) for id in "ab"]
    assert found == ["free", "busy"]


def test_the_day_is_that_of_the_machine() -> None:
    assert next_day(next_day(NOON)) > next_day(NOON) > NOON
    assert local_day(next_day(NOON) - 1) == local_day(NOON) != local_day(next_day(NOON))


def test_many_calls_at_once_never_pass_the_limit_together(home: Home) -> None:
    limit(home, 5_000)
    with opened(home):  # made before they all come
        pass

    def call(_: int) -> bool:
        try:
            ask(home, Clock(), says("Hi.", usage=Usage(200, 1_000)))
        except Postponed:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(call, range(8)))
    assert 1 <= sum(done) <= 4
    assert spent(home, NOON) == DaySpent(Amount(1_200 * sum(done)))
