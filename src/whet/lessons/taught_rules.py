"""What the sessions of a project teach without a model, as rules: one sentence each, with its evidence."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from msgspec.structs import replace

from whet.ledger.patches import (
    THE_PROJECT,
    Action,
    Form,
    Patch,
    PatchOrigin,
    PatchWriter,
    Proof,
    RuleSituation,
    Scope,
    SessionCounts,
)
from whet.lessons.change_features import VARIES, RecurringChange, Remedy, SeenChange, common_form
from whet.lessons.changed_calls import SessionChanges
from whet.lessons.finding import sentences, standing_sentences
from whet.lessons.record import (
    PIECES_KEPT,
    Lesson,
    LessonEvidence,
    LessonPiece,
    LessonSource,
    id_of,
    learned_name,
)
from whet.lessons.recurring_changes import again, log2_tail, recurring_changes
from whet.lessons.simple_calls import SimpleCall, is_setting, parts_of, settings_in, shown
from whet.sessions.trust import lowest
from whet.text.likeness import is_opposed, is_same, sense
from whet.text.words import cut

MOST_PIECES = 60
QUOTES = 3
QUOTE_LETTERS, PROOF_LETTERS = 120, 300
FEWEST = 2  # sessions that a rule is written from
PERSONS_WORD = "the person's standing word"
_JOINING = re.compile(r"(?i)^(?:and|but|so|also|und|aber|et|mais|y|pero|и|но)\s+(?=\S)")
REPEATED = "a request that people repeat"
MOST_REQUESTS = 10
FEWEST_ASKED = 3  # sessions
ENOUGH_BITS = 6.0
REQUEST_LETTERS = 240  # what is longer is a task
STEM = 6  # letters of a word that tell it from another, in whatever language
FEWEST_LETTERS = 4
NAMED = 1.5
_WORD = re.compile(r"[^\W\d_]+")
LONGEST = 400  # letters of a rule
LETTERS = (120, 80, 50, 30)  # of each call, error and quote: as many as there is room for
QUOTED_ERROR_LETTERS = 140
MOST_FORMS = 3
SHORT = 80  # letters of each call of an example
FEWEST_WORDS = 3  # of an error that are the same in all sessions
ROOT = "the root of the project"


class RepeatedRequest(NamedTuple):
    """One request of several sessions in the words of each, and what was done for it."""

    topic: str  # the beginning of the word that the requests share
    done: str  # the mark of what was done for them
    pieces: tuple[LessonPiece, ...]  # one of each session, its text the sentence


def rules_taught(project: str, changes: Mapping[str, SessionChanges], said: Sequence[LessonPiece]) -> Iterator[Lesson]:
    """What people said that holds for good, what changed wherever calls went wrong, and what was asked for again."""
    told = list(_standing(project, said))
    yield from told
    for change in recurring_changes(changes):
        yield _of_change(project, change)
    meant = [sense(each.rule) for each in told]
    for request in repeated_requests(said):
        if not any(is_same(sense(piece.text), each) for piece in request.pieces for each in meant):
            yield _of_request(project, request)


def rule_draft(
    project: str, rule: str, evidence: LessonEvidence, *, written_from: Sequence[LessonPiece], about: RuleSituation
) -> Lesson:
    """A rule as a lesson, with the change that would tell it.

    `written_from` are the pieces that it takes to say it; what is later can judge it.
    """
    oldest = len({piece.session for piece in written_from})
    counts = SessionCounts(evidence.sessions, written_from=oldest if oldest < evidence.sessions else 0)
    patch = Patch(
        form=Form.RULE,
        action=Action.ADD,
        name=learned_name(project, rule),
        text=rule,
        scope=Scope(project=project),
        origin=PatchOrigin(PatchWriter.PATTERN, basis=evidence.source, counts=counts, place=THE_PROJECT),
        trust=lowest(piece.trust for piece in (*written_from, *evidence.pieces)),
        proofs=tuple(
            Proof(piece.session, piece.message, piece.source.value, cut(piece.text, PROOF_LETTERS))
            for piece in written_from[:PIECES_KEPT]
        ),
        situation=about,
    )
    return Lesson(id_of(project, rule), project, rule, "", "", patch, evidence)


def _standing(project: str, said: Iterable[LessonPiece]) -> Iterator[Lesson]:
    """Each sentence that orders something for good once, with every piece that says so; of contraries the last said."""
    groups: list[tuple[str, list[LessonPiece]]] = []
    for piece in said:
        for sentence in standing_sentences(piece.text):
            known = next((group for text, group in groups if is_same(sense(text), sense(sentence))), None)
            groups = [each for each in groups if not is_opposed(sense(each[0]), sense(sentence))]
            if known is None:
                groups.append((sentence, [piece]))
            else:
                known.append(piece)
    for text, pieces in groups:
        plain = _JOINING.sub("", text)
        whole, evidence = plain[0].upper() + plain[1:], _evidence(LessonSource.PERSON, pieces)
        draft = rule_draft(project, whole, evidence, written_from=pieces[:1], about=RuleSituation(said=text))
        yield replace(draft, situation=PERSONS_WORD, fix=whole)


def _of_request(project: str, request: RepeatedRequest) -> Lesson:
    quotes = list(dict.fromkeys(cut(piece.text, QUOTE_LETTERS) for piece in request.pieces))[:QUOTES]
    said = "; ".join(f"“{quote}”" for quote in quotes)
    text = f"Expect to be asked for this, and offer it where it fits: {said} (`{request.done}`)."
    evidence, about = _evidence(LessonSource.REQUEST, request.pieces), RuleSituation(said=quotes[0])
    draft = rule_draft(project, text, evidence, written_from=request.pieces[:FEWEST], about=about)
    return replace(draft, situation=REPEATED, fix=request.done)


def _of_change(project: str, change: RecurringChange) -> Lesson:
    text, error = sentence_of(change), error_of(change)
    pieces = [_piece(each) for each in change.seen]
    # A step before it is no other form: it helped where the same error does not come again.
    fix = "" if change.remedy is Remedy.STEP else _fixed(change.works, change.seen[-1].way.call)
    about = RuleSituation(_fixed(change.fails[0], change.seen[-1].changed.call), error, fix)
    count = next((n for n in range(FEWEST, len(pieces)) if sentence_of(again(change, n)) == text), len(pieces))
    evidence = _evidence(LessonSource.RECOVERY, pieces)
    draft = rule_draft(project, text, evidence, written_from=pieces[:count], about=about)
    return replace(
        draft,
        situation=f"{shown(change.fails[0])}: {error or 'refused'}",
        fix=shown(change.works),
        patch=replace(draft.patch, example=example_of(change)),
    )


def _fixed(template: SimpleCall, latest: SimpleCall) -> str:
    """What is the same in all sessions, by which a later call is known; where that is nothing, the latest call."""
    words = tuple(word for word in template.words if VARIES not in word)
    return shown(SimpleCall(words, template.folder, template.settings)) if words else shown(latest)


def _piece(seen: SeenChange) -> LessonPiece:
    changed, way = seen.changed, seen.way
    call = shown(changed.call)
    return LessonPiece(
        LessonSource.RECOVERY,
        seen.session,
        changed.message,
        f"{call} → {changed.error or changed.said}",
        call=call,
        error=changed.error,
        fix=shown(way.call),
        trust=changed.trust,
        at=changed.at,
    )


def _evidence(source: LessonSource, pieces: Sequence[LessonPiece]) -> LessonEvidence:
    """The pieces in the order of time, and in how many sessions they are; that is what they are worth."""
    sessions = len({piece.session for piece in pieces})
    return LessonEvidence(source, tuple(pieces[:MOST_PIECES]), sessions, float(sessions))


def sentence_of(change: RecurringChange) -> str:
    """What to tell agents."""
    told = (_sentence(change, letters) for letters in LETTERS)
    return next((text for text in told if len(text) <= LONGEST), _sentence(change, LETTERS[-1]))


def _sentence(change: RecurringChange, letters: int) -> str:
    is_several = len(change.fails) > 1
    fails = _calls(change.fails, letters)
    works, why = _works(change, letters), _why(change, letters)
    it_fails = f"{'they fail' if is_several else 'it fails'}{why}"
    if change.is_refused:
        quotes = [*dict.fromkeys(each.changed.said for each in change.seen if each.changed.said)][:2]
        said = f": {'; '.join(f'“{cut(quote, letters)}”' for quote in quotes)}" if quotes else ""
        return f"Run {works}, not {fails}, which was refused{said}."
    if change.remedy is Remedy.PLACE:
        named = f"`{change.parts[1]}`" if change.parts[1] else ROOT
        anywhere = [SimpleCall(each.words, "", each.settings) for each in change.fails]
        return f"Run {_calls(anywhere, letters)} in {named}; elsewhere {it_fails}."
    if change.remedy is Remedy.STEP:
        return f"Before {fails} run {works}; without that {it_fails}."
    if change.remedy is Remedy.SETTING:
        return f"Set {works} for {fails}; without it {it_fails}."
    if change.remedy is Remedy.PART and not _is_shown(change):
        wrong, right = change.parts
        programs = " and ".join(f"`{each.words[0]}`" for each in change.fails[:MOST_FORMS])
        instead = f"use `{right}`, not `{wrong}`" if wrong else f"use `{right}`"
        failed = _call(change.seen[-1].changed.call, letters)
        return f"With {programs} {instead}: {works} works, {failed} fails{why}."
    return f"{fails} {'fail' if is_several else 'fails'} here{why}; run {works} instead."


def example_of(change: RecurringChange) -> str:
    """The shortest example of what fails and what works; none where none is short."""
    pairs = ((shown(each.changed.call), shown(each.way.call)) for each in change.seen)
    told = (f"`{fails}` fails, `{works}` works." for fails, works in pairs if max(len(fails), len(works)) <= SHORT)
    is_form = change.remedy in (Remedy.FORM, Remedy.PART) and not change.is_refused
    return min((each for each in told if is_form), key=len, default="")


def error_of(change: RecurringChange) -> str:
    """What the errors have in common, with a mark for what varies; else the most frequent."""
    lines = [each.changed.error for each in change.seen if each.changed.error]
    if not lines:
        return ""
    told = common_form(tuple(line.split()) for line in lines)
    if sum(VARIES not in word for word in told) >= FEWEST_WORDS:
        return cut(" ".join(told), QUOTED_ERROR_LETTERS)
    return cut(Counter(lines).most_common(1)[0][0], QUOTED_ERROR_LETTERS)


def _works(change: RecurringChange, letters: int) -> str:
    """What helps: the form that all sessions have in common, else that of the latest."""
    if change.remedy is Remedy.SETTING:
        calls = [seen.way.call for seen in change.seen]
        given = (settings_in(call.words) if is_setting(call) else () for call in calls)
        whole = {each for call, own in zip(calls, given, strict=True) for each in (*call.settings, *own)}
        fitting = sorted(each for each in whole if each.startswith(change.parts[1]))
        return f"`{fitting[0]}`" if len(fitting) == 1 else f"`{change.parts[1]}{VARIES}`"
    if change.remedy is Remedy.PART and not _is_shown(change):
        return _call(change.seen[-1].way.call, letters)
    return _call(change.works, letters)


def _is_shown(change: RecurringChange) -> bool:
    return change.works.words[0] != VARIES and change.parts[1] in parts_of(change.works.words)


def _why(change: RecurringChange, letters: int) -> str:
    """The error in the marks of a quote: it is the reason, and no word of the rule."""
    error = cut(error_of(change), letters).translate({ord("“"): '"', ord("”"): '"'})
    return f" (“{error}”)" if error else ""


def _calls(calls: Sequence[SimpleCall], letters: int) -> str:
    return " and ".join(_call(each, letters) for each in calls[:MOST_FORMS])


def _call(call: SimpleCall, letters: int) -> str:
    return f"`{cut(shown(call).replace('`', chr(39)), letters)}`"


def repeated_requests(pieces: Iterable[LessonPiece]) -> tuple[RepeatedRequest, ...]:
    """What was asked for in three sessions or more, after the work had begun; the most frequent first.

    It is the same request, in whatever words, where it has a word in common and the agent did the same for it, more
    often than agents do so anyway. It is counted and quoted, and made into no order.
    """
    every = [piece for piece in pieces if piece.did]
    asked = [piece for piece in every if not piece.is_first and len(piece.text) <= REQUEST_LETTERS]
    sessions = len({piece.session for piece in asked})
    by_mark: dict[str, list[LessonPiece]] = defaultdict(list)
    for piece in asked:
        for mark in piece.did:
            by_mark[mark].append(piece)
    said_for = Counter(mark for piece in every for mark in piece.did)
    found: list[RepeatedRequest] = []
    for mark, group in by_mark.items():
        topic, alike = _topic(group)
        chosen = {piece.session: piece for piece in reversed(alike)}
        if len(chosen) < FEWEST_ASKED:
            continue
        chance = (said_for[mark] - len(alike) + 0.5) / (len(every) - len(alike) + 1)
        if -log2_tail(len(chosen), sessions, min(0.999, chance)) >= ENOUGH_BITS:
            for session, piece in chosen.items():
                said = (sentence for sentence in sentences(piece.text) if topic in _stems(sentence))
                chosen[session] = replace(piece, text=next(said, piece.text))
            found.append(RepeatedRequest(topic, mark, tuple(reversed(chosen.values()))))

    def rank(request: RepeatedRequest) -> tuple[float, int, str]:
        """By its sessions, which count more where what was done names what was asked for."""
        is_named = request.topic in request.done.lower()
        return -len(request.pieces) * (NAMED if is_named else 1.0), -len(request.done), request.done

    return tuple(_apart(sorted(found, key=rank)))[:MOST_REQUESTS]


def _topic(group: Sequence[LessonPiece]) -> tuple[str, list[LessonPiece]]:
    """The word that most of the requests share, and those that have it."""
    stems = [_stems(piece.text) for piece in group]
    counted = Counter(stem for each in stems for stem in each)
    if not counted:
        return "", []
    topic = max(counted, key=lambda stem: (counted[stem], len(stem), stem))
    alike = [piece for piece, each in zip(group, stems, strict=True) if topic in each]
    return topic, alike


@lru_cache(maxsize=1 << 14)
def _stems(text: str) -> frozenset[str]:
    words = (word.lower() for word in _WORD.findall(text))
    return frozenset(word[:STEM] for word in words if len(word) >= FEWEST_LETTERS)


def _apart(ranked: Iterable[RepeatedRequest]) -> Iterator[RepeatedRequest]:
    """Each request once: what shares its word, or a third of its messages, with one before it is that one."""
    seen: set[tuple[str, int]] = set()
    topics: set[str] = set()
    for each in ranked:
        places = {(piece.session, piece.message) for piece in each.pieces}
        if 3 * len(places & seen) < len(places) and each.topic not in topics:
            yield each
            seen |= places
            topics.add(each.topic)
