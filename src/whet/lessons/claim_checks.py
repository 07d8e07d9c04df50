"""What code finds out about a claim: whose words it rests on, how often it holds, what speaks against telling it."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from whet.lessons.claim_evidence import (
    CheckedQuote,
    PatternCounts,
    PatternHit,
    Patterns,
    SeenCall,
    SessionCalls,
    count_check,
    has_failed,
    is_part,
    unquoted_words,
)
from whet.lessons.claims import (
    NO_QUOTES,
    Claim,
    ClaimCarrier,
    ClaimCheck,
    ClaimSource,
    DroppedClaim,
    Quote,
    StandingClaim,
)
from whet.lessons.instructions import (
    NamedThings,
    RepositoryNames,
    SeenInstruction,
    code_spans,
    missing_names,
    named_things,
    saying,
)
from whet.lessons.rungs import Backtest, CallCounts, LessonMeasures
from whet.sessions.trust import Trust, lowest
from whet.text.likeness import stance_of
from whet.trouble.values import SessionTrouble, Speaker
from whet.values import Value

SAID = frozenset((ClaimSource.PERSON, ClaimSource.REQUEST))
# What these say stands or falls with the calls that failed and worked; of the others a call need not fail.
OF_CALLS = frozenset((ClaimSource.REMEDY, ClaimSource.RECOVERY))
MOST_LESSONS = 20  # of a project
SECONDS = 60.0
_NAME = re.compile(r"[\w/@-]+")
SESSIONS_NEEDED = 2

NOBODY_SAYS_IT = "no person says it"
ONCE = "seen in one session only: it counts once another session shows it"
SETTLED = "settled: the file says it since the trouble"
FILE_IS_RIGHT = "the file no longer says what is to be put right"
RANKED = f"{MOST_LESSONS} lessons of the project are seen in as many sessions or more"
SILENT = "its pattern fits no call of any session"
NO_REMEDY_SEEN = "what it recommends was never run"


class ProjectFacts(NamedTuple):
    """What the claims of a project are checked against.

    The calls are of every session, `copies` names the original of each copy, the lines are those of the files that
    agents read with since when they stand there. No repository is known where it is not on this machine.
    """

    quotes: Mapping[Quote, CheckedQuote]
    calls: Mapping[str, Sequence[SeenCall]]
    copies: Mapping[str, str]
    lines: tuple[SeenInstruction, ...] = ()
    settings: tuple[SeenInstruction, ...] = ()  # lines of the files that set up linters
    repository: RepositoryNames | None = None
    started: Mapping[str, float] = {}


class ClaimReport(Value, frozen=True):
    """A claim that held, with what was found out about it: the exact quotes, their trust, where it was seen."""

    standing: StandingClaim
    quotes: tuple[CheckedQuote, ...]
    trust: Trust
    sessions: tuple[str, ...]  # originals
    measures: LessonMeasures
    told: SeenInstruction | None = None
    is_broken: bool = False  # told, and not followed
    hits: tuple[PatternHit, ...] = ()

    @property
    def is_checked(self) -> bool:
        """Whether code could bear it out beyond that its quotes are exact."""
        counts = self.measures.counts
        return counts is not None and counts.failed > 0 and not self.measures.goes_back


def check_claim(standing: StandingClaim, facts: ProjectFacts) -> ClaimReport | DroppedClaim:
    """The claim with what was found out about it; dropped with the reason where that speaks against it."""
    claim = standing.claim
    found = [facts.quotes[quote] for quote in claim.quotes if quote in facts.quotes]
    exact = tuple(each for each in found if each.is_exact and (each.is_said or claim.source not in SAID))
    if why := _quote_fault(standing, found, exact):
        return DroppedClaim(claim, why)
    check = claim.check if claim.source not in SAID else None
    counts = count_check(check, facts.calls, facts.copies) if check else PatternCounts()
    sessions = _sessions(exact, counts, facts)
    if why := _count_fault(claim, counts.calls) or _evidence_fault(standing, sessions, facts):
        return DroppedClaim(claim, why)
    told, last = told_by(claim, facts.lines), _last(exact, counts, facts)
    if why := _file_fault(claim, told, facts, last):
        return DroppedClaim(claim, why)
    is_fix, enforced = claim.carrier is ClaimCarrier.FIX_THE_FILE, _enforced(claim, facts.settings)
    measures = LessonMeasures(
        len(exact),
        sum(not each.is_exact for each in found),
        counts.calls if counts.calls.seen else None,
        missing=missing_names(named_things(claim.rule), facts.repository) if facts.repository else (),
        enforced_in=enforced.path if enforced else "",
        wrong_in=told.path if told and is_fix else "",
        wrong_as=told.line if told and is_fix else "",
        goes_back=_goes_back(check, counts) if check else "",
        is_doubted=standing.is_doubted,
    )
    told = None if is_fix else told
    is_broken = told is not None and told.at is not None and last is not None and last >= told.at
    return ClaimReport(standing, exact, trust_of(claim, exact), sessions, measures, told, is_broken, counts.hits)


def asked_names(claims: Iterable[StandingClaim]) -> NamedThings:
    """All that claims name, to be looked up in the repository at once."""
    named = [named_things(each.claim.rule) for each in claims]
    return NamedThings(
        tuple(dict.fromkeys(path for each in named for path in each.paths)),
        tuple(dict.fromkeys(symbol for each in named for symbol in each.symbols)),
    )


def rank(reports: Iterable[ClaimReport], most: int = MOST_LESSONS) -> tuple[list[ClaimReport], list[DroppedClaim]]:
    """The claims that most sessions show, which is what best tells that they come up again; the others say so."""
    ordered = sorted(reports, key=lambda each: (-len(each.sessions), -len(each.quotes), each.standing.number))
    return ordered[:most], [DroppedClaim(each.standing.claim, RANKED) for each in ordered[most:]]


def trust_of(claim: Claim, quotes: Sequence[CheckedQuote]) -> Trust:
    """The lowest trust of the quotes; what a rule says in other words may have stood anywhere in what was read."""
    least = lowest(each.trust for each in quotes)
    said = [each.quote.words for each in quotes]
    words = " ".join(said).casefold()
    named = named_things(claim.rule)
    # What it says to use, in code marks or with signs in it: a command, a flag, an address.
    wanted = (name for name in stance_of(claim.rule).wanted if not name.isalpha())
    is_borne = all(name.casefold() in words for name in (*named.paths, *named.symbols, *wanted))
    return least if is_borne and not unquoted_words(claim.rule, said) else min(least, Trust.TOOL)


def told_by(claim: Claim, lines: Sequence[SeenInstruction]) -> SeenInstruction | None:
    """The line of a file that says it already, or that the claim quotes."""
    quoted = next((line for line in lines if claim.told and is_part(claim.told, line.line)), None)
    is_fix = claim.carrier is ClaimCarrier.FIX_THE_FILE
    return quoted if quoted is not None or is_fix else saying(claim.rule, lines)


def _quote_fault(standing: StandingClaim, found: Sequence[CheckedQuote], exact: Sequence[CheckedQuote]) -> str:
    if exact:
        return ""
    wrong = next((each for each in found if not each.is_exact), None)
    if wrong is not None:
        return f"no quote holds: {wrong.why}"
    if found:
        return NOBODY_SAYS_IT
    return "no quote holds: its session is not in the store" if standing.misplaced else NO_QUOTES


def _count_fault(claim: Claim, counts: CallCounts) -> str:
    """Why counts speak against a claim that is about calls."""
    if claim.source not in OF_CALLS or not counts.seen:
        return ""
    fewest = 4 if counts.tried else 2  # where another form is known to work better, a quarter that fails is too much
    if fewest * counts.failed < counts.seen:
        return f"it forbids what works: what it calls wrong failed {counts.failed} of {counts.seen} times"
    if counts.tried and counts.worked * counts.seen <= (counts.seen - counts.failed) * counts.tried:
        return f"what it recommends works no better: {counts.worked} of {counts.tried} times"
    return ""


def _goes_back(check: ClaimCheck, counts: PatternCounts) -> str:
    if counts.faults:
        return "; ".join(counts.faults)
    if not counts.calls.seen:
        return SILENT
    return "" if counts.calls.tried or not check.works else NO_REMEDY_SEEN


def _sessions(exact: Iterable[CheckedQuote], counts: PatternCounts, facts: ProjectFacts) -> tuple[str, ...]:
    quoted = (facts.copies.get(each.quote.session, each.quote.session) for each in exact)
    return tuple(dict.fromkeys((*quoted, *counts.sessions)))


def _last(exact: Iterable[CheckedQuote], counts: PatternCounts, facts: ProjectFacts) -> float | None:
    """When it was last seen."""
    said = (each.at or facts.started.get(each.quote.session) for each in exact)
    failed = (facts.started.get(session) for session in counts.sessions)
    return max((at for at in (*said, *failed) if at is not None), default=None)


def _evidence_fault(standing: StandingClaim, sessions: Sequence[str], facts: ProjectFacts) -> str:
    """Why what was seen is too little, or is outweighed."""
    claim = standing.claim
    against = [facts.quotes[quote] for quote in standing.against if quote in facts.quotes]
    contrary = {facts.copies.get(each.quote.session, each.quote.session) for each in against if each.is_exact}
    if len(contrary) >= len(sessions):
        why = f": {standing.objection}" if standing.objection else ""
        return f"contradicted in {len(contrary)} of {len(contrary) + len(sessions)} sessions{why}"
    needs_one = claim.source is ClaimSource.PERSON or claim.carrier is ClaimCarrier.FIX_THE_FILE
    return "" if needs_one or len(sessions) >= SESSIONS_NEEDED else ONCE


def _file_fault(claim: Claim, told: SeenInstruction | None, facts: ProjectFacts, last: float | None) -> str:
    if claim.carrier is ClaimCarrier.FIX_THE_FILE:
        return FILE_IS_RIGHT if claim.told and facts.lines and told is None else ""
    if told is not None and told.at is not None and last is not None and told.at > last:
        return f"{SETTLED} ({told.path})"
    return ""


def _enforced(claim: Claim, settings: Iterable[SeenInstruction]) -> SeenInstruction | None:
    """The line with which a linter is set up to enforce what a claim names."""
    codes = frozenset(_codes(claim))
    if not codes:
        return None
    return next((line for line in settings if not codes.isdisjoint(_NAME.findall(line.line))), None)


def _codes(claim: Claim) -> Iterator[str]:
    """The names of lint rules in a rule: in code marks, letters with a number or words joined by dashes."""
    for word in code_spans(claim.rule):
        head = word.rstrip("0123456789")
        is_numbered = head != word and head.isalpha() and head.isupper()
        if is_numbered or ("-" in word.strip("-") and not word.startswith("-")):
            yield word


def backtest(
    check: ClaimCheck, sessions: Mapping[str, SessionCalls], trouble_of: Callable[[str], SessionTrouble | None]
) -> Backtest:
    """What the patterns of a check find in later sessions, and what the stretches around it cost, each counted once."""
    patterns = Patterns(check)
    came_up = 0
    wrong: dict[str, list[int]] = {}
    for id, each in sessions.items():
        fails, works = patterns.hits(each.calls)
        came_up += bool(fails or works)
        if places := [call.message for call in fails if has_failed(call)]:
            wrong[id] = places
    found = Backtest(len(sessions), came_up, len(wrong), sum(map(len, wrong.values())))
    spared = [_spared(trouble, places) for id, places in wrong.items() if (trouble := trouble_of(id)) is not None]
    seconds, tokens, messages = map(sum, zip(*spared, strict=True)) if spared else (0.0, 0, 0)
    return replace(found, minutes=round(seconds / SECONDS, 1), tokens=tokens, messages=messages)


def backtest_by_quotes(later: int, said: Mapping[str, int]) -> Backtest:
    """What a reader quoted for a claim from sessions later than those it was made from: how many messages of each."""
    number = sum(said.values())
    return Backtest(later, len(said), len(said), number, messages=number, is_by_pattern=False)


def _spared(trouble: SessionTrouble, places: Iterable[int]) -> tuple[float, int, int]:
    """The seconds, tokens and persons' messages that one session spent on failures at these places."""
    wrong = tuple(places)
    stretches = [each for each in trouble.troubles if any(each.first <= place <= each.last for place in wrong)]
    stepped = [event.message for event in trouble.interventions if event.by is Speaker.PERSON]
    # The person stepped in during a stretch, or at its end.
    said = sum(any(each.first <= message <= each.last + 1 for each in stretches) for message in stepped)
    return sum(each.seconds for each in stretches), sum(each.tokens for each in stretches), said
