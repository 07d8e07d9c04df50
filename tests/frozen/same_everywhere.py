"""Texts of a run as they would be on any machine at any time: folders, times and hints about the machine taken out."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

HINTS = Path(__file__).parents[2] / "src" / "whet" / "shipped" / "guidance" / "hints"
DATED = ("job", "template")
SLACK_SECONDS = 2.0
DAY_SECONDS = 86_400.0
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|\+00:00)")
_MAKER = re.compile(r'(?<="maker": )"[^"]+"')  # an account of the machine, or a role of the server
_LONG = re.compile(r"(?<![\w.])\d+\.\d{12,}(?:e-\d+)?(?![\w.])")  # sums whose last digits depend on their order
_SECONDS = re.compile(r"(?<![\w.])1\d{9}(?:\.\d+)?(?![\w.])")


class Run(NamedTuple):
    """Where a run stood, where its examples lie, and from when to when it went."""

    root: Path
    examples: Path
    began: float
    ended: float

    def told(self, seconds: float, otherwise: str) -> str:
        """A moment in words, where it depends on when the run was."""
        if seconds < self.began - SLACK_SECONDS:
            return otherwise
        if seconds <= self.ended + SLACK_SECONDS:
            return "<now>"
        days, rest = divmod(seconds - self.began + SLACK_SECONDS, DAY_SECONDS)
        return f"<in {days:.0f} days>" if rest <= self.ended - self.began + 2 * SLACK_SECONDS else "<later>"


def plain(text: str, run: Run, known: Mapping[str, str]) -> str:
    """The text without what only this run has; `known` are words to be told in others."""
    for word, told in {str(run.root): "<root>", str(run.examples): "<examples>", **known}.items():
        text = text.replace(word, told)
    text = _ISO.sub(lambda found: run.told(datetime.fromisoformat(found[0]).timestamp(), found[0]), text)
    text = _SECONDS.sub(lambda found: run.told(float(found[0]), found[0]), text)
    text = _LONG.sub(lambda found: f"{float(found[0]):.10g}", text)
    text = _MAKER.sub('"<maker>"', text)
    for at in (run.began, run.ended):
        text = text.replace(datetime.fromtimestamp(at, UTC).date().isoformat(), "<today>")
    return text


def digests_of_dated(ledger: str) -> dict[str, str]:
    """The digests of what holds the time when it was made, and words for each."""
    entries = [each for each in json.loads(ledger)["entries"] if each["form"] in DATED]
    return {
        each[field]: f"<{field} of {each['name']}>"
        for each in entries
        for field in ("patch", "before", "after")
        if each[field]
    }


def without_machine(prompt: str) -> str:
    """A prompt without its key and without what it says of the machine that it was made on."""
    found = json.loads(prompt)
    del found["key"]
    for path in sorted(HINTS.glob("*.md")):
        _, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
        if "environments:" in front:
            found["stable"] = found["stable"].replace(f"\n\n{body.strip()}", "")
            found["parts"] = [part for part in found["parts"] if part["name"] != f"hint: {path.stem}"]
    return json.dumps(found, indent=2, ensure_ascii=False) + "\n"
