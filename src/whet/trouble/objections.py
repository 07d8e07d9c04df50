"""What the grammar of a person's words says of the work before them: objection, agreement, more work, a failure shown.

Only closed classes of words count (negation, "but", "yes", "also", "now"): every language has few of each, so they
can be listed. What an objection is about is open, and no list would hold it; that is seen in what the agent does next.
"""

import re

import re2

from whet.text.words import names
from whet.trouble.outcomes.check_forms import CHECKS

SHOWN_LETTERS = 6_000
OBJECTION_LETTERS = 160  # an objection comes first; further on some no stands in any text
# The words of negation and of "still" are few in every language, and stand in most objections.
NEGATIONS = names(
    "no not nor never none nothing cannot still instead wrong "
    "dont doesnt didnt isnt arent wasnt werent wont wouldnt shouldnt couldnt hasnt havent "
    "nicht kein keine keinen keiner keines keinem nie niemals nein nichts immernoch statt stattdessen falsch "
    "не нет ни никогда ничего вместо ещё неверно нельзя ні немає "
    "ne pas non jamais rien toujours aucun aucune "
    "nunca nada tampoco todavía sigue não nem ainda nenhum nenhuma non mai niente ancora invece "
    "niet geen nooit nog steeds nie nadal żaden inte aldrig ingen fortfarande ikke aldri stadig fortsatt "
    "ei enää değil yok hâlâ hala không chưa vẫn tidak bukan belum masih jangan niciodată încă "
    "لا ليس لم لن غير नहीं मत לא אין"
)
NO = names("no nope nein нет ні non não nee nej nei hayır nie لا नहीं לא")
_NO_UNSPACED = ("不", "いや", "いいえ", "違", "아니", "ไม่")
# Conjunctions that set what follows against what was said before.
BUT = names(
    "but however although though aber doch allerdings jedoch но однако зато mais pourtant cependant pero mas porém "
    "ma però maar echter men ale jednak ama fakat ancak nhưng tetapi tapi însă لكن लेकिन אבל але проте"
)
# Who asks for the reason of what was done doubts it.
WHY = names(
    "why warum wieso weshalb почему зачем чому навіщо pourquoi perché porquê waarom varför hvorfor dlaczego czemu "
    "miksi miért neden niçin mengapa kenapa لماذا क्यों למה מדוע"
)
# With these somebody agrees; with breaths nothing is said yet.
YES = names(
    "yes yeah yep yup sure ja jep klar genau да ага конечно oui ouais sí claro vale sim sì tak evet tamam igen joo "
    "có نعم हाँ हां כן так"
)
BREATHS = YES | names("ok okay hm hmm well so and na und ну et bueno então allora")
# With these the next task begins, or one more.
NEXT = names(
    "now next then and jetzt nun danach und теперь далее затем потом maintenant ensuite puis ahora luego después "
    "agora depois ora adesso poi nu nästa teraz potem şimdi sonra"
)
ALSO = names(
    "also additionally furthermore auch außerdem zudem также тоже aussi también además também além anche inoltre "
    "ook också også też również ayrıca cũng juga"
)
FIRST_WORDS = 2  # among which a word of the next task stands
FIRST_WORDS_ALSO = 5  # among which a word stands that asks for one more
_NEXT_UNSPACED = ("现在", "接下来", "然后", "还有", "另外", "次に", "また", "あと", "이제", "다음", "그리고")
_WHY_UNSPACED = ("为什么", "为何", "なぜ", "どうして", "왜", "ทำไม")
_BUT_UNSPACED = ("但", "不过", "可是", "でも", "しかし", "けど", "하지만", "그런데", "แต่")
_YES_UNSPACED = ("是的", "好的", "对,", "对，", "はい", "ええ", "네", "예,", "ใช่")
_CHOICE = re.compile(r"\W{0,3}\d")  # one of the things that the agent had numbered
_UNSPACED = re.compile(r"[不没沒未別别還还又]|ない|ません|まだ|違|않|못|아니|아직|ไม่")
_CONTRACTED = re.compile(r"n['’]t\b")
_QUESTION = re.compile(r"[^.!?\n。！？]{0,300}[?？]")
_WORD = re.compile(r"[^\W\d_]+")
_FAILURE = re2.compile(
    r"(?m)^\W*(?:(?i:error|err!|fatal|panic|exception|fehler|erreur|ошибка|错误)\b\W*[:\]\[]|Traceback \(most recent)"
    r"|^\s*(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*(?:Error|Exception)\b: \S|^\s+at [\w.$<>]+ ?\([^\n]*:\d+"
)


def negates(text: str) -> bool:
    """Whether the words say no to something, or that it is still so; a question says neither."""
    return _has_negation(_QUESTION.sub(" ", text[:OBJECTION_LETTERS]))


def _has_negation(words: str) -> bool:
    if _CONTRACTED.search(words) or _UNSPACED.search(words):
        return True
    return not NEGATIONS.isdisjoint(word.lower() for word in _WORD.findall(words))


def refuses(text: str) -> bool:
    """Whether the words begin with a no."""
    return not NO.isdisjoint(_first(text)[:1]) or text.lstrip().startswith(_NO_UNSPACED)


def turns_against(text: str) -> bool:
    """Whether the words begin with a but or a why, or ask whether something is not so."""
    words = _first(text)
    begin = words[1] if words[:1] and words[0] in BREATHS and words[1:2] else "".join(words[:1])
    if begin in BUT or begin in WHY or text.lstrip().startswith((*_BUT_UNSPACED, *_WHY_UNSPACED)):
        return True
    asked = _QUESTION.match(text.lstrip()[:OBJECTION_LETTERS])
    return asked is not None and _has_negation(" ".join(asked[0].split()[:4]))


def asks_for_more(text: str) -> bool:
    """Whether the words begin the next task, or one more of the same."""
    words = _first(text)
    is_next = not NEXT.isdisjoint(words[:FIRST_WORDS]) or text.lstrip().startswith(_NEXT_UNSPACED)
    return is_next or not ALSO.isdisjoint(words[:FIRST_WORDS_ALSO])


def agrees(text: str) -> bool:
    """Whether the words begin with a yes, or choose what the agent had offered."""
    words = _first(text)
    is_yes = bool(words) and words[0] in YES and not turns_against(text)
    return is_yes or text.lstrip().startswith(_YES_UNSPACED) or _CHOICE.match(text) is not None


def _first(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text[:OBJECTION_LETTERS])[: FIRST_WORDS_ALSO + 1]]


def is_question(text: str) -> bool:
    """Whether the words ask something back."""
    return text.rstrip().endswith(("?", "？"))


def shows_failure(text: str) -> bool:
    """Whether a text shows what a program printed when it failed."""
    shown = text if len(text) <= SHOWN_LETTERS else text[: SHOWN_LETTERS // 2] + "\n" + text[-SHOWN_LETTERS // 2 :]
    return _FAILURE.search(shown) is not None or bool(CHECKS.first(shown))
