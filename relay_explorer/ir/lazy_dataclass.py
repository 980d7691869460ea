"""Frozen dataclasses whose methods are generated when the first of them is needed.

`dataclasses.dataclass` compiles the text of four methods for each class, which takes about half a
millisecond. Importing the package declares more than a hundred such classes (events, passes, results of
analyses), and a program uses few of them. The decorator here therefore only declares a class, and lets
`dataclasses.dataclass` generate the methods at their first use. From then on the class is an ordinary
dataclass: the same methods, `fields`, `replace`, `match`, pickling and subclasses.

    from relay_explorer.ir.lazy_dataclass import dataclass

    @dataclass(frozen=True, slots=True)
    class Typed(InferenceEvent):
        expr: Expr
        type: Type
"""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from types import FunctionType
from typing import TYPE_CHECKING
from typing import Any as Anything

_FIELDS, _PARAMETERS = "__dataclass_fields__", "__dataclass_params__"
_LOCK = RLock()  # generating the methods of a class generates those of its bases


class _Parameters:
    """The parameters that `dataclasses` reads from a base class before its methods are generated."""

    __slots__ = ()
    frozen = True


class _Declaration:
    """The declaration of a class: its field defaults and options, from which `generate` generates its
    methods.
    """

    __slots__ = ("cls", "defaults", "generated", "options")

    def __init__(self, defaults: dict[str, Anything], options: dict[str, bool]) -> None:
        self.cls: type[Anything] = object
        self.defaults = defaults
        self.options = options
        self.generated: dict[str, Anything] = {}

    def generate(self) -> dict[str, Anything]:
        """Generate the members that `dataclasses.dataclass` adds to the class, add them, and return them."""
        with _LOCK:
            if not self.generated:
                self.generated = _generated(self.cls, self.defaults, self.options)
                for name, member in self.generated.items():
                    setattr(self.cls, name, member)
        return self.generated


class _Later:
    """A descriptor that stands in for a member of a class until it is generated."""

    __slots__ = ("declaration", "name")

    def __init__(self, declaration: _Declaration, name: str) -> None:
        self.declaration = declaration
        self.name = name

    def __get__(self, instance: object, owner: type | None = None) -> Anything:
        member = self.declaration.generate()[self.name]
        return member.__get__(instance, owner) if isinstance(member, FunctionType) else member


def _generated(cls: type, defaults: dict[str, Anything], options: dict[str, bool]) -> dict[str, Anything]:
    """Let `dataclasses.dataclass` generate the members of a class, on a copy of its declaration."""
    import dataclasses

    inherited: dict[str, Anything] = {}
    for base in cls.__mro__[:0:-1]:
        inherited |= getattr(base, _FIELDS, {})
    base = type("Inherited", (), {_FIELDS: inherited, _PARAMETERS: _Parameters()} if inherited else {})
    members = {
        name: getattr(cls, name) for name in ("__annotations__", "__doc__", "__module__", "__qualname__")
    }
    if hasattr(cls, "__post_init__"):
        members["__post_init__"] = cls.__post_init__
    copy = type(cls.__name__, (base,), members | defaults)
    dataclasses.dataclass(frozen=True, **options)(copy)
    own = {name for name, member in cls.__dict__.items() if not isinstance(member, _Later | _Parameters)}
    return {name: member for name, member in copy.__dict__.items() if name not in own | _NOT_ADDED}


_NOT_ADDED = {"__dict__", "__post_init__", "__weakref__"}


def _protected(cls: type[Anything]) -> None:
    """Reject assignments to the fields of a class's instances, as `dataclasses` does."""

    def set_attribute(self: object, name: str, value: object) -> None:
        if type(self) is cls or name in getattr(cls, _FIELDS):
            raise _refusal(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def delete_attribute(self: object, name: str) -> None:
        if type(self) is cls or name in getattr(cls, _FIELDS):
            raise _refusal(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    cls.__setattr__ = set_attribute  # type: ignore[assignment]  # bound to a class
    cls.__delattr__ = delete_attribute  # type: ignore[assignment]


def _refusal(message: str) -> AttributeError:
    from dataclasses import FrozenInstanceError  # imported late, since it imports many modules

    return FrozenInstanceError(message)


def _get_state(instance: Anything) -> list[object]:
    """Return the values of the fields, to pickle an instance without a dictionary."""
    from dataclasses import fields

    return [getattr(instance, field.name) for field in fields(instance)]


def _set_state(instance: Anything, state: list[object]) -> None:
    from dataclasses import fields

    for field, value in zip(fields(instance), state, strict=True):
        object.__setattr__(instance, field.name, value)


def _with_slots(cls: type, names: list[str]) -> type:
    """Build the class again, with a slot for each of its own fields."""
    inherited = {slot for base in cls.__mro__[1:] for slot in base.__dict__.get("__slots__", ())}
    members = {
        name: member
        for name, member in cls.__dict__.items()
        if name not in names and name not in ("__dict__", "__weakref__")
    }
    members["__slots__"] = tuple([name for name in names if name not in inherited])
    members.setdefault("__getstate__", _get_state)
    members.setdefault("__setstate__", _set_state)
    again = type(cls)(cls.__name__, cls.__bases__, members)
    again.__qualname__ = cls.__qualname__
    return again


def _declared(cls: type[Anything], slots: bool, options: dict[str, bool]) -> type[Anything]:
    """Declare a class, with everything but the generated methods."""
    names = [
        name
        for name, annotation in cls.__annotations__.items()
        if not str(annotation).startswith(("ClassVar", "typing.ClassVar"))
    ]
    defaults = {name: cls.__dict__[name] for name in names if name in cls.__dict__}
    explicit_hash = cls.__dict__.get("__hash__") is not None
    if slots:
        cls = _with_slots(cls, names)
    for name, default in defaults.items():
        if not slots and type(default).__module__ == "dataclasses":  # a `field(…)`
            _replace_field(cls, name, default)
    declaration = _Declaration(defaults, options)
    declaration.cls = cls
    later = ["__match_args__", _FIELDS]
    later += ["__init__"] if options.get("init", True) else []
    later += ["__repr__"] if options.get("repr", True) else []
    if options.get("eq", True):
        later += ["__eq__"] if explicit_hash else ["__eq__", "__hash__"]
    for name in later:
        if name not in cls.__dict__ or (name == "__hash__" and cls.__dict__[name] is None):
            setattr(cls, name, _Later(declaration, name))
    setattr(cls, _PARAMETERS, _Parameters())
    _protected(cls)
    return cls


def _replace_field(cls: type[Anything], name: str, field: Anything) -> None:
    """Replace a `field(…)` on the class by its default, or delete it without one, as `dataclasses` does."""
    from dataclasses import MISSING

    if field.default is MISSING:
        delattr(cls, name)
    else:
        setattr(cls, name, field.default)


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(
        cls: type | None = None, /, *, frozen: bool = False, slots: bool = False, **options: bool
    ) -> type | Callable[[type], type]:
        """Declare a dataclass as `dataclasses.dataclass` does, but generate a frozen one's methods at their
        first use.
        """
        if not frozen:
            import dataclasses

            return dataclasses.dataclass(cls, frozen=frozen, slots=slots, **options)
        return lambda declared: _declared(declared, slots, options)
