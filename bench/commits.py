"""Cases from the commits of real repositories: `python bench/commits.py REPOSITORY... [--count N] [--installs DIR]`.

Of each repository the newest commits that change code and tests are tried, with dependencies installed as the lock file
says, and every one of them is reported.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

from whet.proving.cases_from_commits import CommitsAsked, cases_from_commits
from whet.proving.repositories import changed, commits
from whet.store.home import Home, prepare_home
from whet.trials.ways_to_test import is_code, is_test


def chosen(repository: Path, count: int) -> tuple[str, ...]:
    """The newest commits without merges that change code and tests."""
    found: list[str] = []
    for commit in commits(repository, "--no-merges", "--max-count=2000"):
        paths = changed(repository, commit.parents[0], commit.id) if commit.parents else ()
        if any(map(is_test, paths)) and any(map(is_code, paths)):
            found.append(commit.id)
        if len(found) == count:
            break
    return tuple(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--installs", type=Path, default=Path(tempfile.gettempdir(), "whet-installs"))
    options = parser.parse_args()
    print("| repository | commit | case or why not | check | seconds |\n|---|---|---|---|--:|", flush=True)
    with tempfile.TemporaryDirectory(prefix="whet-commits-", ignore_cleanup_errors=True) as temporary:
        home = Home(Path(temporary, "home"))
        prepare_home(home)
        for each in options.repositories:
            repository = each.resolve()
            asked = CommitsAsked(repository, named=chosen(repository, options.count), installs=options.installs)
            kept, began = 0, time.monotonic()
            for made in cases_from_commits(home, asked):
                kept += made.case is not None
                check = made.case.check.command[:60] if made.case else ""
                why = (
                    made.left_out.value
                    if made.left_out
                    else f"case, {len(made.case.check.reports if made.case else ())} tests"
                )
                said = f" ({made.said[:100]})" if made.said else ""
                name = repository.name
                print(f"| {name} | {made.commit.id[:8]} {made.commit.message[:40].splitlines()[0]} | {why}{said} |"
                      f" {check} | {time.monotonic() - began:.0f} |", flush=True)  # fmt: skip
                began = time.monotonic()
            print(f"| **{repository.name}** | | **{kept} of {len(asked.named)}** | | |", flush=True)


if __name__ == "__main__":
    os.environ.setdefault("CI", "1")
    main()
