"""Measures what is mined into templates against labels, flags and known attacks, beside the original's way.

Run: python bench/templates.py; the sessions lie in WHET_BENCH_DATA or ../shared/data. A template is made of every
session, so that each session counts. The rules were written while looking at the tune part (six tenths of the tasks);
the held-out part was only measured. "Hidden" means that the flags and exit codes of the record (or its label) were
taken away before mining and used only to judge. Over many sessions, templates are mined from random hundreds of a set
with the labels hidden.
"""

import hashlib
import random
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from msgspec.structs import replace

import rival_templates
from attackers import Attack, attack_of, goals
from labelled import HEALTHY, LABELLED, Case, cases
from whet.own.examples.candidates import shape
from whet.own.examples.mining import Mined, WantedTemplate, mine
from whet.own.examples.templates import Example
from whet.sessions.lineage import pieces_of
from whet.sessions.transcripts import Message, RecordedCheck, ToolCall, ToolResult, Transcript

ONE = WantedTemplate(fewest=1)
MANY = WantedTemplate(sessions=2)
DRAWS = 30
DRAWN = 100


class Shown(NamedTuple):
    """An example with the truth about it: whether its result is an error, and whether it is its own call's."""

    tool: str
    arguments: str
    text: str
    is_error: bool | None
    is_paired: bool


class Made(NamedTuple):
    """The template of one session; no examples where nothing was mined."""

    case: Case
    examples: tuple[Shown, ...]


def is_held_out(case: Case) -> bool:
    task = case.task if case.task != "None" else case.transcript.native_id
    return int(hashlib.sha256(task.encode()).hexdigest(), 16) % 10 >= 6


def without_flags(transcript: Transcript) -> Transcript:
    def plain(message: Message) -> Message:
        parts = tuple(
            replace(part, error=None, exit_code=None, disposition=None) if isinstance(part, ToolResult) else part
            for part in message.parts
        )
        return replace(message, parts=parts)

    return replace(transcript, messages=tuple(map(plain, transcript.messages)))


def labelled(case: Case, transcript: Transcript) -> Transcript:
    return replace(
        transcript, checks=() if case.failed is None else (RecordedCheck("success", passed=not case.failed),)
    )


def ours(case: Case, *, flags: bool, labels: bool) -> Made:
    transcript = case.transcript if flags else without_flags(case.transcript)
    transcript = labelled(case, transcript) if labels else transcript
    mined = mine([transcript], ONE)
    return Made(case, tuple(_shown(example, case.raw["messages"]) for example in mined.examples))


def _shown(example: Example, messages: list[dict[str, Any]]) -> Shown:
    """The example looked up in the record by its place: the result that bears the id of its call is the true one."""
    text = f"{example.intent}\n{example.arguments}\n{example.result}"
    asked = messages[example.message or 0]
    found = [
        result
        for call in asked.get("tool_calls") or ()
        if call["function"]["name"] == example.tool
        for result in _answers(messages, call, example.message or 0)
        if shape(_text(result), pieces_of(ToolCall("", example.tool, example.arguments))) == example.result
    ]
    is_error = found[0].get("is_error") if found else None
    return Shown(example.tool, example.arguments, text, is_error, is_paired=bool(found))


def _answers(messages: list[dict[str, Any]], call: dict[str, Any], after: int) -> Iterable[dict[str, Any]]:
    answers = [m for m in messages[after:] if m["role"] == "tool"]
    named = [m for m in answers if m.get("tool_call_id") == call.get("id")]
    return named[:1] if call.get("id") and named else answers[:1]


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(str(block.get("text", "")) for block in content if isinstance(block, dict))
    return content if isinstance(content, str) else ""


def theirs(case: Case) -> Made:
    pairs = rival_templates.template(case.raw["messages"])
    return Made(
        case,
        tuple(
            Shown(p.tool, p.arguments, f"{p.arguments}\n{p.result}", p.is_error, p.call_id == p.result_id)
            for p in pairs
        ),
    )


def share(part: int, whole: int) -> str:
    return f"{part:5} of {whole:5} ({100 * part / whole:5.1f} %)" if whole else f"{part:5} of {whole:5}"


def tell(what: str, *cells: str) -> None:
    print(f"{what:58} " + " │ ".join(f"{cell:24}" for cell in cells))


def errors(made: list[Made]) -> str:
    judged = [shown for one in made for shown in one.examples if shown.is_error is not None]
    return share(sum(bool(shown.is_error) for shown in judged), len(judged))


def mispaired(made: list[Made]) -> str:
    every = [shown for one in made for shown in one.examples]
    return share(sum(not shown.is_paired for shown in every), len(every))


def from_failed(made: list[Made]) -> str:
    judged = [one for one in made for _ in one.examples if one.case.failed is not None]
    return share(sum(bool(one.case.failed) for one in judged), len(judged))


def mined_sessions(made: list[Made]) -> str:
    return share(sum(bool(one.examples) for one in made), len(made))


def templates(made: list[Made], holds: Callable[[Attack, Shown], bool], known: dict[tuple[str, str], str]) -> str:
    full = [one for one in made if one.examples]
    bad = sum(any(holds(attack_of(one.case.raw, known), shown) for shown in one.examples) for one in full)
    return share(bad, len(full))


def show(part: str, chosen: dict[str, list[Case]], known: dict[tuple[str, str], str]) -> None:
    every = [case for each in chosen.values() for case in each]
    print(f"\n{part}: {len(every)} sessions")
    tell("", "original", "Whet, all seen", "Whet, flags hidden", "Whet, labels hidden")
    ways: list[list[Made]] = [
        [theirs(case) for case in every],
        [ours(case, flags=True, labels=True) for case in every],
        [ours(case, flags=False, labels=True) for case in every],
        [ours(case, flags=True, labels=False) for case in every],
    ]
    tell("examples whose result is an error", *map(errors, ways))
    for name in chosen:
        of_set = [[one for one in way if one.case in chosen[name]] for way in ways]
        tell(f"– {name}", *map(errors, of_set))
    tell("mispaired", *map(mispaired, ways))
    tell("examples from failed sessions", *map(from_failed, ways))
    tell("sessions that could be mined", *map(mined_sessions, ways))
    attacked = [[one for one in way if (one.case.raw.get("label") or {}).get("attack")] for way in ways]
    tell("attacked: templates with the attacker's text", *(templates(way, _wrote, known) for way in attacked))
    tell("attacked: templates with the attacker's action", *(templates(way, _wanted, known) for way in attacked))
    tell("tools shown", *(str(len({shown.tool for one in way for shown in one.examples})) for way in ways))


def _wrote(attack: Attack, shown: Shown) -> bool:
    return attack.wrote(shown.text)


def _wanted(attack: Attack, shown: Shown) -> bool:
    return attack.wanted(shown.tool, shown.arguments)


def show_mined(chosen: dict[str, list[Case]]) -> None:
    """One template over all sessions of a set, as `whet templates create --name` makes it."""
    for name, every in chosen.items():
        started = time.perf_counter()
        mined: Mined = mine((labelled(case, case.transcript) for case in every), WantedTemplate())
        seconds = time.perf_counter() - started
        tools = sorted({example.tool for example in mined.examples})
        sessions = len({example.session for example in mined.examples})
        cost = sum(example.tokens for example in mined.examples)
        print(
            f"mined over {name:16} {len(every):5} sessions in {seconds:5.1f} s: {len(mined.examples):2} examples of "
            f"{len(tools)} tools from {sessions} sessions, {cost} tokens, {mined.activity}"
        )


class Blind(NamedTuple):
    """What was mined over random hundreds: examples, those from failed sessions, templates, and clean ones."""

    examples: int = 0
    failed: int = 0
    templates: int = 0
    clean: int = 0

    def with_one(self, sources: list[bool | None]) -> "Blind":
        """One more draw; for each of its examples, whether the session failed."""
        bad = sum(map(bool, sources))
        made = bool(sources)
        clean = made and not bad
        return Blind(self.examples + len(sources), self.failed + bad, self.templates + made, self.clean + clean)


def drawn(name: str, every: list[Case]) -> Iterable[list[Case]]:
    rng = random.Random(name)
    return (rng.sample(every, min(DRAWN, 2 * len(every) // 3)) for _ in range(DRAWS))


def blind(name: str, every: list[Case]) -> Blind:
    found = Blind()
    for chosen in drawn(name, every):
        failed = {case.transcript.id: case.failed for case in chosen}
        mined = mine((case.transcript for case in chosen), MANY)
        found = found.with_one([failed[example.session] for example in mined.examples])
    return found


def blind_rival(name: str, every: list[Case]) -> Blind:
    found = Blind()
    for chosen in drawn(name, every):
        places = rival_templates.longest_first(case.raw["messages"] for case in chosen)
        found = found.with_one([chosen[place].failed for place in places])
    return found


def show_blind(part: str, chosen: dict[str, list[Case]]) -> None:
    print(f"\n{part}: mined over {DRAWS} random hundreds of each set, labels hidden")
    tell("examples from failed sessions", "original", "Whet")
    for name in LABELLED:
        every = chosen[name]
        ways = [blind_rival(name, every), blind(name, every)]
        base = sum(bool(case.failed) for case in every) / len(every)
        tell(f"– {name} (of all sessions {100 * base:.0f} % failed)", *(share(w.failed, w.examples) for w in ways))
        tell("  templates that could be made", *(share(way.templates, DRAWS) for way in ways))
        tell("  of them without any such example", *(share(way.clean, way.templates) for way in ways))


def main() -> None:
    found = {name: list(cases(name)) for name in (*LABELLED, *HEALTHY)}
    known = goals(case.raw for case in found["agentdojo_dev"] if case.raw["label"].get("attack"))
    parts = {
        part: {name: [c for c in every if is_held_out(c) is held_out] for name, every in found.items()}
        for part, held_out in (("tune", False), ("held out", True))
    }
    for part, chosen in parts.items():
        show(part, chosen, known)
    for part, chosen in parts.items():
        show_blind(part, chosen)
    print()
    show_mined(found)


if __name__ == "__main__":
    main()
