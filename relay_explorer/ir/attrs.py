"""Attributes: the compile-time constants of a call (`axis=1`), with a schema for each operator.

    class SoftmaxAttrs(Attrs, key="relay.attrs.SoftmaxAttrs"):
        axis: int = attr(-1, "The axis that is summed over.")

An attribute's annotation is its kind, to which values are converted; `KINDS` lists the kinds. An attribute
without a default is declared with `required("…")`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from types import new_class
from typing import Any as Anything
from typing import ClassVar, NamedTuple, Self

from .errors import AttributeSchemaError
from .ndarray import NDArray
from .types import DEFAULT_WIDTHS, Any, Size, Type
from .virtual_device import VirtualDevice

Ints = tuple[int, ...]
Floats = tuple[float, ...]
Dims = tuple[Anything, ...]
Value = Anything


class _Required:
    def __repr__(self) -> str:
        return "required"


REQUIRED = _Required()


class Field(NamedTuple):
    """One attribute: its name, the kind of its values, its default (or REQUIRED), and its description.

    `normal` converts a builder's argument to the attribute's value; it is None where the conversion of the
    kind suffices.
    """

    name: str
    kind: str
    default: Value
    doc: str
    normal: Callable[[Anything], Value] | None = None


def attr(
    default: Value, doc: str, *, kind: str = "", normal: Callable[[Anything], Value] | None = None
) -> Anything:
    """Declare an attribute with a default, inside an `Attrs` class or the annotation of a builder's parameter
    (`relay_explorer.ops.operator`), which may name the `kind` and normalize the value.
    """
    return Field("", kind, default, doc, normal)


def required(doc: str, *, kind: str = "", normal: Callable[[Anything], Value] | None = None) -> Anything:
    """Declare an attribute that every call must set; it is always printed."""
    return Field("", kind, REQUIRED, doc, normal)


class Attrs:
    """Base of attribute classes. Values are read as `attrs.axis` or `attrs["axis"]`, and are immutable."""

    _fields: ClassVar[dict[str, Field]] = {}
    _key: ClassVar[str] = "Attrs"
    _schemas: ClassVar[dict[str, type[Attrs] | Callable[[], type[Attrs]]]] = {}

    @staticmethod
    def by_key(key: str) -> type[Attrs] | None:
        """Return the attributes class that was last declared with that key; None where there is none (yet:
        operators declare theirs when they are first looked up).
        """
        schema = Attrs._schemas.get(key)
        return schema if schema is None or isinstance(schema, type) else schema()

    def __init_subclass__(cls, key: str = "", **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        cls._key = key or cls.__name__
        Attrs._schemas[cls._key] = cls
        fields = dict(cls._fields)
        for name, annotation in cls.__annotations__.items():
            # Where annotations are evaluated, as in a notebook cell, the annotation is a class.
            kind = annotation.__name__ if isinstance(annotation, type) else str(annotation)
            if "ClassVar" in kind:
                continue
            if kind not in KINDS:
                raise TypeError(
                    f"{cls.__name__}.{name}: unknown kind of attribute {kind!r}; "
                    f"supported are {', '.join(KINDS)}"
                )
            declared = cls.__dict__[name]
            default = declared.default if declared.default is REQUIRED else KINDS[kind](declared.default)
            fields[name] = Field(name, kind, default, declared.doc, declared.normal)
            setattr(cls, name, default)
        cls._fields = fields

    @classmethod
    def of(cls, values: dict[str, Value]) -> Self:
        """Build attributes from the values of all fields, which must already have their kinds: unchecked, for
        inner loops.
        """
        self: Self = object.__new__(cls)
        self.__dict__.update(values)
        return self

    def __init__(self, **values: Value) -> None:
        fields = self._fields
        store = self.__dict__
        for name, value in values.items():
            field = fields.get(name)
            if field is None:
                raise AttributeSchemaError(
                    f"{self._key.rsplit('.', 1)[-1]} has no attribute `{name}`",
                    help=[
                        f"its attributes are {', '.join(f'`{f}`' for f in fields)}"
                        if fields
                        else "it takes none"
                    ],
                )
            try:
                store[name] = KINDS[field.kind](value)
            except (TypeError, ValueError):
                raise AttributeSchemaError(
                    f"attribute `{name}` takes {KIND_WORDS.get(field.kind, field.kind)}, not {_brief(value)}",
                    help=[field.doc],
                ) from None
        if len(store) == len(fields):
            return
        for name, field in fields.items():
            if name not in store:
                if field.default is REQUIRED and field.kind.endswith("| None"):
                    store[name] = None  # TVM always printed such attributes, and its builders filled in None
                    continue
                if field.default is REQUIRED:
                    raise AttributeSchemaError(
                        f"attribute `{name}` is missing", help=[f"give `{name}=…`: {field.doc}"]
                    )
                store[name] = field.default

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"attributes do not change: make new ones with `.replace({name}=…)`")

    def replace(self, **values: Value) -> Anything:
        """Return these attributes with some values changed."""
        return type(self)(**{**self.__dict__, **values})

    def keys(self) -> list[str]:
        """Return the names, in the order of declaration."""
        return list(self._fields)

    def items(self) -> list[tuple[str, Value]]:
        return [(name, self.__dict__[name]) for name in self.keys()]

    def changed(self) -> list[tuple[str, Value]]:
        """Return the names and values that differ from the defaults, in the order of declaration."""
        return [
            (n, self.__dict__[n])
            for n, f in self._fields.items()
            if not same_value(self.__dict__[n], f.default)
        ]

    def __getitem__(self, name: str) -> Value:
        if name not in self.__dict__:
            raise KeyError(name)
        return self.__dict__[name]

    def __contains__(self, name: str) -> bool:
        return name in self.__dict__

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Attrs):
            return NotImplemented
        return self._key == other._key and dict_equal(self.__dict__, other.__dict__)

    def __hash__(self) -> int:
        return hash((self._key, tuple(self.keys())))

    def __repr__(self) -> str:
        return f"{self._key.rsplit('.', 1)[-1]}({', '.join(f'{k}={v!r}' for k, v in self.items())})"


def derived_schema(key: str, fields: Callable[[], Sequence[Field]], module: str) -> Callable[[], type[Attrs]]:
    """Return the schema of an operator whose builder declares its attributes: a function that creates the
    class from `fields` at its first call, because most operators are declared and never used.
    """

    @cache
    def schema() -> type[Attrs]:
        declared = {field.name: field for field in fields()}
        members: dict[str, Anything] = {
            "__module__": module,
            "__annotations__": {name: field.kind for name, field in declared.items()},
            "__reduce__": lambda attrs: (_restored, (key, attrs.__dict__)),
            **declared,
        }
        return new_class(key.rpartition(".")[2], (Attrs,), {"key": key}, lambda body: body.update(members))

    Attrs._schemas[key] = schema
    return schema


def _restored(key: str, values: dict[str, Value]) -> Attrs:
    """Restore pickled attributes whose class was derived."""
    from .op import Op

    schema = Attrs.by_key(key)
    if schema is None:
        Op.load_all()
        schema = Attrs.by_key(key)
    assert schema is not None
    return schema(**values)


class DictAttrs(Attrs):
    """Attributes without a schema, as functions and modules have them (`Primitive=1`)."""

    def __init__(self, values: Mapping[str, Value] | None = None, /, **more: Value) -> None:
        self.__dict__.update(values or {})
        self.__dict__.update(more)

    def keys(self) -> list[str]:
        return list(self.__dict__)

    def changed(self) -> list[tuple[str, Value]]:
        return self.items()

    def replace(self, **values: Value) -> DictAttrs:
        return DictAttrs({**self.__dict__, **values})

    def __bool__(self) -> bool:
        return bool(self.__dict__)


def same_value(a: Value, b: Value) -> bool:
    """Whether two attribute values are equal; 1, True and 1.0 are all different."""
    if type(a) is not type(b) and not (isinstance(a, tuple) and isinstance(b, tuple)):
        whole = isinstance(a, int) and isinstance(b, int) and not isinstance(a, bool) | isinstance(b, bool)
        return whole and int(a) == int(b)  # TVM code's IntImm is an integer
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same_value, a, b))
    if isinstance(a, float):
        return a == b or (a != a and b != b)
    return bool(a == b)


def dict_equal(a: Mapping[str, Value], b: Mapping[str, Value]) -> bool:
    return a.keys() == b.keys() and all(same_value(value, b[name]) for name, value in a.items())


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _int(value: Value) -> int:
    if type(value) is int:
        return value
    if isinstance(value, (bool, int)) or hasattr(value, "__index__"):
        return int(value)
    raise TypeError


def _float(value: Value) -> float:
    if isinstance(value, str):
        raise TypeError
    return float(value)


def _bool(value: Value) -> bool:
    if isinstance(value, (bool, int)) or hasattr(value, "__bool__"):
        return bool(value)
    raise TypeError


def _str(value: Value) -> str:
    if isinstance(value, str):
        return str(value)
    raise TypeError


_DTYPE = re.compile(r"(?:(?:float|bfloat|int|uint)\d+|bool|handle|void)(?:x\d+)?|custom\w*|e\dm\d\w*|")


def _dtype(value: Value) -> str:
    """Return an element type's name; `value` may also be `numpy.float32`, a NumPy dtype, Python's int, float,
    bool, or a tensor type.
    """
    if isinstance(value, str):
        name = DEFAULT_WIDTHS.get(value, str(value))
    elif isinstance(value, type):
        name = DEFAULT_WIDTHS.get(value.__name__, value.__name__)
    elif hasattr(value, "name"):
        name = str(value.name)
    elif hasattr(value, "dtype"):  # a tensor type stands for its element type
        return _dtype(value.dtype)
    else:
        raise TypeError
    if not _DTYPE.fullmatch(name):
        raise ValueError(f"there is no element type called {name[:40]!r}")
    return name


def _ints(value: Value) -> tuple[int, ...]:
    if isinstance(value, (list, tuple)):
        return tuple(map(_int, value))
    if isinstance(value, str):
        raise TypeError
    if hasattr(value, "__iter__"):
        return tuple(map(_int, value))
    return (_int(value),)


def _floats(value: Value) -> tuple[float, ...]:
    if isinstance(value, str):
        raise TypeError
    return tuple(map(_float, value))


def _dims(value: Value) -> Dims:
    items = value if isinstance(value, (list, tuple)) or hasattr(value, "__iter__") else (value,)
    return tuple(v if isinstance(v, (Any, Size)) else _int(v) for v in items)


def _ints_or_sections(value: Value) -> int | tuple[int, ...]:
    return _ints(value) if isinstance(value, (list, tuple)) else _int(value)


def _number(value: Value) -> bool | int | float:
    if isinstance(value, (bool, int, float)):
        return value
    return _float(value)


def _pairs(value: Value) -> tuple[tuple[int, ...], ...]:
    return tuple(_ints(v) for v in value)


def _data(value: Value) -> NDArray:
    if isinstance(value, NDArray):
        return value
    raise TypeError


def _type(value: Value) -> Type:
    if isinstance(value, Type):
        return value
    raise TypeError


def _optional(convert: Callable[[Value], Value]) -> Callable[[Value], Value]:
    return lambda value: None if value is None else convert(value)


_PLAIN: dict[str, Callable[[Value], Value]] = {
    "int": _int,
    "float": _float,
    "bool": _bool,
    "str": _str,
    "DType": _dtype,
    "Ints": _ints,
    "Floats": _floats,
    "Dims": _dims,
    "int | Ints": _ints_or_sections,
    "Number": _number,
    "Pairs": _pairs,
    "NDArray": _data,
    "Type": _type,
    "VirtualDevice": VirtualDevice.of,
}
KINDS: dict[str, Callable[[Value], Value]] = _PLAIN | {
    f"{kind} | None": _optional(f) for kind, f in _PLAIN.items()
}


class Exact(NamedTuple):
    """A kind that leaves some values unchanged: those of the class `cls`, and None where it is `optional`."""

    cls: type
    optional: bool


EXACT = {
    KINDS[cls.__name__ + ending]: Exact(cls, bool(ending))
    for cls in (int, float, bool, str)
    for ending in ("", " | None")
}
KIND_WORDS = {
    "int": "an integer",
    "float": "a number",
    "bool": "True or False",
    "str": "a string",
    "DType": "the name of an element type",
    "Ints": "integers",
    "Floats": "numbers",
    "Dims": "dimensions",
    "int | Ints": "an integer or integers",
    "Number": "a number",
    "Pairs": "pairs of integers",
    "VirtualDevice": 'a device such as "cuda:0"',
}
KIND_WORDS |= {f"{kind} | None": f"{words} or None" for kind, words in KIND_WORDS.items()}
DType = str
Number = Anything  # a bool, int or float, not converted
Pairs = tuple[tuple[int, ...], ...]
