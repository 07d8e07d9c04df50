"""What in a person's words objects to work: a no, a failure that they show, the same order once more.

Words only classify; that something was put right is seen in what the agent does next.
"""

import re

import re2

from whet.outcomes.check_forms import CHECKS
from whet.text.words import names

SHOWN_LETTERS = 6_000
ANSWER_LETTERS = 300
OBJECTION_LETTERS = 300  # an objection comes first; further on some no stands in any text
RETYPED = 0.85  # so many of the words of both, and it is the same order again
FEWEST_WORDS = 4
# The words of negation and of "still" are few in every language, and stand in most objections.
NEGATIONS = names(
    "no not nor never none nothing cannot still instead wrong "
    "nicht kein keine keinen keiner keines keinem nie niemals nein nichts immernoch statt stattdessen falsch "
    "не нет ни никогда ничего вместо ещё неверно нельзя ні немає "
    "ne pas non jamais rien toujours aucun aucune "
    "nunca nada tampoco todavía sigue não nem ainda nenhum nenhuma non mai niente ancora invece "
    "niet geen nooit nog steeds nie nadal żaden inte aldrig ingen fortfarande ikke aldri stadig fortsatt "
    "ei enää değil yok hâlâ hala không chưa vẫn tidak bukan belum masih jangan niciodată încă "
    "لا ليس لم لن غير नहीं मत לא אין"
)
# The words with which the next task begins.
NEXT = names(
    "now next then jetzt nun danach теперь далее затем maintenant ensuite puis ahora luego después agora depois ora "
    "adesso poi nu nästa teraz potem şimdi sonra 现在 接下来 次に 이제 다음"
)
FIRST_WORDS = 2  # among which it stands
_UNSPACED = re.compile(r"[不没沒未別别還还又]|ない|ません|まだ|違|않|못|아니|아직|ไม่")
_CONTRACTED = re.compile(r"n['’]t\b")
_QUESTION = re.compile(r"[^.!?\n。！？]{0,300}[?？]")
_WORD = re.compile(r"[^\W\d_]+")
_FAILURE = re2.compile(
    r"(?m)^\W*(?:(?i:error|err!|fatal|panic|exception|fehler|erreur|ошибка|错误)\b\W*[:\]\[]|Traceback \(most recent)"
    r"|^\s*(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*(?:Error|Exception)\b: \S|^\s+at [\w.$<>]+ ?\([^\n]*:\d+"
)
_CONCEDED = re2.compile(
    r"(?i)\byou(?:'|’)?(?:re| are) (?:\w+ )?(?:right|correct)\b|\bgood catch\b"
    r"|\bmy (?:mistake|bad)\b"
    r"|\bi apologi[sz]e\b|\bsorry\b|\bgenuine (?:bug|issue|problem)\b|\breal (?:bug|regression)\b"
    r"|(?:du hast|sie haben|ihr habt) (?:\w+ )?recht|entschuldig|вы правы|ты прав|извини|прошу прощения"
    r"|(?:vous avez|tu as) (?:\w+ )?raison|désolé|(?:tienes|tiene) (?:\w+ )?razón|lo siento|(?:hai|ha) ragione"
    r"|(?:tem|tens) (?:\w+ )?razão|desculp|je hebt gelijk|masz rację|你说得对|抱歉|おっしゃる通り|申し訳|맞습니다|죄송"
)


def negates(text: str) -> bool:
    """Whether the words say no to something, or that it is still so; a question says neither."""
    words = _QUESTION.sub(" ", text[:OBJECTION_LETTERS])
    if _CONTRACTED.search(words) or _UNSPACED.search(words):
        return True
    return not NEGATIONS.isdisjoint(word.lower() for word in _WORD.findall(words))


def goes_on(text: str) -> bool:
    """Whether the words begin the next task."""
    return not NEXT.isdisjoint(word.lower() for word in _WORD.findall(text[:OBJECTION_LETTERS])[:FIRST_WORDS])


def is_question(text: str) -> bool:
    """Whether the words ask something back."""
    return text.rstrip().endswith(("?", "？"))


def shows_failure(text: str) -> bool:
    """Whether a text shows what a program printed when it failed."""
    shown = text if len(text) <= SHOWN_LETTERS else text[: SHOWN_LETTERS // 2] + "\n" + text[-SHOWN_LETTERS // 2 :]
    return _FAILURE.search(shown) is not None or bool(CHECKS.first(shown))


def concedes(text: str) -> bool:
    """Whether an agent's answer begins with owning a mistake."""
    return _CONCEDED.search(text[:ANSWER_LETTERS]) is not None


def is_retyped(text: str, earlier: str) -> bool:
    """Whether two orders are the same words, said twice."""
    first, second = (frozenset(_WORD.findall(each[:SHOWN_LETTERS].lower())) for each in (text, earlier))
    if min(len(first), len(second)) < FEWEST_WORDS:
        return False
    return len(first & second) >= RETYPED * len(first | second)
