"""Judge an experiment: does the new prompt really do better than the old one on the same cases?

From the folder of the project: python examples/judge_experiment.py [TABLE.csv]
The table that comes with this example is made up: 40 cases, each with the old and the new prompt.
"""

import csv
import sys
from collections import defaultdict
from pathlib import Path

import whet

TABLE = Path(sys.argv[1] if len(sys.argv) > 1 else "examples/outcomes.csv")


def in_words(verdict: whet.Verdict) -> str:
    effect, low, high = (f"{100 * share:+.0f}" for share in (verdict.effect, *verdict.interval))
    return (
        f"{verdict.ruling.value} after {verdict.cases} cases: {effect} points ({low} to {high}), "
        f"error rate at most {verdict.alpha:.0%}"
    )


# A whole table at once, as `whet judge` takes it.
print(in_words(whet.judge(TABLE, base="old", candidate="new")))

# Or case by case while the experiment runs. Looking after each case is honest here, and saves the rest once it is
# decided. Your own experiment would run both arms on one more case in each round.
passed: dict[str, dict[str, int]] = defaultdict(dict)
with TABLE.open(newline="") as file:
    for row in csv.DictReader(file):
        passed[row["case"]][row["arm"]] = int(row["passed"])
differences: list[float] = []
for arms in passed.values():
    differences.append(arms["new"] - arms["old"])
    verdict = whet.judge(differences)
    if verdict.ruling != "undecided":
        print(in_words(verdict))
        break
else:
    print("More cases are needed.")
