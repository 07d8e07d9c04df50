"""Mining: the exchanges of many sessions that really worked, chosen by evidence and never by length.

And examples from recoveries: the call that worked where another had failed.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from whet.lessons.change_features import Words, common_form, fits
from whet.lessons.record import LessonPiece
from whet.lessons.simple_calls import in_parts, shown
from whet.own.examples.candidates import Candidate, ExampleCalls, candidates, episodes, is_trivial, is_whole
from whet.own.examples.success import SuccessReason, find
from whet.own.examples.templates import Example
from whet.sessions.activity import Activity, classify
from whet.sessions.transcripts import Purpose, Transcript
from whet.trouble.outcomes.view import JudgedCall, SessionView, gather
from whet.values import Value

FEWEST = 3  # examples of recoveries
MOST = 6  # as many teach a model of 135M parameters a convention (bench/RESULTS.md)
TOKENS = 2_000
NOTHING_WORKED = "no call that worked instead"
SESSION_EXAMPLES = 2  # from there on, each further one of the same session counts less
SHAPES_A_TOOL = 50
KEPT_A_SHAPE = 8  # each of another session: where there is little else, several of a kind show what varies
# A sub-agent's orders are an agent's words, a review's are about another session, and a trial is an experiment.
PURPOSES = frozenset({Purpose.CHAT, Purpose.JOB})


class WantedTemplate(Value, frozen=True):
    """What to mine for: `sessions` is the least number of sessions that examples must come from.

    With `is_vouched` whoever asks says that the sessions went well.
    """

    activity: Activity | None = None
    fewest: int = 5
    most: int = 10
    tokens: int = TOKENS
    sessions: int = 1
    is_vouched: bool = False


class Mined(NamedTuple):
    """The examples, or none where there were too few, with what was looked at and why the rest was left out."""

    examples: tuple[Example, ...]
    activity: Activity
    seen: int
    used: int
    left_out: dict[str, int]  # calls, by the reason
    refused: dict[str, int]  # sessions, by the reason
    fitting: int  # calls and rows of them that could be chosen from

    @property
    def passed_over(self) -> str:
        """What mining passed over, as sentences; nothing where it passed over nothing."""
        return " ".join(
            f"{what} left out: {', '.join(f'{reason} {count:,}' for reason, count in sorted(some.items()))}."
            for what, some in (("Sessions", self.refused), ("Calls", self.left_out))
            if some
        )


def mine(transcripts: Iterable[Transcript], wanted: WantedTemplate) -> Mined:
    """Examples from one pass over the sessions, of which no more is kept meanwhile than a finding each."""
    kept: dict[tuple[str, ...], list[Candidate]] = {}
    left_out, refused, used = Counter[str](), Counter[str](), 0
    for transcript in transcripts:
        evidence = gather(transcript)
        found = _finding(evidence, wanted)
        if isinstance(found, str):
            refused[found] += 1
            continue
        used += 1
        for candidate in candidates(evidence, found, left_out):
            _keep(kept, candidate)
    firsts = [same[0] for same in kept.values()]
    chosen = strongest(firsts, wanted) or strongest([one for same in kept.values() for one in same], wanted)
    told = (
        replace(example, evidence=f"{example.evidence}; {candidate.reason.words}")
        for candidate in chosen
        for example in candidate.examples
    )
    return Mined(
        tuple(told),
        wanted.activity or classify(exchange for candidate in chosen for exchange in candidate.exchanges),
        refused.total() + used,
        used,
        dict(left_out),
        dict(refused),
        sum(map(len, kept.values())),
    )


def strongest(found: list[Candidate], wanted: WantedTemplate) -> tuple[Candidate, ...]:
    """A choice from the sessions with the strongest reasons that suffice; nothing where all together do not."""
    for rank in sorted({one.reason for one in found}):
        chosen = choose((one for one in found if one.reason <= rank), wanted)
        if _calls(chosen) >= wanted.fewest and len({one.session for one in chosen}) >= wanted.sessions:
            return chosen
    return ()


def choose(found: Iterable[Candidate], wanted: WantedTemplate) -> tuple[Candidate, ...]:
    """The most diverse of the candidates within the limits, in the order in which they happened."""
    left = sorted(found, key=lambda one: (-one.merit, *one.place))
    chosen: list[Candidate] = []
    spent = 0
    while left and _calls(chosen) < wanted.most:
        gains = [(_novelty(one, chosen), one.merit, -number, one) for number, one in enumerate(left)]
        # By the call: a request of several must show as much more.
        novelty, _, _, one = max(gains, key=lambda gain: ((gain[0] + gain[1]) / len(gain[3].examples), gain[2]))
        left.remove(one)
        is_enough = _calls(chosen) >= wanted.fewest and novelty < 1
        if is_enough or spent + one.tokens > wanted.tokens or _calls([*chosen, one]) > wanted.most:
            continue
        chosen.append(one)
        spent += one.tokens
    order = {session: number for number, session in enumerate(dict.fromkeys(one.session for one in chosen))}
    return tuple(sorted(chosen, key=lambda one: (order[one.session], one.place)))


def _calls(chosen: Iterable[Candidate]) -> int:
    return sum(len(one.examples) for one in chosen)


def _novelty(one: Candidate, chosen: list[Candidate]) -> float:
    """How much it shows that the chosen do not; a whole point for a tool, an effect, an order of them or a stage."""
    tools = frozenset[str]().union(*(other.tools for other in chosen))
    effects = {effect for other in chosen for effect in other.effects}
    same = sum(one.session == other.session for other in chosen)
    return (
        3.0 * (not one.tools <= tools)
        + 1.5 * (not effects.issuperset(one.effects))
        + 1.0 * all(one.stage != other.stage for other in chosen)
        + 1.0 * (len(one.effects) > 1 and all(one.effects != other.effects for other in chosen))
        + 0.9 * (not same)
        - 4.0 * any(one.shape == other.shape for other in chosen)
        - 0.5 * max(0, same - SESSION_EXAMPLES)
    )


def _finding(evidence: SessionView, wanted: WantedTemplate) -> SuccessReason | str:
    if evidence.transcript.purpose not in PURPOSES:
        return "not a person's"
    found = find(evidence, vouched=wanted.is_vouched)
    is_fitting = wanted.activity in (None, classify(step.exchange for step in evidence.steps))
    return found if isinstance(found, str) or is_fitting else "another activity"


def _keep(kept: dict[tuple[str, ...], list[Candidate]], one: Candidate) -> None:
    """Keep the best few of each shape, each of another session, and of each tool only so many shapes."""
    same = kept.setdefault(one.shape, [])
    rivals = [other for other in same if other.session == one.session]
    if rivals and _standing(rivals[0]) <= _standing(one):
        return
    same[:] = sorted([other for other in same if other not in rivals] + [one], key=_standing)[:KEPT_A_SHAPE]
    shapes = [shape for shape in kept if shape[0] == one.shape[0]] if len(same) == 1 else []
    if len(shapes) > SHAPES_A_TOOL:
        del kept[max(shapes, key=lambda shape: (_standing(kept[shape][0]), shape))]


def _standing(one: Candidate) -> tuple[SuccessReason, float]:
    """The order of candidates of one shape: the stronger reason first, then the better example."""
    return one.reason, -one.merit


def mine_recoveries(transcripts: Iterable[Transcript], pieces: Sequence[LessonPiece]) -> Mined:
    """An example of each session, the first sessions first, until there are enough; none where there are too few.

    The later call is the example. It is not asked whether its session went well: the call itself did, where the one
    before it had not. Its words may stand in the error that came before it, so a person decides on them. At least half
    of the sessions are left over, where that leaves enough: they can judge the template.
    """
    places = {piece.session: piece for piece in sorted(pieces, key=lambda one: (bool(one.fix), -one.message))}
    fixes = [tuple(piece.fix.split()) for piece in pieces if piece.fix]
    form = common_form(fixes) if fixes else ()
    most = max(FEWEST, min(MOST, len(places) // 2))
    found: list[tuple[JudgedCall, Example]] = []
    left_out, refused, seen = Counter[str](), Counter[str](), 0
    for transcript in transcripts:
        if len(found) == most:
            break
        seen += 1
        if transcript.purpose not in PURPOSES:
            refused["not a person's"] += 1
            continue
        one = _recovered(gather(transcript), places.get(transcript.id), form)
        if isinstance(one, str):
            left_out[one] += 1
        elif sum(example.tokens for _, example in (*found, one)) <= TOKENS:
            found.append(one)
    kept = found if len(found) >= FEWEST else []
    return Mined(
        tuple(example for _, example in kept),
        classify(step.exchange for step, _ in kept),
        seen,
        len(found),
        dict(left_out),
        dict(refused),
        len(found),
    )


def _recovered(evidence: SessionView, piece: LessonPiece | None, form: Words) -> tuple[JudgedCall, Example] | str:
    """The first call of a session after a failure that does what worked elsewhere, as an example; or why there is none.

    Where the piece does not say what worked in its session, it is a call of the form that worked in the others.
    """
    transcript = evidence.transcript
    for episode, step in ((each, step) for each in episodes(evidence) for step in each.steps):
        if piece is None or not form or not step.worked or step.exchange.asked < piece.message - 1:
            continue
        parts = in_parts(step, transcript.folder).parts
        if not any(shown(part) == piece.fix if piece.fix else fits(form, part.words) for part in parts):
            continue
        example = ExampleCalls(transcript).example(step, is_own=False)
        if isinstance(example, str):
            return example
        # It is whole where nothing else that worked was needed for its request.
        others = [each for each in episode.steps if each.worked and each is not step and not is_trivial(each)]
        whole = not others and is_whole([(step, example)], episode, transcript)
        failed = f"`{piece.call}`" if piece.call else "another call"
        said = f"{example.evidence}; it worked where {failed} had failed"
        return step, replace(example, is_whole=whole, evidence=said)
    return NOTHING_WORKED
