"""What is wrong with a patch, told before anything is spent on it."""

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum

import re2

from whet.ledger.entries import Item, State
from whet.ledger.holding import lies_in
from whet.ledger.patches import Action, Form, Patch, Scope, digest, is_named, is_scoped
from whet.secrets.redactor import Redactor
from whet.sessions.trust import Trust
from whet.text.characters import first_hidden
from whet.text.likeness import is_opposed, is_same, sense
from whet.text.quoting import visible
from whet.values import Value

DAY = 24 * 3600.0
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
_REASON = re.compile(r"“[^“”]*”|(?<=\bfails: )[^\n]*|(?<=\bfails with: )[^\n]*")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+")
ORDER_WORDS = 4
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
_ACCIDENTS = (
    r"(?i)\b(?:is|are|was|were)(?: \w+ly| still)? not installed\b|\bisn't installed\b",
    r"(?i)\b(?:there is|there's|we have|you have|has) no (?:internet|network|connection|disk space)",
    r"(?i)\bno (?:internet|network) (?:access|connection)\b",
    r"(?i)\b(?:the )?disk (?:is|was)(?: \w+)? full\b|out of memory|\bout of disk space\b",
    r"(?i)\b(?:key|token|credentials?|quota|session|certificate) (?:has |have |is |was )?(?:expired|exhausted)\b",
    r"(?i)\bport \d+ (?:is|was) (?:already )?(?:in use|taken|occupied)\b|\baddress already in use\b",
    r"(?:^|[\s\"'`(])/(?:tmp|var/folders|private/tmp|proc)/[\w.-]*\d[\w./-]*",
    r"(?i)\b(?:pid|process id)[ :=#]+\d{2,}\b",
    # The words of errors themselves.
    r"(?i)\bcommand not found\b|is not recognized as an internal or external command",
    r"(?i)executable file not found|spawn \S+ ENOENT|exec: \S+: not found",
    r"(?:^|\n)(?:/bin/)?(?:ba|z|da)?sh: (?:line )?\d*:? ?\S+: not found",
    r"ModuleNotFoundError|ImportError: No module|Cannot find (?:module|package) '[^./]",
    r"(?i)could not resolve host|name or service not known|temporary failure in name resolution",
    r"(?i)network is unreachable|no route to host|connection (?:refused|reset)|getaddrinfo",
    r"ECONNREFUSED|ENOTFOUND|ECONNRESET|EAI_AGAIN|ETIMEDOUT",
    r"(?i)no space left on device|ENOSPC|disk quota exceeded",
    r"(?i)cannot allocate memory|oom-?kill|heap out of memory",
    r"(?i)bad credentials|invalid (?:api[_ ]?key|token|credentials)",
    r"(?i)\b401\b[^\n]{0,40}unauthori[sz]ed|authentication (?:failed|required)|not logged in",
    r"(?i)permission denied \(publickey|could not read username",
    r"(?i)\bpermission denied\b|\boperation not permitted\b|\bEACCES\b|\bEPERM\b",
    r"(?i)read-only file system|\b403\b[^\n]{0,40}forbidden",
    r"(?i)rate limit(?:ed| exceeded)|too many requests|\b429\b[^\n]{0,30}(?:error|too|rate)",
    r"(?i)\b50[234]\b[^\n]{0,40}(?:error|gateway|unavailable)|service unavailable|overloaded",
)
_ACCIDENT = re2.Set.SearchSet()
for _pattern in _ACCIDENTS:
    _ACCIDENT.Add(_pattern)
_ACCIDENT.Compile()


class FaultKind(StrEnum):
    """What is wrong."""

    NAME = "name"
    EMPTY = "empty"
    LENGTH = "length"
    CHARACTERS = "characters"
    SECRET = "secret"
    STALE = "stale"  # what it changes is not there, or not as it was
    SAME = "same"  # it is there already, word for word
    DUPLICATE = "duplicate"
    CONTRADICTION = "contradiction"
    BROKEN_TOOL = "broken tool"
    ACCIDENT = "accident"
    BUDGET = "budget"
    TRUST = "trust"


class Fault(Value, frozen=True):
    """One thing that is wrong, in a sentence for people."""

    kind: FaultKind
    message: str


class TextLimits(Value, frozen=True):
    """How much there may be, in characters; and how long a change waits for a person."""

    rule: int = 400
    example: int = 200
    note: int = 600
    skill: int = 60_000
    file: int = 200_000
    rulebook: int = 6_000
    rules: int = 40
    pending: int = 100
    pending_seconds: float = 14 * DAY

    def of(self, form: Form) -> int:
        lengths = {Form.RULE: self.rule, Form.NOTE: self.note, Form.SKILL: self.skill}
        return lengths.get(form, self.file)


LIMITS = TextLimits()


def faults(patch: Patch, state: State, *, limits: TextLimits = LIMITS) -> tuple[Fault, ...]:
    """Everything that speaks against a patch; nothing when it may be applied to the state as it is."""
    found = [*_form_faults(patch, limits)]
    if patch.action is not Action.REMOVE:
        found += _text_faults(patch)
        found += _state_faults(patch, state)
    if patch.form is Form.RULE:
        found += _rule_faults(patch, state, limits)
    if (patch.is_foreign or patch.form is Form.STATEMENT) and patch.id not in state.approved:
        why = f"it comes from text with trust {patch.trust.label}" if patch.is_foreign else "it changes a person's file"
        found.append(Fault(FaultKind.TRUST, f"{why}: a person must approve it first"))
    return tuple(found)


def _form_faults(patch: Patch, limits: TextLimits) -> Iterator[Fault]:
    if not is_named(patch):
        yield Fault(FaultKind.NAME, f"{patch.name[:80]!r} is not a valid name for a {patch.form}")
    if not is_scoped(patch):
        yield Fault(FaultKind.NAME, "its scope contains something that is not the name of a model, a tool or a purpose")
    if patch.action is Action.REMOVE:
        return
    if not patch.text.strip():
        yield Fault(FaultKind.EMPTY, "it has no text")
    if len(patch.text) > limits.of(patch.form):
        yield Fault(FaultKind.LENGTH, f"it has {len(patch.text):,} characters; the limit is {limits.of(patch.form):,}")
    if len(patch.example) > limits.example or "\n" in patch.example:
        yield Fault(FaultKind.LENGTH, f"its example is not one line of at most {limits.example} characters")


def _text_faults(patch: Patch) -> Iterator[Fault]:
    whole = f"{patch.text}\n{patch.example}"
    if name := first_hidden(whole):
        yield Fault(FaultKind.CHARACTERS, f"it contains an invisible character: {name}")
    if Redactor().text(whole) != whole:
        yield Fault(FaultKind.SECRET, "it contains what looks like a secret")
    # A person who writes an instruction may say what they like about their own tools.
    if patch.form not in (Form.RULE, Form.NOTE) or patch.trust is Trust.OPERATOR:
        return
    words = visible(patch.text)
    if clause := broken_tool(words):
        yield Fault(FaultKind.BROKEN_TOOL, f"it says that a tool is broken, which will not stay true: “{clause[:120]}”")
    if clause := accident(words):
        yield Fault(FaultKind.ACCIDENT, f"it states a temporary problem of the environment as a fact: “{clause[:120]}”")


def _state_faults(patch: Patch, state: State) -> Iterator[Fault]:
    if patch.form not in (Form.RULE, Form.NOTE):
        return
    meant = sense(patch.text)
    for item in _others(patch, state):
        known = sense(item.text)
        if item.text.split() == patch.text.split() or is_same(meant, known):
            yield Fault(FaultKind.DUPLICATE, f"{item.form} {item.name} says the same: “{item.text[:120]}”")
        elif patch.form is Form.RULE and is_opposed(meant, known):
            yield Fault(FaultKind.CONTRADICTION, f"rule {item.name} says the opposite: “{item.text[:120]}”")


def _rule_faults(patch: Patch, state: State, limits: TextLimits) -> Iterator[Fault]:
    known = state.get(Form.RULE, patch.name)
    if known is not None and patch.action is Action.ADD and not patch.before:
        if known.text.split() == patch.text.split():
            yield Fault(FaultKind.SAME, f"there is a rule {patch.name} already with this very text")
        else:
            yield Fault(FaultKind.STALE, f"there is a rule {patch.name} already: “{known.text[:120]}”")
    elif patch.before != digest(known.text if known else None):
        yield Fault(FaultKind.STALE, f"rule {patch.name} has changed since this was written")
    elif (patch.action is Action.ADD) is (known is not None):
        yield Fault(FaultKind.STALE, f"rule {patch.name} {'already exists' if known else 'does not exist'}")
    if patch.action is Action.REMOVE:
        return
    # Other rules give way to an operator's; an operator's gives way to nobody's.
    rivals = [
        item
        for item in state.rules
        if item.name != patch.name
        and _share_a_project(item.scope, patch.scope)
        and (patch.trust is not Trust.OPERATOR or item.trust is Trust.OPERATOR)
    ]
    size = sum(len(item.text) for item in rivals) + len(patch.text)
    if size > limits.rulebook or len(rivals) >= limits.rules:
        yield Fault(
            FaultKind.BUDGET,
            f"the rulebook would hold {len(rivals) + 1} rules of {size:,} characters;"
            f" {limits.rules} of {limits.rulebook:,} are the most",
        )


def _others(patch: Patch, state: State) -> Iterable[Item]:
    """What of the same form is in force where the patch would be, other than what it changes."""
    return (item for item in state.of(patch.form) if item.name != patch.name and overlap(item.scope, patch.scope))


def overlap(one: Scope, other: Scope) -> bool:
    """Whether there is a setting in which both hold."""
    pairs = ((one.models, other.models), (one.tools, other.tools), (one.purposes, other.purposes))
    return _share_a_project(one, other) and all(
        not mine or not theirs or set(mine) & set(theirs) for mine, theirs in pairs
    )


def _share_a_project(one: Scope, other: Scope) -> bool:
    return (
        not one.project
        or not other.project
        or lies_in(one.project, other.project)
        or lies_in(other.project, one.project)
    )


def broken_tool(text: str) -> str:
    """The clause that says a tool is broken, or nothing. Conditions and advice on failures are no such claim."""
    return next((clause for clause in _clauses(text) if any(found.search(clause) for found in _BROKEN)), "")


def accident(text: str) -> str:
    """The clause that takes a fault of the surroundings for a fact, or nothing."""
    return next((clause for clause in _clauses(text) if _ACCIDENT.Match(clause)), "")


def _clauses(text: str) -> list[str]:
    clauses = (clause.strip() for clause in _CLAUSE.split(_instruction(text.replace("’", "'"))))
    return [clause for clause in clauses if clause and not _CONDITION.search(clause)]


def _instruction(text: str) -> str:
    """A text without the errors that it quotes as its reason; the whole of one that says nothing else."""
    said = " ".join(map(_order, _SENTENCE.split(_REASON.sub(" ", text))))
    orders = [clause for clause in _CLAUSE.split(said) if clause.strip() and not _FAILURE.search(clause)]
    return said if any(len(clause.split()) > 1 for clause in orders) else text


def _order(sentence: str) -> str:
    """A sentence without what it gives as its reason behind a colon, where an order that names a form stands before."""
    order, _, _ = sentence.partition(": ")
    return order if "`" in order and len(order.split()) >= ORDER_WORDS else sentence
