"""Standing orders: which of a person's sentences hold beyond the moment that they were typed in.

Most of what a person types is for now: it points at what is before them ("this", "again", "bullet 1"), asks, or tells
what they see. A standing order says how things are done, and would be true of the next session too.
"""

from typing import NamedTuple

import re2

FEWEST_WORDS, MOST_WORDS = 4, 32
EARLY = 3  # words at the beginning, where a pronoun points outside of the sentence
FAR = 12  # words after which “these” mostly means what the sentence named before
MOST_NAMED = 4

_LEAD = re2.compile(
    r"(?i)^(?:(?:yes|yeah|yep|no|nope|ok|okay|sure|hm+|hmm+|u+m+|uh|ahh?|and|also|so|but|then|well|please|pls|great|"
    r"perfect|good|right|thanks|btw|fyi|actually|remember|note|remember that|note that|important|\*|-)"
    r"(?:[,.:!\s]+|\s+-\s+))+"
)
_QUESTION = re2.compile(
    r"(?i)\?|^(?:what|how|where|when (?:did|do|is|are|was)|who|which|why|is|are|was|were|does|do (?:you|we|i)|did|has|"
    r"have|can|could|would|should|will|shall|won't|isn't|aren't|can't|couldn't|shouldn't|don't (?:you|we))\b|"
    r"\b(?:can|could|would|will) you\b|\bwhy not\b|\bsuggestion\b"
)
# What points at the moment, or at what is on the screen.
_MOMENT = re2.compile(
    r"(?i)\b(?:here|above|below|following|currently|yet|for now|"
    r"current (?:state|version|one|plan|pr|change|issue)|as of now|right now|this time|again|today|"
    r"tomorrow|tonight|already|still|just now|previous|previously|earlier|so far|at this point|for the moment|"
    r"the (?:same|other|others|first|second|third|last|next|latter|former|rest|one|ones|new|old)|"
    r"(?:bullet|option|phase|step|point|item|part|stage|task|finding|issue|comment|pr|line|section|wave|batch|round|"
    r"attempt|iteration|milestone|sprint|slice|chunk|ticket|number|no|version|v)s? ?#?\d+\w*|#\d+|\d+\.\d+\.\d+|"
    r"[A-Z]{2,}-\d+|[A-Z]\d+|~\d+|you (?:said|did|made|wrote|added|removed|just|have|had|were|are)|you've|you're|"
    r"i (?:see|saw|just|was|am|have|had|did|guess|wonder|feel|want|need|don't|dont|do not)|i'm|i've|i'd like|let me|"
    r"let's|lets|him|her|his|she|he|there must|last thing)\b|\b(?:before|after|too|as well|then|though)$"
)
# Never force-push here, others work on this branch: the project, not the screen; what follows is only the reason.
_PROJECTS_HERE = re2.compile(r"(?i)^((?:never|always) [^,.;]{3,60}?)(?: here\b[^,]*)?(?:,.*)?$")
THESE = frozenset(("this", "these", "those"))
PRONOUNS = frozenset(("it", "its", "it's", "they", "them", "he", "she", "his", "her", "their", "itself"))
_OWN_THIS = re2.compile(r"(?i)\bthis (?:project|repo|repository|codebase|machine|vm|product|company)\b")
_THAT = re2.compile(
    r"(?i)^that\b|\bthat[.,!]?$|"
    r"\b(?:of|for|with|get|on|in|like|about|use|at|from|do|did|after|before|within|than|keep|fix|try|and|or) that\b|"
    r"\bthat (?:branch|one|way|file|thing|part)\b"
)
_EXPLETIVE = re2.compile(r"(?i)\bit'?s? (?:is )?(?:better|best|important|fine|ok|enough|forbidden)\b")
_DONT = re2.compile(r"\b[dD]ont\b")
_MENTION = re2.compile(r"\B@\b")  # a file that was named with its sign
_REMINDS = re2.compile(r"(?i)^(?:(?:don't|do not|never) (?:ever )?forget|remember) to ")
_BRACKETS = re2.compile(r"\s*\([^)]*(?:\)|$)")
_REASON = re2.compile(r"\s+as that [^,.;]*$")
_MUSING = re2.compile(r"(?i)\bi think (?:that )?(?:it'?s |its )?")
_TRAILING = re2.compile(r"(?i)\s+(?:for|regarding|about) (?:this|it|that)[.!]?$|[\s.,!;]+$")
_REPORT = re2.compile(
    r"(?i)\b(?:there (?:is|are|was|were)|seems?|looks? like|doesn't|didn't|does not|did not|isn't|wasn't|weren't|"
    r"has been|have been|was|were|won't work|failed|fails|failing|broken|bug|never \w+ed|never (?:sets|consults|gets|"
    r"has|had|calls|reaches|returns|was|been)|theoretically|maybe|perhaps|probably|might|ideally)\b"
)
_PASTED = re2.compile(r"^[\"“'‘]|[{};=<>|]|->|→|\)\.|::|\w\(\w*\)|^\s*(?:\d+[.):]|[#/>|*+])|\b0x|https?:")
# What says that it holds beyond today.
_STANDS = re2.compile(
    r"(?i)\b(?:from now on|in (?:the )?future|every time|each time|whenever|as a rule|"
    r"(?:do not|don't|dont|never) (?:ever )?forget to|remember to|unless (?:i|we|you|told|asked|explicitly)|"
    r"under no circumstances|no matter what|without exception)\b|"
    r"^(?:\w+ing [^,]{0,60}, |when(?:ever)? [^,]{0,60}, |(?:if|for|in|before|after) [^,]{0,60}, )?"
    r"(?:you (?:should|must) |we (?:should |must )?|i )?(?:always|never)\b|"
    r"\b(?:and|but|so|you|we|must|should|to) (?:always|never) [a-z]+|\b(?:are|is) (?:always|never)\b|"
    r"\b(?:should|must|may) (?:not |never )?\w+ [^.]{0,40}\bever\b|"
    r"\bwe (?:(?:generally |usually |normally )?(?:prefer|don't|do not|dont|avoid)|only ever|only use)\b|"
    r"\bi (?:strongly |generally |usually )?prefer\b|"
    r"\bour (?:convention|standard|policy|style|rule|practice)\b|"
    r"^(?:every|any|each) [^,]{3,80}\b(?:should|must|needs?|has) (?:first |be |to |not |never |have )|"
    r"^all [^,]{3,80}\b(?:must|needs? to|have to)\b|^only (?:when|if) [^,]{3,100}, .*\b(?:should|must)\b|"
    r"\bbetter not to \w+ any\b|\bmust (?:not |never )?(?:be|have|use|go|stay|pass|follow|match)\b"
)
# An order against something, in the mood of an order: it rarely ends with the day.
_FORBIDS = re2.compile(
    r"(?i)(?:^|[,;] |\b(?:and|but|so|please|just|also|or) )(?:please )?(?:don't|dont|do not|never|avoid|stop)\b "
    r"(?:ever |just |directly |simply |even |try to |try and )*[a-z]{2,}"
)
_ORDER = re2.compile(
    r"(?i)^(?:\w+ly )?(?:always |only |first )?(?:add|ask|branch|check|delegate|do|ensure|explain|follow|format|give|"
    r"go|handle|install|keep|leave|limit|make|mark|move|name|place|prefer|put|quote|read|record|remove|rename|reply|run|"
    r"set|skip|split|store|switch|test|update|use|validate|verify|wait|work|wrap|write|no|not|don't|dont|do not|never|"
    r"avoid|stop)\b"
)
# What is to become of the work at hand: a new order each time, however often it comes.
_HANDS_OVER = re2.compile(
    r"(?i)(?:^|\b(?:don't|dont|do not|just|only|and|but) )(?:also |just |only |please )?"
    r"(?:commit|push(?: it| to|$)|merge|rebase|squash|fold|amend|open a|"
    r"create (?:a |an |the )?(?:pr|pull request|commit|branch)|"
    r"generate (?:a |the )?commit|review the|just a commit)\b"
)
# How a thing is done holds whenever it is done; what is to be done, holds only at the occasion that it was said for.
_MANNER = re2.compile(
    r"(?i)^(?:\w+ly )?(?:always |only )?(?:use|prefer|keep|name|format|follow|quote|limit|mark|write|wrap|avoid|stop|"
    r"no|not|don't|dont|do not|never|explain|reply|handle|store)\b"
)
_WHEN = re2.compile(r"(?i)\b(?:when|whenever|before|after|if|each|every|once|while|until|unless)\b")
_ACT = (
    r"(commit|push|merge|release|deploy|"
    r"(?:create|open|make) (?:a |an |the )?(?:pr|pull request|commit|release))"
)
_ACT_FIRST = re2.compile(
    rf"(?i)^{_ACT}\b(?: (?:it|this|that|them|these|those|all|everything|(?:the|your|these) changes?))?"
    r"(?:, and|,| and| then)(?: then| also)? (\S.+)$"
)
_ACT_LAST = re2.compile(
    rf"(?i)^(\S.+?)(?:, and|,| and| then)(?: then| also)? {_ACT}(?: (?:it|this|that|all|everything))?$"
)
_ACT_NAMES = (("pr", "pull request"), ("pull request", "pull request"), ("deploy", "deployment"))
_SHOUTED = re2.compile(r"\b[A-Z]{4,}\b.*\b[A-Z]{4,}\b")  # the prompt of a program, more than a person at a keyboard
_SOOTHES = re2.compile(r"(?i)\b(?:worry|bother|panic|mind|care|know|need|understand|have|want)\b")
_PLACE = r"(?: (?:for|in|on) (?:these|this|those|the) .+)?\?+$"
_FAULT_FINDING = (
    (re2.compile(rf"(?i)^why (?:aren't|arent|are not) (?:we|you|these|they) using (.+?){_PLACE}"), "Use"),
    (re2.compile(rf"(?i)^why (?:don't|dont|didn't|didnt|do not|did not) (?:we|you) use (.+?){_PLACE}"), "Use"),
    (re2.compile(r"(?i)^why (?:are|do) you (?:still |keep )?us(?:e|ing) (.+?)\?+$"), "Do not use"),
)


class OccasionalOrder(NamedTuple):
    """What is to be done with each commit, push or the like."""

    act: str
    order: str


def plain_order(sentence: str) -> str:
    """A sentence without the words that only answer, muse or are polite, and without what stands in brackets."""
    sentence = _MENTION.sub("", _DONT.sub("don't", sentence))
    said = _MUSING.sub("", _LEAD.sub("", _BRACKETS.sub("", sentence).strip()))
    return str(_TRAILING.sub("", said.strip(" *_,")))


def told_order(said: str) -> str:
    """A plain order as a rule says it: the reminder "don't forget to branch off main" is told as what to do."""
    told = _REMINDS.sub("", said)
    return f"{told[:1].upper()}{told[1:]}"


def is_for_now(sentence: str) -> bool:
    """Whether it points at the moment, asks, tells what somebody sees, or was not typed."""
    sentence = _PROJECTS_HERE.sub(r"\1", _REASON.sub("", sentence))
    if any(sign.search(sentence) for sign in (_QUESTION, _MOMENT, _REPORT, _PASTED, _SHOUTED)):
        return True
    said = _EXPLETIVE.sub("", sentence)
    words = [word.strip(".,;:!").lower() for word in said.split()]
    if any(word in THESE for word in words[:FAR]) and not _OWN_THIS.search(said):
        return True
    return _THAT.search(said) is not None or any(word in PRONOUNS for word in words[:EARLY])


def is_standing(sentence: str) -> bool:
    """Whether one saying is enough, once the agent has begun: it lasts, or it forbids."""
    said = plain_order(sentence)
    if is_lasting(sentence):
        return True
    is_general = _fits(said) and not is_for_now(said) and not _HANDS_OVER.search(said)
    found = _FORBIDS.search(said) if is_general else None
    return found is not None and len(said.split()) > FEWEST_WORDS and not _SOOTHES.search(found.group())


def is_lasting(sentence: str) -> bool:
    """Whether a sentence itself says that it holds beyond today; so it may stand in the task of the day too."""
    said = plain_order(sentence)
    return _fits(said) and not is_for_now(said) and not _HANDS_OVER.match(said) and _STANDS.search(said) is not None


def is_order(sentence: str) -> bool:
    """Whether it orders something that could be asked for in any session; it stands where it recurs."""
    return is_step(sentence) and not _HANDS_OVER.search(plain_order(sentence))


def is_step(sentence: str) -> bool:
    """Whether it orders something at all, as the reason of a refusal may: there it is known what it comes before."""
    said = plain_order(sentence)
    is_told = _ORDER.search(said) is not None or _HANDS_OVER.match(said) is not None
    return is_told and _fits(said) and not is_for_now(said)


def says_when(sentence: str) -> bool:
    """Whether an order says itself when it holds: it names an occasion, or is about how a thing is done."""
    said = plain_order(sentence)
    return _MANNER.search(said) is not None or _WHEN.search(said) is not None


def occasional_order(sentence: str) -> OccasionalOrder | None:
    """What is asked for together with an act that ends a piece of work: "commit and update the changelog"."""
    said = plain_order(sentence)
    if first := _ACT_FIRST.search(said):
        act, order = first.groups()
    elif last := _ACT_LAST.search(said):
        order, act = last.groups()
    else:
        return None
    is_told = _ORDER.search(order) is not None and 2 <= len(order.split()) <= MOST_WORDS
    if not is_told or is_for_now(order) or _HANDS_OVER.search(order):
        return None
    words = act.lower().split()
    name = next((name for end, name in _ACT_NAMES if " ".join(words).endswith(end)), words[-1])
    return OccasionalOrder(name, order)


def order_in_question(question: str) -> str:
    """What a question that finds fault asks for: "why aren't we using X?" is "use X"; nothing where it only asks."""
    for pattern, order in _FAULT_FINDING:
        found = pattern.search(question.strip())
        if found and len(found.group(1).split()) <= MOST_NAMED and not is_for_now(found.group(1)):
            return f"{order} {found.group(1)}"
    return ""


def _fits(said: str) -> bool:
    return FEWEST_WORDS <= len(said.split()) <= MOST_WORDS and not said.endswith(":")
