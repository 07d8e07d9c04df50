"""The words by which Aider tells what became of an answer: the program's own, as its releases write them."""

import re

VERSION = re.compile(r"Aider v(\S+)$")
MODEL = re.compile(r"(Main model|Model|Editor model): (\S+)")
TOKENS = re.compile(
    r"Tokens: (?P<sent>[\d.,]+[kM]?) sent(?:, (?P<written>[\d.,]+[kM]?) cache write)?"
    r"(?:, (?P<cached>[\d.,]+[kM]?) cache hit)?, (?P<received>[\d.,]+[kM]?) received\."
    r"(?: Cost: \$(?P<cost>[\d.]+) (?:message|request|send))?"
)
OLD_TOKENS = re.compile(
    r"(?P<sent>\d+) prompt tokens, (?P<received>\d+) completion tokens(?:, \$(?P<cost>[\d.]+) cost)?$"
)
APPLIED = re.compile(r"Applied edit to (.+)$")
SKIPPED = re.compile(r"Skipping edits to (.+)$")
MISFORMED = re.compile(r"The LLM did not conform to the edit format\.")
NO_MATCH = re.compile(r"## SearchReplaceNoExactMatch: This SEARCH block failed to exactly match lines in (.+)$")
FOLDER = re.compile(r"Git working dir: (.+)$")
GAVE_UP = re.compile(r"Only \d+ reflections allowed, stopping\.")
QUESTION, ANSWER = "(Y)es/(N)o", re.compile(r"\]: ?\w{0,10}$")
RUN = re.compile(r"Run shell commands?\? .*\]: ?(\w*)$")
PLAN_TAKEN = re.compile(r"Edit the files\? .*\]: ?[ya]\w*$")
STOPPED = "^C again to exit"
BLANK = "<blank>"
# Commands whose argument is a message to the model; Aider writes the message again, as if it was typed once more.
TALK = re.compile(r"/(?:ask|code|architect|context|chat-mode \w+)\s+(.+)$", re.DOTALL)
COMMANDS = ("/", "!")
THINKING = re.compile(r"-{6,}\n► \*\*THINKING\*\*\n(.*?)\n-{6,}\n► \*\*ANSWER\*\*\n", re.DOTALL)
SCALE = {"k": 1_000, "M": 1_000_000}


def is_question(words: str) -> bool:
    """Whether this is a question of Aider's with the answer that stands for all of its kind."""
    return QUESTION in words and ANSWER.search(words) is not None


def count(number: str | None) -> int:
    """A number of tokens, rounded as Aider rounds it."""
    digits = (number or "0").replace(",", "")
    scale = SCALE.get(digits[-1:], 1)
    try:
        return int(float(digits.rstrip("kM")) * scale)
    except ValueError:
        return 0


def dollars(amount: str | None) -> float | None:
    """The price of one answer, where the program knows the model's."""
    try:
        return float(amount) if amount else None
    except ValueError:
        return None
