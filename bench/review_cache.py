"""What a review reads from the cache of the embedded model's server, beside the same review with a rebuilt prompt.

`python bench/review_cache.py` fetches the weights (98 MB) unless WHET_HOME has them. A conversation is played, then
forked with the real order of a review. Seconds depend on the machine; tokens and the ratio of the two times do not.
"""

import argparse
import os

from msgspec.structs import replace

from local_cache import RULE, TURNS, _asked, _home, _told
from whet.agent.providers.local import provider_for
from whet.agent.tools.toolbox import CHAT, built_in
from whet.improving.review import order_text as order
from whet.own.runs.run import Run, Sampling
from whet.own.runs.settings import Settings
from whet.own.told.passages import Circumstances
from whet.own.told.prompt import Sources, assemble
from whet.own.told.review_when import ReviewKind
from whet.shipped.guidance import built_in as guidance


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rules", type=int, default=200, help="lines added to the prompt, 25 tokens each")
    given = parser.parse_args()
    with _home() as home:
        chosen = provider_for("", home=home, settings=Settings(), environment=os.environ)
        shown = tuple(tool.definition for tool in built_in() if tool.name in CHAT)
        told = Circumstances(tools=tuple(one.name for one in shown), model=chosen.model.name, size="small")
        system = assemble(Sources(setting=told, guidance=guidance())).text
        rules = "".join(RULE.format(number) for number in range(given.rules))
        sampling = Sampling(temperature=0.0, output_tokens=24)
        run = Run("bench", chosen.model.name, f"{system}\n\n{rules}", shown=shown, sampling=sampling)
        print(f"{'call':<18} {'read':>6} {'cached':>6} {'share':>7} {'first word':>11}")
        for number, words in enumerate(TURNS[:3], start=1):
            run = _told(f"turn {number}", _asked(chosen.provider, run, words)).run
        review = _told("review", _asked(chosen.provider, run, order(ReviewKind.COMBINED, {})))
        second = _told("its second call", _asked(chosen.provider, review.run, "Go on."))
        read, cached = review.input + second.input, review.cached + second.cached
        rebuilt = replace(run, system=f"~{run.system}")
        other = _told("rebuilt prompt", _asked(chosen.provider, rebuilt, order(ReviewKind.COMBINED, {})))
        print(f"\nof the review's prompt tokens {cached / read:.1%} came from the cache")
        print(f"first word after {review.first_seconds:.2f} s; with a rebuilt prompt {other.first_seconds:.2f} s,")
        print(f"{other.first_seconds / review.first_seconds:.1f} times as long")


if __name__ == "__main__":
    main()
