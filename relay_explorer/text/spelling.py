"""Spell types, names, constants and attribute values for the printer."""

from __future__ import annotations

import re

from ..ir.adt import Clause, Pattern, PatternConstructor, PatternTuple, PatternVar, TypeData, pattern_vars
from ..ir.attrs import Attrs, DictAttrs
from ..ir.expr import Call, Constant, Expr, Function, Let, Var
from ..ir.ndarray import NDArray
from ..ir.op import Op
from ..ir.show import show_type
from ..ir.size import show_size
from ..ir.types import Any, FuncType, GlobalTypeVar, Size, SizeVar, TensorType, Type, TypeVar
from .literals import attribute_float, quote, scalar_text
from .metadata import ARRAY, CONSTANT
from .names import DTYPE, KEYWORDS, PLAIN, Names, local_hint, plain_name, type_var_hint
from .rows import ATTRIBUTE, CONSTRUCTOR, LITERAL, LOCAL, TYPE_NAME, Token
from .rows import PLAIN as PUNCTUATION


class Spelling:
    """The unique names of one printed text, and its metadata table."""

    def __init__(self) -> None:
        self.meta: dict[str, list[object]] = {}
        self.free: list[Var] = []  # variables that nothing binds, in the order of their first use
        self._variables: dict[Var, str] = {}
        self._locals = Names()
        self._constructors: set[str] = set()
        self._declared: set[str] = set()  # names of declared types, which type variables must not have
        self._type_names = Names()
        self._type_vars: dict[int, str] = {}
        self._sizes: dict[SizeVar, str] = {}
        self._size_names = Names()
        self._meta_index: dict[tuple[str, int], int] = {}
        self._alive: list[object] = []
        self._types: dict[int, str] = {}

    def declare(self, data: TypeData) -> None:
        """Reserve the names that a type declaration introduces, so that type variables and operators of the
        same names are printed differently.
        """
        self._declared.add(data.header.name_hint)
        self._constructors.update(c.name_hint for c in data.constructors)

    def operator(self, name: str) -> str:
        """Write an operator's name; between backquotes where a constructor has the same name."""
        return quote(name, "`") if name in self._constructors else plain_name(name)

    def definition(self) -> None:
        """Begin a definition, which has its own type variables' names."""
        self._type_names = Names(self._declared)
        self._type_vars.clear()
        self._types.clear()

    def enter(self, binder: Function | Let | Clause) -> None:
        """Name the variables that a function, a `let` or a clause binds."""
        if isinstance(binder, Function):
            for param in binder.type_params:
                self.type_var(param)
            for variable in binder.params:
                self.name(variable)
        elif isinstance(binder, Let):
            self.name(binder.var)
        else:
            for variable in pattern_vars(binder.lhs):
                self.name(variable)

    def used(self, variable: Var) -> None:
        """Record a use of a variable; a variable that has no name yet is free."""
        if variable not in self._variables:
            self.name(variable)
            self.free.append(variable)

    def name(self, variable: Var) -> str:
        name = self._variables.get(variable)
        if name is None:
            name = self._variables[variable] = "%" + self._locals.unique(local_hint(variable.name_hint))
        return name

    def type_var(self, variable: TypeVar) -> str:
        key = id(variable)
        if key not in self._type_vars:
            self._type_vars[key] = self._type_names.unique(type_var_hint(variable.name_hint))
            self._alive.append(variable)
        return self._type_vars[key]

    def type(self, type_: Type) -> str:
        """Write a type as text."""
        key = id(type_)
        text = self._types.get(key)
        if text is None:
            text = self._types[key] = show_type(type_, self._special)
            self._alive.append(type_)
        return text

    def _special(self, type_: Type) -> str | None:
        """Write the types whose names must be made unique or quoted."""
        if isinstance(type_, TensorType):
            plain = DTYPE.fullmatch(type_.dtype) is not None
            if plain and not any(isinstance(d, Size) for d in type_.shape):
                return None
            dtype = type_.dtype if plain else quote(type_.dtype, "`")
            return f"Tensor[({', '.join(map(self.dim, type_.shape))}), {dtype}]"
        if isinstance(type_, TypeVar):
            return self.type_var(type_)
        if isinstance(type_, GlobalTypeVar):
            return plain_name(type_.name_hint)
        if isinstance(type_, FuncType):
            for param in type_.type_params:
                self.type_var(param)
        return None

    def dim(self, dim: object) -> str:
        """Write a dimension; different sizes of the same name get unique names."""
        return show_size(dim, self._size) if isinstance(dim, Size) else str(dim)

    def _size(self, dim: SizeVar) -> str:
        if dim not in self._sizes:
            hint = re.sub(r"\W", "_", dim.name)
            self._sizes[dim] = self._size_names.unique(
                hint if hint and not hint[0].isdigit() and PLAIN.fullmatch(hint) else f"n{hint}"
            )
        return self._sizes[dim]

    def constant(self, constant: Constant) -> str:
        """Write a constant as a literal, or as a reference to the metadata."""
        text = scalar_text(constant.data)
        return text if text is not None else self.reference(CONSTANT, constant)

    def reference(self, kind: str, value: object) -> str:
        key = (kind, id(value))
        index = self._meta_index.get(key)
        if index is None:
            table = self.meta.setdefault(kind, [])
            index = self._meta_index[key] = len(table)
            table.append(value)
        return f"meta[{kind}][{index}]"

    def binder(self, variable: Var) -> list[Token]:
        """Write `%x` or `%x: T`."""
        tokens = [Token(LOCAL, self.name(variable), variable)]
        if variable.type_annotation is not None:
            tokens += [Token(PUNCTUATION, ": "), Token(TYPE_NAME, self.type(variable.type_annotation))]
        return tokens

    def call_attrs(self, call: Call) -> list[Token]:
        """Write the attributes that differ from their defaults: `axis=1`, …"""
        attrs = call.attrs
        if attrs is None:
            return []
        tokens = self._attr_list(attrs.changed(), isinstance(attrs, DictAttrs))
        schema = call.op.attrs_class if isinstance(call.op, Op) else None
        if not isinstance(attrs, DictAttrs) and type(attrs) is not schema:
            tokens += [Token(PUNCTUATION, ", ")] if tokens else []
            tokens += self._attr_list([("attrs_type_key", attrs._key)], False)
        return tokens

    def function_attrs(self, attrs: Attrs) -> list[list[Token]]:
        return [self._attr_list([pair], True) for pair in attrs.items()]

    def _attr_list(self, pairs: list[tuple[str, object]], free: bool) -> list[Token]:
        tokens: list[Token] = []
        for name, value in pairs:
            if tokens:
                tokens.append(Token(PUNCTUATION, ", "))
            shown = name if PLAIN.fullmatch(name) and name not in KEYWORDS else quote(name, "`")
            tokens += [
                Token(ATTRIBUTE, shown),
                Token(PUNCTUATION, "="),
                Token(LITERAL, self.value(value, free)),
            ]
        return tokens

    def value(self, value: object, free: bool = True) -> str:
        """Write an attribute value.

        Without a schema (`free`) tuples and lists are written differently; with one, both are written as
        lists, as in TVM.
        """
        match value:
            case None | bool():
                return str(value)
            case int():
                return str(int(value))
            case float():
                return attribute_float(value)
            case str():
                return quote(value)
            case Any() | Size():
                return self.dim(value)
            case tuple() if free:
                inner = ", ".join(self.value(v) for v in value)
                return f"({inner},)" if len(value) == 1 else f"({inner})"
            case tuple() | list():
                return f"[{', '.join(self.value(v, free) for v in value)}]"
            case dict() if all(self._key(k) for k in value):
                return "{" + ", ".join(f"{self.value(k)}: {self.value(v)}" for k, v in value.items()) + "}"
            case Var() if value in self._variables:
                return self.name(value)
            case Type():
                return f"type({self.type(value)})"
            case Constant():
                return self.reference(CONSTANT, value)
            case NDArray():
                return self.reference(ARRAY, value)
        if getattr(value, "shape", None) == () and hasattr(value, "item"):  # a NumPy scalar
            return self.value(value.item(), free)
        return self.reference(f"python.{re.sub(r'[^A-Za-z0-9_]', '_', type(value).__name__)}", value)

    def _key(self, key: object) -> bool:
        """Return whether the text format can represent a key of a dictionary."""
        return (isinstance(key, str | int) and not isinstance(key, bool)) or (
            isinstance(key, Var) and key in self._variables
        )

    def pattern(self, pattern: Pattern) -> list[Token]:
        """Print a pattern; its variables are LOCAL tokens."""
        tokens: list[Token] = []
        pending: list[Pattern | str] = [pattern]
        while pending:
            part = pending.pop()
            if isinstance(part, str):
                tokens.append(Token(PUNCTUATION, part))
            elif isinstance(part, PatternVar):
                tokens += self.binder(part.var)
            elif isinstance(part, (PatternConstructor, PatternTuple)):
                if isinstance(part, PatternConstructor):
                    tokens.append(
                        Token(CONSTRUCTOR, plain_name(part.constructor.name_hint), part.constructor)
                    )
                    if not part.patterns:
                        continue
                pieces: list[Pattern | str] = ["("]
                for number, inner in enumerate(part.patterns):
                    pieces += [", ", inner] if number else [inner]
                pieces.append(",)" if isinstance(part, PatternTuple) and len(part.patterns) == 1 else ")")
                pending.extend(reversed(pieces))
            else:
                tokens.append(Token(PUNCTUATION, "_"))
        return tokens

    def comment(self, text: str) -> str:
        """Write a comment, ` /* text */`, with a space inside character sequences that would end or nest
        it.
        """
        safe = text.replace("*/", "* /").replace("/*", "/ *")
        return f" /* {safe} */"


def is_computed(expr: Expr) -> bool:
    """Return whether the printer should add the expression's type, because the text does not show it."""
    return not isinstance(expr, (Var, Function, Let, Constant)) or (
        isinstance(expr, Constant) and bool(expr.data.shape)
    )
