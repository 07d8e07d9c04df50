"""What the embedded model's server reads from its cache: a conversation of several turns, and the first byte changed.

`python bench/local_cache.py` fetches the weights (98 MB) unless WHET_HOME has them. Seconds depend on the machine and
on what else runs there; tokens do not, and the ratio between the two times little.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import NamedTuple

from msgspec.structs import replace

from whet.agent.assembling import says
from whet.agent.protocols import Provider, Reply
from whet.agent.providers.local import provider_for
from whet.agent.providers.local_download import pull_package
from whet.agent.providers.local_weights import EMBEDDED, kept
from whet.agent.tools.toolbox import CHAT, built_in
from whet.own.runs.run import Run, Sampling, grown
from whet.own.runs.settings import Settings
from whet.own.told.passages import Circumstances
from whet.own.told.prompt import Sources, assemble
from whet.shipped.guidance import built_in as guidance
from whet.store.home import Home, find_home

TURNS = (
    "What is a lighthouse for?",
    "And who looks after it?",
    "Name one of them.",
    "Why did they stop?",
    "What came after?",
    "Thank you. Say it in one line.",
)
REVIEW = "Is there anything worth keeping for later?"
RULE = "Rule {0}: when a task of kind {0} comes up, look at its notes first, and then do it step by step.\n"


class Turn(NamedTuple):
    """One model call: what was read, what of it from the cache, and the seconds up to the first word."""

    run: Run
    input: int
    cached: int
    first_seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rules", type=int, default=40, help="lines added to the prompt, 25 tokens each")
    given = parser.parse_args()
    with _home() as home:
        chosen = provider_for("", home=home, settings=Settings(), environment=os.environ)
        shown = tuple(tool.definition for tool in built_in() if tool.name in CHAT)
        told = Circumstances(tools=tuple(one.name for one in shown), model=chosen.model.name, size="small")
        system = assemble(Sources(setting=told, guidance=guidance())).text
        sampling = Sampling(temperature=0.0, output_tokens=24)
        bare = Run(id="bench", model=chosen.model.name, system=system, shown=shown, sampling=sampling)
        warm_up = _asked(chosen.provider, replace(bare, system="Say hello.", shown=()), "Hello.")
        alone = _asked(chosen.provider, bare, TURNS[0])
        print(f"prompt of the small profile with its tools and one question: {alone.input} tokens")
        rules = "".join(RULE.format(number) for number in range(given.rules))
        _report(chosen.provider, replace(bare, system=f"{system}\n\n{rules}"), warm_up)


def _report(provider: Provider, run: Run, warm_up: Turn) -> None:
    print(f"(server warm: first word of a bare question after {warm_up.first_seconds:.2f} s)\n")
    print(f"{'turn':<18} {'read':>6} {'cached':>6} {'share':>7} {'first word':>11}")
    turns: list[Turn] = []
    for number, words in enumerate(TURNS, start=1):
        turns.append(_told(f"turn {number}", _asked(provider, run, words)))
        run = turns[-1].run
        if number == 3:
            _told("review's fork", _asked(provider, run, REVIEW))
    later = turns[1:]
    share = sum(turn.cached for turn in later) / sum(turn.input for turn in later)
    print(f"\nturn 2 and later: {share:.1%} of the prompt's tokens from the cache")
    second = replace(turns[0].run, system=f"~{turns[0].run.system[1:]}")
    changed = _told("turn 2, 1st byte ≠", _asked(provider, second, TURNS[1]))
    same = _told("turn 2 again", _asked(provider, turns[0].run, TURNS[1]))
    first = statistics.median((turns[1].first_seconds, same.first_seconds))
    print(f"\nfirst word on turn 2: {first:.2f} s; with one byte changed at the start: {changed.first_seconds:.2f} s,")
    print(f"{changed.first_seconds / first:.0f} times as long")


def _told(name: str, turn: Turn) -> Turn:
    print(f"{name:<18} {turn.input:>6} {turn.cached:>6} {turn.cached / turn.input:>7.1%} {turn.first_seconds:>9.2f} s")
    return turn


def _asked(provider: Provider, run: Run, words: str) -> Turn:
    run = grown(run, says(words, now=0.0))
    began = time.monotonic()
    first = 0.0
    for piece in provider.reply(run, interrupt=Event()):
        first = first or time.monotonic() - began
        if isinstance(piece, Reply):
            assert piece.message.usage is not None
            return Turn(grown(run, piece.message), piece.message.usage.input, piece.message.usage.cached, first)
    raise AssertionError("a provider ends with a reply")


@contextmanager
def _home() -> Iterator[Home]:
    own = find_home(os.environ)
    if os.environ.get("WHET_HOME") and any(each.name == EMBEDDED.name for each in kept(own)):
        yield own
        return
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        pull_package(EMBEDDED, home, environment=os.environ)
        yield home


if __name__ == "__main__":
    main()
