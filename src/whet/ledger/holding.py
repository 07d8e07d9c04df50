"""Whether a rule holds somewhere: one question for all who tell rules, and for all who count who was told.

It loads next to nothing, for hooks ask it while a host waits.
"""

from typing import NamedTuple, Protocol

from whet.text.words import plain_name


class WorkLocation(NamedTuple):
    """Where somebody works, as far as that is known: a part that is None rules nothing out."""

    project: str | None = None  # its name
    model: str | None = None
    families: tuple[str, ...] = ()  # words in the names of the models that may be run; empty: any
    tools: tuple[str, ...] | None = None  # by their plain names
    purpose: str | None = None
    folder: str = ""


class HasScope(Protocol):
    """The scope of a rule, as the ledger or a compiled file has it."""

    @property
    def models(self) -> tuple[str, ...]: ...
    @property
    def tools(self) -> tuple[str, ...]: ...
    @property
    def purposes(self) -> tuple[str, ...]: ...
    @property
    def project(self) -> str: ...


class CompiledScope(NamedTuple):
    """What a compiled rule has of its scope: its models became agents, and its line says its tools."""

    purposes: tuple[str, ...] = ()
    project: str = ""
    models: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()


def holds(scope: HasScope, where: WorkLocation) -> bool:
    """Whether a rule of this scope holds there; what a scope leaves open holds everywhere."""
    tools, purpose, project = where.tools, where.purpose, where.project
    return (
        (not scope.models or _runs(scope.models, where))
        and (not scope.tools or tools is None or any(plain_name(tool) in tools for tool in scope.tools))
        and (not scope.purposes or purpose is None or purpose in scope.purposes)
        and (not scope.project or project is None or _is_in(where, scope.project))
    )


def _is_in(where: WorkLocation, project: str) -> bool:
    """A scope names a project, or a folder: one that has come to be known by its repository stays in its scope."""
    return any(lies_in(place, project) for place in (where.project, where.folder) if place)


def lies_in(place: str, project: str) -> bool:
    """Whether a place is a project or lies in it: names are compared whole, folders by their parts."""
    if not (place.startswith("/") and project.startswith("/")):
        return place == project
    outer = _parts(project)
    return _parts(place)[: len(outer)] == outer


def _parts(folder: str) -> list[str]:
    return [part for part in folder.split("/") if part not in ("", ".")]


def _runs(models: tuple[str, ...], where: WorkLocation) -> bool:
    """Whether one of the models that a rule is for is run there, or may be."""
    named = [model.lower() for model in models]
    if where.model is not None:
        return any(part in where.model.lower() for part in named)
    return not where.families or any(word in model for word in where.families for model in named)
