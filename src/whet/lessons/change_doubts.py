"""What speaks against a change that recurs: that it is two things, a slip, known anyway, or that what fails works."""

from whet.lessons.call_pairs import ALIKE, is_like
from whet.lessons.call_templates import VARIES, fits
from whet.lessons.change_features import (
    ProjectCalls,
    RecurringChange,
    Remedy,
    SeenChange,
    complaint_of,
    is_unlike,
    replaced_by,
    symptoms,
)
from whet.lessons.changed_calls import CallTrouble
from whet.lessons.simple_calls import SimpleCall, parts_of

SAME_REST = 0.4  # of the words of two calls of which only the programs are named
FAILS = 0.5  # of the calls in a form, before it is said to fail
FAILS_WEAK = 0.8
FEWEST_LETTERS = 4  # of a word that is mistyped
NEWS = 0.25  # of the sessions that take the right way at once, those that do not
RELATED = 0.2  # of the weight of the words of calls that are of different kinds
FEWEST_MIXED = 3  # sessions, where what fails is of several kinds
MOST_FAILING = 0.25  # of those that work, the calls with the right word that fail
HABIT = 0.5  # of the sessions that have nothing to do with what failed
FEWEST_OTHERS = 2
MOSTLY = 0.4  # of the sessions in which a call failed, that a step before it helped


def is_borne_out(project: ProjectCalls, change: RecurringChange) -> bool:
    """Whether nothing speaks against it."""
    if not holds_together(project, change) or not mostly_fails(project, change):
        return False
    return change.sessions >= NEWS * known_in(project, change)


def known_in(project: ProjectCalls, change: RecurringChange) -> int:
    """In how many sessions that did not go wrong so the right way was taken at once: what most know is a slip."""
    if change.remedy in (Remedy.PLACE, Remedy.SETTING):
        return 0
    own = {each.session for each in change.seen}
    programs = {each.way.call.words[0] for each in change.seen}
    having = project.by_part.get(change.parts[1], ()) if change.remedy is Remedy.PART else ()
    right = [(session, each) for session, each in having if each.call.words[0] in programs]
    known = {session for session, each in (*right, *project.fitting(change.works.words)) if each.worked}
    return len(known - own)


def holds_together(project: ProjectCalls, change: RecurringChange) -> bool:
    """Whether it is one thing that was seen: what works can be named, and what fails is of one kind."""
    is_unlike_way = change.remedy in (Remedy.FORM, Remedy.STEP) and _likeness(change) < RELATED
    if is_unlike_way and _is_habit(project, change):
        return False
    if change.remedy is Remedy.FORM and _is_missing(project, change):
        return True
    if change.remedy is Remedy.PART and any(is_unlike(each.changed, each.way) for each in change.seen):
        return _likeness(change) >= RELATED and _is_new_word(project, change)
    return _is_one_thing(project, change)


def _is_one_thing(project: ProjectCalls, change: RecurringChange) -> bool:
    works, seen = change.works, change.seen
    likeness = _likeness(change)
    is_unsaid = works in change.fails or (is_vague(works) and likeness < SAME_REST)
    if is_unsaid and change.remedy in (Remedy.FORM, Remedy.STEP):
        return False
    if change.trigger is CallTrouble.REFUSED:
        return True
    if change.remedy is Remedy.FORM and 2 * sum(_is_given_up(project, each) for each in seen) <= len(seen):
        return False
    if change.remedy is Remedy.FORM and likeness < ALIKE:
        return len(change.fails) == 1
    if change.remedy is Remedy.PART and not change.parts[0] and 2 * sum(map(_is_slip, seen)) > len(seen):
        return False
    if len(change.fails) == 1 or change.remedy is Remedy.SETTING:
        return True
    # Of several programs it is one thing if they fail alike, or are replaced by the same call.
    if change.remedy is Remedy.FORM:
        return all(each.way.likeness >= ALIKE for each in seen) and not is_vague(works)
    if change.remedy is Remedy.PART:
        return bool(change.parts[0])
    return project.is_same_trouble(seen) and _fail_alike(change) and not is_vague(works)


def _fail_alike(change: RecurringChange) -> bool:
    """Whether the calls of each program say what all of the failures have in common."""
    said = symptoms(change.seen)
    programs = {each.changed.call.words[0] for each in change.seen}
    return all(
        any(
            not said.isdisjoint(complaint_of(each.changed)) for each in change.seen if each.changed.call.words[0] == one
        )
        for one in programs
    )


def _is_habit(project: ProjectCalls, change: RecurringChange) -> bool:
    """Whether most sessions that have nothing to do with what failed do it too, as they save their work."""
    programs = {form.words[0] for form in change.fails}
    others = project.sessions.keys() - {session for each in programs for session, _ in project.by_program[each]}
    program, begun = change.works.words[0], change.works.words[:2]
    made = {session for session, each in project.by_program[program] if each.worked and each.call.words[:2] == begun}
    return len(others) >= FEWEST_OTHERS and len(made & others) >= HABIT * len(others)


def _likeness(change: RecurringChange) -> float:
    return sum(each.way.likeness for each in change.seen) / len(change.seen)


def _is_missing(project: ProjectCalls, change: RecurringChange) -> bool:
    """Whether programs that work nowhere in the project fail alike, and the one that works is always a new one."""
    programs = {each.changed.call.words[0] for each in change.seen}
    is_dead = not any(each.worked for program in programs for _, each in project.by_program[program])
    is_new = all(each.way.call.words[0] in each.way.news for each in change.seen)
    return is_dead and is_new and change.sessions >= FEWEST_MIXED and project.is_same_trouble(change.seen)


def _is_new_word(project: ProjectCalls, change: RecurringChange) -> bool:
    """Whether a word came into different calls only after they had failed, and those with it mostly work."""
    right = change.parts[1]
    if change.sessions < FEWEST_MIXED or not all(right in each.way.news for each in change.seen):
        return False
    having = [each for _, each in project.by_part.get(right, ())]
    return sum(each.failed for each in having) <= MOST_FAILING * sum(each.worked for each in having)


def is_vague(template: SimpleCall) -> bool:
    """Whether a template names little more than a program."""
    words = template.words
    return words[0] == VARIES or (VARIES in words and all(map(_is_open, words[1:])))


def is_one_letter_off(one: str, other: str) -> bool:
    """Whether two words are one but for a letter more, less or exchanged, or two in the other order."""
    if one == other or min(len(one), len(other)) < FEWEST_LETTERS:
        return False
    start = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    mine, theirs = one[start:], other[start:]
    is_swapped = mine[:2] == theirs[1::-1] and mine[2:] == theirs[2:]
    if is_swapped or mine[1:] == theirs[1:]:
        return (mine[:1] + theirs[:1]).isalpha()  # another number is no slip
    return (mine[1:] == theirs and mine[0].isalpha()) or (mine == theirs[1:] and theirs[0].isalpha())


def _is_open(word: str) -> bool:
    """Whether a word of a template says nothing: it varies, or is an option."""
    return word.startswith("-") or VARIES in word or not any(map(str.isalnum, word))


def _is_slip(sighting: SeenChange) -> bool:
    """Whether a word was only mistyped: it and the right one differ in a letter, or in the order of two."""
    wrong = replaced_by(sighting)
    right = parts_of(sighting.way.call.words) - parts_of(sighting.changed.call.words)
    return any(is_one_letter_off(one, other) for one in wrong for other in right)


def _is_given_up(project: ProjectCalls, sighting: SeenChange) -> bool:
    """Whether nothing like the call worked in its session."""
    failed = sighting.changed.call
    made = project.sessions[sighting.session].made
    return not any(each.worked and (each.call == failed or is_like(failed, each.call, 0.0)) for each in made)


def mostly_fails(project: ProjectCalls, change: RecurringChange) -> bool:
    """Whether calls in the form that is said to fail do so, as long as they lack what helps.

    Where a shell stays in its folder, a call says nothing of where it worked; a refusal is a person's.
    """
    if change.trigger is CallTrouble.REFUSED or change.remedy is Remedy.PLACE:
        return True
    worked = failed = 0
    failed_in: set[str] = set()
    known = {each.changed.call.words for each in change.seen}
    telling = [form.words for form in change.fails if sum(not _is_open(word) for word in form.words) > 1]
    done = {session for session, _ in project.fitting(change.works.words)} if change.remedy is Remedy.STEP else set()
    for session, each in (made for form in change.fails for made in project.by_program[form.words[0]]):
        is_meant = each.call.words in known or any(fits(form, each.call.words) for form in telling)
        if is_meant and not _is_helped(change, each.call):
            failed += each.failed
            failed_in |= {session} if each.failed else set()
            worked += 0 if session in done else each.worked
    if change.remedy is Remedy.STEP and (change.sessions < MOSTLY * len(failed_in) or _is_routine(project, change)):
        return False
    is_weak = change.remedy is Remedy.FORM and not any(each.way.likeness >= ALIKE for each in change.seen)
    return failed >= (FAILS_WEAK if is_weak else FAILS) * (worked + failed)


def _is_routine(project: ProjectCalls, change: RecurringChange) -> bool:
    """Whether a step is done in more sessions that have nothing to do with what it is to help.

    What is to help calls of different programs must not be a habit at all.
    """
    programs = {form.words[0] for form in change.fails}
    done = {session for session, each in project.fitting(change.works.words) if each.worked}
    elsewhere = len(done - {session for program in programs for session, _ in project.by_program[program]})
    return elsewhere > (change.sessions if len(programs) == 1 else 0)


def _is_helped(change: RecurringChange, call: SimpleCall) -> bool:
    if change.remedy is Remedy.PART:
        return change.parts[1] in parts_of(call.words)
    if change.remedy is Remedy.SETTING:
        return any(setting.startswith(change.parts[1]) for setting in call.settings)
    return change.remedy is Remedy.FORM and fits(change.works.words, call.words)
