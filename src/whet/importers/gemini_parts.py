"""The parts of Google's `Content` as Gemini CLI and the programs made from it record them."""

from collections.abc import Iterator

from whet.importers import content
from whet.sessions.transcripts import Media, Message, Origin, Role, Text
from whet.text import fields

FILES_HEAD = "--- Content from referenced files ---"
SUMMARY_HEAD = "<state_snapshot>"


def said(parts: tuple[Text | Media, ...], at: float | None) -> Iterator[Message]:
    """What the person wrote, apart from the files that the program put after it and the texts it sends itself."""
    texts = [part.text if isinstance(part, Text) else "" for part in parts]
    if texts and texts[0].lstrip().startswith(SUMMARY_HEAD):
        yield content.spoken(Role.USER, parts, at=at, origin=Origin.SUMMARY)
        return
    at_files = next((index for index, text in enumerate(texts) if FILES_HEAD in text), None)
    if at_files is None:
        yield from content.said(parts, at=at)
        return
    # The text that names the files may hold the request too; what comes after it is theirs, and may look like anything.
    request, head, rest = texts[at_files].partition(FILES_HEAD)
    yield from content.said((*parts[:at_files], *([Text(request.rstrip())] if request.strip() else [])), at=at)
    files = (Text(head + rest), *parts[at_files + 1 :])
    yield content.spoken(Role.USER, files, at=at, origin=Origin.INSERTED)


def shown(blocks: object) -> Iterator[Text | Media]:
    """Text and media; thoughts, calls and their results have fields of their own in the record."""
    for block in blocks if isinstance(blocks, list) else [blocks]:
        if not isinstance(block, dict):
            yield from content.shown(block)
        elif inline := fields.mapping(block, "inlineData"):
            yield content.media(inline)
        elif not block.get("thought") and (words := fields.text(block, "text")):
            yield Text(words)


def results(result: object) -> Iterator[Text | Media]:
    for block in result if isinstance(result, list) else [result]:
        answer = block.get("functionResponse") if isinstance(block, dict) else None
        if isinstance(answer, dict):
            response = fields.mapping(answer, "response")
            plain = fields.text(response, "output", "error") if len(response) == 1 else ""
            yield from content.shown(plain or response or None)
        else:
            yield from shown(block)
