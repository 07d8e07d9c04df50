"""Sessions for the search bench: words as frequent as in real text, with paths, names, flags and tools among them."""

import itertools
import random
from collections.abc import Iterator

from whet.sessions.transcripts import Message, Role, Text, ToolCall, ToolResult, Transcript
from whet.sessions.trust import Trust

VOCABULARY = 120_000
EXPONENT = 1.05
COMMON = """
the to of and a in is it for that error file with this on test be are not as i run was can if from now code will let
all by or an line so have function
"""
SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu bra cle dri flo gru sta pre"
SOURCES = {"claude-code": 600, "codex": 250, "pi": 100, "gemini": 48, "openhands": 2}
MODELS = {
    "claude-code": "sonnet-4",
    "codex": "gpt-5",
    "pi": "opus-4",
    "gemini": "gemini-2.5-pro",
    "openhands": "qwen",
}
TOOLS = {"Bash": 500, "Read": 250, "Edit": 150, "Grep": 95, "WebFetch": 4, "NotebookEdit": 1}
FOLDERS = 400
START, SPAN = 1_735_689_600.0, 365 * 86_400.0


class Words:
    """A seeded source of text in which the word of rank r is as frequent as 1 / r ** EXPONENT."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.vocabulary = self._vocabulary()
        self._weights = list(itertools.accumulate(1 / rank**EXPONENT for rank in range(1, VOCABULARY + 1)))
        self.folders = [f"/home/kim/work/{self.name()}-{number}" for number in range(FOLDERS)]
        self._folder_weights = list(itertools.accumulate(1 / rank for rank in range(1, FOLDERS + 1)))

    def _vocabulary(self) -> list[str]:
        made, syllables = dict.fromkeys(COMMON.split()), SYLLABLES.split()
        while len(made) < VOCABULARY:
            made["".join(self.random.choices(syllables, k=self.random.choice((2, 3, 3, 4, 5))))] = None
        return list(made)

    def text(self, median: int) -> str:
        count = min(int(self.random.lognormvariate(0, 1) * median) + 1, 4_000)
        words = self.random.choices(self.vocabulary, cum_weights=self._weights, k=count)
        words.insert(self.random.randrange(count), self._code())
        return " ".join(words)

    def folder(self) -> str:
        return self.random.choices(self.folders, cum_weights=self._folder_weights)[0]

    def name(self) -> str:
        return self.random.choice(self.vocabulary[:5_000])

    def path(self) -> str:
        return f"src/{self.name()}/{self.name()}_{self.name()}.py"

    def chosen(self, shares: dict[str, int]) -> str:
        return self.random.choices(list(shares), list(shares.values()))[0]

    def _code(self) -> str:
        form = self.random.randrange(5)
        if form == 0:
            return f"{self.path()}:{self.random.randrange(1, 900)}"
        if form == 1:
            return f"def {self.name()}_{self.name()}(self, {self.name()}=None):"
        if form == 2:
            return f"git commit --no-verify -m '{self.name()}'"
        if form == 3:
            return f"{self.random.getrandbits(160):040x}"
        return f"https://example.org/{self.name()}/{self.name()}?{self.name()}={self.random.randrange(9999)}"


def corpus(messages: int, seed: int = 7) -> Iterator[Transcript]:
    """Sessions with so many messages in all, the oldest first."""
    words = Words(seed)
    made = number = 0
    while made < messages:
        session = _session(words, number, START + SPAN * made / messages)
        made += len(session.messages)
        number += 1
        yield session


def _session(words: Words, number: int, started: float) -> Transcript:
    source = words.chosen(SOURCES)
    turns = list(_turns(words, started, words.random.randrange(2, 30)))
    return Transcript(
        source=source,
        native_id=f"session-{number}",
        messages=tuple(turns),
        model=MODELS[source],
        folder=words.folder(),
        started=started,
        ended=turns[-1].at,
    )


def _turns(words: Words, at: float, calls: int) -> Iterator[Message]:
    yield Message(role=Role.USER, parts=(Text(words.text(20)),), trust=Trust.USER, at=at)
    for call in range(calls):
        at += 20
        tool = words.chosen(TOOLS)
        arguments = f'{{"command": "{words.name()} --{words.name()} {words.path()}"}}'
        parts = (Text(words.text(25)), ToolCall(f"call-{call}", tool, arguments))
        yield Message(role=Role.AGENT, parts=parts, trust=Trust.AGENT, at=at)
        result = ToolResult(f"call-{call}", (Text(words.text(60)),), error=words.random.random() < 0.1)
        yield Message(role=Role.TOOL, parts=(result,), trust=Trust.TOOL, at=at + 5)
    yield Message(role=Role.AGENT, parts=(Text(words.text(40)),), trust=Trust.AGENT, at=at + 30)
