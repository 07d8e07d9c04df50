"""One marked block in a file that belongs to somebody else: found, placed, taken out; all other bytes are kept.

Everything here is bytes, for the file may hold any line endings and any encoding that contains ASCII.
"""

import hashlib
import re
from typing import NamedTuple

from whet.ledger.patches import digest

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
HASH_BYTES = 8
LINE_BREAKS = {"lf": b"\n", "crlf": b"\r\n"}
# Some agents refuse a file with a comment that says ignore, override, system, secret or hidden: the markers do not.
MARKER = b"<!-- whet:"
MARKER_LINE = re.compile(rb"(?m)^(?:\xef\xbb\xbf)?(<!-- whet:(?:begin|end)[^\n]*)")
BEGIN = re.compile(rb"<!-- whet:begin ([0-9a-f]{16}) joint=([0-3])(lf|crlf)( new)? -->[ \t]*(\r?)\Z")
END = re.compile(rb"<!-- whet:end -->[ \t]*\r?\Z")
LINE_BREAK_AT_END = re.compile(rb"\r?\n\Z")
MARK = "\ufeff"
CONTEXT = 2


class Block(NamedTuple):
    """A block as it stands in a file, and what its marker says of the file as it was before."""

    start: int
    end: int  # after its last line break
    text: str  # between the markers, with plain line breaks
    stated_hash: str
    joint: int  # how many line breaks Whet put before it
    joint_break: str  # lf or crlf
    is_in_new_file: bool  # the file was made to hold this block
    line_break: bytes

    @property
    def edited(self) -> bool:
        """Whether somebody changed the text since Whet wrote it."""
        return text_hash(self.text) != self.stated_hash


class Damage(NamedTuple):
    """Markers that do not make one block: nothing may be written until a person has put them right."""

    reason: str


def text_hash(text: str) -> str:
    """The short hash in the marker. Line endings do not count, for version control may change them."""
    return hashlib.blake2b(plain(text).encode("utf-8", "surrogateescape"), digest_size=HASH_BYTES).hexdigest()


def plain(text: str) -> str:
    """Text as it can stand in a block: plain line breaks, none at its ends, no marker of its own."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    return lines.replace(MARKER.decode(), "&lt;!-- whet:")


def find(content: bytes) -> Block | Damage | None:
    """The block in a file, None where there is none, or what is wrong with its markers."""
    lines = [match.span(1) for match in MARKER_LINE.finditer(content)]
    if not lines:
        return None
    opening = BEGIN.match(content[slice(*lines[0])])
    if len(lines) != 2 or not opening or not END.match(content[slice(*lines[1])]):
        return Damage(f"it contains {len(lines)} marker lines of Whet that do not form one block")
    stated, joint, joint_break, new, carriage_return = opening.groups()
    line_break = carriage_return + b"\n"
    body = content[lines[0][1] + 1 : lines[1][0]]
    return Block(
        start=lines[0][0],
        end=min(lines[1][1] + 1, len(content)),
        text=plain(body.decode("utf-8", "surrogateescape")),
        stated_hash=stated.decode(),
        joint=int(joint),
        joint_break=joint_break.decode(),
        is_in_new_file=bool(new),
        line_break=line_break,
    )


def place(content: bytes | None, text: str, *, preamble: bytes = b"") -> bytes | None:
    """The file with this text as its block, whatever stood in the block; no text, no block.

    None is a file that is not there: one made for the block begins with `preamble`, and one that holds nothing
    else is gone with the block. A file with damaged markers must not get here.
    """
    if not plain(text):
        return None if content is None else take_out(content, preamble=preamble)
    found = None if content is None else find(content)
    if isinstance(found, Damage):
        raise ValueError(found.reason)
    if content is not None and found:
        drawn = _draw(text, found, found.line_break)
        return content[: found.start] + drawn + content[found.end :]
    before = preamble if content is None else content
    style = "crlf" if 2 * before.count(b"\r\n") > before.count(b"\n") else "lf"
    line_break = LINE_BREAKS[style]
    blank = before in (b"", BYTE_ORDER_MARK)
    joint = 0 if blank else 1 if before.endswith(b"\n") else 2
    made = Block(0, 0, text, "", joint, style, content is None, line_break)
    return before + line_break * joint + _draw(text, made, line_break)


def take_out(content: bytes, *, preamble: bytes = b"") -> bytes | None:
    """The file as it was before the block, with all that was changed around it; None where it was made for it."""
    found = find(content)
    if found is None:
        return content
    if isinstance(found, Damage):
        raise ValueError(found.reason)
    before, after = content[: found.start], content[found.end :]
    before = _without_joint(before, found)
    if after and found.joint and not before.endswith(b"\n"):
        before += found.line_break  # what was added below stays on a line of its own
    rest = before + after
    if found.is_in_new_file and rest.replace(b"\r\n", b"\n") in (b"", preamble):
        return None
    return rest


def _without_joint(before: bytes, block: Block) -> bytes:
    joint = LINE_BREAKS[block.joint_break] * block.joint
    as_written = block.line_break == LINE_BREAKS[block.joint_break]
    if as_written and before.endswith(joint):
        return before[: len(before) - len(joint)]
    for _ in range(block.joint):  # the line endings of the file, or the lines above, were changed since
        before = LINE_BREAK_AT_END.sub(b"", before)
    return before


def _draw(text: str, block: Block, line_break: bytes) -> bytes:
    new = " new" if block.is_in_new_file else ""
    begin = f"<!-- whet:begin {text_hash(text)} joint={block.joint}{block.joint_break}{new} -->"
    lines = [begin, *plain(text).split("\n"), "<!-- whet:end -->", ""]
    return line_break.join(line.encode("utf-8", "surrogateescape") for line in lines)


class PassagePlace(NamedTuple):
    """Where a passage was when it was written down, and of how many lines it is before and after the change."""

    path: str
    line: int
    before: int
    after: int


class PassageChange(NamedTuple):
    """A change of some lines of a file, with those around them."""

    line: int
    before: str
    after: str

    def name(self, path: str) -> str:
        """The name of the change in the ledger."""
        return f"{path}#{self.line}-{len(lines_of(self.before))}-{len(lines_of(self.after))}"


def passage_place(name: str) -> PassagePlace:
    """What the name of a change says."""
    path, _, rest = name.rpartition("#")
    line, before, after = (int(part) for part in rest.split("-"))
    return PassagePlace(path, line, before, after)


def lines_of(text: str) -> list[str]:
    """The lines of a text with their endings; only a line feed ends one, as for whoever counts them."""
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


def passage(text: str, first: int, last: int, new: list[str]) -> PassageChange | None:
    """The change of the lines from `first` to `last`, counted from one; None where it leaves nothing to be found by."""
    lines = lines_of(text.removeprefix(MARK))
    changed = [*lines[: first - 1], *new, *lines[last:]]
    context = CONTEXT
    while True:
        start, end = max(first - 1 - context, 0), min(last + context, len(lines))
        before, after = "".join(lines[start:end]), "".join(changed[start : end + len(changed) - len(lines)])
        if after.strip() and _is_once(lines, before) and _is_once(changed, after):
            return PassageChange(start + 1, before, after)
        if start == 0 and end == len(lines):
            return None
        context *= 2


def find_passage(text: str, place: PassagePlace, wanted: str) -> str | None:
    """The one passage of the file with this digest, before or after its change; None where there is none, or two."""
    lines = lines_of(text.removeprefix(MARK))
    found: list[str] = []
    for number in {place.before, place.after}:
        for start in range(len(lines) - number + 1):
            candidate = "".join(lines[start : start + number])
            if digest(candidate) == wanted:
                found.append(candidate)
    return found[0] if len(found) == 1 else None


def replace_passage(text: str, before: str, after: str) -> str | None:
    """The file with one passage in the place of another; None where it is not there, or there twice."""
    mark, lines = MARK if text.startswith(MARK) else "", lines_of(text.removeprefix(MARK))
    places = _places(lines, before)
    if len(places) != 1:
        return None
    number = len(lines_of(before))
    return mark + "".join((*lines[: places[0]], after, *lines[places[0] + number :]))


def _is_once(lines: list[str], passage: str) -> bool:
    return len(_places(lines, passage)) == 1


def _places(lines: list[str], passage: str) -> list[int]:
    wanted = lines_of(passage)
    return [
        start
        for start in range(len(lines) - len(wanted) + 1)
        if lines[start] == wanted[0] and lines[start : start + len(wanted)] == wanted
    ] if wanted else []  # fmt: skip
