"""Derive an operator's builder, the function that makes its calls, from a signature.

A builder begins as a stub. Its first call generates code with the same parameters, which replaces the
stub's, so that declaring operators stays cheap and calling them costs no more than code written by hand:

    def softmax(data, axis):
        if axis is _default_axis:
            _attrs = _defaults
        else:
            try:
                _attrs = _Attrs.of({"axis": axis if axis.__class__ is int else _convert_axis(axis)})
            except (TypeError, ValueError):
                _attrs = _Attrs(axis=axis)
        return _call(_op, (data if isinstance(data, _Expr) else _expr(data),), _attrs)
"""

from __future__ import annotations

from functools import update_wrapper
from inspect import Parameter, signature
from types import CodeType, FunctionType
from typing import Any as Anything
from typing import get_args
from weakref import WeakSet

from ..ir.attrs import EXACT, KINDS, Attrs, Field
from ..ir.errors import RelayError
from ..ir.expr import Call, Expr
from ..ir.op import Op
from ..ir.tuple_wrapper import TupleWrapper
from .arguments import Operands, expr, tuple_expr


def _stub(*args: Anything, **kwargs: Anything) -> Anything:
    """Generate the code of the builder that owns these globals, and call the builder again."""
    return globals()["_generate"]()(*args, **kwargs)


_GENERATED: WeakSet[FunctionType] = WeakSet()


def regenerate() -> None:
    """Make every builder generate its code again, since the kinds of attributes have changed."""
    for build in list(_GENERATED):
        build.__code__ = _stub.__code__
    _GENERATED.clear()


class Builder:
    """The signature of a declared function, split into attributes and operands."""

    def __init__(self, function: FunctionType, schema: type[Attrs] | None) -> None:
        code = function.__code__
        self.function = function
        self.parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        annotations = function.__annotations__
        self.attributes = tuple(
            [
                name
                for name in self.parameters
                if (name in schema._fields if schema is not None else _is_attribute(annotations.get(name)))
            ]
        )
        self.operands = tuple([name for name in self.parameters if name not in self.attributes])
        self.tuples = frozenset([name for name in self.operands if annotations.get(name) in _TUPLES])

    def fields(self) -> list[Field]:
        """Return the attributes as the annotations declare them."""
        return [_field(name, self.function) for name in self.attributes]

    def derived(self, op: Op, results: int | None) -> Anything:
        """Derive the function that builds a call of `op`; `results` is as in `operator`."""
        function = self.function
        names: dict[str, Anything] = {
            "__name__": function.__module__, "_op": op, "_call": Call.of, "_Expr": Expr, "_expr": expr,
            "_tuple_expr": tuple_expr, "_wrapper": TupleWrapper,
        }  # fmt: skip
        build = FunctionType(_stub.__code__, names, function.__name__)

        def generate() -> FunctionType:
            lines = [*self._attributes(op.attrs_class, names), self._result(results)]
            code = _compiled(function, lines, names)
            build.__defaults__, build.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
            build.__code__ = code  # last, because another thread may be calling the builder
            _GENERATED.add(build)
            return build

        names["_generate"] = generate
        return update_wrapper(build, function)

    def _attributes(self, schema: type[Attrs] | None, names: dict[str, Anything]) -> list[str]:
        """Return the lines that build the attributes, and add the names that they use to `names`."""
        if schema is None:
            return ["_attrs = None"]
        names["_Attrs"] = schema
        fields = {name: schema._fields[name] for name in self.attributes}
        lines = []
        for name, field in fields.items():
            names[f"_convert_{name}"], names[f"_normal_{name}"] = KINDS[field.kind], field.normal
            if field.normal is not None:
                lines.append(f"{name} = _normal_{name}({name})")
        checked = f"_attrs = _Attrs({', '.join([f'{name}={name}' for name in fields])})"
        if fields.keys() != schema._fields.keys() or schema.__init__ is not Attrs.__init__:
            return [*lines, checked]
        values = ", ".join([f"{name!r}: {_converted(name, field)}" for name, field in fields.items()])
        lines += [
            "try:", f" _attrs = _Attrs.of({{{values}}})",
            "except (TypeError, ValueError):", f" {checked}",  # which raises the error
        ]  # fmt: skip
        if not self._share_defaults(schema, fields, names):
            return lines
        condition = " and ".join([f"{name} is _default_{name}" for name in fields])
        return [f"if {condition}:", " _attrs = _defaults", "else:", *[f" {line}" for line in lines]]

    def _share_defaults(
        self, schema: type[Attrs], fields: dict[str, Field], names: dict[str, Anything]
    ) -> bool:
        """Build the attributes that calls with only defaults share; return whether such calls are valid."""
        parameters = signature(self.function).parameters
        values = {name: parameters[name].default for name in fields}
        try:
            names["_defaults"] = schema(
                **{
                    name: value if (normal := fields[name].normal) is None else normal(value)
                    for name, value in values.items()
                }
            )
        except (TypeError, ValueError, RelayError):
            return False
        names.update({f"_default_{name}": value for name, value in values.items()})
        return not any(value is Parameter.empty for value in values.values())

    def _result(self, results: int | None) -> str:
        """Return the line that builds the call; `results` is the number of fields of a tuple result."""
        operands = [
            f"_tuple_expr({name}, _op.name)"
            if name in self.tuples
            else f"{name} if isinstance({name}, _Expr) else _expr({name})"
            for name in self.operands
        ]
        call = f"_call(_op, ({''.join([f'{operand}, ' for operand in operands])}), _attrs)"
        return f"return {call if results is None else f'_wrapper({call}, {results})'}"


def _converted(name: str, field: Field) -> str:
    """Return an expression that converts the argument `name` to its kind, unless it has that kind already."""
    exact = EXACT.get(KINDS[field.kind])
    if exact is None:
        return f"_convert_{name}({name})"
    none = f"{name} is None or " if exact.optional else ""
    return f"{name} if {none}{name}.__class__ is {exact.cls.__name__} else _convert_{name}({name})"


def _compiled(function: FunctionType, lines: list[str], names: dict[str, Anything]) -> CodeType:
    """Compile a function with the parameters of `function`, whose body is `lines`."""
    code = function.__code__
    parameters = [*code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]]
    if code.co_kwonlyargcount:
        parameters.insert(code.co_argcount, "*")
    if code.co_posonlyargcount:
        parameters.insert(code.co_posonlyargcount, "/")
    text = "\n ".join([f"def {function.__name__}({', '.join(parameters)}):", *lines])
    functions: dict[str, FunctionType] = {}
    exec(compile(text, code.co_filename, "exec"), names, functions)
    return functions[function.__name__].__code__


def is_empty(code: CodeType) -> bool:
    """Return whether a function's body is only a docstring: it uses no names, and its code is the shortest
    possible.
    """
    return not code.co_names and len(code.co_code) == len(_SHORTEST.co_code)


def _shortest() -> None:
    """Do nothing: the shortest body."""


_SHORTEST: CodeType = _shortest.__code__


_TUPLES = ("Operands", Operands)


def _is_attribute(annotation: Anything) -> bool:
    """Return whether an annotation, as text or as an object, is `Annotated[…]` with an `attr` or a
    `required`.
    """
    if isinstance(annotation, str):
        return annotation.startswith(("Annotated[", "typing.Annotated["))
    return any(isinstance(item, Field) for item in getattr(annotation, "__metadata__", ()))


def _field(name: str, function: FunctionType) -> Field:
    """Return the attribute that the parameter `name` declares."""
    annotation = function.__annotations__[name]
    if isinstance(annotation, str):
        kind, metadata = _split(annotation)
        field = eval(metadata, function.__globals__)  # the module's own text, as typing.get_type_hints does
    else:
        field = next(item for item in annotation.__metadata__ if isinstance(item, Field))
        type_ = annotation.__origin__
        kind = type_.__name__ if isinstance(type_, type) and not get_args(type_) else str(type_)
        kind = kind.replace("tuple[int, ...]", "Ints").replace("tuple[float, ...]", "Floats")
    return Field(name, field.kind or kind, field.default, field.doc, field.normal)


def _split(annotation: str) -> tuple[str, str]:
    """Return the two arguments of `Annotated[…, …]` as text."""
    inside = annotation[annotation.index("[") + 1 : -1]
    depth = 0
    for index, character in enumerate(inside):
        depth += (character in "[(") - (character in ")]")
        if character == "," and depth == 0:
            return inside[:index], inside[index + 1 :].strip()
    raise TypeError(f"`{annotation}` has no attr(…) or required(…)")
