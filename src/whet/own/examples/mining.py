"""Mining: the exchanges of many sessions that really worked, chosen by evidence and never by length."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from msgspec.structs import replace

from whet.own.examples.candidates import Candidate, candidates
from whet.own.examples.success import SuccessFinding, Votes, Warrant, find
from whet.own.examples.templates import Example
from whet.sessions.activity import Activity, classify
from whet.sessions.transcripts import Purpose, Transcript
from whet.trouble.outcomes.view import SessionView, gather
from whet.values import Value

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
    tokens: int = 2_000
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
    findings: list[SuccessFinding] = []
    left_out: Counter[str] = Counter()
    for transcript in transcripts:
        evidence = gather(transcript)
        finding = _finding(evidence, wanted)
        findings.append(finding)
        for candidate in candidates(evidence, finding, left_out):
            _keep(kept, candidate)
    votes = Votes(finding.vote for finding in findings)
    weighed = [votes.weigh(finding) for finding in findings]
    trusted = _trusted(kept, votes)
    firsts = [same[0] for same in trusted]
    chosen = strongest(firsts, wanted) or strongest([one for same in trusted for one in same], wanted)
    return Mined(
        tuple(_with_reason(example, candidate.warrant) for candidate in chosen for example in candidate.examples),
        wanted.activity or classify(exchange for candidate in chosen for exchange in candidate.exchanges),
        len(findings),
        sum(finding.warrant is not None for finding in weighed),
        dict(left_out),
        dict(Counter(finding.refusal for finding in weighed if finding.refusal)),
        sum(map(len, trusted)),
    )


def strongest(found: list[Candidate], wanted: WantedTemplate) -> tuple[Candidate, ...]:
    """A choice from the sessions with the strongest warrants that suffice; nothing where all together do not."""
    for rank in sorted({one.warrant for one in found}):
        chosen = choose((one for one in found if one.warrant <= rank), wanted)
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


def _finding(evidence: SessionView, wanted: WantedTemplate) -> SuccessFinding:
    if evidence.transcript.purpose not in PURPOSES:
        return SuccessFinding(None, "not a person's")
    finding = find(evidence, vouched=wanted.is_vouched)
    if finding.warrant and wanted.activity not in (None, classify(step.exchange for step in evidence.steps)):
        return SuccessFinding(None, "another activity")
    return finding


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


def _standing(one: Candidate) -> tuple[Warrant, float]:
    """The order of candidates of one shape: the stronger warrant first, then the better example."""
    return one.warrant, -one.merit


def _trusted(kept: dict[tuple[str, ...], list[Candidate]], votes: Votes) -> list[list[Candidate]]:
    """Of each shape the candidates whose sessions are trusted in the light of all sessions, the best first."""
    trusted: list[list[Candidate]] = []
    for same in kept.values():
        weighed = [(one, votes.weigh(SuccessFinding(one.warrant, vote=one.vote)).warrant) for one in same]
        fit = [one._replace(warrant=warrant) for one, warrant in weighed if warrant]
        trusted += [sorted(fit, key=_standing)] if fit else []
    return trusted


def _with_reason(example: Example, warrant: Warrant) -> Example:
    """The example with what speaks for it: how its call ended, and why its session counts as a success."""
    return replace(example, evidence=f"{example.evidence}; {warrant.reason}")
