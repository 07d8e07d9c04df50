"""The table of phrases: how agents and people say that work goes wrong. Patterns see lower-case text."""

from enum import StrEnum


class Phrase(StrEnum):
    """What a wording does in the conversation."""

    # by the agent
    INABILITY = "inability"  # something could not be done, found or seen
    SURRENDER = "surrender"  # the agent ends its attempt
    ASKS = "asks"  # wants something from the person before it goes on
    OFFER = "offer"  # the polite close that asks for nothing
    INTENT = "intent"  # says what it will do next
    CLAIM = "claim"  # says that something was done
    VERIFIED = "verified"  # says that a check passed
    # by the person
    CORRECTION = "correction"
    NO = "no"  # begins with a no: a correction, unless it answers a question
    SETTLED = "settled"  # says that it is fine now
    CHANGE = "change"  # asks that something be made different, not only told


_CANNOT = r"\b(?:can't|cannot|can not|couldn't|could not|unable to|not able to|wasn't able to)"
_CHECK = r"(?:tests?|test suite|specs?|checks?|build|linter|lint|type ?check(?:s|ing)?|compilation|ci)"
# What is no surrender: a review that found nothing wrong, and work whose check could not be run.
HARMLESS = (
    r"[^.!?\n]*\b(?:no|zero|any) (?:\w+ ){0,3}(?:bugs?|issues?|problems?|errors?|findings?|regressions?|blockers?|"
    r"vulnerabilit(?:y|ies)|conflicts?|changes needed)\b[^.!?\n]*"
    rf"|[^.!?\n]*(?:{_CANNOT}|\bdid(?: not|n't)|\bfailed to|\bhave(?: not|n't)|\bwas(?: not|n't) able to) "
    r"(?:\w+ )?(?:run|ran|execute|verify|verified|test|tested|check|reproduce|confirm|build|compile)\b[^.!?\n]*"
)

AGENT_WORDINGS: dict[Phrase, tuple[str, ...]] = {
    Phrase.INABILITY: (
        rf"{_CANNOT} (?:find|locate|access|determine|retrieve|complete|see|do|provide|proceed)",
        rf"{_CANNOT} (?:perform|get|open|read|send|identify|verify|fulfil|process|continue)",
        rf"{_CANNOT} (?:help|assist|make|create|add|pay|answer|reach|connect|run|execute)",
        r"\bthere (?:is|are|was|were) no\b",
        r"\bno (?:\w+ ){0,3}(?:found|named|matching|available)\b",
        r"\b(?:was|were|is|are) not (?:found|available|possible)\b",
        r"\bdoes(?: not|n't) (?:contain|exist|seem|appear|include|provide|have)\b",
        r"\bi (?:do not|don't) have\b",
        r"\b(?:failed to|not possible)\b",
        r"konnte (?:nicht|kein)|nicht möglich|je ne peux pas|n'ai pas pu|no pude|no puedo",
        r"não consegui|не удалось|не могу|できません|見つかりません|无法|找不到|찾을 수 없",
    ),
    Phrase.SURRENDER: (
        r"\b(?:i (?:have to |must |will |'ll )?give up|giving up)\b",
        r"\bi(?:'ll| will|'m going to| am going to| have to| must) (?:stop here|abandon)\b",
        r"\bi(?:'ve| have)? (?:exhausted|run out of|ran out of)\b",
        r"\bi (?:wasn't|was not) able to (?:complete|finish|fix|solve|resolve)\b",
        r"\bi (?:couldn't|could not|can't|cannot) (?:complete|finish|fix|solve|resolve|proceed)\b",
        r"\bunable to (?:complete|finish|fix|solve|resolve|proceed|continue)\b",
        r"ich gebe auf|j'abandonne|me rindo|desisto|сдаюсь|諦めます|我放弃",
    ),
    Phrase.ASKS: (
        r"\b(?:could|can|would) you (?:please )?(?:provide|confirm|clarify|specify|tell|share|let me)\b",
        r"\bplease (?:provide|confirm|clarify|specify|share|let me know (?:the|which|what|how you))\b",
        r"\b(?:would you like me|do you want me|shall i|should i)\b",
        r"\bneed (?:more (?:information|details)|the following|to know)\b",
        r"\b(?:does that sound|is that correct)\b",
        r"\blet me know (?:if|how) you(?:'d| would)? (?:like|want) me\b",
    ),
    Phrase.OFFER: (
        r"\b(?:anything else|further (?:assist|help|question)|else i can|any other|more help)",
        r"\b(?:need (?:any )?(?:further|more)|other (?:help|request|question))",
        r"\bhow (?:can|may) i (?:help|assist)|\bwhat(?:'s| is) next\b",
    ),
    Phrase.INTENT: (r"\b(?:i will|i'll|let me|i am going to|i'm going to|next,? i|now,? i)\b",),
    Phrase.CLAIM: (
        r"\b(?:has|have) (?:now |all )?been (?:successfully )?\w+(?:ed|nt|t|n)\b",
        r"\bi(?:'ve| have)(?: also| now| successfully| just)? (?:\w+ed|sent|made|set|put|written|built)\b",
        r"\bsuccessfully \w+ed\b|\bis now (?:fixed|done|complete|working)\b",
        r"(?:^|[.!\n] ?)(?:fixed|done|completed)[.!]",
    ),
    Phrase.VERIFIED: (
        rf"\b(?:all|the|every|both|\d+)(?: [\w-]+)? {_CHECK} (?:now |all )?pass(?:es|ed|ing)?\b",
        rf"\b(?:all|the|every|both|\d+)(?: [\w-]+)? {_CHECK} (?:are|is) (?:now )?(?:green|passing|clean)\b",
        rf"\b{_CHECK} (?:now )?(?:pass|passes|passed|succeeds|succeeded) (?:now|successfully|cleanly)\b",
        rf"\b(?:verified|confirmed) (?:that|by running) (?:\w+ ){{0,4}}{_CHECK}\b",
    ),
}

USER_WORDINGS: dict[Phrase, tuple[str, ...]] = {
    Phrase.NO: (
        r"^\W*(?:no|nope|nah|nein|non|não|нет)(?:[,.!;:]|\s*$|\s+-)",
        r"^\W*no (?:that|this|it|not|you|don't|i meant)\b",
    ),
    Phrase.CORRECTION: (
        r"^\W*(?:wrong|stop|wait)(?:[,.!;:]|\s*$|\s+-)",
        r"^\W*(?:stop|wait) (?:that|this|it|not|you|don't|i meant)\b",
        r"\b(?:that's|that is|this is|it's) (?:still |just |completely )?(?:wrong|incorrect|broken)\b",
        r"\byou(?:'re| are| were) (?:just |completely )?(?:wrong|incorrect|mistaken)\b",
        r"\b(?:that'?s|that is|this is|it'?s|it is) (?:still )?not (?:right|correct|what|true|how|working|the \w+ i)\b",
        r"\bnot what i\b|^\W*i mean \w|\bbut (?:that|this|it)(?:'?s| is) actually\b|\b(?:is|are) not appropriate\b",
        r"^\W*(?:also,? |but,? |hm+,? )?i thought (?:the|we|you|it|that|this)\b[^?\n]*$",
        r"\bi (?:didn't|did not|never) (?:ask|want|say|tell|mean)\b",
        r"(?:^|[.,;:!\n] ?|\bbut )i (?:meant|was talking about|was referring to|asked you (?:for|to|not))\b",
        r"\byou (?:forgot|missed|misunderstood|ignored|didn't|did not|haven't|broke|deleted)\b",
        r"\byou (?:should(?:n't| not) have|were (?:not )?supposed to)\b",
        r"\bwhy (?:did|are|would|do) you\b|\bare you sure\b|\bwhy (?:aren'?t|didn'?t|don'?t|haven'?t) (?:you|we)\b",
        r"\bwhy is (?:the|this|that|your) (?:sub-?)?agent\b",
        r"\b(?:revert|undo) (?:that|this|it|your|the last)\b|\bi(?:'ve| have) reverted\b",
        r"\bdon't (?:do|use|change|touch) (?:that|this)\b",
        r"\bstop (?:doing|using|adding|changing|that)\b",
        r"\b(?:it|this|that) (?:still )?(?:does|is|did)(?: not|n't) (?:work|updated?|fixed|there|show)",
        r"\b(?:it|this|that|which|tests?|build)(?:'s| is| are)? still (?:fails?|failing|broken|crash(?:es|ing)?)\b",
        r"\bstill (?:fails|failing|broken|not working|not fixed|wrong|an? (?:issue|problem|bug|error))\b",
        r"\bstill (?:the same (?:error|problem|issue)|some [\w ]{0,30}(?:failures|errors|issues|problems))\b",
        r"\bstill (?:has|have|shows?) (?:a |an |the )?(?:different|wrong|same|old)\b",
        r"\bi(?:'m| am)? still (?:have|getting|get|see|seeing)\b|^\W*(?:hm+,? ?|ok,? ?)?still (?:seeing|getting)\b",
        r"\bshould(?: not|n't) (?:be|have|do)\b[^.\n]*\b(?:but|instead)\b",
        r"\bshouldn'?t (?:this|that|it|these|those|we|you|the|url)\b[^.\n]*\?",
        r"\bi don'?t want (?:any|that|this|it|you)\b|\bsomething(?:'s| is)? (?:wrong|off|broken)\b",
        r"\bthere(?:'s| is| are) (?:still )?(?:an? |some |another )?(?:bugs?|regressions?|mistakes?) (?:in|at|on)\b",
        r"\bdoes(?: not|n'?t) (?:seem to )?(?:work|apply|render|correctly|change the|look right)\b",
        r"\bseems? to be (?:gone|missing|broken)\b|\b(?:is|are) (?:gone|broken) (?:now|again)\b",
        r"\bbefore you (?:go|start|do)\b[^.\n]*\b(?:we|you) (?:need|should|must|have to)\b",
        r"\bi (?:still )?(?:don't|do not|can't|cannot) see\b",
        r"das (?:ist|war) (?:falsch|nicht)|nicht das|falsch[.!]|ce n'est pas|c'est faux",
        r"eso no es|está mal|isso não|está errado|это не то|неправильно",
        r"違います|そうじゃない|間違って|不对|不是这|错了|틀렸|아니[,.]",
    ),
    Phrase.SETTLED: (
        r"\bnot (?:a|an) (?:bug|issue|problem)\b|\bwithout (?:a |any )?(?:bugs?|issues?|problems?)\b",
        r"\b(?:it works|works now|looks good|well done|lgtm|that's perfect)\b",
        r"^\W*no,? that(?:'s| is| will be| would be) (?:all|ok|okay|fine|it|everything|good)\b",
        r"^\W*no,? (?:thank|i'm good|problem|worries)",
    ),
    Phrase.CHANGE: (
        r"\b(?:send|creat|updat|delet|add|remov|book|reserv|cancel|schedul|post|invit|writ|edit)(?:e|es|ed|ing)?\b",
        r"\b(?:append|shar|reschedul|pay|transfer|modif|exchang|insert|sav|mov|renam|upload)(?:e|y|es|ing)?\b",
        r"\b(?:submit|chang|replac|order|buy|purchas|forward|reply|refund|upgrad|downgrad)(?:e|ing)?\b",
        r"\b(?:adjust|switch|fix|implement|refactor|set up|make (?:a|the|sure)|install|return)\b",
    ),
}
