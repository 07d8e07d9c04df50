"""What is counted of each analysed session, in a few words: read once, and again only for what has changed."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from whet.failures.score import Weighed, told_reasons
from whet.failures.summaries import MAY_HAVE_FAILED
from whet.runs.models import Prices, cost
from whet.sessions.transcripts import Usage
from whet.store.database import Database, Row
from whet.store.decoding import decoded_or_none
from whet.store.in_short import AnalysisInShort, ToolFact
from whet.store.listing import OWN_PURPOSES
from whet.values import Value

PAGE = 900

Stamp = tuple[object, ...]
PriceOf = Callable[[str], Prices | None]  # of a model by its name


class SessionFact(Value, frozen=True, gc=False):  # there are many, and none holds itself
    """One session as counts need it; `stamp` changes with what it was made from."""

    no: int
    stamp: Stamp
    id: str
    title: str
    source: str
    model: str
    folder: str
    purpose: str
    at: float
    tokens: int
    cost_dollars: float | None
    score: float
    failed: bool
    untold: bool  # the record cannot tell
    copied: bool  # nothing in it is its own
    reasons: tuple[str, ...]
    decisive_step: int | None
    kinds: tuple[str, ...]
    tools: tuple[ToolFact, ...]
    calls: int
    failed_calls: int
    counts: bool  # it is a person's work: no attempt of a trial, no review, and no mere copy of another
    listed_dollars: float | None = None  # what its tokens cost at list prices, where the record does not say

    @property
    def dollars(self) -> float | None:
        """What it cost: as the record says, else at list prices."""
        return self.listed_dollars if self.cost_dollars is None else self.cost_dollars


def state_of_sessions(database: Database) -> str:
    """What changes when any session or analysis does, by one quick question to the database."""
    return "/".join(str(value) for value in database.query(STATE)[0])


def read_facts(
    database: Database, known: Mapping[int, SessionFact], price: PriceOf = lambda _: None
) -> dict[int, SessionFact]:
    """The facts of every analysed session; those that are known and unchanged are not read again."""
    if not known:
        return {fact.no: fact for fact in _facts(database.query(FACTS), price)}
    stamps: dict[int, Stamp] = {int(no): tuple(rest) for no, *rest in database.query(STAMPS)}
    facts = {no: known[no] for no, stamp in stamps.items() if no in known and known[no].stamp == stamp}
    missing = [no for no in stamps if no not in facts]
    for start in range(0, len(missing), PAGE):
        numbers = missing[start : start + PAGE]
        rows = database.query(f"{FACTS} WHERE s.no IN ({', '.join('?' * len(numbers))})", numbers)
        facts.update((fact.no, fact) for fact in _facts(rows, price))
    return facts


def _facts(rows: Iterable[Row], price: PriceOf) -> Iterator[SessionFact]:
    for row in rows:
        found = decoded_or_none(row[-1], AnalysisInShort)
        if found is not None:
            yield _fact(row, found, price)


def _fact(row: Row, found: AnalysisInShort, price: PriceOf) -> SessionFact:
    no, head, version, score, longer, title, id, source, model, folder, purpose, dated, *used, recorded, _ = row
    tokens = used[0] + used[1]
    listed = cost(Usage(*used), prices) if recorded is None and tokens and (prices := price(model)) else None
    reasons = told_reasons(Weighed(0.0, found.reasons), longer)
    untold = not (reasons or found.backed or found.kinds)
    return SessionFact(
        no=no,
        stamp=(head, version, score, longer, title),
        id=id,
        title=title,
        source=source,
        model=model,
        folder=folder,
        purpose=purpose,
        at=dated,
        tokens=tokens - found.copied_tokens,
        cost_dollars=recorded,
        listed_dollars=None if listed is None else listed * (tokens - found.copied_tokens) / tokens,
        score=score,
        failed=score >= MAY_HAVE_FAILED and bool(found.reasons),
        untold=untold,
        copied=found.copied,
        reasons=reasons,
        decisive_step=found.decisive_step,
        kinds=found.kinds,
        tools=found.tools,
        calls=sum([tool.calls for tool in found.tools]),
        failed_calls=sum([tool.failed for tool in found.tools]),
        counts=not found.copied and purpose not in OWN_PURPOSES,
    )


STATE = """
    SELECT (SELECT count(*) FROM sessions), (SELECT coalesce(sum(message_count), 0) FROM sessions),
        (SELECT count(*) FROM analyses_in_short), count(*),
        coalesce(max(session), 0), coalesce(sum(failure_score), 0), coalesce(sum(version), 0) FROM analyses
"""
_KEPT = """
    FROM sessions AS s JOIN analyses AS a ON a.session = s.no JOIN analyses_in_short AS i ON i.session = s.no
"""
_STAMP = "s.no, a.head, a.version, a.failure_score, a.longer, s.title"
STAMPS = f"SELECT {_STAMP} {_KEPT}"
FACTS = f"""
    SELECT {_STAMP}, s.id, s.source, s.model, s.folder, s.purpose, s.dated, s.input_tokens, s.output_tokens,
        s.cached_tokens, s.cost_dollars, i.record {_KEPT}
"""
