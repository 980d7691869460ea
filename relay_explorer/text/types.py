"""Parse types."""

from __future__ import annotations

from ..ir.show import MAX_TYPE_DEPTH
from ..ir.types import (
    DEFAULT_WIDTHS,
    Dim,
    FuncType,
    GlobalTypeVar,
    IncompleteType,
    RefType,
    SizeVar,
    TensorType,
    TupleType,
    Type,
    TypeCall,
    TypeVar,
)
from .lexer import Lexer, near
from .literals import unquote
from .names import DTYPE
from .sizes import parse_size

DTYPES = (
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
)


class TypeSyntax(Lexer):
    """Parse types: `Tensor[(3, ?), float32]`, `float32`, `(A, B)`, `fn [A](A) -> B`, `List[A]`, `ref(A)`,
    `_`.
    """

    def __init__(self, text: str, source_name: str) -> None:
        super().__init__(text, source_name)
        self.type_vars: dict[str, TypeVar] = {}
        self.size_vars: dict[
            str, SizeVar
        ] = {}  # a name denotes the same dynamic dimension throughout the text
        self.adts: dict[str, GlobalTypeVar] = {}
        self.adt_uses: dict[str, tuple[int, int]] = {}  # by undeclared type: the offsets of its first use
        self._scalars: dict[str, TensorType] = {}

    def type(self, depth: int = 0) -> Type:
        """Parse one type.

        Types nested deeper than messages can show are rejected, so recursion is safe here.
        """
        if depth >= MAX_TYPE_DEPTH:
            raise self.error(f"this type is nested more than {MAX_TYPE_DEPTH} levels deep")
        start, kind = self.start, self.kind
        if kind == "name":
            return self._named(depth)
        if kind == "quoted":
            name = self.quoted_name()
            return self._applied(self.adt(name, start), start, depth)
        if kind == "(":
            fields, comma = self._types("(", ")", depth)
            return (
                fields[0]
                if len(fields) == 1 and not comma
                else TupleType(fields, self.span(start, self.last))
            )
        raise self.error(f"expected a type, found {self.found()}", help=_EXAMPLES)

    def _named(self, depth: int) -> Type:
        start, name = self.start, self.text
        self.advance()
        scalar = self._scalars.get(name)
        if scalar is not None and name not in self.type_vars:
            return scalar
        if name == "Tensor":
            return self._tensor(start)
        if name == "_":
            return IncompleteType(span=self.span(start, self.last))
        if name == "fn":
            return self._function(start, depth)
        if name in ("ref", "Ref"):
            close = {"(": ")", "[": "]"}.get(self.kind)
            if close is None:
                raise self.error(
                    f"expected the type that the reference holds, as in `ref(float32)`, found {self.found()}"
                )
            opened = self.start
            self.advance()
            value = self.type(depth + 1)
            self.expect(close, "after the type of what the reference holds", opened)
            return RefType(value, self.span(start, self.last))
        if name in self.type_vars:
            return self._applied(self.type_vars[name], start, depth)
        if name in self.adts:
            return self._applied(self.adts[name], start, depth)
        if DTYPE.fullmatch(name):
            return self._scalars.setdefault(name, TensorType((), name))
        return self._applied(self.adt(name, start), start, depth)

    def adt(self, name: str, start: int) -> GlobalTypeVar:
        """Return the declared type of that name, or, where it is declared further down, a reference to it by
        name.
        """
        variable = self.adts.get(name)
        if variable is None:
            self.adt_uses.setdefault(name, (start, self.last))
            variable = GlobalTypeVar(name, span=self.span(start, self.last))
        return variable

    def _applied(self, head: Type, start: int, depth: int) -> Type:
        if self.kind != "[":
            # a declared type without parameters: a TypeCall without arguments, like a constructor's result
            return (
                TypeCall(head, (), self.span(start, self.last)) if isinstance(head, GlobalTypeVar) else head
            )
        args, _ = self._types("[", "]", depth)
        return TypeCall(head, args, self.span(start, self.last))

    def _types(self, open_: str, close: str, depth: int) -> tuple[list[Type], bool]:
        """Parse types between brackets; return them, and whether the last was followed by a comma."""
        opened, types, comma = self.start, [], False
        self.expect(open_, "before the types")
        while self.kind != close:
            types.append(self.type(depth + 1))
            comma = self.kind == ","
            if not comma:
                break
            self.advance()
        self.expect(close, "or `,` after a type", opened)
        return types, comma

    def _function(self, start: int, depth: int) -> FuncType:
        outer = dict(self.type_vars)
        params = self.type_params() if self.kind == "[" else []
        args, _ = self._types("(", ")", depth)
        self.expect("->", "and the result's type after the arguments' types of a function type")
        result = self.type(depth + 1)
        self.type_vars = outer
        return FuncType(args, result, params, span=self.span(start, self.last))

    def type_params(self) -> list[TypeVar]:
        """Parse `[A, B]`; the type parameters are then in scope."""
        opened = self.start
        self.advance()
        params: dict[str, TypeVar] = {}
        while self.kind != "]":
            if self.kind != "name":
                raise self.error(f"expected the name of a type parameter, found {self.found()}")
            if self.text in params:
                raise self.error(f"two type parameters are called `{self.text}`", help=["rename one of them"])
            params[self.text] = TypeVar(self.text, span=self.here())
            self.advance()
            if self.kind != ",":
                break
            self.advance()
        self.expect("]", "or `,` after a type parameter", opened)
        self.type_vars = {**self.type_vars, **params}
        return list(params.values())

    def _tensor(self, start: int) -> TensorType:
        opened = self.start
        self.expect("[", "after `Tensor`, as in `Tensor[(3, 4), float32]`")
        shape = self._shape()
        self.expect(",", "and an element type after the shape", opened)
        dtype = self._dtype()
        self.expect("]", "after the element type", opened)
        return TensorType.of(tuple(shape), DEFAULT_WIDTHS.get(dtype, dtype), self.span(start, self.last))

    def _dtype(self) -> str:
        if self.kind == "quoted":
            return self.quoted_name()
        if self.kind != "name":
            raise self.error(f"expected an element type such as `float32`, found {self.found()}")
        if not DTYPE.fullmatch(self.text):
            raise self.error(
                f"there is no element type called `{self.text[:40]}`", help=near(self.text, DTYPES)
            )
        dtype = self.text
        self.advance()
        return dtype

    def _shape(self) -> list[Dim]:
        opened, shape = self.start, []
        self.expect("(", "before the shape, as in `Tensor[(3, 4), float32]`")
        while self.kind != ")":
            shape.append(self.dimension())
            if self.kind != ",":
                break
            self.advance()
        self.expect(")", "or `,` after a dimension", opened)
        return shape

    def dimension(self) -> Dim:
        """Parse one dimension of a shape."""
        return parse_size(self, self.size_vars)

    def quoted_name(self) -> str:
        """Parse a name between backquotes."""
        try:
            name = unquote(self.text.removeprefix("@"))
        except ValueError as error:
            raise self.error(str(error)) from None
        self.advance()
        return name

    def global_name(self) -> str:
        """Parse an `@…` and return its name."""
        if self.text[1] == "`":
            return self.quoted_name()
        name = self.text[1:]
        self.advance()
        return name


_EXAMPLES = [
    "types are `float32`, `Tensor[(3, 4), float32]`, `(A, B)`, `fn (A) -> B`, `List[A]`, `ref(A)`, `_`"
]
