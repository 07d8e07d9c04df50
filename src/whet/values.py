"""What every value is: a frozen struct whose defaults are not encoded. And what of one is found out when asked for."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

import msgspec

_Owner = TypeVar("_Owner")
_Found = TypeVar("_Found")


class Value(msgspec.Struct, frozen=True, omit_defaults=True):
    """A value without identity. Defaults are left out of its encoding, so a new field changes no old hash."""


class lazy(Generic[_Owner, _Found]):  # noqa: N801 - it is used as a decorator
    """A property that is found out once, when it is first asked for; without the lock of functools.cached_property."""

    def __init__(self, find: Callable[[_Owner], _Found]) -> None:
        self._find = find
        self._name = find.__name__
        self.__doc__ = find.__doc__

    @overload
    def __get__(self, instance: None, owner: type[_Owner]) -> "lazy[_Owner, _Found]": ...

    @overload
    def __get__(self, instance: _Owner, owner: Any = None) -> _Found: ...

    def __get__(self, instance: _Owner | None, owner: Any = None) -> "lazy[_Owner, _Found] | _Found":
        if instance is None:
            return self
        found = instance.__dict__[self._name] = self._find(instance)
        return found
