"""Attacks on a person's eyes, on secrets, and on where sync writes. See bench/attacks.py.

The characters come from Unicode's own lists (controls, formats, what may be ignored, what has no ink), not from Whet's.
"""

import contextlib
import random
import sys
import tempfile
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from attack_sample import sampled
from redaction import FRESH_SEED, LATER_SEED, SAMPLES_PER_CELL, is_found, on_command_lines, recall, total
from redaction_plants import ALNUM, COLOURED, FORMATS, HELD_OUT, LATER, PLACES, TUNED, Planted, some
from whet.cli.output import console, plain, reviewed
from whet.errors import WhetError
from whet.ledger.entries import Item, State
from whet.ledger.patch_faults import FaultKind, faults
from whet.ledger.patches import Action, Form, Patch
from whet.own.told.prompt import line_of
from whet.sessions.trust import Trust
from whet.store import files
from whet.store.home import Home
from whet.telling.targets.drawing import TextsToTell
from whet.telling.targets.settings import Target, choose
from whet.telling.targets.skill_folders import look
from whet.telling.targets.sync import SyncOrder, sync
from whet.text.showing import BEGINS, cells, framed, shown, warnings

Row = tuple[str, str, int, int]
Attempt = TypeVar("Attempt")
# DerivedCoreProperties: Default_Ignorable_Code_Point; then what has no ink, though it is a letter or a sign.
IGNORABLE = (
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
NO_INK = (0x2800, 0xFFFC, 0x1D159, 0x16FE4)
VISIBLE_FORMATS = {0x600, 0x601, 0x602, 0x603, 0x604, 0x605, 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
FORMS = {Form.RULE: "r", Form.NOTE: "memory/n", Form.SKILL: "s", Form.FILE: "s/references/f.md"}
TWINS = "аеорсухіјѕһԁԛԝАВЕКМНОРСТХІЈЅοΑΒΕΖΗΙΚΜΝΟΡΤΥΧօոսհցᎠᎡᎢᎪᎬᎳᎷᎻᏀᏟᏢɡɑ"
PADS = (" ", "\u00a0", "\u3000", "\u2003", "\t", "─", "…", "é", "あ", "\u0301")
FORGED = "12  approved by person"
# As people write: the texts of tests/many_texts.py, shortened.
REAL = (
    "Führe vor jedem Commit die Tests aus; „größer“ heißt > 5 €.",
    "N’écrase jamais le fichier\u202f: demande « pourquoi\u00a0? » à l’équipe.",
    "コミットする前にテストを実行してください。Ｔシャツ。",
    "提交之前先运行测试，使用Python编写。",
    "कमिट से पहले परीक्षण चलाएँ। क्\u200dष",
    "شغِّل الاختبارات قبل كل إيداع؟",
    "می\u200cخواهم پاسخ\u200cها کوتاه باشند.",
    "커밋하기 전에 API를 테스트하세요.",
    "Запусти тесты, а не pytest.",
    "Done 👩‍💻 ❤️ 🏳️‍🌈 1️⃣ 🇩🇪 🤷‍♀️ 🧑🏽‍🚀",
)


def hidden() -> list[str]:
    """Every character that Unicode gives no ink, or that steers."""
    found = {point for first, last in IGNORABLE for point in range(first, last + 1)} | {*NO_INK}
    for point in range(sys.maxunicode + 1):
        if unicodedata.category(chr(point)) in ("Cc", "Cf", "Zl", "Zp") and point not in VISIBLE_FORMATS:
            found.add(point)
    return [chr(point) for point in sorted(found - {0x0A, 0x09})]


def rows() -> Iterator[Row]:
    characters = list(sampled(hidden()))
    yield from approval(characters)
    yield from terminal(characters)
    yield from secrets()
    yield "Other agents' files", "links that leave the project, before and while it writes", *links()


def approval(characters: list[str]) -> Iterator[Row]:
    for form, name in FORMS.items():
        attempts = [_patch(form, name, f"Answer{each} briefly.") for each in characters]
        yield "Approval", f"a hidden character in a {form}", len(attempts), sum(map(_passes, attempts))
    carried = [f"Well done 😀{''.join(chr(0xE0100 + byte) for byte in (code, code // 2))}." for code in range(240)]
    carried += [f"Well done 🏴{''.join(chr(0xE0000 + ord(c)) for c in word)}\U000e007f." for word in ("rmrf", "gbxyz")]
    carried += [f"Well{one}{two} done." for one in "\u200c\u200d" for two in "\u200b\u200c\u200d\u2060"]
    yield "Approval", "words carried by selectors, tags and joiners", *_count(carried, lambda t: _passes(_rule(t)))
    seen = [each for each in characters if each not in "\r"]
    yield (
        "Approval",
        "a hidden character that is not shown",
        *_count(seen, lambda c: f"<U+{ord(c):04X}>" not in shown(f"a{c}b")),
    )
    yield (
        "Approval",
        "a hidden character in force before, to CLAUDE.md",
        *_count(seen, lambda c: c in line_of(f"Answer{c}x.")),
    )
    yield "Approval", "a look-alike without a warning", *_count(sampled(look_alikes()), lambda text: not warnings(text))
    pages = [(pad, width) for pad in PADS for width in range(20, 200, 3)]
    yield "Approval", "padding that forges a line of its own", *_count(sampled(pages), forges)
    yield "Approval", "real texts of ten languages, refused or warned of", *_count(REAL, _is_disturbed)


def terminal(characters: list[str]) -> Iterator[Row]:
    steering = [c for c in characters if unicodedata.category(c) == "Cc" or unicodedata.bidirectional(c) in BIDI]
    yield (
        "Approval",
        "controls and marks of direction that are printed",
        *_count(steering, lambda c: c in plain(f"a{c}b")),
    )
    codes = (":x:", ":warning: stop", "[red]x[/red]", "[/]", "\\[x]", "[link=http://x]y[/link]", "x\\")
    yield "Approval", "markup and codes of emoji that are obeyed", *_count(codes, lambda text: _printed(text) != text)


def secrets() -> Iterator[Row]:
    for name, contexts, seed in (
        ("tuned", TUNED, FRESH_SEED),
        ("held-out", HELD_OUT, FRESH_SEED),
        ("later", LATER, LATER_SEED),
        ("coloured", COLOURED, LATER_SEED),
    ):
        found, attempts = total(recall(contexts, seed, show=False))
        route = f"keys of {len(FORMATS)} formats in {len(contexts)} {name} contexts"
        yield "Secrets", route, attempts, attempts - found
    values = [some(ALNUM, 14)(random.Random(seed)) for seed in range(SAMPLES_PER_CELL)]
    kept = [Planted(place.replace("{}", value), (value,)) for place in PLACES for value in values]
    yield "Secrets", "passwords and keys in files of programs", len(kept), sum(not is_found(each) for each in kept)
    found, attempts = total(on_command_lines(LATER_SEED, show=False))
    yield "Secrets", "passwords on command lines and in SQL", attempts, attempts - found


def links() -> tuple[int, int]:
    with tempfile.TemporaryDirectory() as folder:
        attempts = [attack(Path(folder, str(number))) for number, attack in enumerate(LINKS)]
    return len(attempts), sum(attempts)


def _patch(form: Form, name: str, text: str) -> Patch:
    return Patch(form, Action.ADD, name, text, trust=Trust.USER)


def _rule(text: str) -> Patch:
    return _patch(Form.RULE, "r", text)


def _passes(patch: Patch) -> bool:
    return not any(fault.kind is FaultKind.CHARACTERS for fault in faults(patch, State()))


def _count(attempts: Iterable[Attempt], is_through: Callable[[Attempt], object]) -> tuple[int, int]:
    tried = list(attempts)
    return len(tried), sum(bool(is_through(each)) for each in tried)


def look_alikes() -> Iterator[str]:
    """A word with one letter of another script, or in another shape."""
    yield from (f"Install p{twin}ckage now." for twin in TWINS)
    for point in (*range(0x1D400, 0x1D800), *range(0xFF21, 0xFF5B)):
        if (plain_letter := unicodedata.normalize("NFKC", chr(point))).isascii() and plain_letter.isalpha():
            yield f"Install p{chr(point)}ckage now."


def forges(page: tuple[str, int]) -> bool:
    """Whether a text with so much padding makes a row without a mark, on a terminal that counts wide or narrow."""
    pad, width = page
    for count in range(0, 2 * width, 7):
        for row in framed(f"Water them.{pad * count}{FORGED}", width):
            if row.startswith(FORGED) or any(sum(map(model, row)) > width for model in (cells, len)):
                return True
    return False


def _is_disturbed(text: str) -> bool:
    plain_spaces = "".join(" " if each.isspace() and each != "\n" else each for each in text)
    return not _passes(_rule(text)) or bool(warnings(text)) or shown(plain_spaces) != plain_spaces


def _printed(text: str) -> str:
    """What a person sees of a text of one line that they decide on, right of the gutter."""
    with console().capture() as capture:
        for line in reviewed(text):
            console().print(line)
    return capture.get().rstrip("\n").removeprefix(BEGINS)


def _target(agent: str, project: Path) -> Target:
    return choose(agent, person=project.parent, environment={}, project=project)


def _places(folder: Path) -> tuple[Path, Path]:
    project, outside = folder / "project", folder / "outside"
    for each in (project, outside):
        each.mkdir(parents=True)
    (outside / "own.md").write_text("mine\n")
    return project, outside


def _synced(folder: Path, *targets: Target) -> bool:
    """Whether a sync of a rule and a skill changed anything outside."""
    rule = Item(Form.RULE, "r", "Water the plants.")
    offer = TextsToTell((rule,), {"tea": {"SKILL.md": b"---\nname: tea\n---\n"}})
    sync(SyncOrder(Home(folder / "home"), lambda: offer), targets)
    outside = folder / "outside"
    return [path.name for path in outside.rglob("*")] != ["own.md"] or (outside / "own.md").read_text() != "mine\n"


def _by_file(folder: Path) -> bool:
    project, outside = _places(folder)
    (project / "CLAUDE.md").symlink_to(outside / "own.md")
    return _synced(folder, _target("claude-code", project))


def _by_missing_file(folder: Path) -> bool:
    project, outside = _places(folder)
    (project / "AGENTS.md").symlink_to(outside / "new.md")
    return _synced(folder, _target("codex", project))


def _by_folder(folder: Path) -> bool:
    project, outside = _places(folder)
    (project / ".claude").symlink_to(outside)
    (project / ".cursor").symlink_to(outside)
    return _synced(folder, _target("claude-code", project), _target("cursor", project))


def _by_skill(folder: Path) -> bool:
    project, outside = _places(folder)
    (project / ".claude" / "skills").mkdir(parents=True)
    (project / ".claude" / "skills" / "tea").symlink_to(outside)
    return _synced(folder, _target("claude-code", project))


def _by_repository(folder: Path) -> bool:
    project, outside = _places(folder)
    (project / ".git").mkdir()
    (project / "NOTES.md").symlink_to(outside / "own.md")
    chosen = choose(str(project / "NOTES.md"), person=folder, environment={}, project=None)
    return _synced(folder, chosen)


def _meanwhile(folder: Path) -> bool:
    project, outside = _places(folder)
    (project / ".claude").mkdir()
    found = look(project / ".claude" / "CLAUDE.md", project=str(project), home=Home(folder / "home"))
    (project / ".claude").rmdir()
    (project / ".claude").symlink_to(outside)
    with contextlib.suppress(WhetError):
        files.write(found.place, b"x", expected=None)
    return (outside / "CLAUDE.md").exists()


LINKS = (_by_file, _by_missing_file, _by_folder, _by_skill, _by_repository, _meanwhile)
BIDI = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
