"""Does a warm start help a weak model? Cold, placebo and warm through the gate, on tasks of our own.

    python bench/trials.py --model PATH.gguf [--template CHAT.jinja] [--steps one|several|both|tuning] [--most N]

Examples are mined from nine pieces of work that a script does with the real tools; the tasks are others. Without
--model it is the embedded one, whose weights `whet models pull` fetches. Everything happens in a home of its own.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from itertools import count
from pathlib import Path
from threading import Event

from trial_cases import TOOLS, WORK, Work, by_tool, one_step, several_steps
from tuning_cases import tuning, tuning_steps
from whet.agent.assembling import RunParts, new_id, perform
from whet.agent.assembling import says as order
from whet.agent.compaction import Compacting
from whet.agent.providers.choosing import Call, Scripted, ScriptLine, reply_of
from whet.agent.redacting import Secrets
from whet.agent.tools.situation import Situation
from whet.agent.tools.toolbox import toolbox
from whet.changes.writing import Author, keep_template
from whet.cli.procedures import direct
from whet.ledger.entries import Actor
from whet.ledger.patches import Action, Form, Patch
from whet.own.examples.mining import WantedTemplate, mine
from whet.own.examples.templates import Template, described, written
from whet.own.runs.run import Run, Sampling
from whet.proving.plan import WantedTrial, prepare
from whet.proving.trial import trial
from whet.sessions.trust import Trust
from whet.store.database import Database
from whet.store.home import Home, prepare_home
from whet.store.listing import Filters
from whet.store.opening import opened
from whet.store.template_files import list_templates, stored_transcripts
from whet.trials.attempts import Arm, AttemptConditions
from whet.trials.design import TrialDesign, TrialProgress, plan

NAME = "small-file-work"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="", help="A GGUF file; else the embedded model.")
    parser.add_argument("--template", default="", help="A chat template in place of the file's own.")
    parser.add_argument("--steps", choices=("one", "several", "both", "tuning"), default="one")
    parser.add_argument("--check", choices=("tool", "whole"), default="whole", help="tool: the right one, well called.")
    parser.add_argument("--most", type=int, default=0, help="Only so many cases.")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--output-tokens", type=int, default=96)
    parser.add_argument("--no-placebo", action="store_true", help="Two arms only.")
    parser.add_argument("--all-cases", action="store_true", help="Never stop early: nothing decides.")
    parser.add_argument("--trial", default="", help="With --home: go on with the trial of this id.")
    parser.add_argument("--home", default="", help="A folder to keep; else one that is removed.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="whet-bench-") as temporary:
        home = Home(Path(options.home or temporary).absolute())
        prepare_home(home)
        settings(home, options)
        with opened(home) as database:
            template = examples(home, database)
            print(
                f"{len(template.examples)} examples, {template.tokens} tokens: {', '.join(template.tools)}", flush=True
            )
            conduct(home, database, template, options)


def settings(home: Home, options: argparse.Namespace) -> None:
    local = f'template = "{options.template}"\n' if options.template else ""
    (home.folder / "settings.toml").write_text(
        f'model = "local:{options.model}"\n[models.local]\nwindow = 8192\n[local]\n{local}'
        if options.model
        else f'model = "local"\n[local]\n{local}'
    )
    if not options.model:
        weights = Path(os.environ.get("WHET_BENCH_WEIGHTS", Path.home() / ".cache/local-models/smol.gguf"))
        models = home.folder / "models"
        models.mkdir(exist_ok=True)
        if not (models / "SmolLM2-135M-Instruct.gguf").exists() and weights.exists():
            (models / "SmolLM2-135M-Instruct.gguf").write_bytes(weights.read_bytes())


def examples(home: Home, database: Database) -> Template:
    """Do the work with the real tools, then mine what worked."""
    known = [found.value for found in list_templates(home.folder) if found.name == NAME and found.value]
    if known:
        return known[0]
    for work in WORK:
        do(home, database, work)
    mined = mine(stored_transcripts(database, Filters(), limit=100), WantedTemplate(is_vouched=True))
    if not mined.examples:
        sys.exit(f"nothing could be mined: {mined.refused} {mined.left_out}")
    template = Template(NAME, mined.examples, mined.activity, described(mined.examples), created=time.time())
    keep_template(Author(home, database, Actor.PERSON, Trust.USER, time.time()), template, replace=False)
    return template


def do(home: Home, database: Database, work: Work) -> None:
    with tempfile.TemporaryDirectory(prefix="whet-work-") as folder:
        for path, text in work.files.items():
            Path(folder, path).write_text(text)
        box = toolbox(Situation(Path(folder), home, "work", os.environ, told=Trust.OPERATOR), sets=TOOLS, messages=())
        replies = [reply_of(ScriptLine(calls=(Call(name, json.dumps(arguments)),))) for name, arguments in work.calls]
        run = Run(
            id=new_id(time.time()),
            model="scripted",
            system="You work with files.",
            messages=(order(work.task, now=time.time()),),
            shown=box.definitions,
            allowed=box.names,
            folder=folder,
        )
        means = RunParts(
            Scripted([*replies, reply_of(ScriptLine(text=work.answer))]),
            box,
            Compacting(lambda: "", enabled=False),
            Secrets(),
        )
        for _ in perform(database, run, means, interrupt=Event()):
            pass
        box.close()


def conduct(home: Home, database: Database, template: Template, options: argparse.Namespace) -> None:
    every = {"one": one_step(), "several": several_steps(), "tuning": (*tuning(), *tuning_steps())}
    cases = (*every["one"], *every["several"]) if options.steps == "both" else every[options.steps]
    if options.check == "tool":
        cases = tuple(by_tool(case) for case in cases)
    patch = Patch(Form.TEMPLATE, Action.ADD, NAME, written(template), trust=Trust.AGENT)
    wanted = WantedTrial(
        patch,
        cases[: options.most or None],
        TrialDesign(options.seeds, 1e-9 if options.all_cases else 0.05, not options.no_placebo),
        AttemptConditions(sampling=Sampling(temperature=options.temperature, output_tokens=options.output_tokens)),
    )
    ready = prepare(home, database, wanted, id=options.trial or new_id(time.time()), now=time.time())
    print(f"trial {ready.id}")
    found = plan(ready)
    print(f"plan: {found.cases} cases, alpha {found.alpha:.4f}, finds {found.minimum_effect:.2f},"
          f" at most {found.attempts_most} attempts", flush=True)  # fmt: skip
    started, looks = time.monotonic(), count(1)

    def observe(progress: TrialProgress) -> None:
        verdict = progress.result.verdict
        rates = " ".join(f"{each.arm}={each.passed}/{each.attempts}" for each in progress.result.tallies)
        print(f"{next(looks):3} {time.monotonic() - started:6.0f} s {rates} effect {verdict.effect:+.2f}"
              f" help {verdict.evidence_help:.1f} harm {verdict.evidence_harm:.1f}", flush=True)  # fmt: skip

    done = trial(home, direct(home, ready.id), ready, observe=observe)
    report(json.loads(done.value), done.summary)


def report(progress: dict[str, object], summary: str) -> None:
    print(summary)
    result = progress["result"]
    assert isinstance(result, dict)
    print("| arm | passed | early errors | no call worked | first success (turn) | errors | tools | tokens | seconds |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for each in result["tallies"]:
        first = each.get("first_success_turn")
        low, high = each["interval"]
        print(
            f"| {Arm(each['arm']).value} | {each['passed']} of {each['attempts']} ({low:.2f} to {high:.2f}) "
            f"| {each['early_error_rate']:.2f} | {each['no_success']} | {first if first is None else round(first, 2)} "
            f"| {each['errors']:.2f} | {each['tools']:.2f} | {each['tokens']:.0f} | {each['seconds']:.1f} |"
        )
    for name in ("verdict", "lesson", "form"):
        verdict = result.get(name)
        if verdict:
            low, high = verdict["interval"]
            print(f"{name}: {verdict['ruling']} {verdict['effect']:+.3f} ({low:+.3f} to {high:+.3f}), evidence of help "
                  f"{verdict['evidence_help']:.1f}, of harm {verdict['evidence_harm']:.1f}, {verdict['cases']} cases,"
                  f" alpha {verdict['alpha']:.4f}")  # fmt: skip
    print(
        f"price: {progress.get('price')}; always {len(result.get('always', []))}, never {len(result.get('never', []))}"
    )


if __name__ == "__main__":
    main()
