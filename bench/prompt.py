"""What assembling a prompt costs with 500 skills, beside joining the same strings, taken in turns in one run.

.venv/bin/python bench/prompt.py [--runs 2000] [--skills 500] [--rules 200]
"""

import argparse
import datetime
import gc
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from whet.own.told.passages import Circumstances
from whet.own.told.prompt import Budgets, ContextFile, Material, Prompt, Rule, Sources, assemble
from whet.sessions.trust import Trust
from whet.shipped.guidance import built_in
from whet.store.home import Home
from whet.store.opening import opened
from whet.telling.context.gathering import PromptRequest, gather

AIM_MILLISECONDS = 50.0
TOOLS = (
    "terminal",
    "edit_file",
    "memory",
    "session_search",
    "skill_view",
    "web_search",
    "computer_use",
    "finish",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--skills", type=int, default=500)
    parser.add_argument("--rules", type=int, default=200)
    options = parser.parse_args()
    sources = made(options.skills, options.rules)
    prompt = assemble(sources)
    lines = [line for tier in (prompt.stable, prompt.context, prompt.volatile) for line in tier.split("\n")]
    ways: dict[str, Callable[[], object]] = {
        "joining the same lines": lambda: "\n".join(lines),
        "assemble": lambda: assemble(sources),
        "assemble and key": lambda: assemble(sources).key,
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    gc.disable()  # its pauses belong to whoever made the garbage
    for _ in range(options.runs):
        for name, way in ways.items():
            began = time.perf_counter()
            way()
            times[name].append((time.perf_counter() - began) * 1e3)
    gc.enable()
    times["gather from disk, assemble"] = gathered(options.skills, max(options.runs // 20, 2))
    report(times, prompt, options.skills, options.rules)


def gathered(skills: int, runs: int) -> list[float]:
    """The whole way from a home folder with so many skills to the prompt."""
    taken: list[float] = []
    with tempfile.TemporaryDirectory() as scratch:
        home = Home(Path(scratch) / "home")
        for number in range(skills):
            folder = home.folder / "skills" / f"task-{number}"
            folder.mkdir(parents=True)
            about = f"name: task-{number}\ndescription: How to do the kind of task that has the number {number}."
            (folder / "SKILL.md").write_text(f"---\n{about}\n---\n\n{'Do one step, then look. ' * 40}\n")
        request = PromptRequest(Circumstances(TOOLS, "gpt-5", "openai"), None, datetime.date(2026, 10, 1))
        with opened(home) as database:
            for _ in range(runs):
                began = time.perf_counter()
                assemble(gather(home, database, request))
                taken.append((time.perf_counter() - began) * 1e3)
    return taken


def made(skills: int, rules: int) -> Sources:
    """A heavy setting: every kind of source, a skill index that is not cut, files that are."""
    index = "\n".join(
        f"- skill-{number}: how to do the kind of task that has the number {number}" for number in range(skills)
    )
    return Sources(
        setting=Circumstances(TOOLS, "gpt-5", "openai", "unattended", "slack", ("ci", "container", "root")),
        guidance=built_in(),
        identity=Material("I am the assistant of a nursery. " * 40, Trust.OPERATOR),
        skills=Material(index, Trust.AGENT),
        rules=tuple(Rule(f"Rule {number}: read the result before you go on.", Trust.AGENT) for number in range(rules)),
        caller=Material("Check the beds.", Trust.OPERATOR),
        files=tuple(ContextFile(f"{depth}/AGENTS.md", f"Folder {depth}: 4 °C. " * 2_000) for depth in range(5)),
        memory=Material("- The pump is loud.\n" * 100, Trust.AGENT),
        user=Material("- Likes tea.\n" * 90, Trust.AGENT),
        external=Material("Frost was recorded on 12 nights. " * 100, Trust.EXTERNAL),
        date=datetime.date(2026, 10, 1),
        budgets=Budgets(skills=1_000 + 40 * skills),
    )


def report(times: dict[str, list[float]], prompt: Prompt, skills: int, rules: int) -> None:
    tokens = sum(part.tokens for part in prompt.parts)
    runs, from_disk = (len(times[name]) for name in ("assemble", "gather from disk, assemble"))
    print(f"{skills} skills, {rules} rules, 5 context files: about {tokens:,} tokens")
    print(f"{runs:,} runs each, in turns; {from_disk} from disk")
    base = statistics.median(times["joining the same lines"])
    print(f"{'':<28}{'p50 ms':>9}{'p90 ms':>9}{'p99 ms':>9}{'most ms':>9}{'ratio':>9}")
    for name, found in times.items():
        cuts = statistics.quantiles(found, n=100, method="inclusive")
        ratio = statistics.median(found) / base
        print(f"{name:<28}{cuts[49]:>9.3f}{cuts[89]:>9.3f}{cuts[98]:>9.3f}{max(found):>9.3f}{ratio:>9.1f}")
    worst = statistics.quantiles(times["assemble and key"], n=100, method="inclusive")[98]
    print(f"assembling takes {worst:.2f} ms at the 99th percentile; the aim is less than {AIM_MILLISECONDS:g}")
    sys.exit(worst >= AIM_MILLISECONDS)


if __name__ == "__main__":
    main()
