"""Claims that must not become instructions: that a tool is broken, or an accident of the surroundings."""

import re

import re2

from whet.failures.environment import fault_of

# A condition states nothing: "if the server is down, say so" is good advice.
_CONDITION = re2.compile(
    r"(?i)^\W*(?:(?:and|or|but|then|so|only|even|especially|also|check|find out|see|ask|say|tell|report|know|verify)"
    r"\W+)*(?:if|when|whenever|unless|in case|should|until|while|once|after|before|whether|where|as soon as|wherever"
    r"|suppose|each time|every time)\b"
)
_CLAUSE = re.compile(
    r"(?<=[.!?;:])\s+|[;\n]|,\s+(?=(?:and |or |but |so |then )?\w)|\s[-–—]\s|\s(?=if |when |unless |because )"
)
_FAILS = (
    r"(?:(?:is|are|was|were|seems?(?: to be)?|appears?(?: to be)?|looks?|remains?|gets?)(?: \w+ly| still| just| always"
    r"| now| currently| completely| totally)? (?:broken|unusable|buggy|unreliable|faulty|defective|useless"
    r"|malfunctioning|unavailable|down|not working|not functional|not available|not usable|out of order)\b"
    r"|(?:does not|doesn't|do not|don't|did not|didn't|will not|won't|never|no longer)(?: \w+ly| ever| even)?"
    r" (?:works?|functions?|responds?|runs?|loads?)\b"
    r"|(?:always|constantly|consistently|keeps?|still|usually|often) (?:fails?|failing|crash(?:es|ing)?|hangs?|hanging"
    r"|errors?(?: out)?|tim(?:es|ing) out|break(?:s|ing)?)\b"
    r"|(?:can ?not|can't|could not|couldn't) be (?:used|trusted|relied (?:up)?on)"
    r"|has (?:a bug|bugs|stopped working|been broken))"
)
_THING = (
    r"(?:tools?|commands?|functions?|api|apis|servers?|mcp|shell|terminal|browser|search|editor|sandbox|plug-?ins?"
    r"|integrations?|services?|connections?|internet|network|endpoints?|cli|`[^`\n]{1,40}`|\w+_\w+|[A-Z][a-z]+[A-Z]\w+"
    r"|bash|python|docker|git|npm|pip|web_?search|web_?fetch)"
)
# What an instruction gives as its reason: an error in quotes, or after "fails:".
_REASON = re.compile(r"“[^”]*”|(?<=\bfails: )[^\n]*|(?<=\bfails with: )[^\n]*")
_FAILURE = re.compile(r"\bfails(?: with)?:?\s*$")
_BROKEN = (
    re2.compile(
        rf"(?i)\b(?:the |this |that |its |your |my |our )?(?:[\w./-]+ ){{0,3}}{_THING}(?: [\w-]+){{0,3}} {_FAILS}"
    ),
    re2.compile(
        rf"(?i)\b(?:do not|don't|never|avoid|stop) (?:us(?:e|ing)|call(?:ing)?|rely(?:ing)? on|try(?:ing)?)\b.{{0,80}}"
        rf"\b(?:because|since|as|for|it|they|which|that)\b.{{0,60}}{_FAILS}"
    ),
)
_ACCIDENT = (
    re2.compile(r"(?i)\b(?:is|are|was|were)(?: \w+ly| still)? not installed\b|\bisn't installed\b"),
    re2.compile(r"(?i)\b(?:there is|there's|we have|you have|has) no (?:internet|network|connection|disk space)"),
    re2.compile(r"(?i)\bno (?:internet|network) (?:access|connection)\b"),
    re2.compile(r"(?i)\b(?:the )?disk (?:is|was)(?: \w+)? full\b|\bout of (?:memory|disk space)\b"),
    re2.compile(
        r"(?i)\b(?:api )?(?:key|token|credentials?|quota|session|certificate) (?:has |have |is |was )?"
        r"(?:expired|exhausted)\b"
    ),
    re2.compile(r"(?i)\bport \d+ (?:is|was) (?:already )?(?:in use|taken|occupied)\b|\baddress already in use\b"),
    re2.compile(r"(?:^|[\s\"'`(])/(?:tmp|var/folders|private/tmp|proc)/[\w.-]*\d[\w./-]*"),
    re2.compile(r"(?i)\b(?:pid|process id)[ :=#]+\d{2,}\b"),
)


def broken_tool(text: str) -> str:
    """The clause that says a tool is broken, or nothing. Conditions and advice on failures are no such claim."""
    return next((clause for clause in _clauses(text) if any(found.search(clause) for found in _BROKEN)), "")


def accident(text: str) -> str:
    """The clause that takes a fault of the surroundings for a fact, or nothing."""
    return next((clause for clause in _clauses(text) if _is_accident(clause)), "")


def _is_accident(clause: str) -> bool:
    return bool(fault_of(clause)) or any(found.search(clause) for found in _ACCIDENT)


def _clauses(text: str) -> list[str]:
    clauses = (clause.strip() for clause in _CLAUSE.split(_instruction(text.replace("’", "'"))))
    return [clause for clause in clauses if clause and not _CONDITION.search(clause)]


def _instruction(text: str) -> str:
    """A text without the errors that it quotes as its reason; the whole of one that says nothing else."""
    said = _REASON.sub(" ", text)
    orders = [clause for clause in _CLAUSE.split(said) if clause.strip() and not _FAILURE.search(clause)]
    return said if any(len(clause.split()) > 1 for clause in orders) else text
