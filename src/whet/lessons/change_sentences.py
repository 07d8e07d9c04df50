"""A change that recurs as one sentence for a file that agents read: what goes wrong, and what works."""

from collections.abc import Sequence

from whet.lessons.call_pairs import telling_words
from whet.lessons.call_templates import VARIES, common_form
from whet.lessons.change_features import RecurringChange, Remedy, symptoms
from whet.lessons.changed_calls import CallTrouble
from whet.lessons.simple_calls import SimpleCall, is_setting, parts_of, settings_in, shown
from whet.text.words import cut

LONGEST = 400  # letters of a rule
LETTERS = (120, 80, 50, 30)  # of each call, error and quote: as many as there is room for
ERROR_LETTERS = 140
MOST_FORMS = 3
SHORT = 80  # letters of each call of an example
FEWEST_WORDS = 3  # of an error that are the same in all sessions
ROOT = "the root of the project"


def sentence_of(change: RecurringChange) -> str:
    """What to tell agents."""
    told = (_sentence(change, letters) for letters in LETTERS)
    return next((text for text in told if len(text) <= LONGEST), _sentence(change, LETTERS[-1]))


def _sentence(change: RecurringChange, letters: int) -> str:
    is_several = len(change.fails) > 1
    fails = _calls(change.fails, letters)
    works, why = _works(change, letters), _why(change, letters)
    it_fails = f"{'they fail' if is_several else 'it fails'}{why}"
    if change.trigger is CallTrouble.REFUSED:
        return f"Run {works}, not {fails}, which was refused{_in_quotes(_quotes(change), letters)}."
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
    is_form = change.remedy in (Remedy.FORM, Remedy.PART) and change.trigger is CallTrouble.FAILED
    return min((each for each in told if is_form), key=len, default="")


def error_of(change: RecurringChange) -> str:
    """The line of the errors that says most of what the failures have in common, with a mark for what varies."""
    lines = [each.changed.errors for each in change.seen if each.changed.errors]
    if not lines:
        return ""
    common = symptoms(change.seen)
    likeliest = [each[0] for each in lines]
    best = [max(each, key=lambda line: len(telling_words((line,)) & common)) for each in lines]
    for chosen in (likeliest, best):
        told = common_form(tuple(line.split()) for line in chosen)
        if sum(VARIES not in word for word in told) >= FEWEST_WORDS:
            return cut(" ".join(told), ERROR_LETTERS)
    return cut(max(best, key=lambda line: len(telling_words((line,)) & common)), ERROR_LETTERS)


def _works(change: RecurringChange, letters: int) -> str:
    """What helps: the form that all sessions have in common, else that of the latest."""
    if change.remedy is Remedy.SETTING:
        whole = {each for seen in change.seen for each in _settings(seen.way.call)}
        fitting = sorted(each for each in whole if each.startswith(change.parts[1]))
        return f"`{fitting[0]}`" if len(fitting) == 1 else f"`{change.parts[1]}{VARIES}`"
    if change.remedy is Remedy.PART and not _is_shown(change):
        return _call(change.seen[-1].way.call, letters)
    return _call(change.works, letters)


def _settings(call: SimpleCall) -> Sequence[str]:
    return (*call.settings, *(settings_in(call.words) if is_setting(call) else ()))


def _is_shown(change: RecurringChange) -> bool:
    return change.works.words[0] != VARIES and change.parts[1] in parts_of(change.works.words)


def _why(change: RecurringChange, letters: int) -> str:
    """The error in the marks of a quote: it is the reason, and no word of the rule."""
    error = cut(error_of(change), letters).translate({ord("“"): '"', ord("”"): '"'})
    return f" (“{error}”)" if error else ""


def _quotes(change: RecurringChange) -> Sequence[str]:
    return tuple(dict.fromkeys(each.changed.said for each in change.seen if each.changed.said))


def _in_quotes(quotes: Sequence[str], letters: int) -> str:
    return f": {'; '.join(f'“{cut(quote, letters)}”' for quote in quotes[:2])}" if quotes else ""


def _calls(calls: Sequence[SimpleCall], letters: int) -> str:
    return " and ".join(_call(each, letters) for each in calls[:MOST_FORMS])


def _call(call: SimpleCall, letters: int) -> str:
    return f"`{cut(shown(call).replace('`', chr(39)), letters)}`"
